/* weeks.h - a sound scenario of weeks in nine lines, of which a test replaces one or two. */
#ifndef ORRERY_TESTS_SCENARIOS_WEEKS_H
#define ORRERY_TESTS_SCENARIOS_WEEKS_H

#include <stddef.h>

#include "scenarios/assemble/scenario.h"

enum weeks_line { /* by number, as problems name it: the line plus 1 */
    WEEKS_MODEL,
    WEEKS_CLUSTER,
    WEEKS_TRAINING,
    WEEKS_LAYOUT,
    WEEKS_RUN,
    WEEKS_FAILURES,
    WEEKS_CHECKPOINT,
    WEEKS_STORAGE,
    WEEKS_RECOVERY,
    WEEKS_LINE_COUNT /* as the line that is replaced: none */
};
/* 4 nodes of 8 GPUs, tp 8, pp 2, dp 2; 54 days, one cause, sync checkpoints, hot spares. Fails the
 * test where nothing is read at all. */
struct scenario *weeks_read(enum weeks_line line, const char *replacement);
struct scenario *weeks_read_both(enum weeks_line line, const char *replacement,
                                 enum weeks_line other, const char *more);
struct scenario *weeks_read_text(const char *text);

/* "line:column: text\n" each; warnings begin with '~', other files with their name. */
void weeks_problems_are(const struct scenario *scenario, const char *wanted);

struct weeks_case {
    enum weeks_line line;
    const char *text;
    const char *problems;
};
/* Each case has its problems; with one that is no warning it is refused. */
void weeks_cases(const struct weeks_case *cases, size_t count);

#endif
