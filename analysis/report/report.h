/* report.h - a simulated step in words and bars, for a terminal of 80 to 100 columns.
 *
 * The report says what is assumed: the convention of MFU, the usable memory of the card, and with
 * `verbose` every default that was taken. Numbers are rounded for people (format.h); JSON and the
 * database carry them in full. Pure output: nothing is computed here that they do not hold. */
#ifndef ORRERY_ANALYSIS_REPORT_REPORT_H
#define ORRERY_ANALYSIS_REPORT_REPORT_H

#include "analysis/result/result.h"
#include "analysis/terminal/session.h"
#include "models/fit/rule_of_thumb.h"

/* The name, model, cluster and layout: what was asked. */
void report_head(const struct session *session, const struct result *result);
/* `run`: time, breakdown, memory of each stage, communication, wires, digest. */
void report_step(const struct session *session, const struct result *result);
/* The head and the speed of a timed step alone, above a report of weeks. */
void report_speed(const struct session *session, const struct result *result);
/* What the scenario says to those who read along; nothing without `notes`. */
void report_notes(const struct session *session, const struct scenario *scenario);
void report_defaults(const struct session *session, const struct result *result);
/* Memory of each stage against usable HBM, one bar each. */
void report_stages(const struct session *session, const struct result *result);
/* Why and where memory ends, and what would help. Prints nothing when everything fits. */
void report_failure(const struct session *session, const struct result *result);
/* `memory`: tenants, verdict, rule of thumb against the exact ledger. `minimum_gpus` 0: above
 * `limit`. */
void report_memory(const struct session *session, const struct result *result,
                   const struct rule_of_thumb *rule, uint64_t minimum_gpus, uint64_t limit);

#endif
