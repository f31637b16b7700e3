#include <stdlib.h>

#include "bench.h"
#include "models/fleet/fleet.h"
#include "sim/check.h"
#include "sim/units.h"

/* Weeks of 16,384 GPUs under 18 causes with 419 failures in 54 days, one replication after the
 * other; size 1: every cause ages (Weibull), so that lives are drawn and kept. */
enum {
    CAUSES = 18,
    REPLICATIONS = 200
};
struct fleet_bench {
    struct arena *arena;
    struct fleet_spec spec;
    struct failure_cause causes[CAUSES];
};
static const char *const names[CAUSES] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                          "j", "k", "l", "m", "n", "o", "p", "q", "r"};

static void *fleet_prepare(double size)
{
    struct fleet_bench *bench = calloc(1, sizeof *bench);
    CHECK(bench != NULL);
    bench->arena = arena_create();
    bench->spec = (struct fleet_spec){.nodes = 2048,
                                      .spares = 16,
                                      .gpus_per_node = 8,
                                      .nics_per_node = 8,
                                      .causes = bench->causes,
                                      .cause_count = CAUSES};
    for (unsigned i = 0; i < CAUSES; i++)
        bench->causes[i] =
            (struct failure_cause){.name = names[i],
                                   .kind = size > 0.0 ? &failure_weibull : &failure_exponential,
                                   .options = {{0.7}},
                                   .unit = UNIT_GPU,
                                   .mtbf_s = 16384.0 * CAUSES * 54.0 * DAY / 419.0,
                                   .early_factor = 1.0};
    return bench;
}

static double fleet_run(void *state)
{
    struct fleet_bench *bench = state;
    double failures = 0.0;
    for (uint64_t seed = 0; seed < REPLICATIONS; seed++) {
        struct arena_mark mark = arena_mark(bench->arena);
        struct fleet *fleet = fleet_create(bench->arena, bench->spec, seed);
        struct fleet_event event;
        for (; fleet_next(fleet, 54.0 * DAY, &event); failures++)
            fleet_take(fleet, &event);
        arena_rewind(bench->arena, mark);
    }
    return failures;
}

static void fleet_release(void *state)
{
    struct fleet_bench *bench = state;
    arena_destroy(bench->arena);
    free(bench);
}

const struct bench bench_fleet = {fleet_prepare, fleet_run, fleet_release};
