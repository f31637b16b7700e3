/* Rows of experts that are filled up for narrow products, room that is made before they come, and
 * what a rank holds of an expert: each where it counts, by hand. */
#include <math.h>

#include "tests/models/workload/expert_rows.h"

static const struct kernel *find(const struct layer *layer, const char *name)
{
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        const struct segment_kernels *lists[] = {&s->forward, &s->dgrad, &s->wgrad};
        for (unsigned list = 0; list < COUNT(lists); list++)
            for (unsigned k = 0; k < lists[list]->count; k++)
                if (strcmp(lists[list]->kernels[k].name, name) == 0)
                    return &lists[list]->kernels[k];
    }
    fail_msg("no kernel %s", name);
    return NULL;
}

/* Of each expert of a rank: by Poisson half of 31 rows is missing to 32, and an expert that anyone
 * chose has 32 at least. */
static double filled_rows(const struct expert_case *k)
{
    const double count = 4.0 / (double)k->ep, each = k->computed / count;
    return count * fmax(each + 15.5, 32.0 * (1.0 - exp(-each)));
}

static void filled_rows_count(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct bench b;
        narrow_case(&b, &cases[i]);
        b.model.moe.clamped = b.software.experts.paged_stash = b.software.fp8.weights_each = true;
        b.software.experts.bias_fusion = false;
        transformer_layer(&b.context, &b.layer);
        const double filled = filled_rows(&cases[i]), count = 4.0 / (double)cases[i].ep;
        const double inner = 16.0 / (double)cases[i].etp;
        assert_true(filled > cases[i].computed);
        /* Clamps, 6.3 times the 16-bit elements of a gated input; sums over all rows of an expert;
         * rows that are kept for them, in eight bits with a scale for 32 elements. */
        assert_true(near(find(&b.layer, "clamp")->bytes, filled * 2.0 * inner * 2.0 * 6.3));
        assert_true(near(find(&b.layer, "expert up wgrad")->k, filled / count));
        assert_true(near(kept_bytes(&b.layer, "expert input"), filled * 8.0 * (1.0 + 1.0 / 32)));
        /* One cast for the weights of each expert, and one that puts all scales in order. */
        for (unsigned s = 0; s < b.layer.segment_count; s++) {
            const struct segment *g = &b.layer.segments[s];
            for (unsigned k = 0; strcmp(g->name, "experts") == 0 && k < g->forward.count; k++)
                if (strcmp(g->forward.kernels[k].name, "fp8 cast weights") == 0)
                    assert_true(near(g->forward.kernels[k].launches, count + 1.0));
        }
    }
}

/* Twice the mean of 32 rows, however uneven the choices are; never less than what comes. */
static void room_is_over_the_mean(void **state)
{
    (void)state;
    struct bench b;
    set_case(&b, &cases[3], true); /* imbalance 1.5: 48 rows come */
    b.context.experts.room = 2.0;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(kept_bytes(&b.layer, "expert input"), 64.0 * 16.0));
    b.context.experts.room = 1.0;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(kept_bytes(&b.layer, "expert input"), 48.0 * 16.0));
}

/* A capacity is a whole number of rows for each expert and source: 16 tokens x 2 / 4 experts x 1.1
 * are 8.8, so 9, 36 in all; for narrow products 32 each, which all are computed. */
static void a_capacity_is_of_whole_rows(void **state)
{
    (void)state;
    struct bench b;
    set_case(&b, &cases[0], true);
    b.context.experts.capacity = 1.1;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(find(&b.layer, "permute")->bytes, (16 + 36) * 16.0));
    assert_true(near(find(&b.layer, "expert up")->m, 9.0));
    narrow_case(&b, &cases[0]);
    b.context.experts.capacity = 1.1;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(find(&b.layer, "expert up")->m, 32.0));
    assert_true(near(find(&b.layer, "expert up wgrad")->k, 32.0));
}

/* An expert is cut by etp, not by tp; shared experts have nothing to run beside without exchanges,
 * and a rank that holds all experts gets each row by its choice. */
static void a_rank_holds_its_part(void **state)
{
    (void)state;
    struct bench b;
    struct rank_share share;
    set_case(&b, &cases[1], true);
    b.context.tp = 2;
    b.context.sequence_parallel = true;
    transformer_share_of(&b.context, &share);
    assert_true(near(share.experts.ffn, 16.0));
    for (unsigned ep = 1; ep <= 2; ep++) {
        set_case(&b, &cases[ep - 1], true);
        b.model.moe.shared_experts = 1;
        b.software.experts.shared_overlap = true;
        transformer_share_of(&b.context, &share);
        assert_int_equal(share.shared_beside, ep > 1);
        b.context.experts.dispatch = &dispatch_deepep;
        transformer_share_of(&b.context, &share);
        assert_int_equal(share.experts.once, ep > 1);
    }
}

/* Tensor ranks that have half of the tokens each: the router keeps its input (8 tokens of 16 bytes)
 * where shared experts beside the exchange keep all of theirs, and shares it where they do not. */
static void input_beside_shared_experts(void **state)
{
    (void)state;
    for (unsigned beside = 0; beside < 2; beside++) {
        struct bench b;
        set_case(&b, &cases[4], true);
        b.model.moe.shared_experts = 1;
        b.software.tensor.backward_regather = true;
        b.software.experts.shared_overlap = beside;
        transformer_layer(&b.context, &b.layer);
        assert_true(fabs(kept_bytes(&b.layer, "router input") - (beside ? 8 * 16.0 : 0.0)) < 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filled_rows_count),           cmocka_unit_test(room_is_over_the_mean),
        cmocka_unit_test(a_capacity_is_of_whole_rows), cmocka_unit_test(a_rank_holds_its_part),
        cmocka_unit_test(input_beside_shared_experts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
