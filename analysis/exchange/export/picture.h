/* picture.h - figures of a run, of its database alone, as SVG (analysis/output/plot).
 *
 * Every figure has a title and a description in words, and every mark that carries a number tells
 * it exactly when pointed at (<title>): what a test adds up. What a database does not hold is
 * refused with what to do. Texts may hold anything. Errors of the output stay in the stream. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_EXPORT_PICTURE_H
#define ORRERY_ANALYSIS_EXCHANGE_EXPORT_PICTURE_H

#include <stdio.h>

#include "analysis/record/database/query.h"
#include "analysis/record/numbers/record.h"

/* Every picture that `export --svg` knows; those of explanations are drawn in analysis/explain,
 * those of studies in analysis/study. */
#define PICTURES(X)                                                                                \
    X(gantt)                                                                                       \
    X(memory)                                                                                      \
    X(waterfall)                                                                                   \
    X(pareto)                                                                                      \
    X(ucurve)                                                                                      \
    X(roofline)                                                                                    \
    X(tornado)                                                                                     \
    X(map)
enum picture {
#define X(name) PICTURE_##name,
    PICTURES(X)
#undef X
};
extern const char *const picture_names[]; /* NULL-ended */

/* The pipeline: a row for each stage, a rectangle for each pass, hatched where nothing computes;
 * captions of the scenario at their moments. */
bool picture_gantt(struct query *query, FILE *out, struct error *error);
/* What each stage holds at its peak, by tenant, against what a card can give. */
bool picture_memory(const struct record *record, FILE *out, struct error *error);
/* The machine: nodes with their GPUs by pipeline stage, and how loaded each kind of wire was. */
bool picture_map(struct query *query, const struct record *record, FILE *out, struct error *error);

#endif
