/* job_window.h - a part of the player `job`: the worst hour, that is the least share of steps whose
 * result was kept in any one hour.
 *
 * It is told of every stretch in which nothing was done that was kept, in order of time. Kept only
 * for whoever asks: it costs the number of saves, and up to JOB_STRETCHES_MAX of them in memory.
 * NULL stands for a window that nobody asks for: nothing is kept, nothing is found. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_WINDOW_H
#define ORRERY_MODELS_JOB_PARTS_JOB_WINDOW_H

#include <stdbool.h>

#include "models/job/parts/job_result.h"
#include "sim/arena.h"

struct job_window;

struct job_window *job_window_create(struct arena *arena);
bool job_window_is_open(const struct job_window *window); /* more stretches can be told */
/* Nothing is done from one moment to the other; one of no length is none. It begins no earlier than
 * the stretch before. */
void job_window_idle(struct job_window *window, double begin_s, double end_s);
/* What was done since then is lost: all of it was for nothing, up to now. */
void job_window_lost(struct job_window *window, double since_s, double now_s);
/* Of a run of `run_s`, work done or not; NAN where it is not known, or shorter than an hour. */
double job_window_worst_hour(const struct job_window *window, double run_s);

#endif
