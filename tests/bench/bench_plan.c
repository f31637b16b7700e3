/* Layouts of Llama 3 70B on 512 H100, 2,048 sequences a step, on two threads. `size` 0: a whole
 * plan, from the question to the leaders (the work is plans); 1: every layout that keeps the rules
 * and the bound of memory, timed at pass detail without pruning (the work is layouts timed); 2: all
 * layouts judged by rules, memory and bound (the work is layouts judged). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/plan/search/search.h"
#include "analysis/plan/search/search_unit.h"
#include "bench.h"
#include "models/plan/plan_space.h"
#include "scenarios/assemble/scenario.h"
#include "sim/check.h"
#include "sim/pool.h"

enum {
    THREADS = 2
};
static const char text[] = "model: {preset: llama3-70b}\n"
                           "cluster: {gpu: h100-80gb-sxm, gpus: 512}\n"
                           "training: {sequence: 8192, global_batch: 2048}\n"
                           "software: megatron\n";

struct plan_bench {
    int what;
    struct scenario *scenario;
    struct arena *arena;
    struct topology topology;
    struct plan_layout *layouts;
    uint32_t count;
};
struct sweep { /* one run */
    struct search_unit **units;
    uint32_t count;
    bool times;
};

static void *prepare_plan(double size)
{
    const struct scenario_options how = {.layout_open = true};
    struct error error = {""};
    struct plan_bench *bench = calloc(1, sizeof *bench);
    CHECK(bench != NULL);
    bench->what = (int)size;
    bench->scenario = scenario_read("bench", text, strlen(text), &how, &error);
    CHECK(bench->scenario != NULL && bench->scenario->diagnostics.error_count == 0);
    const struct configuration *c = &bench->scenario->configuration;
    bench->arena = arena_create();
    CHECK(topology_build(bench->arena, &c->cluster, &bench->topology, &error));
    bench->count = plan_space(bench->arena, c, 0, &bench->layouts);
    return bench;
}

static double run_search(const struct plan_bench *bench)
{
    const struct search_question question = {
        .base = &bench->scenario->configuration,
        .headroom_ratio = 0.05,
        .leaders = 10,
        .threads = THREADS,
    };
    struct search *search = NULL;
    struct error error = {""};
    CHECK(search_run(&question, &search, &error) && search->leader_count == 10);
    search_destroy(search);
    return 1.0;
}

static void sweep_unit(void *context, size_t index)
{
    const struct sweep *sweep = context;
    search_unit_judge(sweep->units[index]);
    if (sweep->times)
        search_unit_time(sweep->units[index], INFINITY);
}

static double run_sweep(const struct plan_bench *bench)
{
    struct arena *arena = arena_create();
    const struct configuration *c = &bench->scenario->configuration;
    const struct search_ground ground = {
        .base = c, .topology = &bench->topology, .usable_bytes = c->gpu.hbm.usable_bytes};
    struct search_row *rows = ARENA_ARRAY(arena, struct search_row, bench->count);
    struct sweep sweep = {.times = bench->what == 1};
    sweep.units = ARENA_ARRAY(arena, struct search_unit *, bench->count);
    for (uint32_t i = 0, from = 0; i <= bench->count; i++) {
        const struct plan_layout *a = &bench->layouts[from], *b = &bench->layouts[i];
        if (i < bench->count)
            rows[i].layout = *b;
        if (i < bench->count && a->tp == b->tp && a->cp == b->cp)
            continue;
        sweep.units[sweep.count++] = search_unit_create(&ground, &rows[from], i - from);
        from = i;
    }
    pool_run(THREADS, sweep.count, sweep_unit, &sweep);
    double timed = 0.0;
    for (uint32_t i = 0; i < bench->count; i++)
        timed += rows[i].pass_s > 0.0;
    for (uint32_t i = 0; i < sweep.count; i++)
        search_unit_destroy(sweep.units[i]);
    arena_destroy(arena);
    return sweep.times ? timed : (double)bench->count;
}

static double run_plan(void *state)
{
    const struct plan_bench *bench = state;
    return bench->what == 0 ? run_search(bench) : run_sweep(bench);
}

static void release_plan(void *state)
{
    struct plan_bench *bench = state;
    arena_destroy(bench->arena);
    scenario_destroy(bench->scenario);
    free(bench);
}

const struct bench bench_plan = {prepare_plan, run_plan, release_plan};
