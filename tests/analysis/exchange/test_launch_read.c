/* The law of both ways: a layout whose launch line is read back as a scenario writes the same line
 * again and takes the same step, to the bit; and no option of the line is unknown. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"
#include "scenarios/import/launched/launched_deepspeed.h"
#include "scenarios/import/launched/launched_megatron.h"
#include "scenarios/import/launched/launched_print.h"
#include "scenarios/import/launched/launched_torchtitan.h"
#include "sim/random.h"
#include "tests/analysis/exchange/launch_case.h"
#include "tests/test.h"

static uint64_t pick(uint64_t *state, const uint64_t *values, unsigned count)
{
    *state = random_hash(*state, count + 17);
    return values[*state % count];
}
#define PICK(state, ...)                                                                           \
    pick((state), (const uint64_t[]){__VA_ARGS__},                                                 \
         sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* A smaller model, whose step is soon played. */
static void draw_model(uint64_t *state, struct model_shape *m)
{
    const bool biases = PICK(state, 0, 0, 1) == 1;
    m->hidden = 1024;
    m->attention.heads = 16;
    m->attention.kv_heads = PICK(state, 16, 8);
    m->attention.head_size = PICK(state, 64, 64, 128);
    m->ffn_hidden = PICK(state, 2752, 4096);
    m->vocabulary = PICK(state, 32000, 50257);
    m->ffn = (int)PICK(state, FFN_SWIGLU, FFN_GELU, FFN_SQUARED_RELU);
    m->norm.kind = (int)PICK(state, NORM_RMS, NORM_LAYERNORM);
    m->norm.biases = m->norm.kind == NORM_LAYERNORM && !biases;
    m->norm.qk_norms = PICK(state, 0, 1) == 1;
    m->position = (int)PICK(state, POSITION_ROPE, POSITION_LEARNED, POSITION_NONE);
    m->tied_embeddings = PICK(state, 0, 1) == 1;
    m->biases = biases;
    m->attention.biases = biases ? 0 : (int)PICK(state, 0, ATTENTION_BIASES_QKV);
    m->dropout_ratio = PICK(state, 0, 0, 1) == 1 ? 0.1 : 0.0;
    m->positions_max = 0;
    m->usual = (struct model_usual){.facts = NULL};
}

static void draw_latent(uint64_t *state, struct model_shape *m)
{
    m->attention.kv_heads = m->attention.heads;
    m->norm.qk_norms = false;
    m->latent = (struct model_latent){.kv_rank = PICK(state, 256, 512),
                                      .q_rank = PICK(state, 0, 768),
                                      .rope_head_size = 32,
                                      .v_head_size = PICK(state, 64, 128)};
    if (PICK(state, 0, 0, 1) == 1)
        m->latent.indexer = (struct model_indexer){
            .heads = 16, .size = 64, .keys = 1024, .interval = PICK(state, 1, 4), .first = 1};
}

static void draw_experts(uint64_t *state, struct configuration *c)
{
    struct model_shape *m = &c->model;
    m->moe = (struct model_moe){.experts = 16,
                                .experts_per_token = PICK(state, 2, 4),
                                .ffn_hidden = PICK(state, 512, 1024),
                                .shared_experts = PICK(state, 0, 1, 2),
                                .dense_layers = PICK(state, 0, 0, 3),
                                .interval = PICK(state, 0, 0, 2),
                                .latent = PICK(state, 0, 0, 256)};
    if (m->moe.dense_layers > 0)
        m->moe.interval = 0;
    m->moe.shared_gate = m->moe.shared_experts > 0 && PICK(state, 0, 1) == 1;
    if (PICK(state, 0, 1) == 1) {
        m->moe.groups = 4;
        m->moe.groups_per_token = 2;
    }
    m->usual.facts = PICK(state, 0, 1) == 1 ? "scoring_func=sigmoid routed_scaling_factor=2.5"
                                            : "norm_topk_prob=false";
    c->layout.ep = PICK(state, 1, 2, 4, 8);
    c->layout.etp = PICK(state, 1, c->layout.tp);
    c->layout.experts.dispatch = PICK(state, 0, 1) == 1 ? &dispatch_alltoall : &dispatch_deepep;
    c->software.experts.shared_overlap = PICK(state, 0, 1) == 1;
}

static bool draw(uint64_t number, struct configuration *c)
{
    uint64_t state = random_hash(number, 0x72656164);
    const bool experts = PICK(&state, 0, 0, 1) == 1;
    draw_model(&state, &c->model);
    if (PICK(&state, 0, 0, 0, 1) == 1)
        draw_latent(&state, &c->model);
    if (!launch_case_draw(number, c))
        return false;
    if (experts)
        draw_experts(&state, c);
    c->model.layers = PICK(&state, 16, 24, 30);
    c->layout.context.method = (int)PICK(&state, CP_ALL_GATHER, CP_RING, CP_ALL_TO_ALL);
    c->software.data.overlap_gradients = PICK(&state, 0, 1, 1) == 1;
    c->software.data.overlap_parameters &= c->software.data.overlap_gradients;
    if (c->layout.pp == 1) /* no option says in which order */
        c->layout.pipeline.schedule = &schedule_one_f_one_b;
    c->training.attention = (int)PICK(&state, ATTENTION_FLASH2, ATTENTION_CUDNN);
    if (precision_narrow(c->training.precision))
        c->software.fp8.recipe = (int)PICK(&state, FP8_DELAYED, FP8_CURRENT);
    if (precision_narrow(c->training.precision) && c->software.fp8.recipe == FP8_CURRENT)
        c->training.wide_layers_first = PICK(&state, 0, 1, 2);
    c->software.fp8.activation_cache = PICK(&state, 0, 0, 1) == 1;
    c->training.gradient_bytes = (double)PICK(&state, 0, 2, 4);
    if (PICK(&state, 0, 0, 1) == 1)
        c->training.state_formats =
            (struct state_formats){.moments = {(int)PICK(&state, 0, 2), (int)PICK(&state, 0, 2)}};
    return configuration_legal(c);
}

/* The script as one text, or what of it a launch says: lines that are no comment. */
static char *script_of(struct arena *arena, const struct launch_text *text, bool notes)
{
    char *out = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&out, &bytes);
    for (uint32_t i = 0; i < text->line_count; i++)
        if (notes || (text->lines[i][0] != '#' && strncmp(text->lines[i], "STEPS", 5) != 0 &&
                      strncmp(text->lines[i], "MODEL=(", 7) != 0))
            fprintf(stream, "%s\n", text->lines[i]);
    fclose(stream);
    char *kept = arena_text(arena, out);
    free(out);
    return kept;
}

typedef bool launched_reader_fn(struct arena *arena, const struct import_file *file,
                                const struct launched_hints *hints, uint64_t gpus,
                                struct launched *out, struct error *error);

static launched_reader_fn *reader_of(const struct launch_kind *kind)
{
    if (kind == &launch_deepspeed)
        return launched_deepspeed;
    return kind == &launch_megatron ? launched_megatron : launched_torchtitan;
}

/* What the script is read as: the text of a scenario. */
static char *read_back(const struct launch_kind *kind, struct arena *arena,
                       const struct launch_text *text)
{
    struct launched launched;
    struct error error = {""};
    const struct launched_hints hints = {.set_count = 0};
    char *script = script_of(arena, text, true), *out = NULL;
    size_t bytes = 0;
    const struct import_file file = {"train.sh", script, strlen(script)};
    if (!reader_of(kind)(arena, &file, &hints, 0, &launched, &error))
        fail_msg("%s", error.text);
    for (uint32_t w = 0; w < launched.warnings.count; w++)
        if (strncmp(launched.warnings.rows[w], "the vocabulary is the tokenizer's", 33) != 0)
            fail_msg("%s", launched.warnings.rows[w]);
    FILE *stream = open_memstream(&out, &bytes);
    launched_print(&launched, "h100-80gb-sxm", stream);
    fclose(stream);
    char *kept = arena_text(arena, out);
    free(out);
    return kept;
}

static double step_of(const struct configuration *c)
{
    const struct step_options options = {.time_only = true, .outcome_only = true};
    struct error error = {""};
    struct step *step = NULL;
    if (!step_run(c, &options, &step, &error))
        fail_msg("%s", error.text);
    const double step_s = step->step_s;
    step_destroy(step);
    return step_s;
}

/* Notes that something runs otherwise; the names of a sharding alone do not. */
static unsigned differences(const struct launch_text *text)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < text->note_count; i++)
        count += text->notes[i].weight == LAUNCH_DIFFERS &&
                 strstr(text->notes[i].text, "like ZeRO-2, gradients and optimizer state are "
                                             "sharded") == NULL;
    return count;
}

struct tally {
    unsigned read, timed, experts, latent, narrow, lists, staged, context, host;
};

/* `vocabulary`: which a script of DeepSpeed leaves to the tokenizer. */
static struct scenario *scenario_of(const char *yaml, uint64_t vocabulary)
{
    char set[64];
    snprintf(set, sizeof set, "model.vocabulary=%" PRIu64, vocabulary);
    const char *const sets[] = {set};
    const struct scenario_options options = {
        .sets = sets, .set_count = strstr(yaml, "# vocabulary: not said") != NULL};
    struct error error = {""};
    struct scenario *s = scenario_read("back.yaml", yaml, strlen(yaml), &options, &error);
    if (s != NULL && s->diagnostics.error_count == 0)
        return s;
    if (s != NULL)
        scenario_print_problems(s, stdout, false);
    printf("%s\n", yaml);
    fail_msg("read back, it is no scenario: %s", error.text);
    return NULL;
}

/* The step that was exported, and the one that was read back. */
static void hold_step(const struct configuration *c, const struct scenario *s, const char *line)
{
    struct configuration here = *c;
    here.cluster = s->configuration.cluster; /* of as many nodes, not cut out of 64 */
    const double was = step_of(&here), is = step_of(&s->configuration);
    if (was == is)
        return;
    printf("%s\n", line);
    fail_msg("%.17g s, read back %.17g s", was, is);
}

static void hold(const struct launch_kind *kind, const struct configuration *c, struct tally *tally)
{
    struct arena *arena = arena_create();
    struct launch_text text, again;
    launch_write(kind, c, NULL, arena, &text);
    if (!text.refused) {
        const char *yaml = read_back(kind, arena, &text);
        struct scenario *s = scenario_of(yaml, c->model.vocabulary);
        const struct sharding_kind *was = c->layout.data.sharding,
                                   *is = s->configuration.layout.data.sharding;
        launch_write(kind, &s->configuration, NULL, arena, &again);
        const char *one = script_of(arena, &text, false), *two = script_of(arena, &again, false);
        if (strcmp(one, two) != 0) {
            printf("%s\n%s\n%s\n", one, yaml, two);
            fail_msg("read back, it writes another line");
        }
        tally->read++;
        tally->experts += c->model.moe.experts > 0;
        tally->latent += c->model.latent.kv_rank > 0;
        tally->narrow += precision_narrow(c->training.precision);
        tally->lists += strstr(one, "--pipeline-model-parallel-layout") != NULL;
        tally->staged += c->layout.pp > 1;
        tally->context += c->layout.cp > 1;
        tally->host += c->layout.offload.optimizer > 0.0;
        if (differences(&text) == 0 && was == is) {
            hold_step(c, s, arena_format(arena, "%s%s", one, yaml));
            tally->timed++;
        }
        scenario_destroy(s);
    }
    arena_destroy(arena);
}

static void megatron_both_ways(void **state)
{
    struct scenario *base = launch_case_read();
    struct tally tally = {0};
    for (uint64_t number = 0; number < 4000; number++) {
        struct configuration c = base->configuration;
        if (draw(number, &c))
            hold(&launch_megatron, &c, &tally);
    }
    printf("%u lines read back, %u steps compared; %u with experts, %u latent, %u of 8 bits, %u "
           "with lists of stages\n",
           tally.read, tally.timed, tally.experts, tally.latent, tally.narrow, tally.lists);
    assert_true(tally.read >= 300 && tally.timed >= 150);
    assert_true(tally.experts >= 40 && tally.latent >= 30 && tally.narrow >= 30);
    assert_true(tally.lists >= 5);
    scenario_destroy(base);
}

static struct scenario *titan_case(const char *software)
{
    char text[512];
    struct error error;
    snprintf(text, sizeof text,
             "model: {preset: llama3-8b}\n"
             "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 64, fabric: ib-ndr-8x400}\n"
             "training: {sequence: 8192, global_batch: 512}\n"
             "layout: {tp: 8, pp: 1, dp: 64, microbatch: 1, sharding: fsdp, recompute: none}\n"
             "software: %s\n",
             software);
    struct scenario *s = scenario_read("case.yaml", text, strlen(text), NULL, &error);
    assert_true(s != NULL && s->diagnostics.error_count == 0);
    return s;
}

static bool draw_titan(uint64_t number, const struct configuration *base, struct configuration *c)
{
    static const int again[] = {RECOMPUTE_NONE, RECOMPUTE_PER_OPERATOR, RECOMPUTE_EVERY_OTHER_LAYER,
                                RECOMPUTE_FULL};
    uint64_t state = random_hash(number, 0x746974616e);
    *c = *base;
    if (!launch_case_draw(number, c))
        return false;
    c->model = base->model;
    c->software.data = base->software.data;
    c->training.attention = base->training.attention;
    c->training.gradient_bytes = 4.0;
    c->training.precision = precision_find(PICK(&state, 0, 0, 1) == 1 ? "fp8" : "bf16");
    c->training.wide_layers_first =
        precision_narrow(c->training.precision) ? PICK(&state, 0, 2) : 0;
    c->training.wide_layers_last = precision_narrow(c->training.precision) ? PICK(&state, 0, 3) : 0;
    c->software.fp8.recipe = FP8_CURRENT;
    c->layout.recompute = again[PICK(&state, 0, 1, 2, 3)];
    c->layout.recompute_layers = 0;
    c->layout.sequence_parallel = c->layout.tp > 1;
    c->layout.order = base->layout.order;
    c->layout.tp = PICK(&state, c->layout.tp, 1);
    c->layout.sequence_parallel = c->layout.tp > 1;
    c->layout.pp = PICK(&state, c->layout.pp, 1);
    if (c->layout.data.sharding ==
        sharding_find("zero-0")) /* which it shares over context ranks all the same */
        c->layout.cp = 1;
    if (c->layout.pp == 1) {
        c->layout.pipeline.vpp = 1;
        c->layout.pipeline.schedule = &schedule_one_f_one_b;
        c->layout.pipeline.ends_count = false;
    } else if (PICK(&state, 0, 0, 1) == 1) {
        c->layout.pipeline.vpp = 2;
        c->layout.pipeline.schedule = &schedule_zb_v;
    }
    c->software.tensor.pipelines &=
        c->layout.tp > 1 && base->software.usual.execution == EXECUTION_COMPILED;
    c->software.shards.reshard = c->layout.pp > 1 || PICK(&state, 0, 1, 1) == 1;
    const uint64_t ranks = configuration_ranks(c);
    c->cluster.nodes = (ranks + c->cluster.node.gpus - 1) / c->cluster.node.gpus;
    return configuration_legal(c);
}

static void torchtitan_both_ways(void **state)
{
    struct scenario *bases[] = {titan_case("torchtitan"), titan_case("torchtitan-eager")};
    struct tally tally = {0};
    for (uint64_t number = 0; number < 3000; number++) {
        struct configuration c;
        if (draw_titan(number, &bases[number % 2]->configuration, &c))
            hold(&launch_torchtitan, &c, &tally);
    }
    printf("%u lines read back, %u steps compared; %u of 8 bits, %u with a pipeline\n", tally.read,
           tally.timed, tally.narrow, tally.staged);
    assert_true(tally.read >= 300 && tally.timed >= 100);
    assert_true(tally.narrow >= 30 && tally.staged >= 30);
    scenario_destroy(bases[0]);
    scenario_destroy(bases[1]);
}

/* What DeepSpeed can say: no interleaving, Ulysses for context ranks, 16 bits. */
static bool draw_deepspeed(uint64_t number, const struct configuration *base,
                           struct configuration *c)
{
    static const char *const precisions_drawn[] = {"bf16", "bf16", "fp16", "fp32"};
    uint64_t state = random_hash(number, 0x64656570);
    *c = *base;
    draw_model(&state, &c->model);
    if (!launch_case_draw(number, c))
        return false;
    c->model.norm.qk_norms = false;
    c->model.attention.biases = 0;
    c->model.position = (int)PICK(&state, POSITION_ROPE, POSITION_LEARNED);
    c->model.layers = PICK(&state, 16, 24, 30);
    c->layout.pipeline.vpp = 1;
    c->layout.pipeline.schedule = &schedule_one_f_one_b;
    c->layout.pipeline.ends_count = false;
    c->layout.pipeline.first_layers = c->layout.pipeline.last_layers = 0;
    c->layout.context.method = CP_ALL_TO_ALL;
    c->layout.sequence_parallel &= c->layout.cp == 1;
    c->layout.order = base->layout.order;
    c->training.precision = precision_find(precisions_drawn[PICK(&state, 0, 1, 2, 3)]);
    c->training.attention = (int)PICK(&state, ATTENTION_MATH, ATTENTION_FLASH2);
    if (c->training.precision == precision_find("fp32"))
        c->training.attention = ATTENTION_MATH;
    c->training.gradient_bytes = (double)PICK(&state, 2, 4);
    c->training.optimizer = optimizer_find(PICK(&state, 0, 0, 1) == 0 ? "adamw" : "momentum");
    c->layout.offload.optimizer = (double)PICK(&state, 0, 0, 1, 2) / 2.0;
    c->layout.offload.optimizer_to = (int)PICK(&state, OFFLOAD_CPU, OFFLOAD_NVME);
    if (c->layout.pp > 1)
        c->layout.data.sharding = sharding_find(PICK(&state, 0, 1) == 0 ? "zero-0" : "zero-1");
    c->software = base->software;
    c->software.data.overlap_gradients = PICK(&state, 0, 1) == 1;
    if (c->layout.data.sharding == sharding_find("zero-0")) /* of which no key says it */
        c->software.data.overlap_gradients = base->software.data.overlap_gradients;
    const uint64_t ranks = configuration_ranks(c);
    c->cluster.nodes = (ranks + c->cluster.node.gpus - 1) / c->cluster.node.gpus;
    return configuration_legal(c);
}

static void deepspeed_both_ways(void **state)
{
    struct scenario *base = titan_case("deepspeed");
    struct tally tally = {0};
    base->configuration.software.pipeline.even_stages = false;
    for (uint64_t number = 0; number < 6000; number++) {
        struct configuration c;
        if (draw_deepspeed(number, &base->configuration, &c))
            hold(&launch_deepspeed, &c, &tally);
    }
    printf("%u lines read back, %u steps compared; %u with a pipeline, %u with context ranks, %u "
           "with state on the host\n",
           tally.read, tally.timed, tally.staged, tally.context, tally.host);
    assert_true(tally.read >= 500 && tally.timed >= 150);
    assert_true(tally.staged >= 30 && tally.context >= 30 && tally.host >= 30);
    scenario_destroy(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(deepspeed_both_ways),
                                       cmocka_unit_test(megatron_both_ways),
                                       cmocka_unit_test(torchtitan_both_ways)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
