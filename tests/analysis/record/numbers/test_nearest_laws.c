/* What is further from all that was measured is never surer: by random combinations of properties
 * that rows have and of some that none has, and by models and cards of the catalogue. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/evidence/model_error.h"
#include "scenarios/assemble/scenario.h"
#include "sim/arena.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    WORLDS = 3000,
    ADDED = 7 /* ways to be further away */
};
static const double rounding = 1e-12;

static unsigned bit_of(const char *kind)
{
    for (unsigned i = 0; i < layer_kind_count; i++)
        if (strcmp(layer_kinds[i]->head.name, kind) == 0)
            return (unsigned)LAYERS_RECURRENT << i;
    fail_msg("no kind of layer %s", kind);
    return 0;
}

static size_t one_of(struct random_stream *stream, size_t count)
{
    return (size_t)(random_uniform(stream) * (double)count);
}

/* Software of one row, a card of another, all else of others still. */
static struct model_error_step mixed(const struct residues *r, struct random_stream *stream)
{
    const struct model_error_step *software = &r->measured[one_of(stream, r->count)].step;
    const struct model_error_step *card = &r->measured[one_of(stream, r->count)].step;
    const struct model_error_step *model = &r->measured[one_of(stream, r->count)].step;
    struct model_error_step out = *software;
    out.card = card->card;
    out.generation = card->generation;
    out.maker = card->maker;
    out.precision = r->measured[one_of(stream, r->count)].step.precision;
    out.kinds = (unsigned)one_of(stream, 1U << LAYOUT_KIND_COUNT);
    out.layers = model->layers;
    out.hidden = model->hidden;
    out.gpus = model->gpus;
    return random_uniform(stream) < 0.3 ? *software : out;
}

/* One property that no row has; false: it was added already. */
static bool add(unsigned which, struct model_error_step *step, struct random_stream *stream)
{
    const struct model_error_step before = *step;
    switch (which) {
    case 0: /* a card of a measured generation */
        step->card = "new card";
        break;
    case 1:
        step->card = "new card";
        step->generation = "new generation";
        break;
    case 2:
        step->card = "new card";
        step->generation = "new generation";
        step->maker = random_uniform(stream) < 0.5 ? "new maker" : "";
        break;
    case 3: /* a profile of a measured framework */
        step->software = "new software";
        break;
    case 4:
        step->software = "new software";
        step->framework = "new framework";
        step->native = random_uniform(stream) < 0.5;
        break;
    case 5:
        step->precision = "new precision";
        break;
    default:
        step->layers |= (unsigned)LAYERS_RECURRENT << one_of(stream, layer_kind_count);
        break;
    }
    return memcmp(&before, step, sizeof before) != 0;
}

/* Is it as near again by what this would overwrite? */
static bool nearer_again(unsigned which, const struct model_error_step *step)
{
    return (which == 0 && strcmp(step->card, "new card") == 0) ||
           (which == 1 && (*step->maker == '\0' || strcmp(step->maker, "new maker") == 0)) ||
           (which == 3 && strcmp(step->software, "new software") == 0);
}

static void further_is_never_narrower(const struct residues *r, uint64_t seed)
{
    struct arena *arena = arena_create();
    struct random_stream *stream = random_create(arena, seed, 0, "steps");
    unsigned wider = 0;
    for (unsigned world = 0; world < WORLDS; world++) {
        struct model_error_step step = mixed(r, stream);
        double width = model_error_near(r, &step, NULL).log_spread;
        for (unsigned k = 0; k < 4; k++) {
            const unsigned which = (unsigned)one_of(stream, ADDED);
            if (nearer_again(which, &step) || !add(which, &step, stream))
                continue;
            const double now = model_error_near(r, &step, NULL).log_spread;
            if (now < width - rounding)
                fail_msg("world %u, property %u: %.4f after %.4f", world, which, now, width);
            wider += now > width + rounding;
            width = now;
        }
    }
    assert_true(wider > WORLDS / 2);
    arena_destroy(arena);
}

static void test_further_is_never_narrower(void **state)
{
    further_is_never_narrower(&residues_shipped, 1);
    /* Where classes differ much, and where some ask for nothing. */
    static const double others[][CLASS_LEARNED] = {
        {0.3, 0.01, 0.3, 0.0, 0.0}, {0.0, 0.2, 0.1, 0.05, 0.3}, {0.1, 0.1, 0.4, 0.2, 0.0}};
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct residues r = residues_shipped;
        memcpy(r.class_log_spread, others[i], sizeof others[i]);
        further_is_never_narrower(&r, 2 + i);
    }
}

/* What was never left out has the widest class that was. */
static void test_widths_that_nobody_learned(void **state)
{
    static const double learned[CLASS_LEARNED] = {0.1, 0.2, 0.15, 0.3, 0.05};
    for (int k = 0; k < CLASS_COUNT; k++)
        assert_true(model_error_of_class(learned, (enum error_class)k) ==
                    (k < CLASS_LEARNED ? learned[k] : 0.3));
    for (int widest = 0; widest < CLASS_LEARNED; widest++) {
        double one[CLASS_LEARNED] = {0.1, 0.1, 0.1, 0.1, 0.1};
        one[widest] = 0.4;
        assert_true(model_error_of_class(one, CLASS_MAKER) == 0.4);
        assert_true(model_error_of_class(one, CLASS_LAYERS) == 0.4);
    }
    assert_true(residues_shipped.class_log_spread[CLASS_FRAMEWORK] >=
                residues_shipped.class_log_spread[CLASS_NATIVE]);
    assert_true(model_error_of_class(residues_shipped.class_log_spread, CLASS_LAYERS) >=
                residues_shipped.class_log_spread[CLASS_EXPERTS]);
}

#define OF(software, framework, card, generation, maker, precision, kinds, layers)                 \
    {                                                                                              \
        software, framework, card, generation, maker, precision, kinds, layers, 0, 8, 4096, true   \
    }
static const struct measured_row lone = {
    "a", "s", OF("x", "f", "red", "g", "m", "bf16", 0, LAYERS_FULL), 0.0};
static const struct {
    struct model_error_step step;
    const char *says;
    enum error_class is; /* beside PyTorch's own, which the lone row has, but for a framework */
    double own;
} unlike_lone[] = {
    {OF("x", "f", "red", "g", "m", "bf16", 0, LAYERS_FULL), "1 measured step of", CLASS_NATIVE,
     0.02},
    {OF("y", "f", "red", "g", "m", "bf16", 0, LAYERS_FULL), "1 of other", CLASS_NATIVE, 0.05},
    {OF("y", "e", "red", "g", "m", "bf16", 0, LAYERS_FULL), "of this framework (e)",
     CLASS_FRAMEWORK, 0.05},
    {OF("x", "f", "blue", "g", "m", "bf16", 0, LAYERS_FULL), "1 on other cards", CLASS_NATIVE,
     0.04},
    {OF("x", "f", "blue", "h", "m", "bf16", 0, LAYERS_FULL), "card of this generation (h)",
     CLASS_GENERATION, 0.04},
    {OF("x", "f", "blue", "g", "n", "bf16", 0, LAYERS_FULL), "card of this maker (n)", CLASS_MAKER,
     0.04},
    {OF("x", "f", "blue", "", "", "bf16", 0, LAYERS_FULL), "maker (not said)", CLASS_MAKER, 0.04},
    {OF("x", "f", "red", "g", "m", "fp8", 0, LAYERS_FULL),
     "in this precision (fp8); no measurement of fp8", CLASS_PRECISION, 0.03},
    {OF("x", "f", "red", "g", "m", "bf16", 0, LAYERS_LATENT),
     "of this kind (latent attention); no measurement of", CLASS_LAYERS, 0.03},
    {OF("x", "f", "red", "g", "m", "bf16", LAYOUT_EXPERTS, LAYERS_FULL), "without experts)",
     CLASS_EXPERTS, 0.03},
};

/* Each in its own class, and said. */
static void test_what_no_row_has(void **state)
{
    const struct residues one = {.measured = &lone,
                                 .count = 1,
                                 .log_spread = {0.01, 0.02, 0.03, 0.04, 0.05, 0.06},
                                 .class_log_spread = {0.1, 0.2, 0.3, 0.4, 0.5}};
    for (unsigned i = 0; i < sizeof unlike_lone / sizeof unlike_lone[0]; i++) {
        const enum error_class is = unlike_lone[i].is;
        const struct model_error e = model_error_near(&one, &unlike_lone[i].step, NULL);
        char text[MODEL_ERROR_SENTENCE_MAX];
        double width = unlike_lone[i].own;
        for (unsigned k = 0; k < CLASS_COUNT; k++) {
            const bool in = k == is || (k == CLASS_NATIVE && is != CLASS_FRAMEWORK);
            if (e.is[k] != in)
                fail_msg("case %u, class %u", i, k);
            if (in)
                width =
                    hypot(width, model_error_of_class(one.class_log_spread, (enum error_class)k));
        }
        assert_true(fabs(e.log_spread - width) < rounding);
        if (strstr(model_error_sentence(&e, text, sizeof text), unlike_lone[i].says) == NULL)
            fail_msg("case %u: %s", i, text);
    }
}

/* A generation is of its maker: that another has one of such a name shows nothing of it. */
static void test_generations_are_of_makers(void **state)
{
    struct measured_row rows[2] = {lone, lone};
    const struct residues two = {.measured = rows, .count = 2};
    struct model_error_step step = lone.step;
    rows[1].step.maker = "n";
    rows[1].step.generation = step.generation = "h";
    assert_true(model_error_near(&two, &step, NULL).is[CLASS_GENERATION]);
    step.maker = "n";
    assert_false(model_error_near(&two, &step, NULL).is[CLASS_GENERATION]);
}

/* The most alike in layers and experts comes first, however far in size; then each of framework,
 * maker, generation and precision counts as one octave of GPUs does. */
static void test_the_most_alike(void **state)
{
    const struct model_error_step step = {
        "x", "f", "red", "g", "m", "bf16", LAYOUT_EXPERTS, LAYERS_LATENT, 0, 64, 4096, false};
    struct measured_row rows[2] = {{"a", "s", step, 0.0}, {"b", "s", step, 0.0}};
    const struct residues two = {.measured = rows, .count = 2};
    char text[MODEL_ERROR_SENTENCE_MAX];
    rows[0].step.kinds = 0;
    rows[1].step.gpus = 16384;
    struct model_error e = model_error_near(&two, &step, NULL);
    assert_true(e.nearest == &rows[1] && e.rows == 2 && e.alike == 1);
    assert_non_null(strstr(model_error_sentence(&e, text, sizeof text),
                           "2 measured steps of this software on this card, 1 of them with such "
                           "layers; the nearest, b (16384 GPUs), is"));
    rows[1].step.kinds |= LAYOUT_PIPELINE; /* how they lie is not what they are */
    assert_int_equal(model_error_near(&two, &step, NULL).alike, 1);
    rows[1].step.kinds = step.kinds;
    rows[1].step.layers = LAYERS_FULL | LAYERS_SPARSE; /* three kinds of layers apart */
    e = model_error_near(&two, &step, NULL);
    assert_true(e.nearest == &rows[0] && e.alike == 0);
    assert_non_null(strstr(model_error_sentence(&e, text, sizeof text),
                           "a (64 GPUs, of another kind: without experts), is"));
    rows[0] = rows[1];
    e = model_error_near(&two, &step, NULL);
    assert_non_null(strstr(model_error_sentence(&e, text, sizeof text),
                           ", of another kind: with attention to all positions, without latent "
                           "attention, with sparse attention with an indexer), is"));
    static const char *const another = "another";
    for (unsigned i = 0; i < 8; i++) {
        rows[0].step = rows[1].step = step;
        rows[0].step.software = rows[1].step.software = "y"; /* all at one nearness */
        const char **of[] = {&rows[0].step.framework, &rows[0].step.maker, &rows[0].step.generation,
                             &rows[0].step.precision};
        *of[i / 2] = another;
        rows[1].step.gpus = i % 2 == 0 ? 33 : 31; /* just less than an octave away, or more */
        e = model_error_near(&two, &step, NULL);
        if (e.nearest != &rows[i % 2 == 0 ? 1 : 0])
            fail_msg("case %u", i);
    }
}

/* Layers that the row alone has count as those that the step alone has. */
static void test_unlike_both_ways(void **state)
{
    static const unsigned both = LAYERS_FULL | LAYERS_WINDOW;
    for (unsigned way = 0; way < 2; way++) {
        const unsigned own = way == 0 ? LAYERS_FULL : both, other = both ^ own ^ LAYERS_FULL;
        const struct model_error_step step = {"x", "f", "red", "g", "m",  "bf16",
                                              0,   own, 0,     64,  4096, false};
        struct measured_row rows[2] = {{"a", "s", step, 0.0}, {"b", "s", step, 0.0}};
        const struct residues two = {.measured = rows, .count = 2};
        rows[0].step.layers = other;
        rows[1].step.gpus = 16384;
        assert_true(own != other);
        assert_true(model_error_near(&two, &step, NULL).nearest == &rows[1]);
    }
}

/* What another software measured on the card, or this one on another, is not measured here: in the
 * list it is, so its class is none. */
static void test_what_is_seen_elsewhere(void **state)
{
    const struct model_error_step step = {
        "x", "f", "red", "g", "m", "fp8", LAYOUT_PIPELINE, LAYERS_LATENT, 0, 64, 4096, false};
    for (unsigned i = 0; i < 2; i++) {
        struct measured_row rows[2] = {{"a", "s", step, 0.0}, {"b", "s", step, 0.0}};
        const struct residues two = {.measured = rows, .count = 2};
        rows[0].step.precision = "bf16";
        rows[0].step.layers = LAYERS_FULL;
        rows[0].step.kinds = 0;
        if (i == 0)
            rows[1].step.software = "y";
        else
            rows[1].step.card = "blue";
        const struct model_error e = model_error_near(&two, &step, NULL);
        assert_true(e.nearness == NEAR_CARD && e.rows == 1 && e.nearest == &rows[0]);
        assert_true(e.precision_unseen && e.layers_unseen == LAYERS_LATENT);
        assert_true(e.kinds_unseen == LAYOUT_PIPELINE);
        assert_false(e.is[CLASS_PRECISION] || e.is[CLASS_LAYERS]);
    }
}

/* A row of the same run has the layers and the precision of the step. */
static void test_such_a_run_has_such_layers(void **state)
{
    const struct model_error_step such = {"x", "f",         "red", "g", "m",  "fp8",
                                          0,   LAYERS_FULL, 24300, 64,  4096, false};
    struct measured_row row = {"a", "s", such, 0.0};
    const struct residues one = {.measured = &row, .count = 1};
    assert_int_equal(model_error_near(&one, &such, NULL).nearness, NEAR_RUN);
    row.step.layers |= LAYERS_WINDOW;
    assert_int_equal(model_error_near(&one, &such, NULL).nearness, NEAR_RUN);
    row.step.layers = LAYERS_WINDOW;
    assert_int_equal(model_error_near(&one, &such, NULL).nearness, NEAR_CARD);
    row.step.layers = LAYERS_FULL;
    row.step.precision = "bf16";
    const struct model_error e = model_error_near(&one, &such, NULL);
    assert_true(e.nearness == NEAR_CARD && e.precision_unseen && e.layers_unseen == 0);
}

static struct scenario *scenario_of(const char *model, const char *card, const char *software,
                                    unsigned sequence)
{
    char text[512];
    struct error error = {""};
    const int length = snprintf(text, sizeof text,
                                "model: %s\ncluster: {gpu: %s, gpus: 64}\n"
                                "training: {sequence: %u, global_batch: 64, precision: bf16}\n"
                                "layout: {tp: 1, pp: 1, dp: auto, microbatch: 1}\nsoftware: %s\n",
                                model, card, sequence, software);
    struct scenario *s = scenario_read("t", text, (size_t)length, NULL, &error);
    if (s == NULL || s->diagnostics.error_count > 0)
        fail_msg("%s on %s by %s: %s", model, card, software, error.text);
    return s;
}

/* Profiles of one framework, by what they are called. */
static void test_frameworks_of_profiles(void **state)
{
    static const char *const of[][2] = {{"megatron", "megatron"},
                                        {"megatron-2021", "megatron"},
                                        {"torchtitan-eager", "torchtitan"},
                                        {"deepspeed-2021", "deepspeed"}};
    for (unsigned i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct scenario *s = scenario_of("gpt2-1.5b", "a100-80gb-sxm", of[i][0], 1024);
        const struct model_error_step step = model_error_step(&s->configuration);
        assert_string_equal(step.software, of[i][0]);
        assert_string_equal(step.framework, of[i][1]);
        scenario_destroy(s);
    }
}

/* Kinds of layers, by models of the catalogue. */
static void test_layers_of_models(void **state)
{
    const struct {
        const char *model;
        unsigned sequence, layers;
    } cases[] = {
        {"llama3-8b", 4096, LAYERS_FULL},
        {"gpt-oss-20b", 4096, LAYERS_FULL | LAYERS_WINDOW},
        {"gpt-oss-20b", 128, LAYERS_FULL}, /* no longer than the window */
        {"deepseek-v3-671b", 4096, LAYERS_LATENT},
        {"deepseek-v3.2", 4096, LAYERS_LATENT | LAYERS_SPARSE},
        {"glm-5.2", 4096, LAYERS_LATENT | LAYERS_SPARSE},
        {"nemotron-h-56b", 4096, LAYERS_FULL | bit_of("mamba2")},
        {"qwen3-next-80b-a3b", 4096, LAYERS_FULL | bit_of("gdn")},
        {"kimi-linear-48b-a3b", 4096, LAYERS_LATENT | bit_of("kda")},
        {"minimax-text-01-456b", 4096, LAYERS_FULL | bit_of("lightning")},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scenario *s =
            scenario_of(cases[i].model, "h100-80gb-sxm", "megatron", cases[i].sequence);
        const unsigned layers = model_error_step(&s->configuration).layers;
        if (layers != cases[i].layers)
            fail_msg("%s: layers %u, not %u", cases[i].model, layers, cases[i].layers);
        scenario_destroy(s);
    }
    for (unsigned i = 0; i < layer_kind_count; i++)
        assert_true(bit_of(layer_kinds[i]->head.name) >> LAYERS_ATTENTION_COUNT == 1U << i);
}

/* Models with layers that nobody measured say so, are wider than a dense plain model, and name no
 * other kind of row as nearest without saying that it is another. */
static void test_models_that_nobody_measured(void **state)
{
    static const struct {
        const char *model, *kind; /* NULL: such layers were measured */
    } cases[] = {
        {"nemotron-h-56b", "mamba2 layers"},
        {"qwen3-next-80b-a3b", "gdn layers"},
        {"glm-5.2", "sparse attention with an indexer"},
        {"deepseek-v3.2", "sparse attention with an indexer"},
        {"kimi-linear-48b-a3b", "kda layers"},
        {"deepseek-v3-671b", NULL},
    };
    static const char *const cards[] = {"h100-80gb-sxm", "b200-180gb-sxm", "gb200-186gb"};
    static const char *const software[] = {"megatron", "nemo", "unnamed"};
    const double widest = model_error_of_class(residues_shipped.class_log_spread, CLASS_LAYERS);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0] * 9; i++) {
        char says[128], text[MODEL_ERROR_SENTENCE_MAX];
        const char *model = cases[i / 9].model, *kind = cases[i / 9].kind;
        struct scenario *s = scenario_of(model, cards[i / 3 % 3], software[i % 3], 4096);
        struct scenario *dense = scenario_of("llama3-8b", cards[i / 3 % 3], software[i % 3], 4096);
        const struct model_error e = model_error_of(&residues_shipped, &s->configuration, NULL);
        const struct model_error plain =
            model_error_of(&residues_shipped, &dense->configuration, NULL);
        model_error_sentence(&e, text, sizeof text);
        snprintf(says, sizeof says, "no measured step has layers of this kind (%s); ", kind);
        if (kind != NULL && strncmp(text, says, strlen(says)) != 0)
            fail_msg("%s: %s", model, text);
        assert_true((kind == NULL) == (strstr(text, "layers of this kind") == NULL));
        assert_true(e.is[CLASS_LAYERS] == (kind != NULL));
        assert_true(e.log_spread > plain.log_spread);
        assert_true(kind == NULL || e.log_spread >= hypot(plain.log_spread, widest) - rounding);
        const struct model_error_step *nearest = e.nearest != NULL ? &e.nearest->step : &e.step;
        const bool unlike = e.step.layers != nearest->layers ||
                            ((e.step.kinds ^ nearest->kinds) & LAYOUT_EXPERTS) != 0;
        if ((strstr(text, "of another kind: ") != NULL) != unlike)
            fail_msg("%s: %s", model, text);
        scenario_destroy(dense);
        scenario_destroy(s);
    }
}

/* A card of a maker of whose cards nothing was measured is less sure, with any software. */
static void test_cards_of_another_maker(void **state)
{
    static const char *const software[] = {"megatron", "torchtitan", "fsdp", "deepspeed",
                                           "unnamed"};
    static const char *const cards[] = {"mi355x-288gb", "mi300x-192gb", "mi325x-256gb",
                                        "mi350x-288gb"};
    static const char *const measured[] = {"h100-80gb-sxm", "h200-141gb-sxm", "a100-80gb-sxm"};
    for (unsigned i = 0; i < 5; i++)
        for (unsigned k = 0; k < 12; k++) {
            struct scenario *far = scenario_of("gpt2-1.5b", cards[k / 3], software[i], 1024);
            struct scenario *close = scenario_of("gpt2-1.5b", measured[k % 3], software[i], 1024);
            const struct model_error x =
                model_error_of(&residues_shipped, &far->configuration, NULL);
            const struct model_error y =
                model_error_of(&residues_shipped, &close->configuration, NULL);
            assert_true(x.is[CLASS_MAKER] && !x.is[CLASS_GENERATION] && !y.is[CLASS_MAKER]);
            if (x.log_spread <= y.log_spread)
                fail_msg("%s by %s: %.4f, on %s %.4f", cards[k / 3], software[i], x.log_spread,
                         measured[k % 3], y.log_spread);
            scenario_destroy(close);
            scenario_destroy(far);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_further_is_never_narrower),
        cmocka_unit_test(test_widths_that_nobody_learned),
        cmocka_unit_test(test_what_no_row_has),
        cmocka_unit_test(test_generations_are_of_makers),
        cmocka_unit_test(test_the_most_alike),
        cmocka_unit_test(test_unlike_both_ways),
        cmocka_unit_test(test_what_is_seen_elsewhere),
        cmocka_unit_test(test_such_a_run_has_such_layers),
        cmocka_unit_test(test_frameworks_of_profiles),
        cmocka_unit_test(test_layers_of_models),
        cmocka_unit_test(test_models_that_nobody_measured),
        cmocka_unit_test(test_cards_of_another_maker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
