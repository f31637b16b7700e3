/* Sharding under a pipeline: what is sent does not grow with the microbatches. A stage of 328,256
 * parameters, or two of two layers each. */
#include <math.h>

#include "models/lower/stage/lower.h"
#include "models/memory/ledger.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

#define LAYER 65664.0
#define EMBEDDING 32768.0
#define HEAD 32832.0
#define ALL (4.0 * LAYER + EMBEDDING + HEAD)

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

/* Under a pipeline weights are gathered once and gradients leave once, however many microbatches
 * there are: each stage owes its parameters. Without one, shards are moved in every microbatch. */
static void test_once_under_a_pipeline(void **state)
{
    static const struct sharding_kind *const kinds[] = {&sharding_zero_2, &sharding_zero_3,
                                                        &sharding_fsdp};
    for (unsigned i = 0; i < 3; i++) {
        for (uint64_t pp = 1; pp <= 2; pp++) {
            double gathered[2], reduced[2];
            for (unsigned many = 0; many < 2; many++) {
                struct configuration c = lower_case();
                c.layout.data.sharding = kinds[i];
                c.training.gradient_bytes = 2.0;
                lower_case_size(&c, 1, 1, 2, pp, many ? 6 : 2);
                struct arena *arena = arena_create();
                struct lowered lowered;
                lower(arena, &c, &lowered);
                const struct program *p = lowered.programs[0];
                gathered[many] = reduced[many] = 0.0;
                for (uint32_t k = 0; k < p->op_count; k++) {
                    const struct op *op = &p->ops[k];
                    if (op->stream == STREAM_GATHER)
                        gathered[many] += p->transfers[op->cost].bytes;
                    if (op->stream == STREAM_DP && op->phase == PHASE_GRADIENTS)
                        reduced[many] += p->transfers[op->cost].bytes;
                }
                arena_destroy(arena);
            }
            const double first_stage = 2.0 * (2.0 * LAYER + EMBEDDING);
            near(reduced[0], pp == 2 ? first_stage : 2.0 * 2.0 * ALL);
            near(reduced[1], pp == 2 ? first_stage : 6.0 * 2.0 * ALL);
            const bool weights = kinds[i]->shards_weights;
            near(gathered[0], !weights ? 0.0 : pp == 2 ? first_stage : gathered[1] / 3.0);
            near(gathered[1], !weights ? 0.0 : pp == 2 ? first_stage : 3.0 * gathered[0]);
        }
    }
}

/* Each rank holds whole gradients: zero-2 takes, to the byte, what zero-1 does. */
static void test_zero_2_is_zero_1(void **state)
{
    struct ledger_result played[2];
    struct arena *arena = arena_create();
    for (unsigned i = 0; i < 2; i++) {
        const struct ledger_limits limits = {INFINITY, false};
        struct configuration c = lower_case();
        struct lowered lowered;
        c.layout.data.sharding = i == 0 ? &sharding_zero_1 : &sharding_zero_2;
        lower_case_size(&c, 1, 1, 2, 2, 4);
        lower(arena, &c, &lowered);
        ledger_play(arena, lowered.programs[0], &limits, false, &played[i]);
    }
    near(played[0].peak_allocated_bytes, played[1].peak_allocated_bytes);
    for (unsigned i = 0; i < TENANT_COUNT; i++)
        near(played[0].tenants[i], played[1].tenants[i]);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once_under_a_pipeline),
        cmocka_unit_test(test_zero_2_is_zero_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
