/* plan_weeks.h - what a line of `plan` says of failures, in the words of the scenario that it is
 * about. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_WEEKS_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_WEEKS_H

#include "analysis/command/plan/plan_arguments.h"
#include "analysis/output/terminal/session.h"
#include "analysis/plan/search/search.h"

/* Does the line give --seeds where no failures are asked for? EXIT_OK: no; or the exit code, the
 * problem having been told. A file that cannot be read is told of later. */
int plan_weeks_seeds(struct arena *arena, struct plan_arguments *line, struct session *session);
/* Puts --mtbf before the --set of the line: `failures`, and where the scenario has no `run:` one
 * that ends with its tokens, or after 30 days. EXIT_OK, or the exit code, the problem having been
 * told. Without it the line is asked about its --seeds. Texts live in `arena`. */
int plan_weeks_state(struct arena *arena, struct plan_arguments *line, struct session *session);
/* Are weeks to be played, and of what? `wish` is what question->weeks then points to; what the best
 * is by, where the line does not say it, is then what failures leave. False with a
 * sentence: the line asks for what a scenario without weeks cannot tell. */
bool plan_weeks_ask(const struct plan_arguments *line, const struct scenario *scenario,
                    struct search_weeks_wish *wish, struct search_question *question,
                    struct error *error);

#endif
