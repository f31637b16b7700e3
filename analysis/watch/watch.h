/* watch.h - a training log row by row: how many steps each row stands for and how long one took,
 * where the run was started anew, and what of it was trained in vain.
 *
 * The time of a step is what the log tells; else, of a rate of tokens, tokens of a step / (GPUs x
 * rate); else the time between two stamps over the steps in between. Pauses that it holds (a
 * checkpoint within the interval) are taken out. Of a row that stamps alone time, and that takes
 * more than twice as long a step as the median of the WATCH_AROUND rows around it, the median is
 * its steps, and the rest is a gap. It knows no forecast. */
#ifndef ORRERY_ANALYSIS_WATCH_WATCH_H
#define ORRERY_ANALYSIS_WATCH_WATCH_H

#include "scenarios/import/iterations/iteration_log.h"

enum {
    WATCH_AROUND = 9 /* as many as a level has at least (change_points.h) */
};
/* Where times of steps come from. */
enum watch_source {
    WATCH_TOLD,
    WATCH_RATE,
    WATCH_CLOCK
};
struct watch_row {
    double steps;    /* it is the mean of */
    double whole_s;  /* of all of them, with the pauses inside; 0: not known */
    double inside_s; /* pauses of it */
    double pauses_s; /* all that are told since the row before, as far as there is time for them */
    double step_s;   /* of a step, without pauses; NAN: not known */
    double kept_ratio; /* of its steps: that no later start repeats */
    double clock_s;    /* since the row before; of the first since the log's first stamp; or NAN */
    bool steady;       /* neither the first of a start (unless nothing else is known) nor unknown */
};
struct watch_start {
    uint32_t first, count; /* rows of the log */
    double base;           /* the iteration that it goes on from */
    double repeated;       /* iterations before it that it trains again */
    double between_s;      /* from the last row before to its first step; NAN: not stamped */
};
struct watch {
    const struct iteration_log *log;
    struct watch_row *rows; /* as many as the log has */
    struct watch_start *starts;
    uint32_t start_count, steady_count;
    enum watch_source source;
    bool clocked;       /* every row is stamped, and none before the one before it */
    uint32_t back;      /* the first row that is stamped before the one before it; 0: none is */
    double stamp_s;     /* what stamps are told to: a second where all are whole ones, else 1 ms */
    double clock_ratio; /* time by the stamps within starts, without pauses, over that of steps */
};
/* What a step of the scenario trains, for logs that print a rate alone. */
struct watch_work {
    double tokens; /* of a step of all GPUs */
    uint64_t gpus;
};
/* Everything lives in the arena; borrows the log. False with a sentence: no row tells a time. */
bool watch_read(struct arena *arena, const struct iteration_log *log, struct watch_work work,
                struct watch *out, struct error *error);

#endif
