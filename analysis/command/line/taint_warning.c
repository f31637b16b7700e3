#include "analysis/command/line/taint_warning.h"

#include "models/step/simulate/condition.h"

void taint_warn(const struct session *session, struct scenario *scenario,
                const struct job_spec *job, double step_s)
{
    const double each_s = job_between_saves_s(&job->checkpoint, step_s);
    const double run_s = job_work_s(job, step_s);
    struct job_anew anew;
    if (!(each_s > 0.0) || !job_starts_anew(job, each_s, run_s, &anew))
        return;
    const struct problem *problem = scenario_warn(
        scenario, "checkpoint.keep", scenario_anew_sentence(scenario->arena, job, &anew));
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
