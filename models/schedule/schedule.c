#include <stddef.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"

#define X(name) &schedule_##name,
const struct schedule_kind *const schedule_kinds[] = {
#include "models/schedule/schedule_list.h"
};
#undef X
const unsigned schedule_kind_count = sizeof schedule_kinds / sizeof schedule_kinds[0];

const struct schedule_kind *schedule_find(const char *name)
{
    for (unsigned i = 0; i < schedule_kind_count; i++) {
        if (strcmp(schedule_kinds[i]->name, name) == 0) {
            return schedule_kinds[i];
        }
    }
    return NULL;
}
