/* launch_unsaid.h - keys of software that a script does not say.
 *
 * A key that a scenario sets beside the profile is expressed where the script or its notes change
 * with it. Each of the others is a note: the framework does what its profile says. Where the layout
 * then no longer fits in memory, it is refused. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_UNSAID_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_UNSAID_H

#include "analysis/exchange/launch/launch_beside.h"
#include "analysis/exchange/launch/launch_kind.h"

/* Is this key one of what a run does? Not names, dates, what a version offers, refuses or takes
 * where nothing is said: they decide which layouts there are, and the script says the layout. Nor
 * times of the host: they are measurements. */
bool launch_unsaid_asks(const struct param *key);
/* Adds its notes to `text`, which launch_compose wrote of the same and did not refuse. */
void launch_unsaid(const struct launch_kind *kind, const struct configuration *c,
                   const struct launch_beside *beside, struct launch_text *text);

#endif
