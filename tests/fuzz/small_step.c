#include "tests/fuzz/small_step.h"

#include <math.h>
#include <stdio.h>

#include "analysis/record/evidence/record_run.h"
#include "analysis/record/numbers/job_record.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report.h"
#include "models/plan/rule_of_thumb.h"
#include "models/step/simulate/step.h"
#include "sim/check.h"

enum {
    GPU_MAX = 64,        /* of the cluster */
    RANK_PASS_MAX = 512, /* ranks x microbatches x layers: bounds the ops of an unfolded step */
    FAILURE_MAX = 1000,
    DURATION_MAX_S = 1000000
};

static bool is_small(const struct scenario *scenario)
{
    const struct configuration *c = &scenario->configuration;
    if (scenario->diagnostics.error_count > 0 || configuration_gpus(c) > GPU_MAX)
        return false;
    uint64_t passes = configuration_microbatches(c) * c->model.layers;
    return passes <= RANK_PASS_MAX && passes * configuration_ranks(c) <= RANK_PASS_MAX;
}

static void check_step(const struct step *step)
{
    double sum_s = 0.0;
    CHECK(step->peak.allocated_bytes <= step->peak.reserved_bytes);
    if (step->worker == NULL)
        return;
    for (unsigned part = 0; part < PART_COUNT; part++)
        sum_s += step->parts.breakdown_s[part];
    CHECK(step->step_s > 0.0 && isfinite(step->step_s));
    CHECK(fabs(sum_s - step->step_s) <= 1e-9 * step->step_s);
    CHECK(isfinite(step->rates.mfu_ratio) && isfinite(step->rates.tokens_per_s));
}

/* Short enough to play: by the number of failures, of saves, and of the simulations that an optimal
 * interval takes. */
static bool is_short(const struct scenario *scenario)
{
    const struct job_spec *job = &scenario->job;
    const struct checkpoint_spec *saves = &job->checkpoint;
    double failures = job->duration_s / saves->job_mtbf_s;
    bool given = saves->interval_s > 0.0 || saves->interval_steps > 0;
    return scenario->has_run && job->duration_s > 0.0 && job->duration_s <= DURATION_MAX_S &&
           failures <= FAILURE_MAX && given && job->step_noise_sigma == 0.0;
}

static void report(const struct session *session, const struct result *result)
{
    struct arena *arena = arena_create();
    struct record record;
    record_of_run(arena, result, true, &record);
    const struct fact *document =
        report_run(&record, &(struct run_told){.result = result, .all = true});
    document_print(document, report_run_lines, false, session);
    document_print(document, report_run_lines, true, session);
    arena_destroy(arena);
}

static void play_weeks(const struct session *session, const struct result *step)
{
    struct error error = {{0}};
    struct job_record *record;
    double sum_s = 0.0;
    if (!job_record_play(step->scenario, false, (struct job_watches){NULL, NULL}, &record,
                         &error)) {
        CHECK(error.text[0] != '\0');
        return;
    }
    const struct job_result *result = &record->result;
    for (unsigned i = 0; i < BADPUT_COUNT; i++) {
        CHECK(result->badput_s[i] >= -1e-9 * result->wall_s);
        sum_s += result->badput_s[i];
    }
    CHECK(fabs(sum_s - result->wall_s) <= 1e-9 * result->wall_s);
    CHECK(result->ettr <= 1.0 + 1e-9 && result->goodput <= 1.0 + 1e-9);
    struct result weeks = *step;
    weeks.job = record;
    report(session, &weeks);
    job_record_destroy(record);
}

static void report_fit(const struct session *session, const struct result *result)
{
    struct arena *arena = arena_create();
    struct record record;
    struct rule_of_thumb rule;
    rule_of_thumb(&result->scenario->configuration, &rule);
    record_of_run(arena, result, true, &record);
    const struct memory_told told = {.scenario = result->scenario,
                                     .rule = &rule,
                                     .helps = result->advice.helps,
                                     .minimum_gpus = 0,
                                     .limit = GPU_MAX};
    const struct fact *document = report_memory(&record, &told);
    document_print(document, report_memory_lines, false, session);
    document_print(document, report_memory_lines, true, session);
    arena_destroy(arena);
}

static void tell(const struct scenario *scenario, struct step *step)
{
    FILE *nowhere = fopen("/dev/null", "w");
    struct session session = {.out = nowhere, .notes = nowhere, .utf8 = true};
    struct result result;
    CHECK(nowhere != NULL);
    result_gather(scenario, step, &result);
    report(&session, &result);
    report_fit(&session, &result);
    if (step->fits && is_short(scenario))
        play_weeks(&session, &result);
    fclose(nowhere);
}

static void simulate(const struct scenario *scenario)
{
    struct step_options options = {.ledger_points = true};
    struct step *folded, *unfolded;
    struct error error = {{0}};
    if (!step_run(&scenario->configuration, &options, &folded, &error)) {
        CHECK(error.text[0] != '\0');
        return;
    }
    check_step(folded);
    tell(scenario, folded);
    options.unfold = true;
    CHECK(step_run(&scenario->configuration, &options, &unfolded, &error));
    CHECK(folded->digest == unfolded->digest);
    CHECK(folded->fits == unfolded->fits);
    step_destroy(folded);
    step_destroy(unfolded);
}

void small_step(const struct scenario *scenario)
{
    if (is_small(scenario))
        simulate(scenario);
}
