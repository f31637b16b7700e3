/* What is chosen where a scenario says nothing, against a search through every candidate written
 * out, and against each key stated alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/step/simulate/step.h"
#include "tests/scenarios/assemble/choice.h"
#include "tests/test.h"

/* Every candidate of a half-filled scenario, spelt out: the best time of all. */
static double best_of_share(const char *text)
{
    static const char *const orders[] = {"1f1b, vpp: 1", "interleaved, vpp: 2",
                                         "interleaved, vpp: 4", "interleaved, vpp: 8"};
    static const char *const levels[] = {"none", "selective", "block", "full"};
    double best = INFINITY;
    for (unsigned o = 0; o < 4; o++) {
        for (unsigned m = 1; m <= 64; m++) {
            double least = INFINITY;
            for (unsigned r = 0; r < 4 && isinf(least); r++) { /* the least that fits */
                char full[1024];
                bool fits = false;
                snprintf(full, sizeof full, "%s, schedule: %s, microbatch: %u, recompute: %s}\n",
                         text, orders[o], m, levels[r]);
                struct scenario *s = choice_read(full);
                if (s->diagnostics.error_count == 0)
                    least = choice_step_s(&s->configuration, &fits);
                scenario_destroy(s);
            }
            best = fmin(best, least);
        }
    }
    return best;
}

/* ... and every share of eight experts, where none is said. */
static double best_of_all(const char *text)
{
    double best = INFINITY;
    if (strstr(text, "mixtral") == NULL || strstr(text, "ep:") != NULL)
        return best_of_share(text);
    for (unsigned ep = 1; ep <= 8; ep *= 2) {
        char shared[1024];
        snprintf(shared, sizeof shared, "%s, ep: %u, etp: %s", text, ep, ep > 1 ? "1" : "0");
        best = fmin(best, best_of_share(shared));
    }
    return best;
}

static const char *const halves[] = {
    /* alone on a node: memory decides */
    "model: {preset: llama3-8b, layers: 8}\n"
    "cluster: {gpu: a100-40gb-sxm, nodes: 1}\n"
    "training: {sequence: 4096, global_batch: 64}\n"
    "layout: {tp: 1",
    /* a pipeline with few microbatches: its order decides */
    "model: {layers: 16, hidden: 4096, heads: 32, vocabulary: 32000}\n"
    "cluster: {gpu: h100-80gb-sxm, nodes: 2, fabric: ib-ndr-8x400}\n"
    "training: {sequence: 4096, global_batch: 64}\n"
    "layout: {tp: 2, pp: 2",
    /* unfused attention: recomputation of the core alone */
    "model: {layers: 16, hidden: 4096, heads: 32, vocabulary: 32000}\n"
    "cluster: {gpu: a100-40gb-sxm, nodes: 2, fabric: ib-hdr-8x200}\n"
    "training: {sequence: 4096, global_batch: 32}\n"
    "software: megatron-2022\n"
    "layout: {tp: 4, pp: 2",
    /* eight chunks of a layer would be computed again whole; of four, half of each will do */
    "model: {layers: 32, hidden: 8192, heads: 64, vocabulary: 32000}\n"
    "cluster: {gpu: a100-40gb-sxm, nodes: 4, fabric: ib-hdr-8x200}\n"
    "training: {sequence: 16384, global_batch: 8}\n"
    "layout: {tp: 8, pp: 4",
    /* experts: their rows fill the memory */
    "model: {preset: mixtral-8x7b, layers: 12}\n"
    "cluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
    "training: {sequence: 4096, global_batch: 64}\n"
    "layout: {tp: 1, ep: 8, dispatch: deepep",
    /* nobody says over how many ranks they are spread: memory decides, or what rows cost */
    "model: {preset: mixtral-8x7b, layers: 4}\n"
    "cluster: {gpu: h100-80gb-sxm, nodes: 2, fabric: ib-ndr-8x400}\n"
    "training: {sequence: 4096, global_batch: 128}\n"
    "layout: {tp: 1",
    "model: {preset: mixtral-8x7b, layers: 16}\n"
    "cluster: {gpu: h100-80gb-sxm, nodes: 1}\n"
    "training: {sequence: 4096, global_batch: 32}\n"
    "layout: {tp: 2, pp: 2",
};

static void test_the_best_of_all(void **state)
{
    for (unsigned i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        char text[1024];
        bool fits;
        snprintf(text, sizeof text, "%s}\n", halves[i]);
        struct scenario *s = choice_sound(text);
        const double taken = choice_step_s(&s->configuration, &fits), best = best_of_all(halves[i]);
        assert_true(fits);
        if (!(taken <= 1.02 * best))
            fail_msg("half %u: takes %g s, the best of all %g s", i, taken, best);
        scenario_destroy(s);
    }
}

/* With each number for %u in `key`, the rest chosen: the best time of what leaves 3 % of memory, as
 * where nothing is stated. */
static double best_of_stated(const char *text, const char *key)
{
    double best = INFINITY;
    for (unsigned n = 1; n <= 128; n *= 2) {
        char stated[100], full[1024];
        struct error error;
        struct step *step;
        struct step_options options = {0};
        snprintf(stated, sizeof stated, key, n);
        snprintf(full, sizeof full, "%s, %s}\n", text, stated);
        struct scenario *s = choice_read(full);
        if (s->diagnostics.error_count == 0) {
            assert_true(step_run(&s->configuration, &options, &step, &error));
            if (step->fits &&
                step->peak.reserved_bytes <= 0.97 * s->configuration.gpu.hbm.usable_bytes)
                best = fmin(best, step->step_s);
            step_destroy(step);
        }
        scenario_destroy(s);
    }
    return best;
}

/* None of these keys, stated alone, beats what is chosen where none is. */
static void test_none_stated_is_better(void **state)
{
    static const struct {
        const char *text, *keys[2];
    } rows[] = {
        /* small microbatches want many ranks to share the experts, large ones few */
        {"model: {preset: qwen3-30b-a3b, layers: 12}\n"
         "cluster: {gpu: b200-180gb-sxm, gpus: 64}\n"
         "training: {sequence: 4096, global_batch: 256}\n"
         "software: fsdp\n"
         "layout: {tp: 2",
         {"ep: %u, etp: 1", "microbatch: %u"}},
        {"model: {preset: gpt-oss-20b, layers: 6}\n"
         "cluster: {gpu: h100-80gb-sxm, gpus: 64}\n"
         "training: {sequence: 4096, global_batch: 128}\n"
         "software: deepspeed\n"
         "layout: {tp: 2",
         {"ep: %u, etp: 1", "microbatch: %u"}},
        /* two splits of one size are about as fast by microbatches of one; with a loss that holds
         * less a smaller one fits */
        {"model: qwen3-235b-a22b\n"
         "cluster: {gpu: h200-141gb-sxm, gpus: 64}\n"
         "training: {sequence: 2048, global_batch: 128}\n"
         "software: {profile: nemo, loss_memory_bytes: 8, loss_traffic_bytes: 34}\n"
         "layout: {tp: 2",
         {"pp: %u", "microbatch: %u"}},
        /* one sequence: a pipeline would idle, whatever part of the sequence a rank has */
        {"model: llama3-8b\n"
         "cluster: {gpu: h100-80gb-sxm, gpus: 64}\n"
         "training: {sequence: 1048576, global_batch: 1}\n"
         "layout: {vpp: 1",
         {"pp: %u", "cp: %u"}},
        /* a few layers would be computed again: two ranks share a sequence */
        {"model: llama3-8b\n"
         "cluster: {gpu: h100-80gb-sxm, gpus: 32}\n"
         "training: {sequence: 131072, global_batch: 4}\n"
         "layout: {tp: 8",
         {"microbatch: %u", "cp: %u"}},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        bool fits;
        snprintf(text, sizeof text, "%s}\n", rows[i].text);
        struct scenario *s = choice_sound(text);
        const double taken = choice_step_s(&s->configuration, &fits);
        assert_true(fits);
        for (unsigned k = 0; k < 2; k++) {
            const double best = best_of_stated(rows[i].text, rows[i].keys[k]);
            assert_true(isfinite(best));
            if (!(taken <= 1.02 * best))
                fail_msg("row %u: takes %g s, the best by %s %g s", i, taken, rows[i].keys[k],
                         best);
        }
        scenario_destroy(s);
    }
}

/* One of tp and pp is stated: the other is the best of all that can be stated beside it. */
static void test_one_axis_stated(void **state)
{
    static const struct one_axis {
        const char *text, *said, *other;
        unsigned least, most;
    } rows[] = {
        /* the smallest tp that holds it leaves 8 microbatches for 16 stages */
        {"model: {preset: llama3-405b}\n"
         "cluster: {gpu: h100-80gb-sxm, gpus: 16384}\n"
         "training: {sequence: 8192, global_batch: 2048}\n",
         "pp: 16", "tp", 4, 8},
        /* the smallest pp that holds it recomputes */
        {"model: {preset: gpt3-175b}\n"
         "cluster: {gpu: a100-80gb-sxm, gpus: 1024}\n"
         "training: {sequence: 2048, global_batch: 512}\n",
         "tp: 8", "pp", 2, 8},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        bool fits;
        double best = INFINITY;
        for (unsigned n = rows[i].least; n <= rows[i].most; n *= 2) {
            snprintf(text, sizeof text, "%slayout: {%s, %s: %u}\n", rows[i].text, rows[i].said,
                     rows[i].other, n);
            struct scenario *stated = choice_read(text);
            if (stated->diagnostics.error_count == 0)
                best = fmin(best, choice_step_s(&stated->configuration, &fits));
            scenario_destroy(stated);
        }
        snprintf(text, sizeof text, "%slayout: {%s}\n", rows[i].text, rows[i].said);
        struct scenario *s = choice_sound(text);
        const double taken = choice_step_s(&s->configuration, &fits);
        assert_true(fits && isfinite(best));
        if (!(taken <= 1.02 * best))
            fail_msg("row %u: takes %g s, the best of all %g s", i, taken, best);
        scenario_destroy(s);
    }
}

/* Without context parallelism all splits of a long job with few sequences for each replica compute
 * layers again: the best of those with it, written out, is not far from what is chosen. */
static void test_sequences_are_split_to_compute_nothing_again(void **state)
{
    static const char text[] = "model: {preset: llama3-405b}\n"
                               "cluster: {gpu: h100-80gb-sxm, gpus: 16384}\n"
                               "training: {sequence: 8192, global_batch: 2048}\n";
    double best = INFINITY, whole = INFINITY;
    bool fits;
    for (unsigned pp = 8; pp <= 16; pp *= 2) {
        for (unsigned cp = 1; cp <= 4; cp *= 2) {
            char stated[1024];
            snprintf(stated, sizeof stated, "%slayout: {tp: 8, pp: %u, cp: %u}\n", text, pp, cp);
            struct scenario *s = choice_sound(stated);
            const double step_s = choice_step_s(&s->configuration, &fits);
            assert_true(fits);
            best = fmin(best, step_s);
            whole = cp == 1 ? fmin(whole, step_s) : whole;
            scenario_destroy(s);
        }
    }
    struct scenario *s = choice_sound(text);
    const double taken = choice_step_s(&s->configuration, &fits);
    assert_true(fits && s->configuration.layout.cp > 1);
    assert_true(taken <= 1.06 * best && taken < 0.9 * whole);
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_best_of_all),
        cmocka_unit_test(test_none_stated_is_better),
        cmocka_unit_test(test_one_axis_stated),
        cmocka_unit_test(test_sequences_are_split_to_compute_nothing_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
