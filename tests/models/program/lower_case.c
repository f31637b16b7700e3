#include "tests/models/program/lower_case.h"

#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/gpu/cards.h"
#include "topology/topology_kind.h"

struct configuration lower_case(void)
{
    struct configuration c = {
        .name = "case",
        .model = {.layers = 4,
                  .hidden = 64,
                  .attention.heads = 8,
                  .attention.kv_heads = 8,
                  .attention.head_size = 8,
                  .ffn_hidden = 256,
                  .vocabulary = 512,
                  .ffn = FFN_SWIGLU,
                  .norm.kind = NORM_RMS,
                  .position = POSITION_ROPE},
        .gpu = card_a100(),
        .training = {.sequence = 128,
                     .precision = precision_find("bf16"),
                     .optimizer = optimizer_find("adamw"),
                     .attention = ATTENTION_MATH},
        .layout = {.pipeline.vpp = 1,
                   .microbatch = 1,
                   .pipeline.schedule = &schedule_one_f_one_b,
                   .data.sharding = &sharding_zero_0,
                   .order = "tp-cp-dp-pp",
                   .data.fsdp_unit_layers = 1},
        .software = profile_fused(),
        .seed = 1,
    };
    c.software.head.vocabulary_multiple = 0;
    c.software.host.launch_s = 1e-6;
    c.software.memory.communicator_bytes = 1e6;
    c.software.memory.workspace_bytes = 1e6;
    c.software.memory.clip_gradients = true;
    c.software.data.gradients = GRADIENT_BUFFER;
    c.software.data.overlap_gradients = true;
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.node.nvlink.bytes_per_s = 300e9;
    c.cluster.node.nic.bytes_per_s = 25e9;
    c.cluster.node.nic.count = 8;
    lower_case_size(&c, 1, 1, 1, 1, 1);
    return c;
}

void lower_case_size(struct configuration *c, uint64_t tp, uint64_t cp, uint64_t dp, uint64_t pp,
                     uint64_t microbatches)
{
    c->layout.tp = tp;
    c->layout.cp = cp;
    c->layout.dp = dp;
    c->layout.pp = pp;
    uint64_t ranks = tp * cp * dp * pp;
    c->cluster.node.gpus = ranks % 8 == 0 ? 8 : ranks % 4 == 0 ? 4 : ranks;
    c->cluster.nodes = ranks / c->cluster.node.gpus;
    c->training.global_batch = dp * microbatches * c->layout.microbatch;
}

void lower_case_recompute(struct configuration *c, int kind)
{
    const bool counts = kind == RECOMPUTE_BLOCK || kind == RECOMPUTE_UNIFORM;
    c->layout.recompute = kind;
    c->layout.recompute_layers = counts ? 1 : 0;
}

struct written lower_case_write(const struct configuration *c)
{
    struct written w = {arena_create(), NULL};
    struct lowered lowered;
    lower(w.arena, c, &lowered);
    w.p = lowered.programs[0];
    return w;
}

enum {
    BREAK_MAX = 32
};

unsigned lower_case_errors(const struct configuration *c)
{
    struct rule_break breaks[BREAK_MAX];
    unsigned count = configuration_check(c, breaks, BREAK_MAX), errors = 0;
    for (unsigned i = 0; i < count && i < BREAK_MAX; i++)
        errors += !breaks[i].warning;
    return errors;
}

bool lower_case_breaks(const struct configuration *c, const char *key, bool warning)
{
    struct rule_break breaks[BREAK_MAX];
    unsigned count = configuration_check(c, breaks, BREAK_MAX);
    for (unsigned i = 0; i < count && i < BREAK_MAX; i++)
        if (breaks[i].warning == warning && strcmp(breaks[i].key, key) == 0)
            return strlen(breaks[i].text) > 20;
    return false;
}
