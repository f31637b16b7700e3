/* advice.h - what would help where memory is short, of this layout on these GPUs.
 *
 * For each tenant: the changes that make it smaller and that can be made here (no tensor ranks on
 * one GPU, no half of a microbatch of one). For a layout that does not fit: the neighbours that
 * do, found on the real ledger and timed by the step that a run of the scenario with the change
 * has. Formats nothing. */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_ADVICE_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_ADVICE_H

#include "models/plan/neighbour.h"
#include "models/program/ledger_entry.h"
#include "scenarios/assemble/scenario.h"

struct advice {
    const char *helps[TENANT_COUNT]; /* in words, never NULL */
    struct neighbourhood tried;      /* by advice_search; else nothing was */
};
/* `helps`: asks the rules only. */
void advice_words(struct arena *arena, const struct configuration *c, struct advice *out);
/* `tried`: some milliseconds for each neighbour that fits, and readings of the scenario. */
void advice_search(struct arena *arena, const struct scenario *scenario, struct advice *out);

#endif
