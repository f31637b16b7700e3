#include "tests/analysis/exchange/launch_case.h"

#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"
#include "sim/random.h"

struct scenario *launch_case_read(void)
{
    static const char text[] =
        "model: {preset: llama3-70b}\n"
        "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 64, fabric: ib-ndr-8x400}\n"
        "training: {sequence: 8192, global_batch: 512, precision: bf16, optimizer: adamw,\n"
        "  attention: flash3}\n"
        "layout: {tp: 8, pp: 4, vpp: 4, dp: 16, microbatch: 1, schedule: interleaved,\n"
        "  sharding: zero-1, recompute: selective, sequence_parallel: true}\n"
        "software: megatron\n";
    struct error error;
    struct scenario *s = scenario_read("case.yaml", text, strlen(text), NULL, &error);
    CHECK(s != NULL && s->diagnostics.error_count == 0);
    return s;
}

struct scenario *launch_case_plain(void)
{
    struct scenario *s = launch_case_read();
    s->configuration.layout.pipeline.vpp = 1;
    s->configuration.layout.pipeline.schedule = &schedule_one_f_one_b;
    return s;
}

static uint64_t pick(uint64_t *state, const uint64_t *values, unsigned count)
{
    *state = random_hash(*state, count);
    return values[*state % count];
}
#define PICK(state, ...)                                                                           \
    pick((state), (const uint64_t[]){__VA_ARGS__},                                                 \
         sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void draw_layout(uint64_t *state, struct configuration *c)
{
    struct layout_spec *l = &c->layout;
    l->tp = PICK(state, 1, 2, 4, 8);
    l->pp = PICK(state, 1, 1, 2, 3, 4, 8);
    l->cp = PICK(state, 1, 1, 2, 4);
    l->dp = PICK(state, 1, 2, 3, 4, 6, 16);
    l->pipeline.vpp = l->pp > 1 ? PICK(state, 1, 1, 2, 3, 5) : 1;
    l->microbatch = PICK(state, 1, 1, 2, 4);
    l->pipeline.schedule = l->pipeline.vpp > 1
                               ? &schedule_interleaved
                               : (PICK(state, 0, 1) == 0 ? &schedule_one_f_one_b : &schedule_gpipe);
    l->data.sharding = sharding_kinds[PICK(state, 0, 1, 1, 2, 3, 4, 5)];
    l->data.shard_group = PICK(state, 0, 2, 4, 8);
    l->recompute = (int)PICK(state, 0, 1, 2, 3, 4, 5, 6);
    l->recompute_layers = l->recompute == RECOMPUTE_BLOCK || l->recompute == RECOMPUTE_UNIFORM
                              ? PICK(state, 1, 2, 3, 5)
                              : 0;
    l->context.method = (int)PICK(state, CP_ALL_GATHER, CP_RING);
    l->sequence_parallel = PICK(state, 0, 1) == 1;
    l->pipeline.ends_count = PICK(state, 0, 0, 0, 1) == 1;
    l->order = PICK(state, 0, 0, 1) == 0 ? "tp-cp-dp-pp" : "tp-cp-pp-dp";
    if (l->pipeline.vpp == 1 && l->pp > 2 && !l->pipeline.ends_count) {
        l->pipeline.first_layers = PICK(state, 0, 0, 2, 9);
        l->pipeline.last_layers = PICK(state, 0, 0, 3);
    }
}

bool launch_case_draw(uint64_t draw, struct configuration *c)
{
    static const char *const precisions_drawn[] = {"bf16", "bf16", "fp16", "fp8", "fp32"};
    uint64_t state = random_hash(draw, 0x6c61756e6368);
    draw_layout(&state, c);
    c->model.layers = PICK(&state, 24, 30, 46, 48, 80);
    c->training.sequence = PICK(&state, 2048, 6144, 8192, 6148);
    c->training.global_batch =
        c->layout.dp * c->layout.microbatch * c->layout.pp * PICK(&state, 1, 2, 3, 4);
    c->training.precision = precision_find(precisions_drawn[PICK(&state, 0, 1, 2, 3, 4)]);
    const int attention = (int)PICK(&state, 0, 2, 3, 4);
    const bool takes = gpu_attention_takes((enum attention_kernel)attention,
                                           c->training.precision->attention_peak);
    c->training.attention = takes ? attention : 0;
    c->software.pipeline.even_stages = PICK(&state, 0, 1) == 1;
    c->software.data.overlap_parameters = PICK(&state, 0, 1) == 1;
    c->software.tensor.pipelines = PICK(&state, 0, 0, 1) == 1;
    const uint64_t ranks = configuration_ranks(c);
    c->cluster.nodes = (ranks + c->cluster.node.gpus - 1) / c->cluster.node.gpus;
    return configuration_legal(c);
}

const char *launch_case_note(const struct launch_text *text, enum launch_weight weight,
                             const char *words)
{
    for (uint32_t i = 0; i < text->note_count; i++)
        if (text->notes[i].weight == weight && strstr(text->notes[i].text, words) != NULL)
            return text->notes[i].text;
    return NULL;
}
