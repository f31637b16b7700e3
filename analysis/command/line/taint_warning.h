/* taint_warning.h - the warning that all kept checkpoints are tainted when a silent corruption is
 * found. It is known after the step was simulated: a job saves after whole steps, and the tiers and
 * the seldom levels of a policy are those of its layout. */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_TAINT_WARNING_H
#define ORRERY_ANALYSIS_COMMAND_LINE_TAINT_WARNING_H

#include "analysis/output/terminal/session.h"
#include "models/job/parts/job_spec.h"
#include "scenarios/assemble/scenario.h"

/* `job` as scenario_job completed it; `step_s` of the undisturbed job. */
void taint_warn(const struct session *session, struct scenario *scenario,
                const struct job_spec *job, double step_s);
/* The same of a scenario whose step can be simulated: completes the job, where something corrupts,
 * which may play its weeks to find an optimal interval. */
void taint_find(const struct session *session, struct scenario *scenario);

#endif
