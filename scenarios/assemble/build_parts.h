/* build_parts.h - the parts of build.h, one for each group of sections. Each fills its share of the
 * configuration and reports its own problems. */
#ifndef ORRERY_SCENARIOS_ASSEMBLE_BUILD_PARTS_H
#define ORRERY_SCENARIOS_ASSEMBLE_BUILD_PARTS_H

#include "scenarios/assemble/section.h"

void build_model(struct builder *b);   /* build_model.c */
void build_cluster(struct builder *b); /* build_cluster.c */
/* build_profile.c: the measured times in a file of that name, for a sound cluster */
void build_profile(struct builder *b, const struct value *cluster, const char *named);
void build_training(struct builder *b);           /* build_training.c: training, layout, software */
const char *build_sequence_of(struct builder *b); /* why this sequence, where nobody says one */
/* build_release.c. After software and layout: is the release of a time in which that card, and what
 * the scenario says beside it, were there? `where`: of the release. */
void build_release_check(struct builder *b, struct mark where);
/* Sets what the recipes of the release set of what is not said, each a choice; before the layout is
 * chosen. */
void build_release_settle(struct builder *b);
bool build_release_sets(const struct builder *b, const char *key); /* did they set this key? */
void build_release_tell(struct builder *b);                        /* the release and these */
void build_extras(struct builder *b); /* build_extras.c: perturbations, notes, cost, expect */
void build_lesson(struct builder *b); /* build_lesson.c */
/* build_job.c: weeks of training; after all others */
void build_job(struct builder *b);

/* build_constants.c. First the uncertain figures that a section took from the catalogue's entry
 * `base` (NULL: none); those that the scenario gave in `over` are exact. */
struct constant_section {
    enum section section;
    const char *entry; /* its name */
    const struct value *base, *over;
    const char *source; /* of all of `base`, where it is no entry of the catalogue; NULL: it is */
};
void build_constants(struct builder *b, const struct constant_section *of, struct params params,
                     const void *object);
void build_constant_options(struct builder *b, const struct constant_section *of,
                            struct params options, const struct kind_options *object);
/* Every figure of the table, whoever gave it; `merged` is what the section's struct was read from.
 */
void build_figures(struct builder *b, const struct constant_section *of, struct params params,
                   const struct value *merged);
/* Those of the causes of a fleet. */
void build_fleet_figures(struct builder *b, const char *fleet, const struct value *entry);

#endif
