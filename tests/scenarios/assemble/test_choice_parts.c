/* Parts of the choice of a layout: the shares of experts that stay in question, and the orders of a
 * pipeline with the ends that they ask for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/plan/choice.h"
#include "models/plan/choice_attention.h"
#include "models/plan/choice_experts.h"
#include "models/plan/choice_orders.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

enum {
    EXPERTS = 8
};

static struct scenario *read_text(const char *text)
{
    struct error error = {""};
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    scenario_print_problems(s, stderr, false);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

static struct scenario *with_experts(unsigned hidden, unsigned visits, const char *cluster)
{
    char text[512];
    snprintf(text, sizeof text,
             "model: {layers: 2, hidden: %u, heads: 8, vocabulary: 32000, ffn_hidden: %u,\n"
             "  experts: 8, experts_per_token: %u, moe_ffn_hidden: %u}\ncluster: {%s}\n"
             "training: {sequence: 2048, global_batch: 32}\n"
             "layout: {tp: 1, pp: 1, ep: 1, microbatch: 1, recompute: none}\n"
             "software: megatron\n",
             hidden, 4 * hidden, visits, hidden, cluster);
    return read_text(text);
}

/* GPU time of a token where experts are shared by so many. */
static double time_of(const struct configuration *from, uint64_t ep)
{
    struct configuration c = *from;
    c.layout.ep = ep;
    assert_true(configuration_legal(&c) && trial_may_fit(&c, c.gpu.hbm.usable_bytes));
    return trial_gpu_s_by_slope(&c, c.gpu.hbm.usable_bytes);
}

/* The fastest of all stands first, the second one behind it where it takes at most a tenth more. */
static void close_shares_stay(void **state)
{
    static const char *const clusters[] = {"gpu: h100-80gb-sxm, gpus: 8",
                                           "gpu: h100-80gb-sxm, nodes: 2",
                                           "gpu: a100-80gb-pcie, nodes: 2"};
    unsigned together = 0;
    for (unsigned k = 0; k < 3; k++) {
        for (unsigned visits = 1; visits <= 4; visits *= 2) {
            struct scenario *scenario = with_experts(512u << k, visits, clusters[k]);
            const struct configuration c = scenario->configuration;
            const struct shares_question q = {
                .ep = true,
                .budget = {.usable_bytes = c.gpu.hbm.usable_bytes, .passes_max = UINT64_MAX / 2},
                .microbatches = &c.layout.microbatch,
                .microbatch_count = 1};
            struct shares_found found;
            double first = INFINITY, second = INFINITY;
            uint64_t first_ep = 0, second_ep = 0;
            for (uint64_t ep = 1; ep <= EXPERTS; ep *= 2) {
                const double own = time_of(&c, ep);
                if (own < first) {
                    second = first;
                    second_ep = first_ep;
                    first = own;
                    first_ep = ep;
                } else if (own < second) {
                    second = own;
                    second_ep = ep;
                }
            }
            choice_shares(&c, &q, &found);
            assert_int_equal(found.best[0].ep, first_ep);
            assert_int_equal(found.count, second <= 1.1 * first ? 2 : 1);
            if (found.count == 2)
                assert_int_equal(found.best[1].ep, second_ep);
            together += found.count == 2;
            scenario_destroy(scenario);
        }
    }
    assert_true(together > 0);
}

/* What holds the smaller of two microbatches fits; what there is no effort to time is not timed. */
static void the_smallest_microbatch_decides(void **state)
{
    static const uint64_t microbatches[] = {4, 1};
    struct scenario *scenario = with_experts(2048, 2, "gpu: h100-80gb-sxm, gpus: 8");
    struct configuration c = scenario->configuration;
    unsigned between = 0;
    for (unsigned half = 4; half <= 40; half++) {
        unsigned small = 0, large = 0;
        c.gpu.hbm.usable_bytes = half * 0x1p29;
        for (uint64_t ep = 1; ep <= EXPERTS; ep *= 2) {
            struct configuration t = c;
            t.layout.ep = ep;
            small += trial_may_fit(&t, c.gpu.hbm.usable_bytes);
            t.layout.microbatch = 4;
            large += trial_may_fit(&t, c.gpu.hbm.usable_bytes);
        }
        for (unsigned timed = 0; timed < 2; timed++) {
            const struct shares_question q = {
                .ep = true,
                .budget = {.usable_bytes = c.gpu.hbm.usable_bytes,
                           .passes_max = timed ? UINT64_MAX / 2 : 4 * (1 + c.model.layers)},
                .microbatches = microbatches,
                .microbatch_count = 2};
            struct shares_found found;
            choice_shares(&c, &q, &found);
            if (timed)
                assert_int_equal(found.fitting, small);
            assert_true(timed ? found.timed == small : found.timed < small || small == 0);
        }
        between += small > large;
    }
    assert_true(between > 0);
    scenario_destroy(scenario);
}

/* 30 layers over four stages: with embedding and head 32, of which each has eight. The plain order
 * and the interleaved one ask for the same. */
static void orders_have_their_ends(void **state)
{
    struct scenario *scenario =
        read_text("model: {layers: 32, hidden: 1024, heads: 8, vocabulary: 32000}\n"
                  "cluster: {gpu: h100-80gb-sxm, gpus: 4}\n"
                  "training: {sequence: 2048, global_batch: 32}\nlayout: {tp: 1, pp: 4, vpp: 1}\n");
    struct configuration c = scenario->configuration, out[CHOICE_ORDERS_MAX];
    c.model.layers = 30;
    c.software.pipeline.even_stages = c.software.pipeline.interleaves = true;
    c.software.usual.chunks = 0;
    struct order_question q = {.c = &c, .order = true, .chunks = true, .ends = true, .given = true};
    assert_int_equal(choice_orders(&q, out), 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct layout_spec *l = &out[i].layout;
        assert_true(l->pipeline.ends_count && l->pipeline.first_layers == 0 &&
                    l->pipeline.last_layers == 0);
        assert_ptr_equal(l->pipeline.schedule,
                         i == 0 ? &schedule_one_f_one_b : &schedule_interleaved);
        assert_int_equal(l->pipeline.vpp, i == 0 ? 1 : 8);
        assert_true(configuration_legal(&out[i]));
    }
    /* With fewer chunks the ends are settled anew: 32 are 4 x 4 x 2. Sixteen layers, of which a
     * first and a last stage were given, divide by themselves. */
    struct configuration fewer = out[1];
    assert_true(choice_orders_fewer(&q, &fewer));
    assert_true(fewer.layout.pipeline.vpp == 4 && fewer.layout.pipeline.ends_count);
    fewer.model.layers = 16;
    fewer.layout.pipeline.first_layers = fewer.layout.pipeline.last_layers = 3;
    assert_true(choice_orders_fewer(&q, &fewer));
    assert_true(fewer.layout.pipeline.vpp == 2 && !fewer.layout.pipeline.ends_count);
    assert_true(fewer.layout.pipeline.first_layers == 0 && fewer.layout.pipeline.last_layers == 0);
    assert_false(choice_orders_fewer(&q, &fewer)); /* one chunk is the plain order */
    /* What was said stays: 30 layers then have no equal parts. */
    q.ends = false;
    assert_int_equal(choice_orders(&q, out), 1);
    assert_false(out[0].layout.pipeline.ends_count);
    assert_int_equal(out[0].layout.pipeline.vpp, 1);
    scenario_destroy(scenario);
}

/* GPU time of a token with the least recomputation that fits: none, that of the fewest layers where
 * the software counts them, else all. */
static double least_time_of(const struct configuration *from, uint64_t ep, bool whole)
{
    struct configuration c = *from;
    double gpu_s = INFINITY;
    c.layout.ep = ep;
    c.layout.recompute = RECOMPUTE_NONE;
    if (trial_may_fit(&c, c.gpu.hbm.usable_bytes))
        return trial_gpu_s_by_slope(&c, c.gpu.hbm.usable_bytes);
    c.layout.recompute = RECOMPUTE_FULL;
    if (!trial_may_fit(&c, c.gpu.hbm.usable_bytes))
        return INFINITY;
    if (!whole)
        assert_true(trial_least_block(&c, c.gpu.hbm.usable_bytes));
    while (!isfinite(gpu_s = trial_gpu_s_by_slope(&c, c.gpu.hbm.usable_bytes)) &&
           c.layout.recompute == RECOMPUTE_BLOCK &&
           c.layout.recompute_layers < configuration_chunk_layers(&c))
        c.layout.recompute_layers++;
    return gpu_s;
}

static uint64_t fastest_share(const struct configuration *c, bool whole, double *best_s)
{
    uint64_t best = 0;
    *best_s = INFINITY;
    for (uint64_t ep = 1; ep <= EXPERTS; ep *= 2) {
        const double own_s = least_time_of(c, ep, whole);
        best = own_s < *best_s ? ep : best;
        *best_s = fmin(*best_s, own_s);
    }
    return best;
}

/* On cards of any size the share is the fastest of all with the least recomputation of each. */
static void shares_recompute_the_least(void **state)
{
    struct scenario *scenario = with_experts(2048, 2, "gpu: a100-80gb-pcie, gpus: 8");
    struct configuration c = scenario->configuration;
    unsigned found_any = 0, otherwise = 0, none = 0;
    c.model.layers = 8;
    c.software.offers.block_recompute = true;
    for (unsigned half = 8; half <= 40; half++) {
        c.gpu.hbm.usable_bytes = half * 0x1p29;
        const struct shares_question q = {
            .ep = true,
            .recompute = true,
            .budget = {.usable_bytes = c.gpu.hbm.usable_bytes, .passes_max = UINT64_MAX / 2},
            .microbatches = &c.layout.microbatch,
            .microbatch_count = 1};
        struct shares_found found;
        double best_s, whole_s;
        const uint64_t best = fastest_share(&c, false, &best_s);
        choice_shares(&c, &q, &found);
        assert_int_equal(found.fitting > 0, best > 0);
        if (best == 0) { /* then the least state: of experts over all ranks */
            assert_int_equal(found.count, 1);
            assert_int_equal(found.best[0].ep, configuration_ranks(&c));
            none++;
            continue;
        }
        assert_int_equal(found.best[0].ep, best);
        found_any++;
        otherwise += fastest_share(&c, true, &whole_s) != best;
    }
    print_message("%u sizes, %u otherwise with all recomputed\n", found_any, otherwise);
    assert_true(otherwise > 0 && none > 0);
    scenario_destroy(scenario);
}

/* Three experts on two ranks can only be cut, as the tensor ranks are; four are shared whole. */
static void whole_experts_are_of_shares(void **state)
{
    struct scenario *scenario = with_experts(512, 1, "gpu: h100-80gb-sxm, gpus: 2");
    struct configuration c = scenario->configuration;
    c.layout.tp = 2;
    c.layout.dp = 1;
    c.layout.sequence_parallel = true;
    for (unsigned experts = 3; experts <= 4; experts++) {
        const struct shares_question q = {
            .ep = true,
            .etp = true,
            .budget = {.usable_bytes = c.gpu.hbm.usable_bytes, .passes_max = UINT64_MAX / 2},
            .microbatches = &c.layout.microbatch,
            .microbatch_count = 1};
        struct shares_found found;
        c.model.moe.experts = experts;
        choice_shares(&c, &q, &found);
        assert_int_equal(found.legal, experts == 3 ? 1 : 2);
        for (unsigned i = 0; i < found.count; i++)
            assert_int_equal(found.best[i].etp, found.best[i].ep > 1 ? 1 : c.layout.etp);
    }
    scenario_destroy(scenario);
}

/* The software's kernel where the card has it, fused by now where the card is newer than unfused
 * kernels; else the newest that both have. In fp32 the unfused one. */
static void kernels_are_those_of_card_and_software(void **state)
{
    const unsigned flash1 = 1u << ATTENTION_FLASH1, flash2 = 1u << ATTENTION_FLASH2,
                   flash3 = 1u << ATTENTION_FLASH3, cudnn = 1u << ATTENTION_CUDNN;
    const struct {
        unsigned card;
        enum attention_kernel usual;
        bool flash3, fp8;
        enum attention_kernel taken;
    } rows[] = {
        {flash1 | flash2 | flash3 | cudnn, ATTENTION_FLASH2, true, true, ATTENTION_FLASH2},
        {flash1 | flash2 | flash3, ATTENTION_CUDNN, true, true, ATTENTION_FLASH3},
        {flash1 | flash2 | flash3, ATTENTION_CUDNN, false, true, ATTENTION_FLASH2},
        {flash1 | flash3, ATTENTION_FLASH2, false, true, ATTENTION_FLASH1},
        {flash1 | flash2 | cudnn, ATTENTION_FLASH3, true, true, ATTENTION_CUDNN},
        {flash1 | flash2, ATTENTION_MATH, true, true, ATTENTION_FLASH2},
        {flash1 | flash2, ATTENTION_MATH, true, false, ATTENTION_MATH},
        {0, ATTENTION_CUDNN, true, true, ATTENTION_MATH},
    };
    struct scenario *s = with_experts(512, 1, "gpu: h100-80gb-sxm, gpus: 8");
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct configuration c = s->configuration;
        c.software.usual.attention = (int)rows[i].usual;
        c.software.offers.flash3 = rows[i].flash3;
        c.gpu.peak_flops_per_s[PEAK_FP8] = rows[i].fp8 ? 2e15 : 0.0;
        for (unsigned k = ATTENTION_FLASH1; k <= ATTENTION_CUDNN; k++)
            for (unsigned causal = 0; causal < 2; causal++)
                c.gpu.attention.forward[k][causal].ceiling_flops_per_s =
                    (rows[i].card >> k & 1u) != 0 ? 5e14 : 0.0;
        assert_int_equal(choice_attention(&c), rows[i].taken);
        c.training.precision = precision_find("fp32"); /* which no fused kernel takes */
        assert_int_equal(choice_attention(&c), ATTENTION_MATH);
    }
    scenario_destroy(s);
}

/* Of operands in 8 bits the newest kernel that takes them, where the software's does not. */
static void kernels_take_eight_bits(void **state)
{
    static const enum attention_kernel taken[][3] = {
        /* usual, in 16 bits, in 8 bits */
        {ATTENTION_FLASH2, ATTENTION_FLASH2, ATTENTION_CUDNN},
        {ATTENTION_MATH, ATTENTION_FLASH2, ATTENTION_CUDNN},
        {ATTENTION_FLASH3, ATTENTION_FLASH3, ATTENTION_FLASH3},
        {ATTENTION_CUDNN, ATTENTION_CUDNN, ATTENTION_CUDNN},
    };
    struct scenario *s = with_experts(512, 1, "gpu: h100-80gb-sxm, gpus: 8");
    for (unsigned i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        struct configuration c = s->configuration;
        c.software.usual.attention = (int)taken[i][0];
        c.training.precision = precision_find("fp8");
        assert_int_equal(choice_attention(&c), taken[i][1]);
        c.software.fp8.attention = true;
        assert_int_equal(choice_attention(&c), taken[i][2]);
        c.training.attention = (int)taken[i][2];
        const char *why = choice_attention_why(s->arena, &c);
        assert_int_equal(strstr(why, "no 8-bit operands") != NULL, i < 2);
        if (i < 2)
            assert_string_equal(why, "flash2 takes no 8-bit operands (software.fp8_attention)");
        c.training.precision = precision_find("bf16");
        assert_int_equal(choice_attention(&c), taken[i][1]);
    }
    scenario_destroy(s);
}

/* A part of the replicas stands for all where every node is full; a job that ends inside a node is
 * played whole. */
static void half_the_nodes_stand_for_all(void **state)
{
    struct scenario *s = with_experts(512, 1, "gpu: h100-80gb-sxm, gpus: 8");
    struct configuration c = s->configuration;
    c.cluster.nodes = 1024;
    c.layout.dp = c.training.global_batch = 8192;
    assert_true(trial_differs(&c));
    c.cluster.gpus = 8192 - 4;
    assert_false(trial_differs(&c));
    scenario_destroy(s);
}

/* A part of the replicas takes the time of all, whatever is slow or weak; op by op, and at pass
 * detail where that takes too long, which is as near as docs/models/pass.md says. */
static void a_trial_is_of_the_ideal_cluster(void **state)
{
    static const char text[] = "model: {layers: 8, hidden: 4096, heads: 32, vocabulary: 32000}\n"
                               "cluster: {gpu: h100-80gb-sxm, nodes: 512}\n"
                               "training: {sequence: 4096, global_batch: 4096}\n"
                               "layout: {tp: 2, pp: 1, microbatch: 1, recompute: none}\n"
                               "software: megatron\n";
    static const uint64_t microbatches[] = {4, 42000};
    struct perturbation slow = {.what = PERTURB_GPU_SPEED, .ratio = 0.5};
    struct scenario *s = read_text(text);
    const double usable = s->configuration.gpu.hbm.usable_bytes;
    for (unsigned i = 0; i < sizeof microbatches / sizeof microbatches[0]; i++) {
        struct configuration half = s->configuration;
        half.training.global_batch = half.layout.dp * microbatches[i];
        struct configuration all = half;
        all.cluster.nodes *= 2;
        all.layout.dp *= 2;
        all.training.global_batch *= 2;
        all.perturbations = &slow;
        all.perturbation_count = 1;
        const double half_s = trial_gpu_s_per_token(&half, usable);
        const double slope_s = trial_gpu_s_by_slope(&half, usable);
        assert_true(half_s > 0.0 && fabs(slope_s - half_s) < 0.02 * half_s);
        /* whether all fit is asked of all: a part of them holds more */
        assert_true(trial_gpu_s_per_token(&all, 1.0) == half_s);
        assert_true(isinf(trial_gpu_s_per_token(&half, 1.0)));
    }
    scenario_destroy(s);
}

static bool fits(const struct configuration *c)
{
    return trial_fits(c, c->gpu.hbm.usable_bytes);
}

static const char *why_tp(const struct scenario *s)
{
    for (unsigned i = 0; i < s->choices.count; i++)
        if (s->choices.rows[i].key == CHOICE_TP)
            return s->choices.rows[i].why;
    return "";
}

/* GPipe keeps every microbatch of the step: a split is one that holds them all, or, where none
 * does, one with which 1f1b would do. */
static void gpipe_holds_every_microbatch(void **state)
{
    static const char *const texts[] = {
        "model: gpt-oss-20b\ncluster: {gpu: a100-40gb-sxm, gpus: 24}\n"
        "training: {sequence: 8192, global_batch: 48}\n"
        "software: torchtitan\nlayout: {schedule: gpipe, pp: 1}\n",
        "model: gemma3-12b\ncluster: {gpu: v100-32gb-sxm, gpus: 32}\n"
        "training: {sequence: 4096, global_batch: 256, precision: fp16}\n"
        "software: nanotron\nlayout: {schedule: gpipe}\n"};
    for (unsigned i = 0; i < 2; i++) {
        struct scenario *s = read_text(texts[i]);
        struct configuration c = s->configuration;
        assert_true(fits(&c) == (i == 0));
        assert_true((strstr(why_tp(s), "fits by 1f1b") != NULL) == (i == 1));
        c.layout.pipeline.schedule = &schedule_one_f_one_b;
        assert_true(fits(&c));
        scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_shares_stay),
        cmocka_unit_test(the_smallest_microbatch_decides),
        cmocka_unit_test(orders_have_their_ends),
        cmocka_unit_test(shares_recompute_the_least),
        cmocka_unit_test(whole_experts_are_of_shares),
        cmocka_unit_test(kernels_are_those_of_card_and_software),
        cmocka_unit_test(kernels_take_eight_bits),
        cmocka_unit_test(half_the_nodes_stand_for_all),
        cmocka_unit_test(a_trial_is_of_the_ideal_cluster),
        cmocka_unit_test(gpipe_holds_every_microbatch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
