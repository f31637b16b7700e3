/* late_warnings.h - what is wrong with a sound scenario and known only once its step was simulated.
 * Each becomes a late warning of the scenario (scenario_warn), the last of its problems. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_LATE_WARNINGS_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_LATE_WARNINGS_H

#include "models/job/parts/job_spec.h"
#include "models/step/simulate/stagger.h"
#include "scenarios/assemble/scenario.h"

/* How hard dearer choices are looked for: `run` tries what its own step makes probable, `check`
 * all. */
enum late_effort {
    LATE_OF_RUN,
    LATE_OF_CHECK
};
/* `step` is the scenario's own. Where it was timed: that it rests on lock-step (`stagger`, which
 * may be NULL: not tried), and each choice that is stated and makes it more than a tenth longer
 * than the obvious neighbour's would be (models/plan/price.h). */
void late_warnings_of_step(struct scenario *scenario, const struct step *step,
                           enum late_effort effort, struct stagger *stagger);
/* That all kept checkpoints are tainted when a silent corruption is found: a job saves after whole
 * steps, and the tiers and the seldom levels of a policy are those of its layout. `job` as
 * scenario_job completed it; `step_s` of the undisturbed job. */
void late_warnings_of_weeks(struct scenario *scenario, const struct job_spec *job, double step_s);
/* The same of a scenario whose step can be simulated: completes the job, where something corrupts,
 * which may play its weeks to find an optimal interval. */
void late_warnings_find_weeks(struct scenario *scenario);

#endif
