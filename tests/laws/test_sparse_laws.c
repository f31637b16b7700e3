/* Laws of models with sparse attention and an indexer: on random shares of layers that have one,
 * layouts and troubles folded is unfolded, what a step takes it gives back, and pass detail is op
 * detail. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/lower/plan/lower_plan.h"
#include "models/step/estimate/pass.h"
#include "models/step/simulate/step.h"
#include "sim/random.h"
#include "tests/laws/law_books.h"
#include "tests/laws/law_case.h"
#include "tests/test.h"

enum {
    RANK_MAX = 16
};

/* Every second case has layers that take another's choice; every third is short enough that all
 * keys are chosen. */
static void give_indexer(struct configuration *c, unsigned at)
{
    struct model_shape *m = &c->model;
    m->latent = (struct model_latent){
        .q_rank = at % 4 == 1 ? 0 : 48, .kv_rank = 16, .rope_head_size = 8, .v_head_size = 24};
    m->attention.kv_heads = m->attention.heads;
    m->latent.indexer =
        (struct model_indexer){.heads = 4, .size = 16, .keys = at % 3 == 0 ? 4096 : 24};
    if (at % 2 == 0) { /* chunks of N layers, the first of which scores for all */
        const uint64_t each = 2 + at / 2 % 3;
        m->latent.indexer = (struct model_indexer){4, 16, 24, each, at % 4 / 2};
        m->layers *= each;
    }
    if (at % 7 == 0) {
        m->moe.experts = 8;
        m->moe.experts_per_token = 2;
        m->moe.ffn_hidden = 32 * c->layout.tp;
        c->layout.ep = c->layout.dp;
        c->layout.etp = 1;
    }
    m->mtp_layers = at % 3 == 1 ? 1 : 0;
    c->layout.sequence_parallel = c->layout.tp > 1;
    c->layout.context.method = CP_ALL_GATHER;
    c->software.layer.sparse_time_ratio = 1.0;
    transformer_complete(m);
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

static bool draw(unsigned at, struct law_setup *s)
{
    struct law_case k;
    for (unsigned f = 0; f < LAW_FACTOR_COUNT; f++)
        k.level[f] = (uint8_t)(random_hash(at, f) % law_level_count((enum law_factor)f, RANK_MAX));
    if (!law_configure(&k, RANK_MAX, s))
        return false;
    give_indexer(&s->c, at);
    return configuration_legal(&s->c);
}

static void indexers_fold(void **state)
{
    unsigned played = 0, across = 0, context = 0, tensor = 0, shared = 0, again = 0;
    for (unsigned at = 0; at < 60000 && played < 400; at++) {
        struct law_setup s;
        if (!draw(at, &s))
            continue;
        check_fold(&s.c, at);
        played++;
        across += s.c.layout.pp > 1;
        context += s.c.layout.cp > 1;
        tensor += s.c.layout.tp > 1;
        shared += s.c.model.latent.indexer.interval > 1;
        assert_true(s.c.model.latent.indexer.interval <= 1 ||
                    !transformer_scores_keys(&s.c.model, s.c.model.layers - 1));
        again += s.c.layout.recompute == RECOMPUTE_FULL;
    }
    print_message("%u layouts, %u pipelines, %u of context, %u of tensor ranks, %u of layers that "
                  "share, %u recomputed\n",
                  played, across, context, tensor, shared, again);
    assert_true(played >= 200 && across > 50 && context > 20 && tensor > 20 && shared > 30 &&
                again > 10);
}

/* Weights that a rank holds are the model's, whichever layers have an indexer: all stages of one
 * tensor rank. */
static void weights_are_the_models(void **state)
{
    unsigned checked = 0;
    for (unsigned at = 0; at < 20000 && checked < 60; at++) {
        struct law_setup s;
        if (!draw(at, &s) || s.c.layout.tp > 1 || s.c.layout.ep > 1 || s.c.model.tied_embeddings)
            continue;
        struct arena *arena = arena_create();
        const struct lowering *l = lower_plan_lowering(arena, &s.c);
        double sum = 0.0;
        for (uint32_t part = 0; part < l->parts; part++)
            for (unsigned b = 0; b < lower_plan_block_count(l); b++)
                /* a module reads the model's own table */
                sum += (b == BLOCK_EMBEDDING
                            ? (part == 0 ? 1.0 : 0.0)
                            : (double)lower_plan_times(l, part, (enum block_index)b)) *
                       l->blocks[b].weights.parameters;
        const double padding =
            2.0 * (l->vocabulary_shard - (double)s.c.model.vocabulary * (double)s.c.model.hidden);
        const double all =
            transformer_trained_parameters(&s.c.model, s.c.training.sequence) + padding;
        if (!(fabs(sum / all - 1.0) < 1e-12))
            fail_msg("case %u: %.17g, not %.17g", at, sum, all);
        checked++;
        arena_destroy(arena);
    }
    assert_true(checked >= 40);
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
    unsigned alone = 0;
    for (unsigned at = 0; at < 40000 && alone < 40; at++) {
        struct law_setup s;
        if (!draw(at, &s) || s.c.layout.dp > 1 || s.c.perturbation_count > 0 ||
            s.c.kernel_jitter_sigma > 0.0 || s.c.software.data.interference_ratio > 0.0 ||
            s.c.software.tensor.overlap_cost_ratio > 0.0)
            continue;
        struct step *step = play(&s.c, false);
        const double lost = network_contention(step->network).lost_s / step->step_s;
        const double off = fabs(pass_s(&s.c) / step->step_s - 1.0);
        if (lost <= 1e-9 && off > 1e-9) /* where no transfers share a wire it is exact */
            fail_msg("case %u: %g off", at, off);
        alone += lost <= 1e-9;
        step_destroy(step);
    }
    assert_true(alone >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indexers_fold),
        cmocka_unit_test(weights_are_the_models),
        cmocka_unit_test(pass_detail_is_op_detail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
