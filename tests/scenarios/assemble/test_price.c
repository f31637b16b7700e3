/* What stated choices cost: every price that a search through all neighbours finds is told; each is
 * what a run of the neighbour says; what was chosen for the user has none; the work is bounded. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/plan/price.h"
#include "scenarios/assemble/scenario.h"
#include "tests/test.h"

enum {
    TEXT = 1024,
    SETS_MAX = 8
};

/* NULL where it is refused. */
static struct scenario *read_sets(const char *text, const char *sets)
{
    char copy[TEXT];
    const char *words[SETS_MAX];
    struct scenario_options options = {.sets = words};
    struct error error = {""};
    snprintf(copy, sizeof copy, "%s", sets);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
        words[options.set_count++] = word;
    struct scenario *s = scenario_read("t.yaml", text, strlen(text), &options, &error);
    assert_non_null(s);
    if (s->diagnostics.error_count == 0)
        return s;
    scenario_destroy(s);
    return NULL;
}

static struct step *play(const struct scenario *s)
{
    struct step *step;
    struct error error;
    struct step_options options = {0};
    assert_true(step_run(&s->configuration, &options, &step, &error));
    return step;
}

static void find(struct scenario *s, const struct step *step, double win_ratio, struct prices *out)
{
    struct scenario_change change;
    scenario_change_begin(&change, s);
    const struct price_question q = {
        .change = change.question, .step = step, .win_ratio = win_ratio, .passes_max = UINT64_MAX};
    price_find(s->arena, &q, out);
    scenario_change_end(&change);
}

static const struct price *price_of(const struct prices *prices, const char *key)
{
    for (unsigned i = 0; i < prices->count; i++)
        if (strcmp(prices->rows[i].key, key) == 0)
            return &prices->rows[i];
    return NULL;
}

/* Spelt out: eight layers of a 7B on 32 cards, every choice stated. */
static void stated_text(char text[TEXT], const char *cluster, const char *layout, unsigned batch)
{
    snprintf(text, TEXT,
             "model: {layers: 8, hidden: 4096, heads: 32, kv_heads: 8, vocabulary: 32000}\n"
             "cluster: {%s}\ntraining: {sequence: 4096, global_batch: %u}\nlayout: {%s}\n",
             cluster, batch, layout);
}

static const char *const clusters[] = {
    "gpu: a100-80gb-sxm, node: dgx-a100, nodes: 4, fabric: ib-hdr-8x200",
    "gpu: h100-80gb-sxm, node: dgx-h100, nodes: 4, fabric: ib-ndr-8x400",
};
static const char *const layouts[] = {
    "tp: 1, sharding: zero-3, microbatch: 1, recompute: full",
    "tp: 8, pp: 1, microbatch: 1, sharding: zero-0, sequence_parallel: false, recompute: none",
    "tp: 16, microbatch: 2, sharding: zero-1, recompute: none, sequence_parallel: true",
    "tp: 2, pp: 8, schedule: 1f1b, microbatch: 2, sharding: zero-1, recompute: none",
    "tp: 4, pp: 4, schedule: gpipe, microbatch: 1, sharding: zero-1, recompute: full",
    "tp: 2, cp: 8, microbatch: 1, sharding: zero-1, recompute: none, sequence_parallel: true",
    "tp: 2, pp: 4, schedule: interleaved, vpp: 2, microbatch: 1, sharding: zero-1",
};

/* Against all neighbours, whatever they could win: what costs a fifth is never missed by the
 * bounds, and nine tenths of what costs a tenth are found. */
static void nothing_dear_is_missed(void **state)
{
    unsigned told = 0, found = 0, tried = 0, all_tried = 0;
    for (unsigned i = 0; i < 2 * sizeof layouts / sizeof layouts[0]; i++) {
        for (unsigned batch = 32; batch <= 128; batch *= 4) {
            char text[TEXT];
            stated_text(text, clusters[i % 2], layouts[i / 2], batch);
            struct scenario *s = read_sets(text, "");
            if (s == NULL)
                continue;
            struct step *step = play(s);
            struct prices all, run;
            find(s, step, -INFINITY, &all);
            find(s, step, PRICE_WORTH_A_LOOK, &run);
            for (unsigned k = 0; k < all.count; k++) {
                const struct price *p = &all.rows[k];
                if (price_of(&run, p->key) == NULL && p->cost_ratio >= 0.20)
                    print_message("%s%s costs %.3f\n", text, p->key, p->cost_ratio);
                assert_true(price_of(&run, p->key) != NULL || p->cost_ratio < 0.20);
            }
            told += run.count;
            found += all.count;
            tried += run.tried;
            all_tried += all.tried;
            step_destroy(step);
            scenario_destroy(s);
        }
    }
    assert_true(found > 20 && 10 * told > 9 * found && 5 * tried < 4 * all_tried);
}

/* Each figure is that of the scenario with the keys that are told, which fits. */
static void a_price_is_what_the_neighbour_says(void **state)
{
    unsigned compared = 0;
    for (unsigned i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        char text[TEXT];
        stated_text(text, clusters[1], layouts[i], 128);
        struct scenario *s = read_sets(text, "");
        struct step *step = play(s);
        struct prices prices;
        find(s, step, -INFINITY, &prices);
        for (unsigned k = 0; k < prices.count; k++) {
            const struct price *p = &prices.rows[k];
            struct scenario *other = read_sets(text, p->other);
            assert_non_null(other);
            struct step *there = play(other);
            assert_true(there->fits && there->step_s == p->other_s);
            assert_true(p->step_s == step->step_s && p->cost_ratio > PRICE_RATIO);
            assert_true(k == 0 || p->cost_ratio <= prices.rows[k - 1].cost_ratio);
            step_destroy(there);
            scenario_destroy(other);
            compared++;
        }
        step_destroy(step);
        scenario_destroy(s);
    }
    assert_true(compared > 10);
}

/* None of the sizes of this key, whatever is chosen for it, is faster than what is told. */
static void hold_best(const char *text, const struct price *p, unsigned most)
{
    for (unsigned size = 1; size <= most; size *= 2) {
        char set[TEXT];
        snprintf(set, sizeof set, "%s=%u", p->key, size);
        struct scenario *other = read_sets(text, set);
        struct step *there = other != NULL ? play(other) : NULL;
        if (there != NULL && there->fits && there->step_s < p->other_s)
            fail_msg("%s%s told, %s is faster", text, p->other, set);
        if (there != NULL)
            step_destroy(there);
        scenario_destroy(other);
    }
}

/* Of several sizes that win the best is told: steps further, too, that only what is chosen for them
 * makes fit. */
static void the_best_size_is_told(void **state)
{
    static const struct {
        const char *cluster, *layout, *key;
        unsigned sequence, batch, most;
    } rows[] = {
        {"gpu: a100-40gb-sxm, gpus: 32", "pp: 8, cp: 2", "layout.pp", 4096, 64, 8},
        {"gpu: h100-80gb-sxm, gpus: 8", "tp: 8, microbatch: 1", "layout.tp", 2048, 64, 8},
        {"gpu: h100-80gb-sxm, gpus: 8", "tp: 8, microbatch: 1", "layout.microbatch", 512, 64, 64},
        /* 6.7 % by the first step, 14 % by all */
        {"gpu: h100-80gb-sxm, gpus: 8",
         "tp: 4, pp: 1, microbatch: 1, recompute: full, sharding: zero-1, sequence_parallel: false",
         "layout.microbatch", 4096, 64, 64},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT];
        snprintf(text, TEXT,
                 "model: llama3-8b\ncluster: {%s}\nsoftware: megatron\n"
                 "training: {sequence: %u, global_batch: %u}\nlayout: {%s}\n",
                 rows[i].cluster, rows[i].sequence, rows[i].batch, rows[i].layout);
        struct scenario *s = read_sets(text, "");
        struct step *step = play(s);
        struct prices prices;
        find(s, step, PRICE_WORTH_A_LOOK, &prices);
        const struct price *p = price_of(&prices, rows[i].key);
        if (p == NULL)
            fail_msg("%s%s is not told", text, rows[i].key);
        hold_best(text, p, rows[i].most);
        step_destroy(step);
        scenario_destroy(s);
    }
}

/* Unfused attention that was asked for, against the kernel that is taken where nothing is said: the
 * software's on H100, the newest of the card on A100, which has not that one, and on H100 with
 * software of the years before fused kernels. */
static void attention_has_a_price(void **state)
{
    static const char *const cards[] = {"a100-80gb-sxm", "h100-80gb-sxm", "h100-80gb-sxm"};
    static const char *const software[] = {"megatron", "megatron", "megatron-2021"};
    for (unsigned i = 0; i < 3; i++) {
        char text[TEXT];
        snprintf(text, TEXT,
                 "model: {layers: 8, hidden: 1024, heads: 16, vocabulary: 32000}\n"
                 "cluster: {gpu: %s, nodes: 1}\nsoftware: %s\n"
                 "training: {sequence: 8192, global_batch: 16, attention: math}\n"
                 "layout: {tp: 4}\n",
                 cards[i], software[i]);
        struct scenario *s = read_sets(text, ""),
                        *open = read_sets(text, "training.attention=auto");
        assert_true(s != NULL && open != NULL);
        struct step *step = play(s);
        struct prices prices;
        find(s, step, PRICE_WORTH_A_LOOK, &prices);
        const struct price *p = price_of(&prices, "training.attention");
        assert_non_null(p);
        struct scenario *there = read_sets(text, p->other);
        assert_int_equal(there->configuration.training.attention,
                         open->configuration.training.attention);
        scenario_destroy(there);
        scenario_destroy(open);
        step_destroy(step);
        scenario_destroy(s);
    }
}

/* The microbatch of one has a price when it is stated, and none when it was chosen; neither has
 * recomputation where nothing less fits, nor a layout out of memory. */
static void only_what_is_stated_and_could_be_else_has_a_price(void **state)
{
    static const struct {
        const char *layout, *key;
        bool told;
    } rows[] = {
        {"tp: 1, sharding: zero-1, microbatch: 1, recompute: none", "layout.microbatch", true},
        {"tp: 1, sharding: zero-1, recompute: none", "layout.microbatch", false},
        {"tp: 1, sharding: zero-1, microbatch: 2, recompute: full", "layout.recompute", true},
        {"tp: 1, sharding: zero-1, microbatch: 2", "layout.recompute", false},
        {"tp: 1, sharding: zero-1, microbatch: 64, recompute: full", "layout.recompute", false},
        {"tp: 1, sharding: zero-1, microbatch: 64, recompute: none", "layout.recompute", false},
        {"tp: 8, sharding: zero-1, microbatch: 1, recompute: none", "layout.tp", true},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[TEXT];
        snprintf(text, sizeof text,
                 "model: {layers: 8, hidden: 2048, heads: 16, vocabulary: 32000}\n"
                 "cluster: {gpu: a100-40gb-sxm, nodes: 1}\n"
                 "training: {sequence: 1024, global_batch: 512}\nlayout: {%s}\n",
                 rows[i].layout);
        struct scenario *s = read_sets(text, "");
        struct step *step = play(s);
        struct prices prices;
        find(s, step, -INFINITY, &prices);
        if ((price_of(&prices, rows[i].key) != NULL) != rows[i].told)
            fail_msg("%s: %s is %stold", rows[i].layout, rows[i].key, rows[i].told ? "not " : "");
        step_destroy(step);
        scenario_destroy(s);
    }
}

/* What would exceed the passes is not tried, and it is said that something was left. */
static void the_work_is_bounded(void **state)
{
    char text[TEXT];
    struct prices prices;
    stated_text(text, clusters[0], layouts[0], 128);
    struct scenario *s = read_sets(text, "");
    struct step *step = play(s);
    struct scenario_change change;
    scenario_change_begin(&change, s);
    struct price_question q = {.change = change.question, .step = step};
    q.win_ratio = -INFINITY;
    q.passes_max = 8 * 2 - 1; /* the least: eight layers of two microbatches */
    price_find(s->arena, &q, &prices);
    assert_true(prices.stopped && prices.tried == 0 && prices.count == 0);
    q.passes_max = 8 * 2;
    price_find(s->arena, &q, &prices);
    assert_true(prices.stopped && prices.tried == 1);
    scenario_change_end(&change);
    step_destroy(step);
    scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_dear_is_missed),
        cmocka_unit_test(a_price_is_what_the_neighbour_says),
        cmocka_unit_test(the_best_size_is_told),
        cmocka_unit_test(attention_has_a_price),
        cmocka_unit_test(only_what_is_stated_and_could_be_else_has_a_price),
        cmocka_unit_test(the_work_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
