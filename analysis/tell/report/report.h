/* report.h - a run in words and bars, for a terminal of 80 to 100 columns.
 *
 * The report says what is assumed: the convention of MFU, the usable memory of the card, and with
 * `all` every default that was taken. Numbers are rounded for people (format.h); JSON and the
 * database carry them in full. Pure output of a record, whether `run` has just made it or `report`
 * has read it from a database: nothing is computed here that it does not hold. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_H

#include "analysis/output/terminal/session.h"
#include "analysis/record/numbers/record.h"
#include "models/plan/rule_of_thumb.h"
#include "models/program/ledger_entry.h"

/* `run`: of a step time, breakdown, memory of each stage, communication, wires, digest; of weeks
 * what was kept and what failed; with `all` (-v) both, each interruption and each default. */
void report_run(const struct session *session, const struct record *record, bool all);
/* Every default that was taken, with its key and what it means. */
void report_defaults(const struct session *session, const struct record *record);
/* `memory`: tenants, verdict, rule of thumb against the exact ledger. `minimum_gpus` 0: above
 * `limit`. `helps`: what makes a tenant smaller, in words. */
void report_memory(const struct session *session, const struct record *record,
                   const char *const helps[TENANT_COUNT], const struct rule_of_thumb *rule,
                   uint64_t minimum_gpus, uint64_t limit);

#endif
