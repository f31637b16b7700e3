/* Laws of activations that wait on the host: what each copy takes on its way, what the host spends
 * to start it, and the most that lies there at once. */
#include <math.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "sim/units.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

#define LINK (50.0 * GIGA)
#define READ (8.0 * GIGA)
#define WRITE (5.0 * GIGA)

static struct configuration waiting(const struct schedule_kind *schedule, uint64_t chunks, int to)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 1, 1, 1, schedule->interleaved ? 2 : 1, 8);
    c.layout.pipeline.schedule = schedule;
    c.layout.pipeline.vpp = chunks;
    c.model.layers = 8 * chunks;
    c.layout.offload.activations = 1.0;
    c.layout.offload.activations_to = to;
    c.cluster.node.pcie.bytes_per_s = LINK;
    c.cluster.node.host.dram_bytes_per_s = 0.0;
    c.cluster.node.host.memory_bytes = 0.0;
    c.cluster.node.host.nvme_read_bytes_per_s = READ;
    c.cluster.node.host.nvme_write_bytes_per_s = WRITE;
    assert_int_equal(lower_case_errors(&c), 0);
    return c;
}

static void near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g is not %.17g", value, wanted);
}

/* Tensors that the ledger frees with this copy, which takes them to the host. */
static unsigned tensors_of(const struct program *p, uint16_t layer)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        const struct ledger_entry *e = &p->ledger[i];
        count += e->action == LEDGER_FREE && e->layer == layer && e->microbatch == 0 &&
                 strcmp(e->call_site, "offload to host") == 0;
    }
    return count;
}

static void copies_take_the_rate_of_their_way(void **state)
{
    static const int places[] = {OFFLOAD_CPU, OFFLOAD_NVME};
    for (unsigned i = 0; i < 2; i++) {
        struct configuration c = waiting(&schedule_one_f_one_b, 1, places[i]);
        c.software.host.launch_s = 1e-5;
        struct written w = lower_case_write(&c);
        unsigned copies = 0;
        for (uint32_t k = 0; k < w.p->op_count; k++) {
            const struct op *op = &w.p->ops[k];
            const bool out = op->stream == STREAM_TO_HOST;
            if (!out && op->stream != STREAM_FROM_HOST)
                continue;
            const double drives = out ? WRITE : READ;
            const double rate = places[i] == OFFLOAD_NVME ? drives : LINK;
            near(w.p->costs[op->cost].gpu_s, w.p->costs[op->cost].bytes / rate);
            /* A copy for each tensor, which the host starts one after the other. */
            near(w.p->hosts[op->host], tensors_of(w.p, op->layer) * 1e-5);
            assert_true(tensors_of(w.p, op->layer) > 1);
            copies++;
        }
        assert_true(copies > 0);
        arena_destroy(w.arena);
    }
}

/* Copies that are out, or under way back, when an op is launched: what a later op waits for is on
 * the card again. */
static double most_on_host(const struct program *p)
{
    double now = 0.0, most = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        for (unsigned k = 0; k < 2 && op->stream == STREAM_COMPUTE; k++)
            if (op->wait[k] != OP_NONE && p->ops[op->wait[k] - 1].stream == STREAM_FROM_HOST)
                now -= p->costs[p->ops[op->wait[k] - 1].cost].bytes;
        if (op->stream == STREAM_TO_HOST)
            now += p->costs[op->cost].bytes;
        most = fmax(most, now);
    }
    near(now + 1.0, 1.0); /* all came back */
    return most;
}

/* Under zb-v and dualpipe-v the fullest moment lies before the last copy out. */
static void the_host_holds_the_most_at_once(void **state)
{
    unsigned played = 0;
    for (unsigned k = 0; k < schedule_kind_count; k++) {
        for (uint64_t chunks = 1; chunks <= 4; chunks *= 2) {
            struct configuration c = waiting(&schedule_one_f_one_b, 1, OFFLOAD_CPU);
            const struct schedule_kind *kind = schedule_kinds[k];
            lower_case_size(&c, 1, 1, 1, 2, 8);
            c.layout.pipeline.schedule = kind;
            c.layout.pipeline.vpp = chunks;
            c.model.layers = 8 * chunks;
            if (!configuration_legal(&c))
                continue;
            struct written w = lower_case_write(&c);
            assert_true(w.p->host_bytes > 0.0);
            near(w.p->host_bytes, most_on_host(w.p));
            arena_destroy(w.arena);
            played++;
        }
    }
    assert_true(played > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_take_the_rate_of_their_way),
        cmocka_unit_test(the_host_holds_the_most_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
