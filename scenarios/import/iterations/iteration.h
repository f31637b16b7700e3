/* iteration.h - the iterations (training steps) of a log, as the training program printed them.
 *
 * Logs are taken as users keep them: a launcher's prefixes of ranks, time stamps of any of the
 * programs in between, colours, carriage returns of progress bars, control characters, other lines
 * between, one run appended to another. Each row is a line that tells an iteration; what it does
 * not tell is NAN. Of several ranks that print the same iteration the first one counts, and a
 * progress bar that is drawn again counts once. It knows no scenario: a rate of tokens stays one.
 */
#ifndef ORRERY_SCENARIOS_IMPORT_ITERATIONS_ITERATION_H
#define ORRERY_SCENARIOS_IMPORT_ITERATIONS_ITERATION_H

#include <stdint.h>

#include "scenarios/import/iterations/iteration_format_kind.h"

enum iteration_pause {
    ITERATION_SAVE, /* of a checkpoint, as far as training waits for it */
    ITERATION_LOAD,
    ITERATION_EVALUATION,
    ITERATION_PAUSES
};
enum {
    ITERATION_ROWS_MAX = 1 << 22
};
#define ITERATION_MAX 1e12 /* the largest number of an iteration */
struct iteration {
    uint64_t number;             /* as printed; the last of those that the row is the mean of */
    double step_s;               /* time of a step; NAN: not told */
    double tokens_per_s_per_gpu; /* NAN: not told */
    double batch;                /* sequences of a step, of all GPUs; NAN: not told */
    double at_s;                 /* when it was printed, since 1970 in UTC; NAN: not stamped */
    double pauses_s[ITERATION_PAUSES]; /* told since the row before */
    bool first;                        /* of a start: the number went back, or states were loaded */
    double loaded; /* first: the iteration whose checkpoint was loaded; NAN: not told */
    unsigned line;
};
struct iteration_log {
    const char *path;
    const struct iteration_format_kind *format;
    struct iteration *rows; /* in the order of the log; the first one is first of a start */
    uint32_t count, room;
    double begin_s;    /* the first stamp of the log; NAN: it has none */
    double sequence;   /* tokens of a sequence that the log states; NAN: not told */
    bool dated;        /* a stamp is a date; else they are plain seconds, since anything */
    uint32_t repeated; /* lines of other ranks, or drawn again, that were left out */
    uint32_t told_pauses[ITERATION_PAUSES]; /* how many of each it tells */
};

#endif
