/* build_parts.h - the parts of build.h, one for each group of sections. Each fills its share of the
 * configuration and reports its own problems. */
#ifndef ORRERY_SCENARIOS_BUILD_PARTS_H
#define ORRERY_SCENARIOS_BUILD_PARTS_H

#include "scenarios/section.h"

void build_model(struct builder *b);    /* build_model.c */
void build_cluster(struct builder *b);  /* build_cluster.c */
void build_training(struct builder *b); /* build_training.c: training, layout, software */
void build_extras(struct builder *b);   /* build_extras.c: perturbations, notes, cost */

#endif
