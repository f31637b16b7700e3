/* Laws of models with a pattern of layers: on random patterns, layouts and troubles folded is
 * unfolded, what a step takes it gives back, and pass detail is op detail. */
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
    RANK_MAX = 16,
    TEXT_MAX = 128
};

/* One of the kinds, in either spelling, as long as the model is or a part of it. */
static void draw_pattern(unsigned at, uint64_t layers, char text[TEXT_MAX])
{
    const struct layer_kind *kind = layer_kinds[random_hash(at, 100) % layer_kind_count];
    const bool letters = kind->letter != '\0' && random_hash(at, 101) % 2 == 0;
    const char forms[] = {kind->letter, '*', '-', 'E'};
    uint64_t count = layers, length = 0;
    if (random_hash(at, 102) % 2 == 0)
        for (count = layers > 1 ? layers / 2 : 1; layers % count != 0; count--)
            ;
    if (count > 8)
        count = layers % 2 == 0 ? 2 : 1;
    text[0] = '\0';
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t draw = random_hash(at, 200 + i);
        if (letters)
            length += (uint64_t)snprintf(text + length, TEXT_MAX - length, "%c", forms[draw % 4]);
        else
            length += (uint64_t)snprintf(text + length, TEXT_MAX - length, "%s%s", i > 0 ? "," : "",
                                         draw % 3 == 0 ? "attention" : kind->head.name);
        assert_true(length < TEXT_MAX);
    }
}

static void give_pattern(struct configuration *c, unsigned at, char text[TEXT_MAX])
{
    struct model_shape *m = &c->model;
    draw_pattern(at, m->layers, text);
    if (strchr(text, 'E') != NULL || at % 5 == 0) {
        m->moe.experts = 8;
        m->moe.experts_per_token = 2;
        m->moe.ffn_hidden = 32 * c->layout.tp;
        m->moe.shared_experts = at % 2;
        c->layout.ep = c->layout.dp;
        c->layout.etp = 1;
        c->layout.sequence_parallel = c->layout.tp > 1;
    }
    m->attention.gate = at % 4 == 1;
    m->pattern.sizes = (struct layer_sizes){.heads = 16, .head_size = 8, .conv = 4};
    m->pattern.text = text;
    c->software.layer.scan_time_ratio = 1.0;
    c->software.context.mixers = true;
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
        fail_msg("case %u, %s: %.17g s folded, %.17g s not", at, c->model.pattern.text, a->step_s,
                 b->step_s);
    for (uint32_t i = 0; i < a->lowered.program_count; i++) {
        const char *fault = law_memory_fault(a->lowered.programs[i], text);
        if (fault != NULL)
            fail_msg("case %u, %s, program %u: %s", at, c->model.pattern.text, i, fault);
    }
    step_destroy(a);
    step_destroy(b);
}

static bool draw(unsigned at, struct law_setup *s, char text[TEXT_MAX])
{
    struct law_case k;
    for (unsigned f = 0; f < LAW_FACTOR_COUNT; f++)
        k.level[f] = (uint8_t)(random_hash(at, f) % law_level_count((enum law_factor)f, RANK_MAX));
    if (!law_configure(&k, RANK_MAX, s))
        return false;
    give_pattern(&s->c, at, text);
    return configuration_legal(&s->c);
}

static void patterns_fold(void **state)
{
    unsigned played = 0, across = 0, context = 0, letters = 0, kinds[8] = {0};
    for (unsigned at = 0; at < 60000 && played < 400; at++) {
        struct law_setup s;
        char text[TEXT_MAX];
        if (!draw(at, &s, text))
            continue;
        check_fold(&s.c, at);
        played++;
        across += s.c.layout.pp > 1;
        context += s.c.layout.cp > 1;
        letters += strpbrk(text, "M*G-E") != NULL;
        for (unsigned i = 0; i < layer_kind_count; i++)
            kinds[i] += s.c.model.pattern.kind == layer_kinds[i];
    }
    print_message("%u layouts, %u of them pipelines, %u with context ranks, %u of letters\n",
                  played, across, context, letters);
    assert_true(played >= 200 && across > 50 && context > 20 && letters > 40);
    for (unsigned i = 0; i < layer_kind_count; i++)
        assert_true(kinds[i] > 20);
}

/* Weights that a rank holds are the model's, whatever form its layers have: all stages of one
 * tensor rank, with a vocabulary that needs no padding. */
static void weights_are_the_models(void **state)
{
    unsigned checked = 0;
    for (unsigned at = 0; at < 20000 && checked < 60; at++) {
        struct law_setup s;
        char text[TEXT_MAX];
        if (!draw(at, &s, text) || s.c.layout.tp > 1 || s.c.layout.ep > 1 ||
            s.c.model.tied_embeddings)
            continue;
        struct arena *arena = arena_create();
        const struct lowering *l = lower_plan_lowering(arena, &s.c);
        double sum = 0.0;
        for (uint32_t part = 0; part < l->parts; part++)
            for (unsigned b = 0; b < lower_plan_block_count(l); b++)
                sum += (double)lower_plan_times(l, part, (enum block_index)b) *
                       l->blocks[b].weights.parameters;
        const double padding =
            2.0 * (l->vocabulary_shard - (double)s.c.model.vocabulary * (double)s.c.model.hidden);
        const double all = transformer_parameters(&s.c.model, s.c.training.sequence) + padding;
        if (!(fabs(sum / all - 1.0) < 1e-12))
            fail_msg("case %u, %s: %.17g, not %.17g", at, text, sum, all);
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
        char text[TEXT_MAX];
        if (!draw(at, &s, text) || s.c.layout.dp > 1 || s.c.perturbation_count > 0 ||
            s.c.kernel_jitter_sigma > 0.0 || s.c.software.data.interference_ratio > 0.0 ||
            s.c.software.tensor.overlap_cost_ratio > 0.0)
            continue;
        struct step *step = play(&s.c, false);
        const double lost = network_contention(step->network).lost_s / step->step_s;
        const double off = fabs(pass_s(&s.c) / step->step_s - 1.0);
        if (off > 3.5 * lost + (lost > 1e-9 ? 0.02 : 1e-9))
            fail_msg("case %u, %s: %g off, %g lost", at, text, off, lost);
        alone++;
        step_destroy(step);
    }
    assert_true(alone >= 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_fold),
        cmocka_unit_test(weights_are_the_models),
        cmocka_unit_test(pass_detail_is_op_detail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
