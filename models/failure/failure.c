#include <stddef.h>
#include <string.h>

#include "models/failure/failure_kind.h"

#define X(name) &failure_##name,
const struct failure_kind *const failure_kinds[] = {
#include "models/failure/failure_list.h"
};
#undef X
KIND_TABLE(failure)
