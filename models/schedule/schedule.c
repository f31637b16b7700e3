#include <stddef.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"

#define X(name) &schedule_##name,
const struct schedule_kind *const schedule_kinds[] = {
#include "models/schedule/schedule_list.h"
};
#undef X
KIND_TABLE(schedule)
