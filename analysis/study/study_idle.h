/* study_idle.h - stated keys that change nothing in a whole study: each point knows those of its
 * own (scenarios/schema/idle.h), and a key that has an effect at another one is no mistake. */
#ifndef ORRERY_ANALYSIS_STUDY_STUDY_IDLE_H
#define ORRERY_ANALYSIS_STUDY_STUDY_IDLE_H

#include "analysis/study/study_vary.h"
#include "scenarios/assemble/scenario.h"

struct study_idle;
/* Keys that are varied, and how many points there are; both outlive it. */
struct study_idle *study_idle_create(struct arena *arena, const struct vary *varies,
                                     unsigned vary_count, size_t point_count);
/* Takes the warnings of a point that can be played. Each point once. */
void study_idle_see(struct study_idle *idle, size_t point, const struct scenario *scenario);
/* Prints the warnings of each key that has no effect wherever it is stated with a value that is
 * not its default: for each thing that it lacks the first that was met. */
void study_idle_tell(const struct study_idle *idle, FILE *notes, bool colour);

#endif
