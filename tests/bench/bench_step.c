/* One step of Llama 3 405B on 16,384 GPUs. `size` 0: alike ranks played once, from the scenario's
 * text to the result (the work is steps); 1: every rank played (the work is ops). */
#include <stdlib.h>

#include "bench.h"
#include "models/step/simulate/step.h"
#include "scenarios/assemble/scenario.h"
#include "sim/check.h"

struct step_bench {
    int what;
    struct scenario *scenario;
};

static struct scenario *read_scenario(void)
{
    struct scenario_options options = {0};
    struct error error = {""};
    struct scenario *scenario = scenario_read(ORRERY_BENCH_SCENARIO, NULL, 0, &options, &error);
    CHECK(scenario != NULL && scenario->diagnostics.error_count == 0);
    return scenario;
}

static void *prepare_step(double size)
{
    struct step_bench *bench = calloc(1, sizeof *bench);
    CHECK(bench != NULL);
    bench->what = (int)size;
    bench->scenario = read_scenario();
    return bench;
}

static double run_step(void *state)
{
    struct step_bench *bench = state;
    struct scenario *scenario = bench->what == 0 ? read_scenario() : bench->scenario;
    struct step_options options = {.unfold = bench->what == 1};
    struct step *step;
    struct error error = {""};
    CHECK(step_run(&scenario->configuration, &options, &step, &error) && step->fits);
    double work = bench->what == 1 ? (double)step->counts.ops : 1.0;
    step_destroy(step);
    if (bench->what == 0)
        scenario_destroy(scenario);
    return work;
}

static void release_step(void *state)
{
    struct step_bench *bench = state;
    scenario_destroy(bench->scenario);
    free(bench);
}

const struct bench bench_step = {prepare_step, run_step, release_step};
