/* Another batch near the scenario's: against a naive choice, written from search_batch.h and the
 * rules alone, over batches of many divisors. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/plan/search/search_batch.h"
#include "models/plan/plan_space.h"
#include "tests/analysis/plan/search_spaces.h"
#include "tests/test.h"

enum {
    CANDIDATES = 4,
    FOUND_MAX = 64
};

static uint64_t common(uint64_t a, uint64_t b)
{
    uint64_t most = 1;
    for (uint64_t d = 1; d <= b; d++)
        if (a % d == 0 && b % d == 0)
            most = d;
    return most;
}

static uint32_t legal(const struct configuration *of, uint64_t batch, unsigned held)
{
    struct arena *arena = arena_create();
    struct configuration base = *of, c;
    struct plan_layout *layouts = NULL;
    uint32_t count = 0;
    base.training.global_batch = batch;
    const uint32_t all = plan_space(arena, &base, held, &layouts);
    for (uint32_t i = 0; i < all; i++) {
        plan_layout_apply(&base, &layouts[i], &c);
        count += configuration_legal(&c);
    }
    arena_destroy(arena);
    return count;
}

struct candidate {
    uint64_t batch, shared, off;
};

static int best_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->shared != y->shared)
        return x->shared > y->shared ? -1 : 1;
    return x->off != y->off ? (x->off < y->off ? -1 : 1) : 0;
}

/* The next multiple, below or above, of each divisor of the GPUs, that shares more with them and is
 * no more than 30 % off; of the four that share the most, the nearest first, the one that has the
 * most layouts. */
static void choose(const struct configuration *base, unsigned held, uint64_t *batch,
                   uint32_t *layouts)
{
    const uint64_t own = base->training.global_batch, gpus = configuration_gpus(base);
    struct candidate found[FOUND_MAX];
    unsigned count = 0;
    for (uint64_t b = 1; b <= 2 * own; b++) {
        bool next = false;
        const uint64_t off = b > own ? b - own : own - b;
        for (uint64_t d = 1; d <= gpus; d++)
            next = next || (gpus % d == 0 && b % d == 0 && off < d + (b > own));
        if (next && (double)off <= 0.3 * (double)own && common(b, gpus) > common(own, gpus))
            found[count++] = (struct candidate){b, common(b, gpus), off};
    }
    qsort(found, count, sizeof *found, best_first);
    *batch = 0;
    *layouts = 0;
    for (unsigned i = 0; i < count && i < CANDIDATES; i++) {
        const uint32_t has = legal(base, found[i].batch, held);
        if (has > *layouts) {
            *layouts = has;
            *batch = found[i].batch;
        }
    }
}

static struct search *search_of(const struct configuration *base, unsigned held)
{
    const struct search_question question = {
        .base = base, .held = held, .leaders = 1, .threads = 2};
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_run(&question, &search, &error));
    return search;
}

/* It is searched where it has a quarter more layouts, and told where that is a hundredth faster. */
static unsigned check(const struct configuration *of, uint64_t own, unsigned held)
{
    struct arena *arena = arena_create();
    struct configuration base = *of;
    struct search_batch near;
    uint64_t batch;
    uint32_t layouts;
    base.training.global_batch = own;
    struct search *s = search_of(&base, held);
    search_batch_near(arena, s, &near);
    choose(&base, held, &batch, &layouts);
    if (near.batch != batch || near.layouts != layouts)
        fail_msg("batch %u: %u with %u layouts, not %u with %u", (unsigned)own,
                 (unsigned)near.batch, near.layouts, (unsigned)batch, layouts);
    const uint32_t mine = legal(&base, own, held);
    assert_int_equal(near.own_layouts, layouts > 0 ? mine : 0);
    const bool asked = layouts > 0 && 4.0 * layouts >= 5.0 * mine;
    assert_int_equal(near.faster_ratio > 0.0, asked);
    assert_int_equal(near.known, asked && near.faster_ratio >= 1.01);
    if (asked && s->leader_count > 0) {
        base.training.global_batch = batch;
        struct search *other = search_of(&base, held);
        const double ratio = other->leaders[0].tokens_per_s / s->leaders[0].tokens_per_s;
        assert_true(fabs(near.faster_ratio / ratio - 1.0) < 1e-12);
        search_destroy(other);
    }
    search_destroy(s);
    arena_destroy(arena);
    return near.known ? 2 : asked ? 1 : 0;
}

static void the_nearest_that_shares_the_most(void **state)
{
    static const char *const clusters[] = {"gpus: 8", "gpus: 16", "gpus: 32"};
    static const uint64_t batches[] = {13, 20, 36, 48, 53, 84};
    unsigned kinds[3] = {0};
    for (unsigned i = 0; i < sizeof clusters / sizeof clusters[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "model: {layers: 2, hidden: 1024, heads: 8, vocabulary: 32000}\n"
                 "cluster: {gpu: h100-80gb-sxm, %s}\nsoftware: megatron\n"
                 "training: {sequence: 1024, global_batch: 16}\n",
                 clusters[i]);
        struct scenario *scenario = space_read(text);
        for (unsigned k = 0; k < sizeof batches / sizeof batches[0]; k++)
            kinds[check(&scenario->configuration, batches[k], 1u << PLAN_MICROBATCH)]++;
        kinds[check(&scenario->configuration, 53, 0)]++;
        scenario_destroy(scenario);
    }
    /* With tp 8 there is one replica of either: more layouts, and no tokens more. */
    struct scenario *scenario =
        space_read("model: {layers: 4, hidden: 4096, heads: 8, vocabulary: 32000}\n"
                   "cluster: {gpu: h100-80gb-sxm, gpus: 8}\nsoftware: megatron\n"
                   "training: {sequence: 4096, global_batch: 53}\nlayout: {tp: 8}\n");
    kinds[check(&scenario->configuration, 53, 1u << PLAN_TP)]++;
    scenario_destroy(scenario);
    print_message("%u not asked, %u asked, %u told\n", kinds[0], kinds[1], kinds[2]);
    assert_true(kinds[0] > 0 && kinds[1] > 0 && kinds[2] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_nearest_that_shares_the_most)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
