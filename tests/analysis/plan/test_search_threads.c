/* The planner on one, two and four threads finds the same, to the bit. */
#include <string.h>

#include "analysis/plan/search/search.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

static const char text[] = "model: {layers: 8, hidden: 4096, heads: 32, vocabulary: 32000}\n"
                           "cluster: {gpu: a100-40gb-sxm, gpus: 16}\n"
                           "training: {sequence: 4096, global_batch: 16}\nsoftware: nemo\n";

static struct scenario *read_text(void)
{
    const struct scenario_options how = {.layout_open = true};
    struct error error = {""};
    struct scenario *s = scenario_read("text", text, strlen(text), &how, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

static struct search *search_of(const struct scenario *scenario, unsigned threads)
{
    const struct search_question question = {
        .base = &scenario->configuration, .leaders = 6, .threads = threads};
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_run(&question, &search, &error));
    return search;
}

static void threads_change_nothing(void **state)
{
    struct scenario *scenario = read_text();
    struct search *one = search_of(scenario, 1);
    for (unsigned threads = 2; threads <= 4; threads += 2) {
        struct search *many = search_of(scenario, threads);
        assert_int_equal(many->row_count, one->row_count);
        assert_int_equal(many->leader_count, one->leader_count);
        assert_true(many->counts.timed == one->counts.timed &&
                    many->counts.ledgers == one->counts.ledgers);
        for (uint32_t i = 0; i < one->row_count; i++) {
            assert_int_equal(many->rows[i].fate, one->rows[i].fate);
            assert_true(many->rows[i].pass_s == one->rows[i].pass_s);
            assert_true(many->rows[i].least_bytes == one->rows[i].least_bytes);
        }
        for (uint32_t i = 0; i < one->leader_count; i++)
            assert_true(many->leaders[i].step_s == one->leaders[i].step_s);
        search_destroy(many);
    }
    search_destroy(one);
    scenario_destroy(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
