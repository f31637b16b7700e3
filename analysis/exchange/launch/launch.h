/* launch.h - a layout as the script that starts it: what `orrery export --launch` prints.
 *
 * A layout that the framework's own rules forbid is refused with the rule and its message, and has
 * no script. Names of a configuration may hold anything: what reaches the script is cleaned. It
 * knows no database, and no file. Options, rules and versions: docs/launch.md. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_H

#include "analysis/exchange/launch/launch_beside.h"
#include "analysis/exchange/launch/launch_kind.h"

/* The script and notes of a layout into `out`. `c` breaks no rule of configuration_check. `beside`:
 * of its scenario; NULL: nothing is known of its memory, profile and saves. */
void launch_write(const struct launch_kind *kind, const struct configuration *c,
                  const struct launch_beside *beside, struct arena *arena, struct launch_text *out);

#endif
