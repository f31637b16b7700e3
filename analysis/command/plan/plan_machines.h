/* plan_machines.h - `orrery plan --vary`: the best layout on each of several machines. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_MACHINES_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_MACHINES_H

#include "analysis/command/plan/plan_arguments.h"
#include "analysis/command/plan/plan_diary.h"
#include "analysis/output/terminal/session.h"
#include "analysis/plan/search/search.h"
#include "scenarios/assemble/scenario.h"

/* Reads the scenario of a line, its layout left open. EXIT_OK with it, to be destroyed; else the
 * exit code, the problems having been told. */
typedef int plan_read_fn(const struct plan_arguments *arguments, struct session *session,
                         struct scenario **out);
/* Does the line ask for every size up to --most-gpus? */
bool plan_machines_sized(const struct plan_arguments *arguments);
/* Searches a machine for each point of the grid, as `question` says (its base is each point's), and
 * prints them all, unless the diary (or NULL) is of a shard; `sight` looks at each. The exit
 * code. */
int plan_machines(const struct plan_arguments *arguments, struct session *session,
                  plan_read_fn *read, const struct search_question *question,
                  struct plan_diary *diary, const struct plan_sight *sight);

#endif
