/* plan_share.h - who searches which part of a plan: this process all of it or a shard, the ranks of
 * mpirun one each, or a job that is printed. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_SHARE_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_SHARE_H

#include "analysis/command/plan/plan_arguments.h"
#include "analysis/output/terminal/session.h"

/* The line of `orrery plan`, played. The exit code. */
int plan_share(const struct plan_arguments *given, struct session *session);

#endif
