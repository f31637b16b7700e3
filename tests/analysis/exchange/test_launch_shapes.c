/* No part of a model is dropped in silence: whatever is changed of its shape, each framework's
 * script or its notes change, or the layout is refused. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "tests/analysis/exchange/launch_case.h"
#include "tests/test.h"

static const struct launch_kind *const kinds[] = {&launch_megatron, &launch_nemo,
                                                  &launch_torchtitan, &launch_deepspeed};
#define NAMED(change)                                                                              \
    {                                                                                              \
#change, change                                                                            \
    }
#define CHANGE(name, what)                                                                         \
    static void name(struct model_shape *m)                                                        \
    {                                                                                              \
        what;                                                                                      \
    }
CHANGE(nothing, (void)m)
CHANGE(window, m->windows.length = 1024)
CHANGE(sinks, m->attention.sinks = true)
CHANGE(one_norm, m->norm.count = 1)
CHANGE(four_norms, m->norm.count = 4)
CHANGE(tied, m->tied_embeddings = true)
CHANGE(biases, m->biases = true)
CHANGE(qkv_biases, m->attention.biases = ATTENTION_BIASES_QKV)
CHANGE(attention_biases, m->attention.biases = ATTENTION_BIASES_ALL)
CHANGE(qk_norms, m->norm.qk_norms = true)
CHANGE(qk_norms_whole, m->norm.qk_norms_whole = true)
CHANGE(dropout, m->dropout_ratio = 0.1)
CHANGE(gelu, m->ffn = FFN_GELU)
CHANGE(geglu, m->ffn = FFN_GEGLU)
CHANGE(squared_relu, m->ffn = FFN_SQUARED_RELU)
CHANGE(layernorm, m->norm.kind = NORM_LAYERNORM)
CHANGE(learned, m->position = POSITION_LEARNED)
CHANGE(alibi, m->position = POSITION_ALIBI)
CHANGE(head_size, m->attention.head_size = 96)
CHANGE(layers, m->layers = 96)
CHANGE(hidden, m->hidden = 4096)
CHANGE(heads, m->attention.heads = 128)
CHANGE(kv_heads, m->attention.kv_heads = 16)
CHANGE(ffn_hidden, m->ffn_hidden = 16384)
CHANGE(vocabulary, m->vocabulary = 64000)
CHANGE(further, m->mtp_layers = 1)
CHANGE(latent, (m->latent.kv_rank = 512, m->latent.q_rank = 1536, m->latent.rope_head_size = 64,
                m->latent.v_head_size = 128))
CHANGE(experts, (m->moe.experts = 16, m->moe.experts_per_token = 2, m->moe.ffn_hidden = 14336))
CHANGE(more_experts, (experts(m), m->moe.experts = 32))
CHANGE(more_a_token, (experts(m), m->moe.experts_per_token = 4))
CHANGE(narrow_experts, (experts(m), m->moe.ffn_hidden = 7168))
CHANGE(shared, (experts(m), m->moe.shared_experts = 1))
CHANGE(shared_gate, (experts(m), m->moe.shared_experts = 1, m->moe.shared_gate = true))
CHANGE(expert_latent, (experts(m), m->moe.latent = 1024))
CHANGE(dense_layers, (experts(m), m->moe.dense_layers = 4))
CHANGE(interval, (experts(m), m->moe.interval = 2))
CHANGE(groups, (experts(m), m->moe.groups = 8, m->moe.groups_per_token = 4))
CHANGE(router_bias, (experts(m), m->moe.router_bias = true))

static const struct {
    const char *name;
    void (*change)(struct model_shape *m);
} changes[] = {
    NAMED(window),        NAMED(sinks),          NAMED(one_norm),       NAMED(four_norms),
    NAMED(tied),          NAMED(biases),         NAMED(qkv_biases),     NAMED(attention_biases),
    NAMED(qk_norms),      NAMED(qk_norms_whole), NAMED(dropout),        NAMED(gelu),
    NAMED(geglu),         NAMED(squared_relu),   NAMED(layernorm),      NAMED(learned),
    NAMED(alibi),         NAMED(head_size),      NAMED(layers),         NAMED(hidden),
    NAMED(heads),         NAMED(kv_heads),       NAMED(ffn_hidden),     NAMED(vocabulary),
    NAMED(further),       NAMED(latent),         NAMED(experts),        NAMED(more_experts),
    NAMED(more_a_token),  NAMED(shared),         NAMED(narrow_experts), NAMED(dense_layers),
    NAMED(interval),      NAMED(groups),         NAMED(router_bias),    NAMED(shared_gate),
    NAMED(expert_latent),
};
enum {
    FIRST_OF_EXPERTS = 27 /* those behind it change a model that has experts */
};

static struct launch_text written(const struct scenario *base, const struct launch_kind *kind,
                                  void (*change)(struct model_shape *m))
{
    struct configuration c = base->configuration;
    struct launch_text text;
    c.layout.pipeline.vpp = 1; /* so that all take it */
    c.layout.pipeline.schedule = &schedule_one_f_one_b;
    change(&c.model);
    launch_write(kind, &c, NULL, base->arena, &text);
    return text;
}

static bool differ(const struct launch_text *a, const struct launch_text *b)
{
    bool same = a->line_count == b->line_count && a->note_count == b->note_count;
    for (uint32_t i = 0; same && i < a->line_count; i++)
        same = strcmp(a->lines[i], b->lines[i]) == 0;
    for (uint32_t i = 0; same && i < a->note_count; i++)
        same = strcmp(a->notes[i].text, b->notes[i].text) == 0;
    return !same;
}

static void nothing_is_dropped(void **state)
{
    struct scenario *base = launch_case_read();
    unsigned silent = 0;
    for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const struct launch_text dense = written(base, kinds[k], nothing);
        const struct launch_text sparse = written(base, kinds[k], experts);
        unsigned taken = 0;
        assert_false(dense.refused);
        for (unsigned i = 0; i < sizeof changes / sizeof changes[0]; i++) {
            const struct launch_text text = written(base, kinds[k], changes[i].change);
            taken += !text.refused;
            if (text.refused || differ(&text, i < FIRST_OF_EXPERTS ? &dense : &sparse))
                continue;
            printf("%s says nothing of %s\n", kinds[k]->head.name, changes[i].name);
            silent++;
        }
        assert_true(taken > 8);
    }
    scenario_destroy(base);
    assert_int_equal(silent, 0);
}

static bool noted(const struct launch_kind *kind, const struct configuration *c,
                  enum launch_weight weight, const char *words)
{
    struct arena *arena = arena_create();
    struct launch_text text;
    launch_write(kind, c, NULL, arena, &text);
    const bool found = launch_case_note(&text, weight, words) != NULL;
    arena_destroy(arena);
    return found;
}

/* What a later release captures, fuses and keeps no script here sets: in all kinds it is refused
 * where memory or what is computed differs, and told where the step's time does. */
static void captured_and_fused(void **state)
{
    struct scenario *base = launch_case_plain();
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct configuration c = base->configuration;
        c.software.graphs.modules = "moe_router+moe_preprocess"; /* a dense model has none */
        c.software.experts.paged_stash = c.software.experts.fused_mlp = true;
        c.software.fp8.attention = true; /* in 16 bits it is nothing */
        assert_false(noted(kinds[i], &c, LAUNCH_DIFFERS, "CUDA graphs"));
        assert_false(noted(kinds[i], &c, LAUNCH_DIFFERS, "grouped products"));
        assert_false(noted(kinds[i], &c, LAUNCH_REFUSED, "paged stash"));
        assert_false(noted(kinds[i], &c, LAUNCH_REFUSED, "attention in 8 bits"));
        c.software.graphs.modules = "attn";
        assert_true(noted(kinds[i], &c, LAUNCH_DIFFERS, "CUDA graphs (attn) are not written"));
        c.training.precision = precision_find("fp8");
        assert_true(noted(kinds[i], &c, LAUNCH_REFUSED, "attention in 8 bits is not written"));
        c.software.fp8.attention = false;
        experts(&c.model);
        assert_true(noted(kinds[i], &c, LAUNCH_REFUSED, "paged stash is not written"));
        c.software.experts.paged_stash = false;
        if (i < 2) /* the others refuse experts in 8 bits as a whole */
            assert_true(noted(kinds[i], &c, LAUNCH_DIFFERS, "grouped products"));
    }
    scenario_destroy(base);
}

/* A flavor of torchtitan has the shape to the last part, and what it must have is listed. */
static void flavors(void **state)
{
    struct scenario *base = launch_case_read();
    struct launch_text text = written(base, &launch_torchtitan, nothing);
    assert_null(launch_case_note(&text, LAUNCH_YOURS, "add one with"));
    static const struct {
        void (*change)(struct model_shape *m);
        const char *says;
    } rows[] = {
        {tied, ", tied embeddings and name it"},
        {biases, ", biases and"},
        {qkv_biases, ", biases of the attention (qkv) and"},
        {qk_norms, ", norms of queries and keys by head and"},
        {sinks, ", sinks and"},
        {window, ", a sliding window of 1024 and"},
        {head_size, ", head_dim 96 and"},
        {alibi, ", alibi positions and"},
        {one_norm, ", 1 norms a layer and"},
        {shared, ", 16 experts of inner width 14336 with 2 a token, 1 shared and"},
        {latent, ", latent attention of ranks 1536 and 512 with heads of 128 + 64 and 128 and"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        text = written(base, &launch_torchtitan, rows[i].change);
        if (launch_case_note(&text, LAUNCH_YOURS, rows[i].says) == NULL)
            fail_msg("row %u: no flavor with%s", i, rows[i].says);
    }
    scenario_destroy(base);
}

/* Does layer `at` have experts by the list of an option, as Python reads it? */
static bool listed(const char *line, uint64_t at)
{
    uint64_t of[4] = {0, 0, 0, 0}; /* first, zeros before each one, how often, rest */
    if (line == NULL)
        return true;
    const char *list = strchr(line, '\'');
    if (sscanf(list, "'[0]*%" SCNu64 "+([0]*%" SCNu64 "+[1])*%" SCNu64 "+[0]*%" SCNu64 "'", &of[0],
               &of[1], &of[2], &of[3]) != 4 &&
        sscanf(list, "'([0]*%" SCNu64 "+[1])*%" SCNu64 "'", &of[1], &of[2]) != 2) {
        of[1] = 0;
        assert_int_equal(sscanf(list, "'([0]*%" SCNu64 "+[1]*%" SCNu64 ")'", &of[0], &of[2]), 2);
    }
    const uint64_t first = of[0], zeros = of[1], times = of[2], rest = of[3];
    assert_true(at < first + (zeros + 1) * times + rest);
    return at >= first && (at - first) % (zeros + 1) == zeros && (at - first) / (zeros + 1) < times;
}

/* Megatron's list has the layers with experts that the model has. */
static void expert_layers(void **state)
{
    static const uint64_t rows[][3] = {{80, 0, 1}, {80, 3, 1}, {80, 0, 2}, {80, 4, 2}, {80, 5, 2},
                                       {80, 0, 3}, {80, 1, 4}, {79, 7, 4}, {80, 0, 1}, {7, 2, 9}};
    struct scenario *base = launch_case_read();
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct configuration c = base->configuration;
        struct launch_text text;
        const char *line = NULL;
        experts(&c.model);
        c.layout.pp = c.layout.pipeline.vpp = 1;
        c.layout.dp = 64;
        c.layout.pipeline.schedule = &schedule_one_f_one_b;
        c.model.layers = rows[i][0];
        c.model.moe.dense_layers = rows[i][1];
        c.model.moe.interval = rows[i][2];
        launch_write(&launch_megatron, &c, NULL, base->arena, &text);
        assert_false(text.refused);
        for (uint32_t l = 0; l < text.line_count; l++)
            if (strstr(text.lines[l], "--moe-layer-freq") != NULL)
                line = text.lines[l];
        for (uint64_t layer = 0; layer < rows[i][0]; layer++)
            if (listed(line, layer) != transformer_has_experts(&c.model, layer))
                fail_msg("row %u: layer %" PRIu64 " by %s", i, layer, line);
    }
    scenario_destroy(base);
}

/* 128256 is 1002 x 128: padded with tp 8 alone. */
static void padding(void **state)
{
    struct scenario *base = launch_case_read();
    struct configuration c = base->configuration;
    struct launch_text text;
    launch_write(&launch_megatron, &c, NULL, base->arena, &text);
    assert_non_null(
        launch_case_note(&text, LAUNCH_YOURS, "128256 is padded to 129024, a multiple"));
    c.model.vocabulary = 129024;
    launch_write(&launch_megatron, &c, NULL, base->arena, &text);
    assert_non_null(launch_case_note(&text, LAUNCH_YOURS, "129024 is a multiple of 128 x tp;"));
    scenario_destroy(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_dropped),
        cmocka_unit_test(captured_and_fused),
        cmocka_unit_test(flavors),
        cmocka_unit_test(expert_layers),
        cmocka_unit_test(padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
