/* plan_line.h - the command that plays a layout of a plan: `orrery run` of its scenario, with every
 * --set of the line of `plan`, then those of the layout, then what stands behind them. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_LINE_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_LINE_H

#include "analysis/command/plan/plan_arguments.h"
#include "models/plan/plan_layout.h"
#include "scenarios/assemble/scenario.h"

struct plan_line {
    const char *head; /* "orrery run FILE --set KEY=VALUE ..." */
    const char *tail; /* behind the last option: "", or the scenario as a here-document where no
                       * file holds it */
};
/* Words are quoted for a POSIX shell. Both live in the arena. */
struct plan_line plan_line_of(struct arena *arena, const struct plan_arguments *arguments,
                              const struct scenario *scenario);
/* The whole line, which writes a database of its own, named by the scenario and the layout. */
const char *plan_line_run(struct arena *arena, const struct plan_line *line,
                          const struct scenario *scenario, const struct plan_layout *layout);

#endif
