#include <stddef.h>
#include <string.h>

#include "models/failure/failure_kind.h"

#define X(name) &failure_##name,
const struct failure_kind *const failure_kinds[] = {
#include "models/failure/failure_list.h"
};
#undef X
const unsigned failure_kind_count = sizeof failure_kinds / sizeof failure_kinds[0];

const struct failure_kind *failure_find(const char *name)
{
    for (unsigned i = 0; i < failure_kind_count; i++) {
        if (strcmp(failure_kinds[i]->name, name) == 0)
            return failure_kinds[i];
    }
    return NULL;
}
