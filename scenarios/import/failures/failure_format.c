#include "scenarios/import/failures/failure_format_kind.h"

const struct failure_format_kind *const failure_format_kinds[] = {
#define X(name) &failure_format_##name,
#include "scenarios/import/failures/failure_format_list.h"
#undef X
};
KIND_TABLE(failure_format)
