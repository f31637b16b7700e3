/* report_compare.h - two runs side by side, and where their difference comes from: as text, or as
 * orrery.compare/1. Texts come from files and may hold anything. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_COMPARE_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_COMPARE_H

#include "analysis/explain/comparison.h"
#include "analysis/tell/document/document.h"

/* orrery.compare/1, in the arena of A's record. */
struct fact *report_compare(const struct compared_side sides[2],
                            const struct comparison *comparison);
extern const char *const report_compare_lines[];

/* What does not fit in memory: where memory ends and what is missing. Its times are of cards that
 * there are not: who compares or explains them says so in these lines, of an object that has the
 * facts below; none where the record fits. */
#define REPORT_UNFIT                                                                               \
    "{if not .has_room}\n{bold}{.unfit:clean} does not fit in memory{plain}: {.unfit_so}\n"        \
    "{each first_failure}"                                                                         \
    "{if place = host}"                                                                            \
    "  the CPUs of a node have {reserved_bytes}: {short_bytes} short, at {at}\n"                   \
    "{else}"                                                                                       \
    "  stage {stage:digits} would reserve {.stage_bytes} of {.usable_bytes} usable\n"              \
    "  out of memory at {at}: rank {rank:digits} asks for {bytes} for {tensor} ({tenant}), "       \
    "{short_bytes} short\n"                                                                        \
    "{end}{end}{end}"
/* `name` of the side, as in "A does not fit in memory: SO". */
void report_unfit_facts(struct fact *object, const char *name, const char *so,
                        const struct record *record);
/* The lines alone, without colours, in the arena of the record. */
const char *report_unfit_text(const char *name, const char *so, const struct record *record);

#endif
