#include "models/collective/dispatch/dispatch_kind.h"

#define X(name) &dispatch_##name,
const struct dispatch_kind *const dispatch_kinds[] = {
#include "models/collective/dispatch/dispatch_list.h"
};
#undef X
KIND_TABLE(dispatch)
