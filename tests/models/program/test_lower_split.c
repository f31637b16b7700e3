/* Layers over the chunks of a pipeline: even, with given ends, with ends that count, by cost. */
#include "models/layout/configuration_split.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

static void test_split(void **state)
{
    struct configuration c = lower_case();
    uint32_t layers[8];
    c.model.layers = 14;
    lower_case_size(&c, 1, 1, 1, 4, 4);
    configuration_split(&c, layers);
    assert_true(layers[0] == 4 && layers[1] == 4 && layers[2] == 3 && layers[3] == 3);
    c.layout.pipeline.first_layers = 2;
    configuration_split(&c, layers);
    assert_true(layers[0] == 2 && layers[1] == 4 && layers[2] == 4 && layers[3] == 4);
    c.layout.pipeline.last_layers = 6;
    configuration_split(&c, layers);
    assert_true(layers[0] == 2 && layers[1] == 3 && layers[2] == 3 && layers[3] == 6);
    /* By cost: a layer 4 x 64 x 64 + 3 x 64 x 256 = 65,536; the head 64 x 4,096 = four layers. 18
     * quarters of 4.5: layers 1-5 cross the first, 6-10 the second, 11-14 stay under the third. */
    c.layout.pipeline.first_layers = c.layout.pipeline.last_layers = 0;
    c.software.pipeline.split = SPLIT_COST;
    c.model.vocabulary = 4096;
    configuration_split(&c, layers);
    assert_true(layers[0] == 5 && layers[1] == 5 && layers[2] == 4 && layers[3] == 0);
    /* 4 x 64 x (8 x 16) + 3 x 64 x 128 = 57,344 a layer: with a head of 64 x 1,792, two of them,
     * the third of four is just half of the whole, and crosses it with a head that is smaller. */
    lower_case_size(&c, 1, 1, 1, 2, 2);
    c.model.layers = 4;
    c.model.attention.head_size = 16;
    c.model.ffn_hidden = 128;
    for (uint64_t less = 0; less < 2; less++) {
        c.model.vocabulary = 1792 - less;
        configuration_split(&c, layers);
        assert_true(layers[0] == 4 - less && layers[1] == less);
    }
}

/* Embedding and head stand for a layer each: the first chunk and the last hold one less. */
static void test_ends_that_count(void **state)
{
    static const struct {
        uint64_t layers, pp, vpp;
        uint32_t split[8];
    } cases[] = {{14, 4, 1, {3, 4, 4, 3}}, {15, 4, 1, {4, 4, 4, 3}},
                 {13, 4, 1, {3, 4, 4, 2}}, {6, 8, 1, {0, 1, 1, 1, 1, 1, 1, 0}},
                 {14, 2, 2, {3, 4, 4, 3}}, {5, 1, 1, {5}}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = lower_case();
        uint32_t layers[8];
        lower_case_size(&c, 1, 1, 1, cases[i].pp, 4);
        c.model.layers = cases[i].layers;
        c.layout.pipeline.vpp = cases[i].vpp;
        c.layout.pipeline.ends_count = true;
        c.software.pipeline.split = SPLIT_COST; /* that is asked first */
        configuration_split(&c, layers);
        for (unsigned k = 0; k < cases[i].pp * cases[i].vpp; k++)
            assert_int_equal(layers[k], cases[i].split[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_ends_that_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
