/* report_parts.h - the parts that reports are made of; for report*.c alone.
 *
 * What they print comes from a file: texts may hold anything, and numbers may be out of range. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_PARTS_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_PARTS_H

#include "analysis/output/terminal/session.h"
#include "analysis/record/numbers/record.h"

void report_heading(const struct session *session, const char *text);
/* A whole number that is kept as a real; 0 below, a million million million above. */
uint64_t report_count(double value);
/* What an interruption cost in all: work that was lost, and time that stood still. */
double report_price_s(const struct interruption_row *one);
/* The name, model, cluster and layout: what was asked, and what was chosen where nothing was. */
void report_head(const struct session *session, const struct record *record);
/* What the times of kernels rest on; nothing without a profile. `all`: each kernel whose time was
 * not measured, the longest first. */
void report_evidence(const struct session *session, const struct record *record, bool all);
/* Memory of each stage against usable HBM, one bar each. */
void report_stages(const struct session *session, const struct record *record);
/* Is it the memory of a node's CPUs that ends, not that of a card? */
bool report_host_fails(const struct record *record);
/* Why and where memory ends, and what would help. Prints nothing when everything fits. */
void report_failure(const struct session *session, const struct record *record);
/* How sure the step is; nothing without --uncertainty. */
void report_uncertainty(const struct session *session, const struct record *record);
/* Weeks in words and bars: what was kept, where the wall clock went, what failed. `all`: every
 * interruption, not only the first ones and the worst. */
void report_weeks(const struct session *session, const struct record *record, bool all);
/* Totals by cause, then each interruption: when, what, where, what was lost, and how long each link
 * of the chain took. */
void report_story(const struct session *session, const struct record *record, bool all);

#endif
