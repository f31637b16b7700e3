/* job_result.c - the names of the classes of time. */
#include "models/job_result.h"

#define X(name, doc) [BADPUT_##name] = #name,
const char *const badput_names[BADPUT_COUNT] = {BADPUT_CLASSES(X)};
#undef X
#define X(name, doc) [BADPUT_##name] = doc,
const char *const badput_docs[BADPUT_COUNT] = {BADPUT_CLASSES(X)};
#undef X
