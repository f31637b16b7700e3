/* Laws of storage, pairwise over every table of layouts and clusters: alike nodes played once give
 * every rank the time that it has alone; bytes are conserved; wider is never slower; and the plans
 * that policies make of it. */
#include <math.h>
#include <string.h>

#include "models/checkpoint/checkpoint_plan.h"
#include "sim/units.h"
#include "tests/kind_defaults.h"
#include "tests/laws/law_case.h"
#include "tests/test.h"

enum {
    RANK_MAX = 32
};
#define BYTES 14.0

/* Each stands where another cap is the narrow one; rates are of the size of small shards. */
static const struct storage_tier tiers[] = {
    {.name = "host",
     .path = STORAGE_HOST,
     .memory = true,
     .survival = SURVIVES_PROCESS,
     .copies = 1},
    {.name = "client",
     .survival = SURVIVES_DOMAIN,
     .client_write_bytes_per_s = 0.7e6,
     .client_read_bytes_per_s = 0.9e6,
     .latency_s = 0.01,
     .copies = 1},
    {.name = "node",
     .survival = SURVIVES_PROCESS,
     .client_write_bytes_per_s = 0.7e6,
     .node_write_bytes_per_s = 1.3e6,
     .node_read_bytes_per_s = 3e6,
     .copies = 1},
    {.name = "peer", .path = STORAGE_NIC, .memory = true, .survival = SURVIVES_NODE, .copies = 2},
    {.name = "total",
     .path = STORAGE_NIC,
     .survival = SURVIVES_DOMAIN,
     .client_write_bytes_per_s = 0.9e6,
     .node_write_bytes_per_s = 1.7e6,
     .total_write_bytes_per_s = 3.1e6,
     .total_read_bytes_per_s = 4.7e6,
     .latency_s = 0.02,
     .copies = 1},
};
enum {
    TIER_COUNT = sizeof tiers / sizeof *tiers
};
static const enum storage_op ops[] = {STORAGE_WRITE, STORAGE_WRITE_BEHIND, STORAGE_READ,
                                      STORAGE_SNAPSHOT};
enum {
    OP_COUNT = sizeof ops / sizeof *ops
};

typedef bool fault_fn(const struct configuration *c, const struct storage_tier *tier,
                      enum storage_op op);

static unsigned faults_over_cases(fault_fn *faulty, unsigned *played)
{
    struct arena *arena = arena_create();
    struct law_cover cover;
    law_cover(arena, RANK_MAX, &cover);
    unsigned faults = 0;
    for (unsigned i = 0; i < cover.count; i++) {
        struct law_setup setup;
        assert_true(law_configure(&cover.cases[i], RANK_MAX, &setup));
        for (unsigned k = 0; k < TIER_COUNT * OP_COUNT; k++) {
            const struct storage_tier *tier = &tiers[k / OP_COUNT];
            if (faulty(&setup.c, tier, ops[k % OP_COUNT])) {
                char text[400];
                law_describe(&cover.cases[i], text, sizeof text);
                print_message("%s, op %u: %s\n", tier->name, (unsigned)ops[k % OP_COUNT], text);
                faults++;
            }
            ++*played;
        }
    }
    arena_destroy(arena);
    return faults;
}

/* Rank by rank, to the last bit. */
static bool folds_wrongly(const struct configuration *c, const struct storage_tier *tier,
                          enum storage_op op)
{
    double folded[RANK_MAX], alone[RANK_MAX];
    struct storage_time a, b;
    storage_play_ranks(c, &(struct storage_access){tier, op, BYTES}, false, folded, &a);
    storage_play_ranks(c, &(struct storage_access){tier, op, BYTES}, true, alone, &b);
    bool same = a.seconds == b.seconds && fabs(a.bytes - b.bytes) <= 1e-12 * b.bytes &&
                fabs(a.nic_bytes_per_s - b.nic_bytes_per_s) <= 1e-12 * b.nic_bytes_per_s;
    double slowest = 0.0;
    for (uint64_t i = 0; i < configuration_ranks(c); i++) {
        same &= folded[i] == alone[i];
        slowest = fmax(slowest, folded[i]);
    }
    return !same || slowest != a.seconds;
}

static void test_folded_is_unfolded(void **state)
{
    unsigned played = 0;
    assert_int_equal(faults_over_cases(folds_wrongly, &played), 0);
    assert_true(played > 1000);
}

/* A write moves the state once for each copy, a snapshot once, a load once for each replica of it.
 */
static bool loses_bytes(const struct configuration *c, const struct storage_tier *tier,
                        enum storage_op op)
{
    struct storage_time t;
    storage_play(c, &(struct storage_access){tier, op, BYTES}, &t);
    double times = (double)tier->copies;
    if (op == STORAGE_READ)
        times = (double)(configuration_holders(c) / configuration_shards(c));
    else if (op == STORAGE_SNAPSHOT)
        times = 1.0;
    double expected = transformer_parameters(&c->model, c->training.sequence) * BYTES * times;
    return fabs(t.bytes - expected) > 1e-12 * expected;
}

static void test_bytes_are_conserved(void **state)
{
    unsigned played = 0;
    assert_int_equal(faults_over_cases(loses_bytes, &played), 0);
}

static bool slower_when_wider(const struct configuration *c, const struct storage_tier *tier,
                              enum storage_op op)
{
    struct storage_tier wide = *tier;
    struct configuration wider = *c;
    wide.client_write_bytes_per_s *= 2, wide.client_read_bytes_per_s *= 2;
    wide.node_write_bytes_per_s *= 2, wide.node_read_bytes_per_s *= 2;
    wide.total_write_bytes_per_s *= 2, wide.total_read_bytes_per_s *= 2;
    struct storage_time before, after, twice;
    storage_play(c, &(struct storage_access){tier, op, BYTES}, &before);
    storage_play(c, &(struct storage_access){&wide, op, BYTES}, &after);
    if (after.seconds > before.seconds)
        return true;
    /* With the machine twice as fast too, all but the latency halves. */
    wider.cluster.node.pcie.bytes_per_s *= 2;
    wider.cluster.node.pcie.host_bytes_per_s *= 2;
    wider.cluster.node.nic.bytes_per_s *= 2;
    wider.cluster.fabric.nic_bytes_per_s *= 2;
    storage_play(&wider, &(struct storage_access){&wide, op, BYTES}, &twice);
    double latency = op == STORAGE_SNAPSHOT ? 0.0 : tier->latency_s;
    double half = (before.seconds - latency) / 2 + latency;
    return fabs(twice.seconds - half) > 1e-12 * half;
}

static void test_wider_is_never_slower(void **state)
{
    unsigned played = 0;
    assert_int_equal(faults_over_cases(slower_when_wider, &played), 0);
}

/* More shards or a larger state take longer; ten times the bytes take ten times. */
static bool not_in_proportion(const struct configuration *c, const struct storage_tier *tier,
                              enum storage_op op)
{
    struct storage_time one, ten;
    storage_play(c, &(struct storage_access){tier, op, BYTES}, &one);
    storage_play(c, &(struct storage_access){tier, op, 10 * BYTES}, &ten);
    double latency = op == STORAGE_SNAPSHOT ? 0.0 : tier->latency_s;
    double expected = 10 * (one.seconds - latency) + latency;
    return fabs(ten.seconds - expected) > 1e-11 * expected;
}

static void test_time_is_in_proportion(void **state)
{
    unsigned played = 0;
    assert_int_equal(faults_over_cases(not_in_proportion, &played), 0);
}

/* tiers of a policy: as many as it takes at most, storage that survives last. */
static unsigned tiers_for(const struct checkpoint_kind *kind, struct storage_tier *out)
{
    static const unsigned order[] = {4, 3, 0, 2};
    for (unsigned i = 0; i < kind->tiers_max; i++)
        out[i] = tiers[order[i]];
    return kind->tiers_max;
}

static const char *plan_fault(const struct checkpoint_plan *plan)
{
    for (unsigned i = 0; i < plan->level_count; i++) {
        const struct checkpoint_level *level = &plan->levels[i];
        if (!(level->stall_s >= 0.0 && level->persist_s >= 0.0 && level->load_s > 0.0))
            return "a time below 0, or a load of no time";
        if (!(level->slowdown_ratio >= 1.0) || level->every == 0)
            return "a write that speeds training up, or is never made";
        if (i > 0 && (level->survival < level[-1].survival ||
                      level->persist_s < level[-1].persist_s || level->every % level[-1].every))
            return "levels out of order";
    }
    return NULL;
}

static void check_plan(const struct configuration *c, const struct checkpoint_kind *kind)
{
    struct kind_options options = kind_defaults(&kind->head);
    struct storage_tier chosen[CHECKPOINT_LEVEL_MAX];
    struct condition_table *conditions = condition_fixed(4.0);
    struct checkpoint_request request = {.kind = kind,
                                         .options = &options,
                                         .bytes_per_parameter = BYTES,
                                         .tiers = chosen,
                                         .tier_count = tiers_for(kind, chosen),
                                         .stall_s = -1,
                                         .persist_s = -1,
                                         .load_s = -1};
    struct checkpoint_plan plan;
    checkpoint_plan_build(c, conditions, &request, &plan);
    assert_int_equal(plan.level_count, request.tier_count);
    const char *fault = plan_fault(&plan);
    if (fault != NULL)
        print_message("%s: %s\n", kind->head.name, fault);
    assert_null(fault);
    condition_destroy(conditions);
}

/* Every policy on what the player finds, over every tenth case. */
static void test_plans(void **state)
{
    struct arena *arena = arena_create();
    struct law_cover cover;
    law_cover(arena, RANK_MAX, &cover);
    for (unsigned i = 0; i < cover.count; i += 10) {
        struct law_setup setup;
        assert_true(law_configure(&cover.cases[i], RANK_MAX, &setup));
        for (unsigned k = 0; k < checkpoint_kind_count; k++)
            check_plan(&setup.c, checkpoint_kinds[k]);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folded_is_unfolded),
        cmocka_unit_test(test_bytes_are_conserved),
        cmocka_unit_test(test_wider_is_never_slower),
        cmocka_unit_test(test_time_is_in_proportion),
        cmocka_unit_test(test_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
