/* Networks of the catalogue beside nccl-tests and rccl-tests that were published for them: bus
 * bandwidths of one collective, predicted from component figures. A row that its figure was taken
 * from says so and is no check; the others are. The bound of a row is how far the prediction is
 * from the measurement, and a little more: a figure that changes is noticed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/step/simulate/collective_run.h"
#include "scenarios/assemble/scenario.h"
#include "sim/units.h"
#include "tests/test.h"

#define AWS "aws-samples/awsome-distributed-training micro-benchmarks/nccl-tests"

static const struct {
    const char *gpu, *node;
    uint64_t gpus;
    double bytes, measured_bytes_per_s, low, high; /* predicted over measured */
    bool fitted;                                   /* the figures were taken from it */
    const char *source;
} rows[] = {
    /* EFA v1, two p4de */
    {"a100-80gb-sxm", "aws-p4d", 16, 2 * GIB, 78.33e9, 0.98, 1.02, true, AWS},
    {"a100-80gb-sxm", "aws-p4d", 16, 512 * MIB, 74.28e9, 0.95, 1.05, false, AWS},
    {"a100-80gb-sxm", "aws-p4d", 16, 128 * MIB, 64.31e9, 0.85, 1.0, false, AWS},
    {"a100-80gb-sxm", "aws-p4d", 16, 8 * MIB, 20.62e9, 1.0, 1.4, false, AWS},
    {"a100-80gb-sxm", "aws-p4d", 8, 1 * GIB, 230.77e9, 0.97, 1.03, false, "NVIDIA/nccl issue 527"},
    /* EFA v2, two p5: figures from training steps and other tests, never from this table */
    {"h100-80gb-sxm", "aws-p5", 16, 16 * GIB, 487.09e9, 0.97, 1.07, false, AWS},
    {"h100-80gb-sxm", "aws-p5", 16, 2 * GIB, 443.72e9, 0.97, 1.1, false, AWS},
    {"h100-80gb-sxm", "aws-p5", 16, 512 * MIB, 393.34e9, 0.9, 1.03, false, AWS},
    {"h100-80gb-sxm", "aws-p5", 16, 128 * MIB, 289.16e9, 0.65, 0.8, false, AWS},
    {"h100-80gb-sxm", "aws-p5", 16, 32 * MIB, 143.09e9, 0.47, 0.6, false, AWS},
    /* EFA v3, 16 p5en */
    {"h200-141gb-sxm", "aws-p5en", 128, 16 * GIB, 369.86e9, 0.93, 1.0, true, AWS},
    /* TCPXO, two a3-mega (collectives.csv has the table that its figures were fitted on) */
    {"h100-80gb-sxm", "gcp-a3-mega", 16, 8 * GIB, 337.35e9, 0.95, 1.05, true,
     "tests/validation/collectives.csv"},
    /* inside a node: the smallest that AWS's health check calls sound; AMD's cluster validation */
    {"b200-180gb-sxm", "aws-p6-b200", 8, 8 * GIB, 600e9, 1.0, 1.5, false,
     "aws-samples/awsome-distributed-training 2.gpu-cluster-healthcheck, a lower bound"},
    {"mi350x-288gb", "mi350x-platform", 8, 8 * GIB, 360.97e9, 0.98, 1.02, true,
     "rocm.docs.amd.com, RCCL benchmarking"},
    {"mi355x-288gb", "mi355x-platform", 8, 8 * GIB, 350e9, 1.0, 1.12, false,
     "rocm.docs.amd.com, RCCL benchmarking, a lower bound"},
    {"gb200-186gb", "gb200-nvl72", 8, 16 * GIB, 811e9, 0.97, 1.05, false,
     "lixueduan.com: two trays of GB200 over NVLink"},
};

/* `node` may go on with other keys of `cluster:`. */
static struct scenario *two_nodes(const char *gpu, const char *node)
{
    char text[512];
    struct error error = {""};
    snprintf(text, sizeof text,
             "model: {preset: gpt2-124m}\ncluster: {gpu: %s, nodes: 2, node: %s}\n"
             "training: {sequence: 1024, global_batch: 5040, precision: bf16}\n"
             "layout: {tp: 1, pp: 1, dp: auto, microbatch: 1}\n",
             gpu, node);
    struct scenario *s = scenario_read("test.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count > 0)
        fail_msg("%s: %s", node, s->diagnostics.problems[0].text);
    return s;
}

static double predicted(const char *gpu, const char *node, uint64_t gpus, double bytes)
{
    struct scenario *s = two_nodes(gpu, node);
    struct error error = {""};
    struct collective_result result;
    struct configuration *c = &s->configuration;
    c->cluster.gpus = 0;
    c->cluster.nodes = (gpus + c->cluster.node.gpus - 1) / c->cluster.node.gpus;
    if (!collective_run(c, COMM_ALL_REDUCE, gpus, bytes, &result, &error))
        fail_msg("%s: %s", node, error.text);
    scenario_destroy(s);
    return result.busbw_bytes_per_s;
}

static void test_measured_networks(void **state)
{
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const double now = predicted(rows[i].gpu, rows[i].node, rows[i].gpus, rows[i].bytes);
        const double over = now / rows[i].measured_bytes_per_s;
        print_message(
            "%-16s %3u GPUs %6.0f MiB  measured %6.1f predicted %6.1f GB/s  %+5.1f %%%s\n",
            rows[i].node, (unsigned)rows[i].gpus, rows[i].bytes / MIB,
            rows[i].measured_bytes_per_s / GIGA, now / GIGA, 100.0 * (over - 1.0),
            rows[i].fitted ? "  (its figure)" : "");
        if (!(over >= rows[i].low && over <= rows[i].high))
            fail_msg("%s of %s: %.3f of what was measured, not %.2f to %.2f", rows[i].node,
                     rows[i].source, over, rows[i].low, rows[i].high);
    }
}

static bool fitted_somewhere(const char *node)
{
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].node, node) == 0 && rows[i].fitted)
            return true;
    return false;
}

/* Rows over a network whose figures are from no row of the same table: what is known of a network
 * before anybody has measured it, and how far off a prediction then is. */
static void test_error_of_announced_networks(void **state)
{
    double sum = 0.0;
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const bool inside = rows[i].gpus <= 8;
        if (inside || fitted_somewhere(rows[i].node))
            continue;
        const double error = log(predicted(rows[i].gpu, rows[i].node, rows[i].gpus, rows[i].bytes) /
                                 rows[i].measured_bytes_per_s);
        sum += error * error;
        count++;
    }
    const double missed = sqrt(sum / (double)count);
    const double whole_percent = 0.005;
    static const char *const announced[] = {"dgx-h100, fabric: nvl72-4x1600",
                                            "dgx-h100, fabric: ultra-ethernet-72x2400"};
    print_message("%u rows, %.3f\n", count, missed);
    assert_true(count >= 5);
    for (unsigned i = 0; i < sizeof announced / sizeof announced[0]; i++) {
        struct scenario *s = two_nodes("h100-80gb-sxm", announced[i]);
        assert_true(fabs(s->configuration.cluster.fabric.announced_error_ratio - missed) <
                    whole_percent);
        scenario_destroy(s);
    }
}

/* Networks that nobody measured keep the order of what they are made of: newer EFA is no slower,
 * TCPX no faster than TCPXO, Spectrum-X between hashed RoCE and InfiniBand. */
static void test_order(void **state)
{
    const double bytes = 8 * GIB;
    assert_true(predicted("h200-141gb-sxm", "aws-p5en", 16, bytes) >
                predicted("h200-141gb-sxm", "aws-p5e", 16, bytes) * 0.999);
    assert_true(predicted("b300-288gb-sxm", "aws-p6-b300", 128, bytes) >
                predicted("b200-180gb-sxm", "aws-p6-b200", 128, bytes) * 1.5);
    assert_true(predicted("h100-80gb-sxm", "gcp-a3-high", 16, bytes) <
                predicted("h100-80gb-sxm", "gcp-a3-mega", 16, bytes) * 0.6);
    assert_true(predicted("gb300-288gb", "azure-nd-gb300-v6", 144, bytes) >=
                predicted("gb200-186gb", "azure-nd-gb200-v6", 144, bytes) * 0.999);
    const double hashed = predicted("h100-80gb-sxm", "dgx-h100, fabric: roce-8x400", 512, bytes);
    const double spread =
        predicted("h100-80gb-sxm", "dgx-h100, fabric: spectrum-x-8x400", 512, bytes);
    const double infiniband = predicted("h100-80gb-sxm", "dgx-h100", 512, bytes);
    print_message("512 H100: RoCE %.0f, Spectrum-X %.0f, InfiniBand %.0f GB/s\n", hashed / GIGA,
                  spread / GIGA, infiniband / GIGA);
    assert_true(hashed < spread);
    assert_true(fabs(spread / infiniband - 1.0) < 0.05);
}

/* Four planes: 16,384 GPUs are two tiers of switches with 512 ports, three of those with 64, so a
 * small message is sooner there. */
static void test_planes(void **state)
{
    static const char fabric[] =
        "{kind: fat_tree, nic: 800Gb/s, nics: 8, radix: 64, efficiency: 97%, latency: 0.5us, "
        "switch_latency: 0.6us}";
    char node[256];
    snprintf(node, sizeof node, "dgx-b300, fabric: %s", fabric);
    const double tiers = predicted("b300-288gb-sxm", node, 16384, 1024.0);
    const double planes =
        predicted("b300-288gb-sxm", "dgx-b300, fabric: spectrum-x-8x800-4planes", 16384, 1024.0);
    print_message("16,384 GPUs, 1 KiB: %.3f in three tiers, %.3f MB/s in two tiers of planes\n",
                  tiers / MEGA, planes / MEGA);
    assert_true(planes > tiers * 1.02);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured_networks),
        cmocka_unit_test(test_error_of_announced_networks),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
