/* What DeepSpeed's ZeRO-3 holds of gathered layers, against walks made by hand. */
#include <math.h>

#include "models/lower/plan/lower_alive.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

/* GPT: 3 h h, h h, 4 h h and 4 h h; beside them `rest`, norms and biases. */
static struct layer gpt(double h, double rest)
{
    return (struct layer){.parameters = 12.0 * h * h + rest,
                          .module_count = 4,
                          .modules = {3.0 * h * h, h * h, 4.0 * h * h, 4.0 * h * h}};
}

/* In units of h h with the bound given in them too. Of 11 to 12: all but the layer's 12 would be
 * kept for reuse, never so many at once: up and down, and what is fetched ahead. */
static void test_by_hand(void **state)
{
    static const struct {
        double live, again, once;
    } rows[] = {
        {0.0, 12.0, 12.0},  /* no bound */
        {12.0, 12.0, 12.0}, /* a layer may be alive */
        {1000.0, 12.0, 12.0},
        {2.4, 5.0, 5.0}, /* 530B: the projection, and up ahead of its turn; none beside up */
        {6.6, 8.0, 8.0}, /* 175B: up, and down ahead; down alone between its two passes */
    };
    const struct layer layer = gpt(1.0, 0.0);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_true(lower_alive(&layer, true, rows[i].live) == rows[i].again);
        assert_true(lower_alive(&layer, false, rows[i].live) == rows[i].once);
    }
}

/* The layers of arXiv:2104.04473 under the defaults of stage 3. */
static void test_published_layers(void **state)
{
    const struct layer large = gpt(20480.0, 3e5), middle = gpt(12288.0, 2e5),
                       small = gpt(4096, 1e5);
    assert_true(lower_alive(&large, true, 1e9) == 5.0 * 20480.0 * 20480.0);
    assert_true(lower_alive(&middle, true, 1e9) == 8.0 * 12288.0 * 12288.0);
    assert_true(lower_alive(&small, true, 1e9) == small.parameters);
}

/* One module alone is the least, all of a layer the most, and a higher bound never holds less. */
static void test_between_one_and_all(void **state)
{
    const struct layer layer = gpt(1.0, 0.25);
    for (unsigned again = 0; again < 2; again++) {
        double before = 4.0;
        for (double live = 0.125; live <= 13.0; live += 0.125) {
            const double alive = lower_alive(&layer, again == 1, live);
            assert_true(alive >= before && alive <= layer.parameters);
            before = alive;
        }
        assert_true(before == layer.parameters);
        assert_true(lower_alive(&layer, again == 1, 0.125) == 4.0);
    }
    const struct layer whole = {.parameters = 7.0}; /* a head: one module */
    assert_true(lower_alive(&whole, true, 1.0) == 7.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_published_layers),
        cmocka_unit_test(test_between_one_and_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
