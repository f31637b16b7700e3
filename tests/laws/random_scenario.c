#include "tests/laws/random_scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/check.h"
#include "sim/random.h"

struct draw {
    uint64_t key, index;
};

/* Uniform in 0 .. count - 1. */
static unsigned pick(struct draw *draw, unsigned count)
{
    return (unsigned)(random_hash(draw->key, draw->index++) % count);
}

static const char *name_of(struct draw *draw, const char *const *names)
{
    unsigned count = 0;
    while (names[count] != NULL)
        count++;
    return names[pick(draw, count)];
}

static uint64_t one_of(struct draw *draw, const uint64_t *values, unsigned count)
{
    return values[pick(draw, count)];
}
#define ONE_OF(draw, ...)                                                                          \
    one_of(draw, (const uint64_t[]){__VA_ARGS__},                                                  \
           sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* Cards in the machines that they come in. */
static const struct machine {
    const char *gpu, *node;
} machines[] = {
    {"a100-40gb-sxm", "hgx-a100-4nic"}, {"a100-80gb-sxm", "dgx-a100"},
    {"a100-80gb-sxm", "aws-p4d"},       {"a100-80gb-pcie", "pcie-8x-a100"},
    {"h100-80gb-sxm", "dgx-h100"},      {"h100-80gb-sxm", "gcp-a3-mega"},
    {"gh200-96gb", "gh200-node"},       {"b200-180gb-sxm", "dgx-b200"},
};
enum {
    MACHINE_COUNT = sizeof machines / sizeof machines[0],
    RANK_MAX = 32
};
static const char *const fabrics[] = {"rail", "fat_tree", "torus", "dragonfly", NULL};
static const char *const software[] = {"megatron", "megatron-2022", "nanotron",      "torchtitan",
                                       "fsdp",     "deepspeed",     "megatron-2021", NULL};
static const char *const shardings[] = {"zero-0", "zero-1", "zero-2", "zero-3",
                                        "fsdp",   "hsdp",   NULL};
static const char *const schedules[] = {"gpipe", "1f1b", "interleaved", NULL};
static const char *const recomputes[] = {"none", "selective", "full", NULL};
static const char *const methods[] = {"all_gather", "ring", NULL};
static const char *const placements[] = {"packed", "packed", "scattered", NULL};
static const char *const orders[] = {"tp-cp-dp-pp", "tp-pp-cp-dp", "dp-tp-cp-pp", "pp-dp-cp-tp",
                                     NULL};

struct sizes {
    uint64_t tp, pp, dp, cp, microbatch, gpus, nics, nodes;
};

/* At most RANK_MAX ranks, at least two: one rank has nobody to wait for. */
static struct sizes draw_sizes(struct draw *draw)
{
    struct sizes s;
    uint64_t ranks;
    do {
        s.tp = ONE_OF(draw, 1, 2, 4, 8);
        s.pp = ONE_OF(draw, 1, 1, 2, 4);
        s.dp = ONE_OF(draw, 1, 2, 3, 4, 8);
        s.cp = ONE_OF(draw, 1, 1, 1, 2);
        ranks = s.tp * s.pp * s.dp * s.cp;
    } while (ranks < 2 || ranks > RANK_MAX);
    s.microbatch = 1 + pick(draw, 3);
    s.gpus = ONE_OF(draw, 2, 4, 8);
    s.nics = s.gpus / (1 + pick(draw, 2));
    s.nodes = (ranks + s.gpus - 1) / s.gpus;
    return s;
}

/* Of a draw of its own, so that all others stay: one in four copies activations to the host. */
static const char *offload_of(uint64_t number)
{
    struct draw draw = {.key = random_key(number, "offload")};
    static const char *const shares[] = {"0", "0", "0", "0", "0", "0", "0.5", "1", NULL};
    return name_of(&draw, shares);
}

/* Of a draw of its own, so that all others stay: one in four has experts behind its first layer,
 * split over as many ranks as are drawn, whose rows go by any kind of dispatch. */
struct drawn_experts {
    char model[96], layout[64];
};
static struct drawn_experts experts_of(uint64_t number)
{
    static const char *const dispatches[] = {"alltoall", "hierarchical", "deepep", "hybridep",
                                             NULL};
    struct draw draw = {.key = random_key(number, "experts")};
    struct drawn_experts out = {"", ""};
    if (pick(&draw, 4) != 0)
        return out;
    const uint64_t shared = pick(&draw, 2), ep = ONE_OF(&draw, 1, 2, 2, 4, 8);
    snprintf(out.model, sizeof out.model,
             ", experts: 8, experts_per_token: 2, moe_ffn_hidden: 512, shared_experts: %" PRIu64,
             shared);
    snprintf(out.layout, sizeof out.layout, ", ep: %" PRIu64 ", etp: 1, dispatch: %s", ep,
             name_of(&draw, dispatches));
    return out;
}

static void write_layout(struct draw *draw, const struct sizes *s, uint64_t number, char text[512])
{
    const char *schedule = name_of(draw, schedules);
    const bool interleaved = strcmp(schedule, "interleaved") == 0;
    /* Drawn one after the other: arguments have no order, and compilers have each their own. */
    const char *order = name_of(draw, orders);
    const bool sequence = s->tp > 1 && pick(draw, 2) == 1;
    const char *placement = name_of(draw, placements), *method = name_of(draw, methods);
    const char *recompute = name_of(draw, recomputes), *sharding = name_of(draw, shardings);
    snprintf(text, 512,
             "layout: {tp: %" PRIu64 ", pp: %" PRIu64 ", dp: %" PRIu64 ", cp: %" PRIu64
             ", vpp: %u, microbatch: %" PRIu64 ", schedule: %s, sharding: %s, recompute: %s, "
             "cp_method: %s, placement: %s, sequence_parallel: %s, order: %s, "
             "activation_offload: %s%s}\n",
             s->tp, s->pp, s->dp, s->cp, interleaved && s->pp > 1 ? 2u : 1u, s->microbatch,
             s->pp > 1 ? schedule : "1f1b", sharding, recompute, method, placement,
             sequence ? "true" : "false", order, offload_of(number), experts_of(number).layout);
}

static void write_fabric(struct draw *draw, const struct sizes *s, char text[128])
{
    const char *kind = s->nodes > 1 ? name_of(draw, fabrics) : "none";
    const unsigned ecmp = pick(draw, 4) == 0, oversubscription = 1 + pick(draw, 2);
    char options[96] = "";
    if (strcmp(kind, "torus") == 0) {
        snprintf(options, sizeof options, ", x: %" PRIu64, s->nodes);
    } else if (strcmp(kind, "fat_tree") == 0) {
        snprintf(options, sizeof options, ", radix: %" PRIu64 ", oversubscription: %u, ecmp: %u",
                 ONE_OF(draw, 6, 12, 64), oversubscription, ecmp);
    } else if (strcmp(kind, "rail") == 0) {
        snprintf(options, sizeof options, ", nodes_per_leaf: 2, oversubscription: %u, ecmp: %u",
                 oversubscription, ecmp);
    }
    snprintf(text, 128, "fabric: {kind: %s%s}", kind, options);
}

void random_scenario_text(uint64_t number, char text[RANDOM_SCENARIO_BYTES])
{
    struct draw draw = {.key = random_key(number, "scenario")};
    const struct sizes s = draw_sizes(&draw);
    const struct machine *machine = &machines[pick(&draw, MACHINE_COUNT)];
    char fabric[128], layout[512];
    write_fabric(&draw, &s, fabric);
    write_layout(&draw, &s, number, layout);
    const uint64_t heads = s.tp * ONE_OF(&draw, 1, 2, 4);
    const uint64_t layers =
        s.pp * (strstr(layout, "vpp: 2") != NULL ? 2 : 1) * (1 + pick(&draw, 2));
    const uint64_t microbatches = s.pp * (1 + pick(&draw, 3));
    const char *profile = name_of(&draw, software); /* one draw after the other, as above */
    const uint64_t sequence = ONE_OF(&draw, 1024, 2048, 4096), wide = ONE_OF(&draw, 1, 2, 4);
    snprintf(text, RANDOM_SCENARIO_BYTES,
             "model: {layers: %" PRIu64 ", hidden: %" PRIu64 ", heads: %" PRIu64
             ", vocabulary: 8000%s}\n"
             "cluster: {gpu: %s, node: {name: %s, gpus: %" PRIu64 ", nics: %" PRIu64
             "}, nodes: %" PRIu64 ", %s}\n"
             "training: {sequence: %" PRIu64 ", global_batch: %" PRIu64 "}\n%ssoftware: %s\n",
             layers, heads * 64 * wide, heads, experts_of(number).model, machine->gpu,
             machine->node, s.gpus, s.nics, s.nodes, fabric, sequence,
             s.dp * s.microbatch * microbatches, layout, profile);
}

struct scenario *random_scenario(uint64_t number)
{
    char text[RANDOM_SCENARIO_BYTES];
    const struct scenario_options options = {0};
    struct error error;
    random_scenario_text(number, text);
    struct scenario *scenario = scenario_read("random.yaml", text, strlen(text), &options, &error);
    CHECK(scenario != NULL);
    if (scenario->diagnostics.error_count > 0) {
        scenario_destroy(scenario);
        return NULL;
    }
    return scenario;
}
