#include <stddef.h>
#include <string.h>

#include "models/recovery/recovery_kind.h"

const char *const restart_link_names[RESTART_LINK_COUNT] = {
    [LINK_DETECT] = "detect",     [LINK_DIAGNOSE] = "diagnose",
    [LINK_CORDON] = "cordon",     [LINK_ALLOCATE] = "allocate",
    [LINK_SCHEDULE] = "schedule", [LINK_PROVISION] = "provision",
    [LINK_START] = "start",       [LINK_COMMUNICATORS] = "communicators",
    [LINK_WARMUP] = "warmup",
};

#define X(name) &recovery_##name,
const struct recovery_kind *const recovery_kinds[] = {
#include "models/recovery/recovery_list.h"
};
#undef X
KIND_TABLE(recovery)
