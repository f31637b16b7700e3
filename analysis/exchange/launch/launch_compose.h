/* launch_compose.h - what a framework's script says of a configuration: the lines behind the common
 * head, and the notes. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_COMPOSE_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_COMPOSE_H

#include "analysis/exchange/launch/launch_beside.h"
#include "analysis/exchange/launch/launch_kind.h"

/* Where it is refused the lines, if any, are of no use. */
void launch_compose(const struct launch_kind *kind, const struct configuration *c,
                    const struct launch_beside *beside, struct arena *arena,
                    struct launch_text *out);

#endif
