/* job_steps.h - a part of the player `job`: the progress of steps.
 *
 * Steps i = 1, 2, ... since `origin_s` end where i * step_s of work at full speed is done
 * (job_speed.h). Whoever plays them says how many replicas take part. What they reach stands in the
 * ledger, which a rollback sets back. Knows of saves only when the last one was. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_STEPS_H
#define ORRERY_MODELS_JOB_PARTS_JOB_STEPS_H

#include "models/job/parts/job_copies.h"

struct random_stream;
struct job_steps {
    double ideal_step_s, step_s, noisy_step_s;
    struct random_stream *noise; /* NULL: none */
    double noise_sigma;
    double origin_s;
    uint64_t origin_steps; /* steps since the origin; with noise the origin follows the steps */
    uint64_t since;        /* steps since the last save began */
    uint64_t interval;     /* steps between two saves; STEPS_NEVER: none */
    struct ledger_mark now;
    uint64_t target;   /* replica-steps; STEPS_NEVER: none */
    uint32_t replicas; /* of the whole job */
};
struct steps_lost {
    double lost_s, lost_steps; /* of full steps' worth */
};

/* `noise` is borrowed, NULL without; spec->steps 0: no end of the work. */
void job_steps_create(struct job_steps *steps, const struct job_spec *spec, double ideal_step_s,
                      uint64_t interval, struct random_stream *noise);
/* At this moment the course of steps changes; or what one takes, too. */
void job_steps_origin(struct job_steps *steps, double at_s);
void job_steps_condition(struct job_steps *steps, double step_s, double at_s);
void job_steps_saved(struct job_steps *steps); /* a save begins, or the job runs again */

/* Steps to the save that is due, to the end of the work; saves before the end of the work. */
static inline uint64_t job_steps_to_save(const struct job_steps *steps)
{
    return steps->interval - steps->since;
}

static inline bool job_steps_done(const struct job_steps *steps)
{
    return steps->now.progress >= steps->target;
}

uint64_t job_steps_to_finish(const struct job_steps *steps, uint32_t replicas_up);
uint64_t job_steps_saves_to_finish(const struct job_steps *steps, uint32_t replicas_up);
/* When the segment at hand ends. */
double job_steps_segment_end_s(const struct job_steps *steps, const struct job_copies *copies);
/* How many whole steps, at most `most`, have ended by `stop_s`. */
uint64_t job_steps_by(const struct job_steps *steps, const struct job_copies *copies, uint64_t most,
                      double stop_s);
/* They are made, from `at_s` on: when they have ended. */
double job_steps_take(struct job_steps *steps, const struct job_copies *copies, uint64_t count,
                      double at_s, uint32_t replicas_up);
/* Share of the step under way that is done at `end_s`, which counts as such: the time is up. */
double job_steps_take_part(struct job_steps *steps, const struct job_copies *copies, double at_s,
                           double end_s, uint32_t replicas_up);
/* Many segments were made, up to a save whose stall ends at `at_s`. */
void job_steps_leap(struct job_steps *steps, const struct ledger_mark *reached, double at_s);
/* Back to what a copy holds. */
struct steps_lost job_steps_go_back(struct job_steps *steps, const struct ledger_mark *to);

#endif
