#include "sim/kind.h"

#include <string.h>

const struct kind *kind_find(kind_at_fn *at, const char *name)
{
    const struct kind *kind;
    for (unsigned i = 0; (kind = at(i)) != NULL; i++)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}
