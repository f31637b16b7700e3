#include "analysis/command/line/taint_warning.h"

#include "models/step/simulate/condition.h"

void taint_warn(const struct session *session, struct scenario *scenario,
                const struct job_spec *job, double step_s)
{
    const double each_s = job_between_saves_s(&job->checkpoint, step_s);
    double keep;
    if (!(each_s > 0.0))
        return;
    const struct failure_cause *cause = job_tainted_by(job, each_s, &keep);
    const double none_ratio = cause == NULL ? job_unreadable_ratio(job, each_s, &keep) : 0.0;
    if (cause == NULL && none_ratio == 0.0)
        return;
    const struct problem *problem = scenario_warn(
        scenario, "checkpoint.keep",
        cause != NULL ? scenario_taint_sentence(scenario->arena, job, cause, keep)
                      : scenario_unreadable_sentence(scenario->arena, job, none_ratio, keep));
    if (problem != NULL)
        scenario_print_problem(problem, session->notes, session->notes_colour);
}

void taint_find(const struct session *session, struct scenario *scenario)
{
    struct error error;
    struct job_spec job;
    if (!scenario->has_run || !job_falls_back(&scenario->job))
        return;
    struct condition_table *conditions = condition_create(&scenario->configuration, &error);
    if (conditions == NULL)
        return;
    scenario_job(scenario, conditions, NULL, &job);
    taint_warn(session, scenario, &job, condition_step_s(conditions, &condition_ideal));
    condition_destroy(conditions);
}
