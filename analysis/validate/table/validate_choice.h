/* validate_choice.h - would the predictions have chosen the right layout? Groups of rows that
 * differ in their layout alone. */
#ifndef ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_CHOICE_H
#define ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_CHOICE_H

#include "analysis/validate/table/validate_kind.h"

/* Layouts of one model on one machine size with one release of a software: clean rows that ran, two
 * layouts at least; of several runs of one layout the fastest counts. Regret: measured time of the
 * layout predicted fastest over the measured best, less 1. A refused layout counts as predicted
 * slowest; a group of which nothing was predicted is none. top1: share of groups whose best was
 * found. Figures of nothing are NAN: median_spearman also where no group has an order. */
struct choice {
    double groups, median_regret, p90_regret, median_spearman, top1;
};
struct choice validate_choice_of(struct arena *arena, const struct validation *v,
                                 const char *source);

#endif
