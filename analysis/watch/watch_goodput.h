/* watch_goodput.h - where the time of a log went, in the terms of Google's ml-goodput-measurement
 * (its README, "Badput Breakdown", and goodput.py): productive step time is that of the steps that
 * no later start repeats; program startup what the first step of a start takes beyond the mean of
 * its others; wasted progress the time of the steps that are repeated.
 *
 * A log tells a part of it. Between the last row before a disruption and the first step after it
 * lie steps that were not printed any more, the wait for machines and the start of the program:
 * they are one figure, infrastructure recovery. Before the first step lie the initialisation of
 * devices, the preparation of training and the start of the program: one figure too. What training
 * waits for data within its steps is told by none. */
#ifndef ORRERY_ANALYSIS_WATCH_WATCH_GOODPUT_H
#define ORRERY_ANALYSIS_WATCH_WATCH_GOODPUT_H

#include "analysis/watch/watch.h"

struct watch_goodput {
    double wall_s; /* the sum of the others; by the stamps, where every row has one */
    double productive_s;
    double wasted_s;   /* in steps that were repeated */
    double recovery_s; /* from the last row before a start to its first step; NAN: not stamped */
    double startup_s;  /* before the first step, as far as it is stamped, and in first steps */
    double pauses_s[ITERATION_PAUSES]; /* NAN: the log tells none */
    double other_s;                    /* between rows, of nothing that is told; NAN: not stamped */
    double kept_steps, repeated_steps;
};
void watch_goodput_find(const struct watch *watch, struct watch_goodput *out);

#endif
