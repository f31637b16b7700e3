/* The words beside an MFU: both formulas, each letter of either once with its number, those that
 * causal MFU alone has behind the others; and the rows of walls that name the formula. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "analysis/explain/walls_rows.h"
#include "analysis/record/numbers/flops_words.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static struct scenario *read_with(const char *model, const char *training)
{
    char text[512];
    struct error error = {""};
    snprintf(text, sizeof text,
             "model: {%s}\ncluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
             "training: {global_batch: 8, precision: bf16, %s}\n"
             "layout: {tp: 1, pp: 1, dp: 8, microbatch: 1, sharding: zero-3}\n",
             model, training);
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

static unsigned times(const char *text, const char *what)
{
    unsigned count = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what))
        count++;
    return count;
}

static void all_letters_stand_once(const char *formula, const char *letters)
{
    for (const char *at = formula; *at != '\0'; at++) {
        const char entry[] = {' ', *at, ' ', '=', ' ', '\0'};
        const bool first = strncmp(letters, entry + 1, 4) == 0;
        if (isalpha((unsigned char)*at) && times(letters, entry) + (first ? 1 : 0) != 1)
            fail_msg("%c of %s: %s", *at, formula, letters);
    }
}

#define GEMMA "preset: gemma2-2b, layers: 3, full_interval: 3"

static void words_are_of_the_model(void **state)
{
    struct scenario *s = read_with(GEMMA, "sequence: 8192");
    const struct flops_words w = flops_words_of(s->arena, &s->configuration);
    assert_string_equal(w.formula, "6N + 12Lhs + 12Whw");
    assert_string_equal(w.causal_formula, "6N + 6Lhs + 12Whu");
    all_letters_stand_once(w.formula, w.letters);
    all_letters_stand_once(w.causal_formula, w.letters);
    assert_non_null(strstr(w.letters, ", L = 1 layers that attend to the whole sequence, "
                                      "h = 2,048 (heads x head size), s = 8,192 tokens of a "
                                      "sequence, W = 2 layers that attend within a window, "
                                      "w = 4,096 tokens of a window; of causal MFU alone: "
                                      "u = 3,072 tokens of a window that a query sees"));
    scenario_destroy(s);
}

static void without_a_mask_both_are_one(void **state)
{
    struct scenario *s = read_with(GEMMA, "sequence: 8192, causal: false");
    const struct flops_words w = flops_words_of(s->arena, &s->configuration);
    assert_string_equal(w.causal_formula, w.formula);
    assert_null(strstr(w.letters, "alone"));
    scenario_destroy(s);
}

static void walls_name_that_formula(void **state)
{
    static const struct {
        const char *training, *sequence, *mfu;
    } cases[] = {
        {"sequence: 8192",
         "6 N s (arXiv:2001.08361, section 2.1), N that a token visits; "
         "simulated: 6N + 12Lhs + 12Whw",
         "stated (--mfu); simulated: by 6N + 12Lhs + 12Whw a token, no scores in the envelope"},
        {"sequence: 8192, adapter: lora",
         "(4 N + 6 n) s, n in adapters: frozen weights have no gradients (arXiv:2106.09685, "
         "section 4.1); simulated: 4N + 6n + 12Lhs + 12Whw",
         "stated (--mfu); simulated: by 4N + 6n + 12Lhs + 12Whw a token, no scores in the "
         "envelope"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct walls_assumed assumed = {.mfu_ratio = 0.4, .bandwidth_bytes_per_s = 1e11};
        struct scenario *s = read_with(GEMMA, cases[i].training);
        struct walls walls;
        struct walls_row rows[WALLS_ROW_COUNT];
        struct error error = {""};
        assert_true(walls_gather(s->arena, s, &assumed, &walls, &error));
        walls_rows(&walls, rows);
        assert_string_equal(rows[WALLS_ROW_sequence_flops].formula, cases[i].sequence);
        assert_string_equal(rows[WALLS_ROW_mfu].formula, cases[i].mfu);
        scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_of_the_model),
        cmocka_unit_test(without_a_mask_both_are_one),
        cmocka_unit_test(walls_name_that_formula),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
