/* Copies and operators that software puts around the products of experts: every byte by hand. */
#include <math.h>

#include "tests/models/workload/expert_rows.h"

/* Kernels of a name: how many in each pass, and the bytes and launches of each of them. */
struct pass_moves {
    unsigned forward, backward;
    double forward_bytes, backward_bytes, forward_launches, backward_launches;
};

static struct pass_moves moves_of(const struct layer *layer, const char *name)
{
    struct pass_moves out = {0};
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        for (unsigned k = 0; k < s->forward.count; k++)
            if (strcmp(s->forward.kernels[k].name, name) == 0) {
                out.forward++;
                out.forward_bytes = s->forward.kernels[k].bytes;
                out.forward_launches = s->forward.kernels[k].launches;
            }
        for (unsigned k = 0; k < s->dgrad.count; k++)
            if (strcmp(s->dgrad.kernels[k].name, name) == 0) {
                out.backward++;
                out.backward_bytes = s->dgrad.kernels[k].bytes;
                out.backward_launches = s->dgrad.kernels[k].launches;
            }
    }
    return out;
}

/* Rows of eight bits are filled up to a multiple of 32: 31 / 2 rows for each expert in the mean.
 * They are copied there before the products and back behind them, and so are their gradients:
 * rows and filled rows of 16 bytes, in four kernels. Not where the products cast themselves, not in
 * 16 bits, and not where a capacity of 32 rows for each expert and source is filled already. */
static void narrow_rows_are_copied_to_where_they_are_filled_up(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(cases); i++) {
        const struct expert_case *k = &cases[i];
        const double count = 4.0 / (double)k->ep, each = k->computed / count;
        const double filled = count * fmax(each + 15.5, 32.0 * (1.0 - exp(-each)));
        struct bench b;
        narrow_case(&b, k);
        assert_int_equal(moves_of(&b.layer, "pad rows").forward, 0);
        b.software.experts.padding_copies = true;
        transformer_layer(&b.context, &b.layer);
        const struct pass_moves pad = moves_of(&b.layer, "pad rows");
        const struct pass_moves unpad = moves_of(&b.layer, "unpad rows");
        assert_true(pad.forward == 1 && pad.backward == 1);
        assert_true(unpad.forward == 1 && unpad.backward == 1);
        const double bytes = (k->computed + filled) * 16.0;
        assert_true(near(pad.forward_bytes, bytes) && near(pad.backward_bytes, bytes));
        assert_true(near(unpad.forward_bytes, bytes) && near(unpad.backward_bytes, bytes));
        assert_true(pad.forward_launches == 1.0 && unpad.backward_launches == 1.0);
        b.context.experts.capacity = 4.0 * (double)k->etp;
        transformer_layer(&b.context, &b.layer); /* 16 tokens x 2 / 4 experts x 4 = 32 rows */
        assert_int_equal(moves_of(&b.layer, "pad rows").forward, 0);
        b.context.experts.capacity = 0.0;
        b.software.experts.fused_mlp = true;
        transformer_layer(&b.context, &b.layer);
        assert_int_equal(moves_of(&b.layer, "pad rows").forward, 0);
        b.software.experts.fused_mlp = false;
        b.context.precision = precision_find("bf16");
        transformer_layer(&b.context, &b.layer);
        assert_int_equal(moves_of(&b.layer, "unpad rows").backward, 0);
    }
}

/* By operators, as measured (docs/measurements.md, bytes of a copy that takes as long): a clamped
 * element 12.6 forward and 25 back, a biased one 38 and 49, in two kernels an expert and two more,
 * six and three. Each row is 8 wide, its inner one 16 / etp, twice if gated. */
static void check_apart(const struct expert_case *k, struct bench *b)
{
    const double count = 4.0 / (double)k->ep;
    const double inner = k->computed * 16.0 / (double)k->etp * 2.0, rows = k->computed * 8.0;
    const struct pass_moves clamp = moves_of(&b->layer, "clamp");
    const struct pass_moves clamped = moves_of(&b->layer, "clamp gradient");
    const struct pass_moves bias = moves_of(&b->layer, "expert bias");
    const struct pass_moves biased = moves_of(&b->layer, "expert bias gradient");
    assert_true(clamp.forward == 1 && clamp.backward == 0);
    assert_true(clamped.forward == 0 && clamped.backward == 1);
    assert_true(near(clamp.forward_bytes, inner * 12.6) && clamp.forward_launches == 3.0);
    assert_true(near(clamped.backward_bytes, inner * 25.0) && clamped.backward_launches == 3.0);
    assert_true(bias.forward == 1 && bias.backward == 0);
    assert_true(biased.forward == 0 && biased.backward == 1);
    assert_true(near(bias.forward_bytes, rows * 38.0));
    assert_true(near(bias.forward_launches, 2.0 * count + 2.0));
    assert_true(near(biased.backward_bytes, rows * 49.0));
    assert_true(near(biased.backward_launches, 6.0 * count + 3.0));
}

/* The kernels that a layer has more or less of by these names, in both passes. */
static unsigned apart_count(const struct layer *layer)
{
    static const char *const names[] = {"clamp", "clamp gradient", "expert bias",
                                        "expert bias gradient"};
    unsigned count = 0;
    for (unsigned i = 0; i < COUNT(names); i++) {
        const struct pass_moves m = moves_of(layer, names[i]);
        count += m.forward + m.backward;
    }
    return count;
}

/* Does recomputation by modules make the tensors of this name again? */
static bool is_rebuilt(const struct layer *layer, const char *name)
{
    bool rebuilt = false;
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned k = 0; k < layer->segments[i].saved.count; k++)
            if (strcmp(layer->segments[i].saved.tensors[k].name, name) == 0)
                rebuilt = layer->segments[i].saved.tensors[k].rebuilt;
    return rebuilt;
}

/* Is there a kernel of this name among those that run again? */
static bool is_repeated(const struct layer *layer, const char *name)
{
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned k = 0; k < layer->segments[i].forward.count; k++)
            if (strcmp(layer->segments[i].forward.kernels[k].name, name) == 0)
                return layer->segments[i].forward.repeated[k];
    return false;
}

/* Biases and clamps of experts by operators of their own: only of models that have them, not where
 * products and activation apply them, nor where the products of eight bits do. A copy of what was
 * clamped is kept, or made again with the activation; two rows in fp32 live while a bias is added.
 */
static void biases_and_clamps_have_operators_of_their_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(cases); i++) {
        const struct expert_case *k = &cases[i];
        const double inner = k->computed * 16.0 / (double)k->etp * 2.0;
        struct bench b;
        struct rank_share share;
        set_case(&b, k, true);
        transformer_share_of(&b.context, &share);
        const double before = transformer_experts_temporary(&share, PIECE_EXPERT_DOWN, false);
        b.software.experts.bias_fusion = false;
        transformer_layer(&b.context, &b.layer);
        assert_int_equal(apart_count(&b.layer), 0);
        b.model.biases = b.model.moe.clamped = true;
        transformer_layer(&b.context, &b.layer);
        check_apart(k, &b);
        transformer_share_of(&b.context, &share);
        const double after = transformer_experts_temporary(&share, PIECE_EXPERT_DOWN, false);
        assert_true(near(after - before, k->computed * 8.0 * 8.0));
        assert_true(near(kept_bytes(&b.layer, "clamped input"), inner * 2.0));
        assert_false(is_rebuilt(&b.layer, "clamped input") || is_repeated(&b.layer, "clamp"));
        b.context.recompute = RECOMPUTE_MODULES;
        transformer_layer(&b.context, &b.layer);
        assert_true(is_rebuilt(&b.layer, "clamped input") && is_repeated(&b.layer, "clamp"));
        assert_false(is_repeated(&b.layer, "expert bias"));
        b.model.moe.clamped = false;
        transformer_layer(&b.context, &b.layer);
        assert_int_equal(moves_of(&b.layer, "clamp").forward, 0);
        assert_int_equal(moves_of(&b.layer, "expert bias").forward, 1);
        b.model.moe.clamped = true;
        b.context.recompute = RECOMPUTE_NONE;
        b.software.experts.bias_fusion = true;
        transformer_layer(&b.context, &b.layer);
        assert_int_equal(apart_count(&b.layer), 0);
        assert_true(kept_bytes(&b.layer, "clamped input") <= 0.0);
        narrow_case(&b, k);
        b.model.biases = b.model.moe.clamped = b.software.experts.fused_mlp = true;
        b.software.experts.bias_fusion = false;
        transformer_layer(&b.context, &b.layer);
        assert_int_equal(apart_count(&b.layer), 0);
    }
}

/* Where they stand: forward what is filled up enters the products, and what is clamped the
 * activation; the bias is added to rows that are no longer filled up, before they are sorted. Back
 * in reverse. */
static void operators_of_experts_stand_in_order(void **state)
{
    (void)state;
    static const char *const forward[] = {"sort by expert", "pad rows",    "expert up",
                                          "clamp",          "activation",  "expert down",
                                          "unpad rows",     "expert bias", "sort by source"};
    static const char *const backward[] = {
        "sort by expert",    "expert bias gradient", "pad rows",
        "expert down dgrad", "activation gradient",  "clamp gradient",
        "expert up dgrad",   "unpad rows",           "sort by source"};
    struct bench b;
    narrow_case(&b, &cases[1]);
    b.model.biases = b.model.moe.clamped = b.software.experts.padding_copies = true;
    b.software.experts.bias_fusion = false;
    transformer_layer(&b.context, &b.layer);
    for (unsigned i = 0; i < b.layer.segment_count; i++) {
        const struct segment *s = &b.layer.segments[i];
        if (strcmp(s->name, "experts") != 0)
            continue;
        unsigned next = 0, last = 0;
        for (unsigned k = 0; k < s->forward.count; k++)
            next += next < COUNT(forward) && strcmp(s->forward.kernels[k].name, forward[next]) == 0;
        for (unsigned k = 0; k < s->dgrad.count; k++)
            last += last < COUNT(backward) && strcmp(s->dgrad.kernels[k].name, backward[last]) == 0;
        assert_int_equal(next, COUNT(forward));
        assert_int_equal(last, COUNT(backward));
        return;
    }
    fail_msg("no segment of experts");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_rows_are_copied_to_where_they_are_filled_up),
        cmocka_unit_test(biases_and_clamps_have_operators_of_their_own),
        cmocka_unit_test(operators_of_experts_stand_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
