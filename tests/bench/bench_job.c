/* 54 days of Llama 3 405B on 16,384 GPUs with its 466 interruptions, checkpoints each half hour and
 * 32 hot spares. `size` 0: from the scenario's text to one result, the step simulated (the work is
 * runs); else so many replications with the step known. */
#include <math.h>
#include <stdlib.h>

#include "bench.h"
#include "models/job/player/job.h"
#include "scenarios/assemble/scenario.h"
#include "sim/check.h"
#include "sim/units.h"

enum {
    NODES = 2048,
    GPUS_EACH = 8,
    REPLICAS = 128
};
struct job_bench {
    uint64_t replications, seed;
    struct scenario *scenario;
    struct condition_table *conditions;
    struct failure_cause cause;
    struct job_spec spec;
    struct arena *arena;
};

static void read_cluster(struct job_bench *bench)
{
    struct scenario_options options = {0};
    struct error error = {""};
    bench->scenario = scenario_read(ORRERY_BENCH_SCENARIO, NULL, 0, &options, &error);
    CHECK(bench->scenario != NULL && bench->scenario->diagnostics.error_count == 0);
    bench->conditions = condition_create(&bench->scenario->configuration, &error);
    CHECK(bench->conditions != NULL);
}

static void forget_cluster(struct job_bench *bench)
{
    condition_destroy(bench->conditions);
    scenario_destroy(bench->scenario);
}

static void set_recovery(struct recovery_spec *recovery)
{
    recovery->kind = recovery_find("hot-spare");
    recovery->spares = 32;
    recovery->repair = (struct duration){DURATION_LOGNORMAL, 24 * HOUR, 1.2};
    recovery->restart.links[LINK_DETECT].mean_s = 90.0;
    recovery->restart.links[LINK_START] = (struct duration){DURATION_LOGNORMAL, 120.0, 0.8};
    recovery->restart.links[LINK_COMMUNICATORS].mean_s = 10.0;
}

static void set_checkpoint(struct checkpoint_spec *checkpoint)
{
    checkpoint->kind = checkpoint_find("async");
    checkpoint->interval_s = 30 * MINUTE;
    checkpoint->keep = 2;
    checkpoint->plan.level_count = 1;
    checkpoint->plan.levels[0] = (struct checkpoint_level){.tier = "pfs",
                                                           .survival = SURVIVES_DOMAIN,
                                                           .every = 1,
                                                           .stall_s = 10.0,
                                                           .persist_s = 120.0,
                                                           .slowdown_ratio = 1.0,
                                                           .load_s = 60.0};
}

static void set_spec(struct job_bench *bench)
{
    bench->cause = (struct failure_cause){.name = "gpu",
                                          .kind = failure_find("exponential"),
                                          .unit = UNIT_GPU,
                                          .effect = EFFECT_STOP,
                                          .mtbf_s = 54 * DAY / 466 * NODES * GPUS_EACH,
                                          .in_place_ratio = 0.5,
                                          .detect = {.mean_s = -1.0},
                                          .repair = {.mean_s = -1.0},
                                          .early_factor = 1.0};
    bench->spec = (struct job_spec){.duration_s = 54 * DAY,
                                    .strike = STRIKE_ALWAYS,
                                    .causes = &bench->cause,
                                    .cause_count = 1,
                                    .nodes = NODES,
                                    .gpus_per_node = GPUS_EACH,
                                    .nics_per_node = GPUS_EACH,
                                    .replicas = REPLICAS,
                                    .ranks = NODES * GPUS_EACH,
                                    .tokens_per_step = 1.0,
                                    .cost.rental.job_hour_usd = NAN};
    set_recovery(&bench->spec.recovery);
    set_checkpoint(&bench->spec.checkpoint);
}

static void *prepare_job(double size)
{
    struct job_bench *bench = calloc(1, sizeof *bench);
    CHECK(bench != NULL);
    bench->replications = (uint64_t)size;
    bench->arena = arena_create();
    set_spec(bench);
    if (bench->replications > 0)
        read_cluster(bench);
    return bench;
}

static void replicate(struct job_bench *bench)
{
    struct job_result result;
    job_run_in(bench->arena, &bench->spec, bench->conditions, bench->seed++, NULL, &result);
    CHECK(result.wall_s == bench->spec.duration_s);
}

static double run_job(void *state)
{
    struct job_bench *bench = state;
    if (bench->replications == 0) {
        read_cluster(bench);
        replicate(bench);
        forget_cluster(bench);
        return 1.0;
    }
    for (uint64_t i = 0; i < bench->replications; i++)
        replicate(bench);
    return (double)bench->replications;
}

static void release_job(void *state)
{
    struct job_bench *bench = state;
    if (bench->replications > 0)
        forget_cluster(bench);
    arena_destroy(bench->arena);
    free(bench);
}

const struct bench bench_job = {prepare_job, run_job, release_job};
