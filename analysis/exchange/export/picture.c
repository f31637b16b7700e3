#include "analysis/exchange/export/picture.h"

#include <stddef.h>

const char *const picture_names[] = {
#define X(name) #name,
    PICTURES(X)
#undef X
        NULL};
