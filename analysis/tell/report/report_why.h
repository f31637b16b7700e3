/* report_why.h - what `plan --why` found, as facts and lines of a plan. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_WHY_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_WHY_H

#include "analysis/plan/search/search_why.h"
#include "analysis/tell/document/document.h"

/* `rejected`: how many layouts met each fate. */
/* `rejected` of a search; of power where that is limited. */
void report_fates(struct fact *in, const struct search *search);
/* `why`; null where nothing was asked (`verdict` NULL). `asked`: in the user's words. */
void report_why(struct fact *in, const struct search *search, const struct search_verdict *verdict,
                const char *asked);
extern const char report_why_lines[];

/* Why the leaders, of which there is one, do not stand by the objective alone, and what the first
 * lacks; NULL: they do, and it fits surely. */
const char *report_why_order(struct arena *arena, const struct search *search);
/* Why a search has no layout to tell, in a sentence or two; NULL: something leads, or fits. */
const char *report_why_nothing(struct arena *arena, const struct search *search);
/* The same as facts: `broken` is the rule that most layouts break, where each breaks one; `lack`
 * what search_lack.h finds. */
void report_why_nothing_facts(struct fact *in, const struct search *search);

#endif
