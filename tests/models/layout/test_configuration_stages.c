/* Layers over stages and chunks: every rule on both sides of its bound, word for word. */
#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

static struct configuration sized(uint64_t pp, uint64_t m)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 1, 1, 1, pp, m);
    c.software.pipeline.interleaves = true;
    return c;
}

/* The only break is this one; NULL: none. */
static void only(const struct configuration *c, bool warning, const char *key, const char *text)
{
    struct rule_break breaks[8];
    const unsigned count = configuration_check(c, breaks, 8);
    assert_int_equal(count, text != NULL);
    if (text != NULL) {
        assert_int_equal(breaks[0].warning, warning);
        assert_string_equal(breaks[0].key, key);
        assert_string_equal(breaks[0].text, text);
    }
}

/* Layers, stages and chunks; the first and the last stage as they are given. */
static void test_stages(void **state)
{
    static const struct {
        uint64_t layers, pp, vpp, first, last;
        bool ends;
        const char *key, *text; /* NULL: sound */
    } cases[] = {
        {8, 8, 1, 0, 0, false, NULL, NULL},
        {7, 8, 1, 0, 0, false, "layout.pp", "7 layers are fewer than pp x vpp = 8 x 1 = 8 chunks"},
        {6, 8, 1, 0, 0, true, NULL, NULL},
        {5, 8, 1, 0, 0, true, "layout.pp", "5 layers are fewer than pp x vpp = 8 x 1 = 8 chunks"},
        {7, 2, 4, 0, 0, false, "layout.vpp", "7 layers are fewer than pp x vpp = 2 x 4 = 8 chunks"},
        {8, 2, 4, 0, 0, false, NULL, NULL},
        {8, 2, 2, 3, 0, false, "layout.first_stage_layers",
         "first_stage_layers and last_stage_layers need vpp = 1 and no ends_count"},
        {8, 2, 1, 0, 3, true, "layout.first_stage_layers",
         "first_stage_layers and last_stage_layers need vpp = 1 and no ends_count"},
        {8, 1, 1, 7, 0, false, "layout.first_stage_layers",
         "with pp = 1 the one stage holds all 8 layers"},
        {8, 1, 1, 0, 9, false, "layout.first_stage_layers",
         "with pp = 1 the one stage holds all 8 layers"},
        {8, 1, 1, 8, 8, false, NULL, NULL},
        {8, 1, 1, 8, 0, false, NULL, NULL},
        {8, 2, 1, 3, 5, false, NULL, NULL},
        {8, 2, 1, 3, 4, false, "layout.first_stage_layers",
         "first_stage_layers + last_stage_layers = 7 of 8 layers do not leave the other 0 stages "
         "what they need"},
        {8, 4, 1, 3, 3, false, NULL, NULL},
        {8, 4, 1, 3, 4, false, "layout.first_stage_layers",
         "first_stage_layers + last_stage_layers = 7 of 8 layers do not leave the other 2 stages "
         "what they need"},
        {8, 4, 1, 5, 0, false, NULL, NULL},
        {8, 4, 1, 0, 6, false, "layout.first_stage_layers",
         "first_stage_layers + last_stage_layers = 6 of 8 layers do not leave the other 3 stages "
         "what they need"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = sized(cases[i].pp, 2 * cases[i].pp);
        c.model.layers = cases[i].layers;
        c.layout.pipeline.vpp = cases[i].vpp;
        c.layout.pipeline.first_layers = cases[i].first;
        c.layout.pipeline.last_layers = cases[i].last;
        c.layout.pipeline.ends_count = cases[i].ends;
        c.layout.pipeline.schedule =
            cases[i].vpp > 1 ? &schedule_interleaved : &schedule_one_f_one_b;
        only(&c, false, cases[i].key, cases[i].text);
    }
}

/* What is found for any number of layers and stages is legal, and as even as it can be: every other
 * stage holds what a stage has in the mean, rounded up; DeepSeek-V3's 61 over 16 are 3 + 14 x 4 + 2
 * (arXiv:2412.19437). */
static void test_ends(void **state)
{
    unsigned counted = 0, given = 0;
    for (uint64_t layers = 2; layers <= 130; layers++) {
        for (uint64_t pp = 1; pp <= layers; pp++) {
            struct configuration c = sized(pp, 2 * pp);
            c.model.layers = layers;
            c.software.pipeline.even_stages = true;
            c.software.name = "soft";
            const struct stage_ends ends = configuration_stage_ends(&c, pp, 1);
            const uint64_t mean = (layers + pp - 1) / pp, all = ends.first + ends.last;
            if (layers % pp == 0) {
                assert_true(!ends.count && all == 0);
                continue;
            }
            c.layout.pipeline.ends_count = ends.count;
            c.layout.pipeline.first_layers = ends.first;
            c.layout.pipeline.last_layers = ends.last;
            counted += ends.count ? 1 : 0;
            given += all > 0 ? 1 : 0;
            assert_int_equal(configuration_legal(&c), ends.count || all > 0);
            if (all > 0) {
                assert_int_equal(all + (pp - 2) * mean, layers);
                assert_true(ends.first >= ends.last && ends.first <= ends.last + 1);
                assert_true(ends.last >= 1 && ends.first <= mean);
            } else if (!ends.count) {
                assert_true(layers < (pp - 2) * mean + 2); /* no layer would be left for an end */
            }
        }
    }
    assert_true(counted > 100 && given > 100);
    struct configuration c = sized(16, 32);
    c.model.layers = 61;
    c.software.pipeline.even_stages = true;
    const struct stage_ends v3 = configuration_stage_ends(&c, 16, 1);
    assert_true(v3.first == 3 && v3.last == 2 && !v3.count);
    c.model.mtp_layers = 1; /* a layer more behind the last */
    const struct stage_ends ahead = configuration_stage_ends(&c, 16, 1);
    assert_true(ahead.first == 3 && ahead.last == 2);
    c.model.mtp_layers = 2;
    const struct stage_ends two = configuration_stage_ends(&c, 16, 1);
    assert_true(two.first == 4 && two.last == 1);
    c.model.mtp_layers = 0;
    assert_int_equal(configuration_stage_ends(&c, 16, 2).first, 0); /* not with chunks */
    c.software.pipeline.even_stages = false;
    assert_int_equal(configuration_stage_ends(&c, 16, 1).first, 0);
    c.software.pipeline.even_stages = true;
    c.layout.pipeline.last_layers = 1; /* said: nothing to find */
    assert_int_equal(configuration_stage_ends(&c, 16, 1).first, 0);
}

/* Software that wants even stages names what would do: chunks where the layers go over the
 * stages, else stages, else stages without chunks. */
static void test_uneven(void **state)
{
    static const struct {
        uint64_t layers, pp, vpp;
        bool ends;
        const char *key, *what, *would_do, *rest;
    } cases[] = {
        {80, 8, 3, false, "layout.vpp", "80 layers are not divisible by pp x vpp = 8 x 3 = 24",
         "vpp = 2 or 5", ""},
        {12, 2, 4, false, "layout.vpp", "12 layers are not divisible by pp x vpp = 2 x 4 = 8",
         "vpp = 3 or 6", ""},
        {80, 6, 1, false, "layout.pp", "80 layers are not divisible by pp x vpp = 6 x 1 = 6",
         "pp = 5 or 8", ", or first_stage_layers: 12 with last_stage_layers: 12"},
        {7, 2, 1, false, "layout.pp", "7 layers are not divisible by pp x vpp = 2 x 1 = 2",
         "pp = 1 or 7", ", or first_stage_layers: 4 with last_stage_layers: 3"},
        {7, 2, 2, false, "layout.pp", "7 layers are not divisible by pp x vpp = 2 x 2 = 4",
         "vpp = 1 with pp = 1 or 7", ""},
        {20, 3, 2, false, "layout.pp", "20 layers are not divisible by pp x vpp = 3 x 2 = 6",
         "pp = 2 or 5", ""},
        {14, 4, 1, false, "layout.pp", "14 layers are not divisible by pp x vpp = 4 x 1 = 4",
         "ends_count: true (embedding and head are layers)",
         ", or first_stage_layers and last_stage_layers"},
        {14, 3, 1, true, "layout.pp",
         "16 layers (with embedding and head) are not divisible by pp x vpp = 3 x 1 = 3",
         "pp = 2 or 4", ""},
        {13, 4, 1, true, "layout.pp",
         "15 layers (with embedding and head) are not divisible by pp x vpp = 4 x 1 = 4",
         "pp = 3 or 5", ""},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = sized(cases[i].pp, 2 * cases[i].pp);
        char text[400];
        c.model.layers = cases[i].layers;
        c.layout.pipeline.vpp = cases[i].vpp;
        c.layout.pipeline.ends_count = cases[i].ends;
        c.layout.pipeline.schedule =
            cases[i].vpp > 1 ? &schedule_interleaved : &schedule_one_f_one_b;
        c.software.pipeline.even_stages = true;
        c.software.name = "soft";
        snprintf(
            text, sizeof text,
            "%s chunks, and soft requires equal ones: %s would do%s; a version that takes a list "
            "of layers is software: {profile: soft, even_stages: false}",
            cases[i].what, cases[i].would_do, cases[i].rest);
        only(&c, false, cases[i].key, text);
        c.software.pipeline.even_stages = false;
        only(&c, false, NULL, NULL);
    }
    struct configuration c = sized(4, 8);
    c.model.layers = 12;
    c.layout.pipeline.first_layers = 2;
    c.software.pipeline.even_stages = true;
    c.software.name = "soft";
    only(&c, false, "layout.first_stage_layers",
         "first_stage_layers and last_stage_layers leave 10 layers for 3 stages, and soft requires "
         "these to be equal");
    c.layout.pipeline.first_layers = 3;
    only(&c, false, NULL, NULL);
}

static void test_schedules(void **state)
{
    struct configuration c = sized(1, 8);
    c.layout.pipeline.schedule = &schedule_interleaved;
    only(&c, false, NULL, NULL); /* one stage, one chunk: nothing to say */
    c.layout.pipeline.vpp = 2;
    only(&c, false, "layout.vpp",
         "with pp = 1 there is no pipeline whose stages could hold 2 chunks: take vpp = 1 or more "
         "stages");
    c = sized(2, 8);
    c.layout.pipeline.schedule = &schedule_interleaved;
    only(&c, false, "layout.schedule",
         "interleaved with vpp = 1 has one chunk on each stage, which is plain 1f1b: give "
         "layout.vpp, or schedule: 1f1b");
    c.layout.pipeline.vpp = 2;
    only(&c, false, NULL, NULL);
    c.software.pipeline.interleaves = false;
    c.software.name = "plain";
    only(&c, true, "layout.schedule", "plain does not offer the interleaved schedule");
    c.software.pipeline.interleaves = true;
    c.training.global_batch = 7; /* no multiple of the stages */
    struct rule_break b[2] = {{0}};
    assert_int_equal(configuration_check(&c, b, 2), 1);
    assert_string_equal(b[0].key, "layout.schedule");
    assert_non_null(strstr(b[0].text, " (pp 2, vpp 2, 7 microbatches)"));
    c.training.global_batch = 8;
    c.layout.microbatch = 3; /* said of the batch, and of it alone */
    only(&c, false, "training.global_batch",
         "the global batch 8 is not divisible by dp x microbatch = 1 x 3 = 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
