/* Laws of modules that predict further ahead (model.mtp_layers): folded is unfolded, what a step
 * takes it gives back, pass detail is op detail, and parameters, products, messages and what is
 * kept are their closed forms, on the last stage alone. */
#include <math.h>
#include <string.h>

#include "models/lower/plan/lower_plan.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/estimate/pass.h"
#include "models/step/simulate/step.h"
#include "sim/random.h"
#include "tests/laws/law_books.h"
#include "tests/laws/law_case.h"
#include "tests/test.h"

enum {
    RANK_MAX = 16
};

static void give_experts(struct configuration *c)
{
    struct model_shape *m = &c->model;
    m->moe.experts = 8;
    m->moe.experts_per_token = 2;
    m->moe.ffn_hidden = 32 * c->layout.tp;
    m->moe.shared_experts = 1;
    m->moe.dense_layers = 1;
    m->attention.kv_heads = m->attention.heads;
    m->latent.q_rank = 48;
    m->latent.kv_rank = 16;
    m->latent.rope_head_size = 8;
    m->latent.v_head_size = 32;
    c->layout.ep = c->layout.dp;
    c->layout.etp = 1;
    c->layout.sequence_parallel = c->layout.tp > 1;
}

static struct step *play(const struct configuration *c, bool unfold)
{
    const struct step_options how = {.unfold = unfold, .threads = 1, .ignore_memory = true};
    struct step *step;
    struct error error = {""};
    assert_true(step_run(c, &how, &step, &error));
    return step;
}

static void check_fold(const struct configuration *c, unsigned at)
{
    struct step *a = play(c, false), *b = play(c, true);
    char text[LAW_TEXT];
    if (a->digest != b->digest || a->step_s != b->step_s)
        fail_msg("case %u: %.17g s folded, %.17g s not", at, a->step_s, b->step_s);
    for (uint32_t i = 0; i < a->lowered.program_count; i++) {
        const char *fault = law_memory_fault(a->lowered.programs[i], text);
        if (fault != NULL)
            fail_msg("case %u, program %u: %s", at, i, fault);
    }
    step_destroy(a);
    step_destroy(b);
}

/* Levels of every factor by chance; experts and a tied table in some. */
static void modules_fold(void **state)
{
    unsigned played = 0, across = 0, again = 0;
    for (unsigned at = 0; at < 40000; at++) {
        struct law_case k;
        struct law_setup s;
        for (unsigned f = 0; f < LAW_FACTOR_COUNT; f++)
            k.level[f] =
                (uint8_t)(random_hash(at, f) % law_level_count((enum law_factor)f, RANK_MAX));
        if (!law_configure(&k, RANK_MAX, &s))
            continue;
        s.c.model.mtp_layers = 1 + at % 2;
        s.c.model.tied_embeddings = at % 3 == 0;
        if (at / 2 % 2 == 0)
            give_experts(&s.c);
        if (!configuration_legal(&s.c))
            continue;
        check_fold(&s.c, at);
        played++;
        across += s.c.layout.pp > 1;
        again +=
            s.c.layout.recompute == RECOMPUTE_FULL || s.c.layout.recompute == RECOMPUTE_UNIFORM;
    }
    print_message("%u layouts, %u of them pipelines, %u recomputed\n", played, across, again);
    assert_true(played > 200 && across > 100 && again > 30);
}

/* Two stages of two layers, the last one of `last`. */
static void two_stages(struct law_setup *s, uint64_t ahead, uint64_t last)
{
    struct law_case k = {.level = {[LAW_GPUS] = 2, [LAW_PP] = 1, [LAW_DP] = 2, [LAW_SCHEDULE] = 1}};
    assert_true(law_configure(&k, RANK_MAX, s));
    give_experts(&s->c);
    s->c.model.layers = 2 + last;
    s->c.model.mtp_layers = ahead;
    s->c.model.tied_embeddings = false;
    s->c.layout.pipeline.first_layers = 2;
    s->c.layout.pipeline.last_layers = last;
    s->c.layout.recompute = 0;
    assert_true(configuration_legal(&s->c));
}

static double flops(const struct program *p)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].kind == OP_COMPUTE)
            sum += p->costs[p->ops[i].cost].flops;
    return sum;
}

static double held(const struct program *p, enum tenant tenant)
{
    double bytes = 0.0;
    for (uint32_t i = 0; i < p->setup_count; i++)
        bytes += p->setup[i].tenant == tenant ? p->setup[i].bytes : 0.0;
    return bytes;
}

static double padded(const struct configuration *c)
{
    const uint64_t step =
        c->software.head.vocabulary_multiple > 0 ? c->software.head.vocabulary_multiple : 1;
    return (double)((c->model.vocabulary + step - 1) / step * step);
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g, not %.17g", value, expected);
}

/* A module is one layer more, and of each token 6 (2 h h + V h) FLOPs; the first stage does the
 * same. MFU's count says the same of a model whose vocabulary needs no padding. */
static void products_are_closed_form(void **state)
{
    for (uint64_t ahead = 1; ahead <= 3; ahead++) {
        struct law_setup with, without;
        two_stages(&with, ahead, 2);
        two_stages(&without, 0, 2 + ahead);
        struct step *a = play(&with.c, false), *b = play(&without.c, false);
        const struct configuration *c = &with.c;
        const double h = (double)c->model.hidden;
        const double tokens = configuration_tokens(c) / (double)configuration_replicas(c);
        const double each = 6.0 * (2.0 * h * h + padded(c) * h);
        near(flops(a->lowered.programs[1]) - flops(b->lowered.programs[1]),
             (double)ahead * tokens * each);
        near(flops(a->lowered.programs[0]), flops(b->lowered.programs[0]));
        const double head = 2.0 * h * h + 3.0 * transformer_norm_parameters(&c->model) +
                            (double)c->model.vocabulary * h;
        near(configuration_flops_per_token(c, false) -
                 configuration_flops_per_token(&without.c, false),
             6.0 * (double)ahead * head);
        step_destroy(a);
        step_destroy(b);
    }
}

/* Weights of the last stage: of each module a layer, 2 h h and three norms, and one copy of the
 * embedding, whose gradients both ends reduce; none with one stage, or where the head is its table,
 * or where both ends are on the same rank. */
static void weights_are_closed_form(void **state)
{
    for (unsigned at = 0; at < 4; at++) {
        struct law_setup with, without;
        two_stages(&with, 2, 2);
        two_stages(&without, 0, 2);
        struct configuration *both[] = {&with.c, &without.c};
        for (unsigned i = 0; i < 2; i++) {
            both[i]->model.tied_embeddings = at == 1;
            both[i]->layout.ep = 1;
            if (at == 2) {
                both[i]->layout.pp = 1;
                both[i]->layout.pipeline.first_layers = both[i]->layout.pipeline.last_layers = 0;
            } else if (at == 3) {
                both[i]->layout.pipeline.schedule = &schedule_dualpipe;
                both[i]->training.global_batch =
                    8 * both[i]->layout.dp * both[i]->layout.microbatch;
            }
            assert_true(configuration_legal(both[i]));
        }
        const double bytes = with.c.training.precision->weight_bytes;
        const double table = at == 0 ? padded(&with.c) * (double)with.c.model.hidden : 0.0;
        struct step *a = play(&with.c, false), *b = play(&without.c, false);
        const uint32_t last = a->lowered.program_count - 1;
        near(held(a->lowered.programs[last], TENANT_WEIGHTS) -
                 held(b->lowered.programs[last], TENANT_WEIGHTS),
             bytes * (transformer_prediction_parameters(&with.c.model) + table));
        for (uint32_t p = 0; p <= last; p++) {
            const struct program *program = a->lowered.programs[p];
            double sent = 0.0;
            for (uint32_t i = 0; i < program->op_count; i++)
                if (program->ops[i].stream == STREAM_EMBED)
                    sent += program->transfers[program->ops[i].cost].bytes;
            const double expected = at < 2 ? padded(&with.c) * (double)with.c.model.hidden *
                                                 with.c.software.data.gradient_kept_bytes
                                           : 0.0;
            near(sent + 1.0, expected + 1.0);
        }
        step_destroy(a);
        step_destroy(b);
    }
}

/* Of the tensors that a microbatch leaves from its forward to its backward: a layer's, two inputs
 * of norms and the projection's, an input of the last norm where it is kept, and all that the head
 * keeps once more. */
static double kept(const struct lowering *l, enum block_index index)
{
    return l->blocks[index].kept_bytes;
}

static void activations_are_closed_form(void **state)
{
    struct law_setup s;
    two_stages(&s, 1, 2);
    struct arena *arena = arena_create();
    const struct lowering *l = lower_plan_lowering(arena, &s.c);
    const double row =
        (double)(s.c.layout.microbatch * s.c.training.sequence) * (double)s.c.model.hidden * 2.0;
    near(kept(l, BLOCK_PREDICTION), 4.0 * row);
    near(kept(l, BLOCK_PREDICTION_HEAD), kept(l, BLOCK_HEAD));
    assert_int_equal(lower_plan_times(l, 0, BLOCK_EMBEDDING), 1);
    assert_int_equal(lower_plan_times(l, 1, BLOCK_EMBEDDING), 1);
    assert_int_equal(lower_plan_times(l, 1, BLOCK_LAYER), 3);
    assert_int_equal(lower_plan_times(l, 0, BLOCK_HEAD), 0);
    assert_int_equal(lower_plan_times(l, 1, BLOCK_HEAD), 1);
    assert_int_equal(lower_plan_times(l, 1, BLOCK_PREDICTION), 1);
    assert_int_equal(lower_plan_times(l, 0, BLOCK_PREDICTION), 0);
    arena_destroy(arena);
}

/* Full recomputation runs all between the embedding and the head again, from what was joined. */
static void recomputation_is_closed_form(void **state)
{
    struct law_setup s, none;
    two_stages(&s, 1, 2);
    two_stages(&none, 1, 2);
    s.c.layout.recompute = RECOMPUTE_FULL;
    s.c.software.layer.recompute_stops_early = false;
    assert_true(configuration_legal(&s.c));
    struct arena *arena = arena_create();
    const struct lowering *l = lower_plan_lowering(arena, &s.c);
    double again = 0.0, forward = 0.0;
    for (uint32_t i = 0; i < l->blocks[BLOCK_PREDICTION].lists[PIECES_WHOLE].count; i++)
        again += l->blocks[BLOCK_PREDICTION].lists[PIECES_WHOLE].rows[i].cost.flops;
    for (uint32_t i = 0; i < l->blocks[BLOCK_LAYER].lists[PIECES_RECOMPUTE].count; i++)
        forward += l->blocks[BLOCK_LAYER].lists[PIECES_RECOMPUTE].rows[i].cost.flops;
    struct step *a = play(&s.c, false), *b = play(&none.c, false);
    const double m = (double)configuration_microbatches(&s.c);
    const double h = (double)s.c.model.hidden;
    near(again, 4.0 * h * h * (double)(s.c.layout.microbatch * s.c.training.sequence));
    near(flops(a->lowered.programs[1]) - flops(b->lowered.programs[1]),
         m * (again + 3.0 * forward));
    step_destroy(a);
    step_destroy(b);
    arena_destroy(arena);
}

static double pass_s(const struct configuration *c)
{
    struct arena *arena = arena_create();
    struct topology topology;
    struct error error;
    struct pass_played played;
    assert_true(topology_build(arena, &c->cluster, &topology, &error));
    struct pass_memory *memory = pass_memory_create();
    struct pass_split *split = pass_split_create(c, &topology);
    pass_step(memory, split, c, &played);
    assert_true(pass_least_s(memory, c) <= played.step_s);
    pass_split_destroy(split);
    pass_memory_destroy(memory);
    arena_destroy(arena);
    return played.step_s;
}

static void pass_detail_is_op_detail(void **state)
{
    for (unsigned at = 0; at < 4; at++) {
        struct law_setup s;
        two_stages(&s, 1 + at % 2, 2);
        s.c.layout.recompute = at / 2 == 0 ? 0 : RECOMPUTE_FULL;
        s.c.training.global_batch = 16 * s.c.layout.dp * s.c.layout.microbatch;
        struct step *step = play(&s.c, false);
        const double lost = network_contention(step->network).lost_s / step->step_s;
        const double off = fabs(pass_s(&s.c) / step->step_s - 1.0);
        if (off > 3.5 * lost + (lost > 1e-9 ? 0.02 : 1e-9))
            fail_msg("case %u: %g off, %g lost", at, off, lost);
        step_destroy(step);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modules_fold),
        cmocka_unit_test(products_are_closed_form),
        cmocka_unit_test(weights_are_closed_form),
        cmocka_unit_test(activations_are_closed_form),
        cmocka_unit_test(recomputation_is_closed_form),
        cmocka_unit_test(pass_detail_is_op_detail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
