#include "analysis/command/exchange/format_kind.h"

const struct format_kind *const format_kinds[] = {
#define X(name, doc) &format_##name,
#include "analysis/command/exchange/format_list.h"
#undef X
};
const char *const format_names[] = {
#define X(name, doc) #name,
#include "analysis/command/exchange/format_list.h"
#undef X
    NULL};
