/* job_result.c - the names of the classes of time, and of the ends of a run. */
#include "models/job/parts/job_result.h"

#define X(name, doc) [BADPUT_##name] = #name,
const char *const badput_names[BADPUT_COUNT] = {BADPUT_CLASSES(X)};
#undef X
#define X(name, doc) [BADPUT_##name] = doc,
const char *const badput_docs[BADPUT_COUNT] = {BADPUT_CLASSES(X)};
#undef X
#define X(name, doc) [JOB_END_##name] = #name,
const char *const job_end_names[JOB_END_COUNT] = {JOB_ENDS(X)};
#undef X
#define X(name, doc) [JOB_END_##name] = doc,
const char *const job_end_docs[JOB_END_COUNT] = {JOB_ENDS(X)};
#undef X
