/* validate_report.h - a validation for people, as CSV, and as JSON (orrery.validate/1). */
#ifndef ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_REPORT_H
#define ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_REPORT_H

#include "analysis/output/terminal/session.h"
#include "analysis/output/text/format.h"
#include "analysis/validate/rows/validate_uncertainty.h"
#include "analysis/validate/table/validate_score.h"

/* Every row, or only the `worst` with the largest errors (SIZE_MAX: every row), then statistics. */
void validate_report(const struct validation *v, const struct scores *scores, size_t worst,
                     struct session *session);
/* What of their hardware is announced, in a line; nothing where all is sold. */
void validate_report_announced(const struct validation *v, FILE *out);
/* row_id,source,quality,metric,predicted,measured,error,note,refused: one line for each metric of
 * each row that was measured, or that is the main one; 17 digits; `refused` is the reason in a
 * word, or empty. */
void validate_report_csv(const struct validation *v, FILE *out);

/* Of a row of a file that was opened: what was predicted of it, measured, and why it was refused,
 * as comments; then the scenario that it became, each key with where its value comes from, or the
 * filled columns where rows of this kind become none. False with a sentence when there is no such
 * row. */
bool validate_explain(const struct validation *v, const char *id, FILE *out, struct error *error);

/* A value by its metric's unit; "-" when it is not known. */
struct text validate_value_text(const char *metric, bool known, double value);
/* The rows of these reports: metric `m` of a row is listed when it was measured, or when it is the
 * main one. */
bool validate_listed(const struct validate_row *row, unsigned metric);
/* As steps of two states in CSV and JSON: metric "oom", 1: out of memory. */
extern const char *const validate_oom_metric;

#endif
