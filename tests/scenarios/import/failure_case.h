/* failure_case.h - a log of failures, read from a text, with the rules of a small cluster. */
#ifndef ORRERY_TESTS_SCENARIOS_IMPORT_FAILURE_CASE_H
#define ORRERY_TESTS_SCENARIOS_IMPORT_FAILURE_CASE_H

#include "scenarios/import/failures/failure_log.h"

struct failure_case {
    struct arena *arena; /* the caller destroys it */
    struct failure_rules rules;
    struct failure_log log;
    struct error error; /* why it is not good */
    bool good;
};
/* Nodes of eight GPUs, repeats within 10 minutes; `end` NULL: not said. */
struct failure_rules failure_case_rules(const char *start, const char *end, uint64_t gpus);
struct failure_case failure_case_read(const char *text, const struct failure_format_kind *format,
                                      struct failure_rules rules);
/* Fails the test unless it is read; destroyed by the caller. */
void failure_case_good(const struct failure_case *c);
/* Fails the test unless it is refused with these words; destroys it. */
void failure_case_refused(struct failure_case c, const char *words);

#endif
