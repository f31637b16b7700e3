#include "scenarios/import/iterations/iteration_format_kind.h"

const struct iteration_format_kind *const iteration_format_kinds[] = {
#define X(name) &iteration_format_##name,
#include "scenarios/import/iterations/iteration_format_list.h"
#undef X
};
KIND_TABLE(iteration_format)
