/* study_warnings.h - the warnings of the points of a study, each told once.
 *
 * Warnings of one place whose words differ in numbers alone are one, told by the first and with the
 * points that have it, where those are not all. A stated key that has no effect is told only where
 * it has none in the whole study: each point knows that of its own (scenarios/schema/idle.h), and a
 * key that has an effect at another one is no mistake. */
#ifndef ORRERY_ANALYSIS_STUDY_STUDY_WARNINGS_H
#define ORRERY_ANALYSIS_STUDY_STUDY_WARNINGS_H

#include "analysis/study/study_vary.h"
#include "scenarios/assemble/scenario.h"

struct study_warnings;
/* The keys that are varied; they outlive it. */
struct study_warnings *study_warnings_create(struct arena *arena, const struct vary *varies,
                                             unsigned vary_count);
/* Takes the warnings of a point that can be played, from its problem `first` on. Each point once,
 * in any order. */
void study_warnings_see(struct study_warnings *warnings, size_t point,
                        const struct scenario *scenario, unsigned first);
/* Prints them, in the order in which they were met. `all`: of how many points. */
void study_warnings_tell(const struct study_warnings *warnings, size_t all, FILE *notes,
                         bool colour);
/* Do two sentences differ in their numbers alone? */
bool study_warnings_alike(const char *a, const char *b);

#endif
