/* plan_run.h - `orrery plan` of a line that was read: for the command, for ranks, and for whoever
 * joins what others searched. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_RUN_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_RUN_H

#include "analysis/command/plan/plan_diary.h"

/* Reads the scenario of a line, its layout left open. EXIT_OK with it, to be destroyed; else the
 * exit code, the problems having been told. */
int plan_run_read(const struct plan_arguments *arguments, struct session *session,
                  struct scenario **out);

/* Searches what `work` says and tells the result; of a shard, only how to go on from there. The
 * exit code. */
int plan_run(const struct plan_arguments *arguments, struct session *session,
             const struct plan_work *work);

#endif
