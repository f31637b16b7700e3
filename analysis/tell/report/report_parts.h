/* report_parts.h - facts that several reports tell; for report*.c alone.
 *
 * They come from a record, and so from a file: texts may hold anything, and numbers may be out of
 * range. The columns of the table `run` stand in each document behind a dot, for the lines. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_PARTS_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_PARTS_H

#include "analysis/record/numbers/record.h"
#include "analysis/tell/document/document_json.h"
#include "analysis/tell/document/document_lines.h"

/* What an interruption cost in all: work that was lost, and time that stood still. */
double report_price_s(const struct interruption_row *one);
/* What was asked, and what was chosen where nothing was: for report_head_lines. */
void report_head_facts(struct fact *document, const struct record *record);
extern const char report_head_lines[];
/* What the times of kernels rest on: `kernel_evidence`, where there is a profile; with `all` each
 * kernel whose time was not measured, the longest first. For report_evidence_lines. */
void report_evidence_facts(struct fact *document, const struct record *record, bool all);
extern const char report_evidence_lines[];
/* `first_failure` and `advice`: where memory ends, and what would help. */
void report_failure_facts(struct fact *document, const struct record *record);
extern const char report_failure_lines[];
/* `classes`: memory of each stage; stages alike that follow each other are one line. */
void report_stage_facts(struct fact *document, const struct record *record);
extern const char report_stage_lines[];
/* Messages of a severity, as rows `key`. */
struct fact *report_messages(struct fact *document, const char *key, const struct record *record,
                             const char *severity);
/* `choices`: what the scenario of a database left open, as document_begin has it of a scenario. */
void report_choice_facts(struct fact *document, const struct record *record);
/* How sure the step is; nothing without --uncertainty. */
void report_uncertainty_facts(struct fact *document, const struct record *record);
extern const char report_uncertainty_lines[];
/* Weeks: what was kept, where the wall clock went, what was saved; the keys of JSON in `document`,
 * what the lines need beside them in `weeks` (NULL: there are none). */
void report_weeks_facts(struct fact *weeks, struct fact *document, const struct record *record);
extern const char report_weeks_lines[];
/* Totals by cause, then each interruption (`all`) or the first and the worst: when, what, where,
 * what was lost, and how long each link of the chain took. */
void report_story_facts(struct fact *document, const struct record *record, bool all);
extern const char report_story_lines[];
/* Every default that was taken, with its key and what it means. */
extern const char report_defaults_lines[];

#endif
