#include "analysis/record/evidence/late_warnings.h"

#include <math.h>

#include "analysis/output/text/format.h"
#include "models/plan/price.h"
#include "models/step/simulate/condition.h"

enum {
    PASSES_RUN = 1 << 14,  /* about 60 ms */
    PASSES_CHECK = 1 << 17 /* half a second */
};

static const char *lock_step_sentence(struct arena *arena, const struct stagger *stagger)
{
    const double step_s = stagger->shortest_s / (1.0 - stagger->spared_ratio);
    return arena_format(
        arena,
        "alike groups share wires in lock-step: all send at once, slowly, and then all compute "
        "while the wires stand idle; with ranks that start up to %s apart, as they well may, "
        "the step comes out up to %s shorter: take %s to %s as the answer (Lock-step in "
        "docs/models/players.md)",
        format_time(stagger->apart_s).s, format_percent(stagger->spared_ratio).s,
        format_time(stagger->shortest_s).s, format_time(step_s).s);
}

static const char *price_sentence(struct arena *arena, const struct price *price)
{
    return arena_format(arena, "costs %s: with %s, which fits, a step takes %s in place of %s",
                        format_percent(price->cost_ratio).s, price->other,
                        format_time(price->other_s).s, format_time(price->step_s).s);
}

static void warn_of_prices(struct scenario *scenario, const struct step *step,
                           enum late_effort effort)
{
    const bool run = effort == LATE_OF_RUN;
    struct scenario_change change;
    scenario_change_begin(&change, scenario);
    const struct price_question question = {.change = change.question,
                                            .step = step,
                                            .win_ratio = run ? PRICE_WORTH_A_LOOK : -INFINITY,
                                            .passes_max = run ? PASSES_RUN : PASSES_CHECK};
    struct prices prices;
    price_find(scenario->arena, &question, &prices);
    scenario_change_end(&change);
    for (unsigned i = 0; i < prices.count; i++)
        scenario_warn(scenario, prices.rows[i].key,
                      price_sentence(scenario->arena, &prices.rows[i]));
}

void late_warnings_of_step(struct scenario *scenario, const struct step *step,
                           enum late_effort effort, struct stagger *stagger)
{
    const bool timed = step->worker != NULL;
    if (stagger != NULL && timed) {
        stagger_try(&scenario->configuration, step, stagger);
        if (stagger_matters(stagger))
            scenario_warn(scenario, NULL, lock_step_sentence(scenario->arena, stagger));
    }
    warn_of_prices(scenario, step, effort);
}

void late_warnings_of_weeks(struct scenario *scenario, const struct job_spec *job, double step_s)
{
    const double each_s = job_between_saves_s(&job->checkpoint, step_s);
    const double run_s = job_work_s(job, step_s);
    struct job_anew anew;
    if (each_s > 0.0 && job_starts_anew(job, each_s, run_s, &anew))
        scenario_warn(scenario, "checkpoint.keep",
                      scenario_anew_sentence(scenario->arena, job, &anew));
}

void late_warnings_find_weeks(struct scenario *scenario)
{
    struct error error;
    struct job_spec job;
    if (!scenario->has_run || !job_falls_back(&scenario->job))
        return;
    struct condition_table *conditions = condition_create(&scenario->configuration, &error);
    if (conditions == NULL)
        return;
    scenario_job(scenario, conditions, NULL, &job);
    late_warnings_of_weeks(scenario, &job, condition_step_s(conditions, &condition_ideal));
    condition_destroy(conditions);
}
