/* Laws of an optimizer on the host: what leaves the card, the three times by hand, the rules. */
#include <math.h>
#include <string.h>

#include "models/sharding/sharding_kind.h"
#include "sim/units.h"
#include "tests/models/program/lower_case.h"
#include "tests/models/program/lower_sums.h"
#include "tests/test.h"

#define LINK (10.0 * GIGA)
#define DRAM (200.0 * GIGA)
#define RATIO 0.5
#define DRIVES (8.0 * GIGA)

static struct configuration offloaded(const struct sharding_kind *sharding, uint64_t dp,
                                      double share)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 1, 1, dp, 1, 2);
    c.layout.data.sharding = sharding;
    c.layout.data.shard_group = dp;
    c.layout.offload.optimizer = share;
    c.cluster.node.pcie.bytes_per_s = LINK;
    c.cluster.node.host.dram_bytes_per_s = DRAM;
    c.cluster.node.host.dram_ratio = RATIO;
    c.cluster.node.host.memory_bytes = 0.0;
    c.cluster.node.host.nvme_read_bytes_per_s = DRIVES;
    c.cluster.node.host.nvme_write_bytes_per_s = DRIVES / 2.0;
    assert_int_equal(lower_case_errors(&c), 0);
    return c;
}

static double held(const struct configuration *c, enum tenant tenant)
{
    struct written w = lower_case_write(c);
    const double bytes = sum_static_bytes(w.p, tenant);
    arena_destroy(w.arena);
    return bytes;
}

/* Kept in the memory of the CPUs by a rank. */
static double host_bytes(const struct configuration *c)
{
    struct written w = lower_case_write(c);
    const double bytes = w.p->host_bytes;
    arena_destroy(w.arena);
    return bytes;
}

/* Of the op of that name; -1: there is none. */
static struct op_cost cost_of(const struct configuration *c, const char *name)
{
    struct written w = lower_case_write(c);
    struct op_cost cost = {.gpu_s = -1.0};
    for (uint32_t i = 0; i < w.p->op_count; i++)
        if (strcmp(w.p->names[w.p->ops[i].name], name) == 0) {
            assert_true(w.p->ops[i].phase == PHASE_OPTIMIZER);
            cost = w.p->costs[w.p->ops[i].cost];
        }
    arena_destroy(w.arena);
    return cost;
}

static void near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 * fmin(fabs(value), fabs(wanted))))
        fail_msg("%.17g is not %.17g", value, wanted);
}

/* AdamW, bf16 beside fp32: of each element on the host 4 bytes of gradient go over the link, 30
 * pass through the memory of the CPUs (4 + 2 + 8 + 16), 2 come back; ranks of a node share that
 * memory, not their links. What is left is updated on the card. */
static void test_times(void **state)
{
    for (uint64_t dp = 1; dp <= 4; dp *= 2) {
        const struct configuration all = offloaded(&sharding_zero_1, dp, 0.0);
        const double parameters = transformer_parameters(&all.model, all.training.sequence);
        const double elements = parameters / (double)dp;
        assert_true(all.cluster.node.gpus >= dp && all.software.data.gradient_kept_bytes == 4.0);
        assert_true(cost_of(&all, "update on host").gpu_s == -1.0);
        for (double share = 0.25; share <= 1.0; share *= 2.0) {
            const struct configuration c = offloaded(&sharding_zero_1, dp, share);
            near(cost_of(&c, "gradients to host").gpu_s, share * 4 * elements / LINK);
            near(cost_of(&c, "update on host").gpu_s,
                 share * 30 * elements * (double)dp / (DRAM * RATIO));
            near(cost_of(&c, "weights from host").gpu_s, share * 2 * elements / LINK);
            assert_true(cost_of(&c, "state from drives").gpu_s == -1.0);
            struct configuration drives = c; /* 12 bytes in and out */
            drives.layout.offload.optimizer_to = OFFLOAD_NVME;
            const double state_s = share * 12 * elements * (double)dp / DRIVES;
            near(cost_of(&drives, "state from drives").gpu_s, state_s);
            near(cost_of(&drives, "state to drives").gpu_s, 2.0 * state_s);
            near(cost_of(&drives, "update on host").gpu_s, cost_of(&c, "update on host").gpu_s);
            near(host_bytes(&drives), share * elements * 6);
            near(cost_of(&all, "optimizer update").bytes - cost_of(&c, "optimizer update").bytes,
                 share * 30 * elements);
        }
    }
}

static void test_memory(void **state)
{
    static const struct sharding_kind *const kinds[] = {&sharding_zero_0, &sharding_zero_1};
    for (unsigned k = 0; k < 2; k++) {
        const struct configuration all = offloaded(kinds[k], 4, 0.0);
        for (double share = 0.25; share <= 1.0; share *= 2.0) {
            const struct configuration c = offloaded(kinds[k], 4, share);
            near(held(&c, TENANT_MASTER), (1 - share) * held(&all, TENANT_MASTER));
            near(held(&c, TENANT_MOMENTS), (1 - share) * held(&all, TENANT_MOMENTS));
            near(held(&c, TENANT_WEIGHTS), held(&all, TENANT_WEIGHTS));
            near(held(&c, TENANT_GRADIENTS), held(&all, TENANT_GRADIENTS));
            const double parameters = transformer_parameters(&c.model, c.training.sequence);
            const double shards = kinds[k] == &sharding_zero_0 ? 1.0 : 4.0;
            near(host_bytes(&c), share * parameters / shards * (12 + 4 + 2));
        }
    }
}

static bool said(const struct configuration *c, const char *words)
{
    struct rule_break breaks[16];
    const unsigned count = configuration_check(c, breaks, 16);
    for (unsigned i = 0; i < count; i++)
        if (strncmp(breaks[i].key, "layout.optimizer_offload", 24) == 0 && !breaks[i].warning &&
            strstr(breaks[i].text, words) != NULL)
            return true;
    return false;
}

static void test_rules(void **state)
{
    struct configuration c = offloaded(&sharding_zero_1, 4, 0.5);
    assert_int_equal(lower_case_errors(&c), 0);
    c.cluster.node.host.dram_bytes_per_s = 0.0;
    assert_true(said(&c, "host_dram_bandwidth"));
    c.cluster.node.pcie.bytes_per_s = 0.0;
    assert_true(said(&c, "pcie_bandwidth"));
    c = offloaded(&sharding_zero_1, 4, 0.5);
    c.cluster.node.host.nvme_write_bytes_per_s = 0.0;
    assert_int_equal(lower_case_errors(&c), 0);
    c.layout.offload.optimizer_to = OFFLOAD_NVME;
    assert_true(said(&c, "nvme_write_bandwidth"));
    c = offloaded(&sharding_zero_1, 4, 0.5);
    c.training.optimizer = optimizer_find("muon");
    assert_true(said(&c, "muon multiplies matrices"));
    c = offloaded(&sharding_fsdp, 4, 0.5);
    c.software.shards.weights_are_master = true;
    assert_true(said(&c, "take zero-1 or 0"));
    c.layout.offload.optimizer = 0.0;
    assert_false(said(&c, ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
