/* search_unit.h - the layouts of one (tp, cp): judged and timed by one thread after the other.
 *
 * They share the memory of blocks, which nobody else asks; so whatever is found does not depend on
 * how many threads there are, and on which of them took which unit. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_UNIT_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_UNIT_H

#include "analysis/plan/search/search_found.h"

struct search_unit;
/* What all units share and nobody writes. */
struct search_ground {
    const struct configuration *base;
    const struct topology *topology;
    unsigned held;
    double usable_bytes; /* that a layout may reserve: of the card, less what is to stay free */
    double power_w;      /* that a step may draw at the wall; 0: whatever it draws */
};

/* Of rows first .. first + count - 1, all of one (tp, cp). */
struct search_unit *search_unit_create(const struct search_ground *ground, struct search_row *first,
                                       uint32_t count);
void search_unit_destroy(struct search_unit *unit);
/* Rules, the bound of memory (with more recomputation until it is met), the bound of time. */
void search_unit_judge(struct search_unit *unit);
/* Times those that are judged and whose bound is at most this. */
void search_unit_time(struct search_unit *unit, double most_s);
/* A row that does not fit after all: with more recomputation, judged and timed anew. */
void search_unit_more(struct search_unit *unit, struct search_row *row);
/* That row, open until now, if it may take no longer. */
void search_unit_time_one(struct search_unit *unit, struct search_row *row, double most_s);
/* Bounds of pass detail are bounds of op detail but for traffic that slows compute for another
 * while than op by op, and are above the step by no more than this; where they are loose
 * (pass_wires.h) by no more than that in the usual order of ranks, and in others
 * (docs/models/pass.md). */
#define SEARCH_UNIT_OVERSTATED 1.006
#define SEARCH_UNIT_OVERSTATED_LOOSE 1.06
#define SEARCH_UNIT_OVERSTATED_SCATTERED 1.2
/* Op by op no step was seen to be longer than at pass detail by more than this
 * (docs/models/pass.md): what draws more than the limit in one so long is refused. */
#define SEARCH_UNIT_UNDERSTATED 1.25
/* Seconds; no step of a timed row is shorter op by op. Found once. */
double search_unit_apart_s(struct search_unit *unit, struct search_row *row);
bool search_unit_holds(const struct search_unit *unit, const struct search_row *row);

#endif
