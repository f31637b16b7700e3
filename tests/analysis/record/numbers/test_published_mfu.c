/* Which published MFU a configuration is held to, and when a prediction is said to be above it. The
 * figures themselves are held to the rows of steps.csv by tests/validation/published. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/evidence/published_mfu.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static struct scenario *read_model(const char *model, const char *gpu, unsigned sequence,
                                   const char *precision)
{
    char text[512];
    struct error error = {""};
    snprintf(text, sizeof text,
             "model: %s\ncluster: {gpu: %s, gpus: 8}\n"
             "training: {sequence: %u, global_batch: 64, precision: %s}\nlayout: {tp: 1, pp: 1}\n",
             model, gpu, sequence, precision);
    struct scenario *s = scenario_read("test.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

/* The card, peak and kind of the figure, or nothing. */
static void held_to(const char *model, const char *gpu, unsigned sequence, const char *precision,
                    enum peak_kind peak, int experts)
{
    struct scenario *s = read_model(model, gpu, sequence, precision);
    const struct published_mfu *p = published_mfu_of(&s->configuration);
    if (experts < 0) {
        assert_null(p);
        assert_null(published_mfu_words(s->arena, &s->configuration, 0.99));
    } else {
        assert_non_null(p);
        assert_string_equal(p->card, gpu);
        assert_int_equal(p->peak, peak);
        assert_int_equal(p->experts, experts);
    }
    scenario_destroy(s);
}

static void a_step_is_held_to_its_kind(void **state)
{
    held_to("llama3-8b", "h100-80gb-sxm", 8192, "bf16", PEAK_BF16, 0);
    held_to("llama3-8b", "h100-80gb-sxm", 8192, "fp16", PEAK_BF16, 0);
    held_to("llama3-8b", "h100-80gb-sxm", 8192, "fp8", PEAK_FP8, 0);
    held_to("qwen3-30b-a3b", "h100-80gb-sxm", 8192, "bf16", PEAK_BF16, 1);
    held_to("qwen3-30b-a3b", "gb200-186gb", 8192, "fp8", PEAK_FP8, 1);
    /* Nothing published: this card with experts, this format, this sequence. */
    held_to("qwen3-30b-a3b", "h200-141gb-sxm", 8192, "bf16", PEAK_BF16, -1);
    held_to("llama3-8b", "mi300x-192gb", 8192, "bf16", PEAK_BF16, -1);
    held_to("llama3-8b", "b200-180gb-sxm", 8192, "nvfp4", PEAK_FP4, -1);
    held_to("llama3-8b", "h100-80gb-sxm", PUBLISHED_MFU_SEQUENCE, "bf16", PEAK_BF16, -1);
    held_to("llama3-8b", "h100-80gb-sxm", PUBLISHED_MFU_SEQUENCE - 8, "bf16", PEAK_BF16, 0);
}

static void what_is_above_is_said(void **state)
{
    struct scenario *s = read_model("llama3-8b", "a100-80gb-sxm", 4096, "bf16");
    const struct published_mfu *p = published_mfu_of(&s->configuration);
    char percent[32];
    assert_non_null(p);
    assert_null(published_mfu_words(s->arena, &s->configuration, 0.5 * p->mfu_ratio));
    assert_null(published_mfu_words(s->arena, &s->configuration, p->mfu_ratio));
    assert_null(published_mfu_words(s->arena, &s->configuration, NAN));
    const char *words = published_mfu_words(s->arena, &s->configuration, p->mfu_ratio + 1e-6);
    assert_non_null(words);
    snprintf(percent, sizeof percent, "%.1f %%", 100.0 * p->mfu_ratio);
    assert_non_null(strstr(words, percent));
    assert_non_null(strstr(words, p->row));
    assert_non_null(strstr(words, p->model));
    assert_non_null(strstr(words, "dense"));
    assert_non_null(strstr(words, "bf16"));
    scenario_destroy(s);
}

/* One figure a kind; a share of a peak. */
static void the_list_is_sound(void **state)
{
    assert_true(published_mfu_count >= 20);
    for (size_t i = 0; i < published_mfu_count; i++) {
        const struct published_mfu *a = &published_mfus[i];
        assert_true(a->mfu_ratio > 0.2 && a->mfu_ratio < 0.7 && a->gpus > 0);
        for (size_t k = 0; k < i; k++) {
            const struct published_mfu *b = &published_mfus[k];
            assert_false(strcmp(a->card, b->card) == 0 && a->peak == b->peak &&
                         a->experts == b->experts);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_held_to_its_kind),
        cmocka_unit_test(what_is_above_is_said),
        cmocka_unit_test(the_list_is_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
