/* study_report.h - a study told: as a table for people, CSV, a JSON document, a figure.
 *
 * The figure is the U curve: the objective over the varied key with its confidence interval and the
 * spread of the replications, the optimum with its interval, and the marks of Young, Daly and the
 * exact optimum where the key is the checkpoint interval. Goodput is drawn as the share that is
 * lost. A second key gives one curve for each of its values. */
#ifndef ORRERY_ANALYSIS_STUDY_REPORT_H
#define ORRERY_ANALYSIS_STUDY_REPORT_H

#include "analysis/format.h"
#include "analysis/session.h"
#include "analysis/study.h"

void study_report(const struct session *session, const struct study *study,
                  const struct study_optimum *optimum, double seconds);
/* One line for each point: values, replications, then mean, low95, high95, p10, p50, p90 of each
 * metric. */
void study_csv(const struct study *study, FILE *out);
void json_study(const struct study *study, const struct study_optimum *optimum, double seconds,
                FILE *out);
void study_svg(const struct study *study, const struct study_optimum *optimum, FILE *out);
/* "30.4 min": a value of a varied key for people. */
struct text study_value_text(const struct vary *vary, double number);
/* Has this metric a value somewhere? (cost without a price has none) */
bool study_has(const struct study *study, enum study_metric metric);

#endif
