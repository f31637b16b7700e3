/* report.h - a run in words and bars, for a terminal of 80 to 100 columns; and as a document.
 *
 * The report says what is assumed: the convention of MFU, the usable memory of the card, and with
 * `all` every default that was taken. Numbers are rounded for people (format.h); JSON and the
 * database carry them in full. The text is that of a record, whether `run` has just made it or
 * `report` has read it from a database: nothing is computed here that it does not hold. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_H

#include "analysis/record/evidence/uncertainty_record.h"
#include "analysis/record/numbers/record.h"
#include "analysis/tell/document/document.h"
#include "models/plan/rule_of_thumb.h"

struct run_told {
    const struct result *result;           /* NULL: of a database, of which text alone is told */
    const struct uncertainty *uncertainty; /* NULL: not asked */
    bool all; /* of weeks the step too, each interruption, each default */
};
/* orrery.run/1, in the arena of the record: of a step time, breakdown, memory of each stage,
 * communication, wires, digest; of weeks what was kept and what failed. */
struct fact *report_run(const struct record *record, const struct run_told *told);
extern const char *const report_run_lines[];

/* The line by which every report with figures of announced hardware names it, and its two facts,
 * which stand in JSON too. `words`: of announced_words (models/layout/announced.h); NULL or "" of
 * what is sold. */
#define REPORT_ANNOUNCED "{if announced}  announced {wrap announced_words:whole 12}{end}"
void report_announced_facts(struct fact *object, const char *words);
void report_announced_of(struct fact *object, const struct configuration *c);

struct memory_told {
    const struct scenario *scenario;
    const struct rule_of_thumb *rule;
    const char *const *helps;            /* what makes a tenant smaller, in words */
    uint64_t minimum_gpus;               /* 0: above `limit` */
    const struct configuration *minimum; /* that holds it on so many */
    uint64_t opened_gpus; /* fewer, with the keys that are held open; 0: none found */
    unsigned held;        /* minimum_held */
    uint64_t limit;
    bool all; /* each default */
};
/* orrery.memory/1: tenants, verdict, rule of thumb against the exact ledger. */
struct fact *report_memory(const struct record *record, const struct memory_told *told);
extern const char *const report_memory_lines[];

#endif
