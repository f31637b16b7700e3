#include "tests/fuzz/small_step.h"

#include <math.h>
#include <stdio.h>

#include "analysis/json.h"
#include "analysis/report.h"
#include "models/step.h"
#include "sim/check.h"

enum {
    GPU_MAX = 64,       /* of the cluster */
    RANK_PASS_MAX = 512 /* ranks x microbatches x layers: bounds the ops of an unfolded step */
};

static bool is_small(const struct scenario *scenario)
{
    const struct configuration *c = &scenario->configuration;
    if (scenario->error_count > 0 || scenario->counted_only || configuration_gpus(c) > GPU_MAX)
        return false;
    uint64_t passes = configuration_microbatches(c) * c->model.layers;
    return passes <= RANK_PASS_MAX && passes * configuration_ranks(c) <= RANK_PASS_MAX;
}

static void check_step(const struct step *step)
{
    double sum_s = 0.0;
    CHECK(step->peak_allocated_bytes <= step->peak_reserved_bytes);
    if (step->worker == NULL)
        return;
    for (unsigned part = 0; part < PART_COUNT; part++)
        sum_s += step->breakdown_s[part];
    CHECK(step->step_s > 0.0 && isfinite(step->step_s));
    CHECK(fabs(sum_s - step->step_s) <= 1e-9 * step->step_s);
    CHECK(isfinite(step->mfu_ratio) && isfinite(step->tokens_per_s));
}

static void tell(const struct scenario *scenario, struct step *step)
{
    FILE *nowhere = fopen("/dev/null", "w");
    struct session session = {.out = nowhere, .notes = nowhere, .utf8 = true};
    struct rule_of_thumb rule;
    struct result result;
    CHECK(nowhere != NULL);
    result_gather(scenario, step, &result);
    step_rule_of_thumb(&scenario->configuration, &rule);
    report_step(&session, &result);
    report_memory(&session, &result, &rule, 0, GPU_MAX);
    json_run(&result, NULL, nowhere);
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
