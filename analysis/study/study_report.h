/* study_report.h - a study told: as a table for people, CSV, a figure.
 *
 * Every list shows the same points in the same order (study_order), and ends with the best one and
 * the command that runs it. Where each point has one replication there are no columns of a spread.
 *
 * The figure is the U curve: the objective over the varied key with its confidence interval and the
 * spread of the replications, the optimum with its interval, and the marks of Young, Daly and the
 * exact optimum where the key is the checkpoint interval. Goodput is drawn as the share that is
 * lost. A second key gives one curve for each of its values. */
#ifndef ORRERY_ANALYSIS_STUDY_STUDY_REPORT_H
#define ORRERY_ANALYSIS_STUDY_STUDY_REPORT_H

#include "analysis/output/terminal/session.h"
#include "analysis/output/text/format.h"
#include "analysis/study/study.h"

struct study_list {
    struct study_optimum optimum;
    size_t *points; /* as study_order gives them */
    size_t count;
};
void study_report(const struct session *session, const struct study *study,
                  const struct study_list *list);
/* How many points were left out, and why; nothing where none was. */
/* A sentence for each hardware of the points that is announced. */
void study_report_announced(const struct study *study, FILE *out);
/* The same in one text, for a picture; "": none is. */
const char *study_announced(const struct study *study);
void study_report_refused(const struct study *study, FILE *out);
/* One line for each point: values, replications, fits, then each metric that has a value somewhere:
 * mean, low95, high95, p10, p50, p90, or where no point has more than one replication the value
 * alone; and what is missing where a point does not fit. */
void study_csv(const struct study *study, const struct study_list *list, FILE *out);
void study_svg(const struct study *study, const struct study_optimum *optimum, FILE *out);
/* The points by memory and tokens a second, with the line of those that no other beats in both.
 * False with a sentence where none fits and was timed. */
bool study_pareto_svg(const struct study *study, FILE *out, struct error *error);
/* "30.4 min": a place on the axis of a varied key for people. */
struct text study_value_text(const struct vary *vary, double number);
/* A value of a varied key for people: as it was typed. */
const char *study_value_shown(struct arena *arena, const struct vary *vary,
                              const struct vary_value *value);
/* Has this metric a value somewhere? (cost without a price has none) */
bool study_has(const struct study *study, enum study_metric metric);
/* "orrery run FILE --set layout.tp=4": the scenario with the values of this point. */
const char *study_line(struct arena *arena, const char *command, const struct study *study,
                       size_t point);

#endif
