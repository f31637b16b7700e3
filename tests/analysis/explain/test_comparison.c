/* Two records made by hand, compared: seconds of a step, GPU time of 10^6 tokens, memory. */
#include <math.h>

#include "analysis/explain/comparison.h"
#include "tests/test.h"

/* Eight cards whose step of 2 s trains 4,000 tokens, and thirty-two whose step of 1 s trains
 * 10,000: 8 x 2 / 4000 is 4 ms of GPU time a token, 32 / 10000 is 3.2. */
static const struct side {
    int64_t ranks;
    double step_s, tokens_per_s, compute_s, exposed_tp_s, host_s, mfu_ratio, weights, peak;
} sides[2] = {{8, 2.0, 2000.0, 1.5, 0.4, 0.1, 0.5, 20e9, 60e9},
              {32, 1.0, 10000.0, 0.6, 0.25, 0.15, 0.4, 5e9, 70e9}};

static void fill_run(struct run_row *r, const struct side *side)
{
    r->rank_count = side->ranks;
    r->step_s = side->step_s;
    r->tokens_per_s = side->tokens_per_s;
    r->compute_s = side->compute_s;
    r->exposed_tp_s = side->exposed_tp_s;
    r->host_s = side->host_s;
    r->mfu_ratio = side->mfu_ratio;
    r->causal = 0;
    r->recompute_s = r->exposed_cp_s = r->exposed_ep_s = r->bubble_s = r->exposed_pp_s = 0.0;
    r->exposed_dp_s = r->offload_s = r->optimizer_s = r->straggler_s = 0.0;
}

/* Two stages, of which the second one is the fuller. */
static void fill_memory(struct stage_memory_row *rows, const struct side *side)
{
    for (unsigned i = 0; i < 2; i++) {
        rows[i].weights_bytes = side->weights / (i == 0 ? 2.0 : 1.0);
        rows[i].gradients_bytes = rows[i].master_bytes = rows[i].moments_bytes = 0.0;
        rows[i].activations_bytes = side->peak / (i == 0 ? 2.0 : 1.0) - rows[i].weights_bytes;
        rows[i].temporary_bytes = rows[i].communication_bytes = 0.0;
        rows[i].context_bytes = rows[i].fragmentation_bytes = 0.0;
        rows[i].peak_reserved_bytes = side->peak / (i == 0 ? 2.0 : 1.0);
    }
}

static void fill_sides(struct arena *arena, struct compared_side out[2])
{
    for (unsigned i = 0; i < 2; i++) {
        out[i] = (struct compared_side){.path = i == 0 ? "a.db" : "b.db", .record.arena = arena};
        fill_run(record_add(&out[i].record, ROW_run, 1), &sides[i]);
        fill_memory(record_add(&out[i].record, ROW_stage_memory, 2), &sides[i]);
    }
}

static void near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-12 * fmax(1.0, fabs(wanted))))
        fail_msg("%.17g is not %.17g", value, wanted);
}

static void terms_add_up(void **state)
{
    struct arena *arena = arena_create();
    struct compared_side both[2];
    struct comparison c;
    struct error error = {""};
    fill_sides(arena, both);
    assert_true(comparison_of(arena, both, &c, &error));
    assert_true(c.timed && !c.weeks && !c.same_work);
    for (unsigned i = 0; i < 2; i++) {
        double seconds = 0.0, gpu_s = 0.0, memory = 0.0;
        const double of_a_token =
            (double)sides[i].ranks / (sides[i].tokens_per_s * sides[i].step_s);
        for (unsigned t = 0; t < c.term_count; t++) {
            near(c.terms[t].gpu_s[i], c.terms[t].seconds[i] * of_a_token * 1e6);
            seconds += c.terms[t].part ? 0.0 : c.terms[t].seconds[i];
            gpu_s += c.terms[t].part ? 0.0 : c.terms[t].gpu_s[i];
        }
        near(seconds, sides[i].step_s);
        near(c.total.seconds[i], sides[i].step_s);
        near(c.total.gpu_s[i], gpu_s);
        near(c.total.gpu_s[i], i == 0 ? 4000.0 : 3200.0);
        near(c.tokens[i], i == 0 ? 4000.0 : 10000.0);
        near(c.terms[0].seconds[i], sides[i].compute_s);
        for (unsigned t = 0; t < TENANT_COUNT; t++)
            memory += c.memory[t].bytes[i];
        near(memory, sides[i].peak);
        near(c.peak.bytes[i], sides[i].peak);
        near(c.memory[TENANT_WEIGHTS].bytes[i], sides[i].weights);
    }
    arena_destroy(arena);
}

/* As many tokens on as many cards: seconds compare by themselves. */
static void the_same_work_is_known(void **state)
{
    struct arena *arena = arena_create();
    struct compared_side both[2];
    struct comparison c;
    struct error error = {""};
    fill_sides(arena, both);
    struct run_row *b = both[1].record.of[ROW_run].rows;
    b->rank_count = 8;
    b->tokens_per_s = 4000.0;
    assert_true(comparison_of(arena, both, &c, &error) && c.same_work);
    b->tokens_per_s = 4001.0;
    assert_true(comparison_of(arena, both, &c, &error) && !c.same_work);
    b->tokens_per_s = 4000.0;
    b->rank_count = 9;
    assert_true(comparison_of(arena, both, &c, &error) && !c.same_work);
    b->step_s = 0.0; /* not timed: memory alone */
    assert_true(comparison_of(arena, both, &c, &error) && !c.timed && !c.fits[1]);
    near(c.peak.bytes[1], sides[1].peak);
    arena_destroy(arena);
}

/* A step that was timed as if the card were large enough is no time to compare, on either side. */
static void what_does_not_fit_has_no_time(void **state)
{
    struct arena *arena = arena_create();
    struct compared_side both[2];
    struct comparison c;
    struct error error = {""};
    fill_sides(arena, both);
    struct run_row *rows[2] = {both[0].record.of[ROW_run].rows, both[1].record.of[ROW_run].rows};
    for (unsigned fit = 0; fit < 4; fit++) {
        for (unsigned i = 0; i < 2; i++)
            rows[i]->fits = fit >> i & 1;
        assert_true(comparison_of(arena, both, &c, &error));
        assert_true(c.fits[0] == ((fit & 1) != 0) && c.fits[1] == ((fit & 2) != 0));
        assert_true(c.timed == (fit == 3) && (c.term_count > 0) == c.timed);
        near(c.peak.bytes[1], sides[1].peak);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_add_up),
        cmocka_unit_test(the_same_work_is_known),
        cmocka_unit_test(what_does_not_fit_has_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
