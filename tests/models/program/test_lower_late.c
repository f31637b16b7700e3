/* Memory that comes back late: buffers of collectives while the host runs ahead of the GPU, as far
 * as a queue of 512 launches lets it, and the gradients of a pass. */
#include <math.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

#define BUFFER "collective's buffer"
#define LAUNCHES 32.0 /* of a layer's forward */

enum {
    LAYERS = 40,
    TENSORS = 4096
};
/* Host and GPU time of what the passes do of one layer. */
static void times_of(const struct configuration *c, uint16_t layer, bool backward, double *host_s,
                     double *gpu_s)
{
    struct written w = lower_case_write(c);
    *host_s = *gpu_s = 0.0;
    for (uint32_t i = 0; i < w.p->op_count; i++) {
        const struct op *op = &w.p->ops[i];
        if (op->layer == layer && (op->phase == PHASE_FORWARD || backward)) {
            *host_s += w.p->hosts[op->host];
            *gpu_s += op->kind == OP_COMPUTE ? w.p->costs[op->cost].gpu_s : 0.0;
        }
    }
    arena_destroy(w.arena);
}

/* Forty layers on two tensor ranks; a forward of one launches 32 kernels and collectives. */
static struct configuration job(double launch_s)
{
    struct configuration c = lower_case();
    double host_s, gpu_s;
    lower_case_size(&c, 2, 1, 1, 1, 1);
    c.model.layers = LAYERS;
    c.layout.sequence_parallel = true;
    c.software.memory.record_streams = true;
    c.software.host.launch_s = launch_s;
    c.cluster.node.nvlink.bytes_per_s = 1e30;
    times_of(&c, 1, false, &host_s, &gpu_s);
    c.software.block.norm_launches += (LAUNCHES - host_s / launch_s) / 2.0;
    times_of(&c, 1, false, &host_s, &gpu_s);
    assert_true(fabs(host_s / launch_s - LAUNCHES) < 1e-6);
    return c;
}

/* The most buffers of layers at once while forwards are written, and how many there are in all. */
static unsigned most_in_forward(const struct program *p, unsigned *all)
{
    unsigned now = 0, most = 0;
    bool of_layer[TENSORS] = {false};
    *all = 0;
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        const struct ledger_entry *e = &p->ledger[i];
        if (strcmp(e->name, BUFFER) != 0)
            continue;
        assert_true(e->tensor < TENSORS);
        if (e->action == LEDGER_FREE) {
            now -= of_layer[e->tensor];
            continue;
        }
        if (strcmp(e->call_site, "backward") == 0)
            break;
        of_layer[e->tensor] = e->layer != UINT16_MAX; /* the embedding has one too */
        now += of_layer[e->tensor];
        *all += of_layer[e->tensor];
        most = now > most ? now : most;
    }
    return most;
}

/* Two products of a layer scatter their sums and leave a buffer each. 512 launches are sixteen
 * layers, whose buffers are there when the next one takes its first; those of 513 launches ago come
 * back after that. */
static void test_queue(void **state)
{
    for (int more = -1; more <= 1; more++) {
        struct configuration c = job(1e-9);
        unsigned all;
        c.software.block.norm_launches += more * 0.01;
        struct written w = lower_case_write(&c);
        unsigned most = most_in_forward(w.p, &all);
        assert_int_equal(all, 2 * LAYERS);
        assert_int_equal(most, 2 * (more > 0 ? 16 : 17) + 1);
        arena_destroy(w.arena);
    }
}

/* Ahead is a host whose launches of a forward and a backward take less than their kernels: else a
 * buffer is back as soon as it has been used. */
static void test_slow_host(void **state)
{
    for (int slow = 0; slow < 2; slow++) {
        struct configuration c = job(1e-9);
        double host_s, gpu_s;
        unsigned all;
        times_of(&c, 1, true, &host_s, &gpu_s);
        c.software.host.launch_s = 1e-9 * gpu_s / host_s * (slow ? 1.001 : 0.999);
        struct written w = lower_case_write(&c);
        unsigned most = most_in_forward(w.p, &all);
        assert_int_equal(most, slow ? 1 : 2 * 17 + 1);
        arena_destroy(w.arena);
    }
}

/* What scatters its sum leaves the whole of it, b s h of two bytes; what gathers again, which the
 * backward does, leaves its part. */
static void test_sizes(void **state)
{
    struct configuration c = job(1e-9);
    struct written w = lower_case_write(&c);
    const double whole = 128.0 * 64.0 * 2.0;
    unsigned wholes[2] = {0}, halves[2] = {0};
    for (uint32_t i = 0; i < w.p->ledger_count; i++) {
        const struct ledger_entry *e = &w.p->ledger[i];
        if (strcmp(e->name, BUFFER) == 0 && e->action == LEDGER_ALLOCATE && e->layer == 3) {
            unsigned backward = strcmp(e->call_site, "backward") == 0;
            assert_true(backward || strcmp(e->call_site, "forward") == 0);
            wholes[backward] += e->bytes == whole;
            halves[backward] += e->bytes == whole / 2.0;
            assert_int_equal(e->tenant, TENANT_COMMUNICATION);
        }
    }
    assert_true(wholes[0] == 2 && halves[0] == 0 && wholes[1] == 2 && halves[1] == 2);
    arena_destroy(w.arena);
    c.software.memory.record_streams = false;
    w = lower_case_write(&c);
    for (uint32_t i = 0; i < w.p->ledger_count; i++)
        assert_string_not_equal(w.p->ledger[i].name, BUFFER);
    arena_destroy(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_slow_host),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
