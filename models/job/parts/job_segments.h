/* job_segments.h - a part of the player `job`: saves of an undisturbed stretch in closed form.
 *
 * A segment is an interval of steps and the save after it. A leap starts somewhere in a segment and
 * goes over many of them at once; when each of its saves begins, what it stalls and what it reaches
 * follows from where it began. It holds where every copy is durable before the save after it
 * begins, and every level is saved with those below it. Knows nothing of what ends a stretch. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_SEGMENTS_H
#define ORRERY_MODELS_JOB_PARTS_JOB_SEGMENTS_H

#include "models/checkpoint/checkpoint_kind.h"
#include "models/job/parts/job_ledger.h"

/* In the background a save writes its levels one after the other: each for write_s, which takes
 * loss_ratio of the speed of steps. */
struct level_pace {
    double write_s, loss_ratio;
};
struct job_segments {
    const struct checkpoint_plan *plan;
    uint64_t interval; /* steps between two saves; STEPS_NEVER: none */
    uint32_t replicas; /* of the whole job */
    double ideal_step_s;
    bool saves_exposed; /* failures strike saves too */
    struct level_pace paces[CHECKPOINT_LEVEL_MAX];
    bool slows;                  /* some level slows steps */
    bool same_each_time, nested; /* nested: a level is saved with those below it */
    double all_stalls_s, all_slowed_s, longest_persist_s;
    double segment_s; /* steps of a segment in the present condition; 0: it does not hold */
};
/* Over many saves: a copy of it says all that they reach. */
struct leap {
    const struct job_segments *segments;
    struct ledger_mark now; /* where it began, as all below */
    double at_s, segment_s;
    double first_s; /* end of the segment at hand */
    uint64_t saves, first_steps;
    uint32_t replicas_up;
};

/* What no condition changes; `plan` is borrowed. */
void job_segments_create(struct job_segments *segments, const struct checkpoint_plan *plan,
                         uint64_t interval, uint32_t replicas, double ideal_step_s,
                         bool saves_exposed);
void job_segments_condition(struct job_segments *segments, double step_s);
bool job_segments_saves_level(const struct job_segments *segments, unsigned level, uint64_t save);

/* Of the next `saves`, those that this level is part of. */
uint64_t job_segments_saves(const struct leap *leap, unsigned level, uint64_t saves);
/* Steps from the end of the segment at hand to the begin of that save, and stalls up to its end. */
double job_segments_run_s(const struct leap *leap, uint64_t saves);
double job_segments_stall_s(const struct leap *leap, uint64_t saves);
double job_segments_begin_s(const struct leap *leap, uint64_t save);
/* So many saves end within both times from the end of the segment. */
bool job_segments_fit(const struct leap *leap, uint64_t saves, double wall_s, double exposed_s);
/* The most saves, at most `limit`, that end within both times from the end of the segment; two
 * do. */
uint64_t job_segments_by(const struct leap *leap, uint64_t limit, double wall_s, double exposed_s);
/* The copy on this level of save number `save` from where the leap began. */
struct copy job_segments_copy(const struct leap *leap, unsigned level, uint64_t save);

#endif
