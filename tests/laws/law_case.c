#include "tests/laws/law_case.h"

#include <stdio.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"
#include "sim/random.h"
#include "sim/units.h"
#include "tests/kind_defaults.h"
#include "tests/laws/law_cluster.h"
#include "tests/models/gpu/cards.h"

const unsigned law_sizes[LAW_SIZE_COUNT] = {1, 2, 4, 3, 8, 16, 32, 64};
static const unsigned gpu_counts[] = {2, 4, 8};
static const char *const orders[] = {"tp-cp-dp-pp", "tp-pp-cp-dp", "dp-tp-cp-pp"};
enum {
    CHUNK_LEVELS = 2,
    SOFTWARE_LEVELS = 3
};

static unsigned count_names(const char *const *names)
{
    unsigned count = 0;
    while (names[count] != NULL)
        count++;
    return count;
}

unsigned law_level_count(enum law_factor factor, unsigned rank_max)
{
    unsigned sizes = 0;
    for (unsigned i = 0; i < LAW_SIZE_COUNT; i++)
        sizes += law_sizes[i] <= rank_max;
    const unsigned counts[LAW_FACTOR_COUNT] = {
        [LAW_NODE] = law_kind_count(TOPOLOGY_NODE),
        [LAW_FABRIC] = law_kind_count(TOPOLOGY_FABRIC),
        [LAW_OPTIONS] = LAW_VARIANT_COUNT,
        [LAW_GPUS] = sizeof gpu_counts / sizeof gpu_counts[0],
        [LAW_TP] = sizes,
        [LAW_PP] = sizes,
        [LAW_DP] = sizes,
        [LAW_CP] = sizes,
        [LAW_VPP] = CHUNK_LEVELS,
        [LAW_SCHEDULE] = schedule_kind_count,
        [LAW_SHARDING] = sharding_kind_count,
        [LAW_RECOMPUTE] = count_names(recompute_names),
        [LAW_CP_METHOD] = count_names(cp_method_names),
        [LAW_SEQUENCE_PARALLEL] = 2,
        [LAW_PLACEMENT] = count_names(placement_names),
        [LAW_ORDER] = sizeof orders / sizeof orders[0],
        [LAW_SOFTWARE] = SOFTWARE_LEVELS,
        [LAW_TROUBLE] = LAW_TROUBLE_COUNT,
    };
    return counts[factor];
}

static struct software_profile software_of(unsigned level)
{
    struct software_profile s = profile_fused();
    s.host.launch_s = 2 * MICROSECOND;
    s.memory.communicator_bytes = 4 * MIB;
    s.shards.prefetch = 1;
    s.shards.reshard = true;
    if (level == 1) {
        s.data.overlap_gradients = s.data.overlap_parameters = true;
        s.data.bucket_bytes = 64 * KIB;
        s.data.interference_ratio = 0.25;
        s.tensor.overlap_cost_ratio = 0.5;
        s.memory.clip_gradients = true;
        s.pipeline.blocking_interleaved = true;
        s.pipeline.split = SPLIT_COST;
        s.host.launch_s = 0.0;
    } else if (level == 2) {
        s.layer.gradient_fusion = s.tensor.backward_overlap = s.tensor.backward_regather = false;
        s.data.gradients = GRADIENT_TENSOR;
        s.data.gradient_copy = true;
        s.data.gradient_reduce_bytes = 2;
        s.pipeline.blocking = s.pipeline.host_wait = s.pipeline.scatter = true;
        s.pipeline.sync_s = s.tensor.exposed_host_s = 3 * MICROSECOND;
        s.host.pass_s = s.host.data_s = s.host.optimizer_s = 5 * MICROSECOND;
        s.shards.prefetch = 2;
        s.shards.reshard = false;
        s.host.launch_tp_growth = 0.08;
        s.memory.build = BUILD_FIRST_STEP;
        s.memory.expandable_segments = true;
    }
    return s;
}

/* A model whose heads, sequence and layers divide by the layout; one layer too many for even
 * stages where the software splits by cost. */
static void fit_model(struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    const bool exchanges =
        l->context.method == CP_ALL_TO_ALL || l->context.method == CP_ALL_TO_ALL_RING;
    const uint64_t spread = exchanges ? l->cp : 1; /* heads over them */
    c->model = (struct model_shape){
        .name = "small",
        .layers = l->pp * l->pipeline.vpp + (l->pp * l->pipeline.vpp == 1) +
                  (c->software.pipeline.split == SPLIT_COST),
        .attention.heads = 2 * l->tp * spread,
        .attention.kv_heads = l->tp * spread,
        .attention.head_size = 32,
        .ffn = FFN_SWIGLU,
        .norm.kind = NORM_RMS,
        .position = POSITION_ROPE,
    };
    c->model.hidden = c->model.attention.heads * c->model.attention.head_size;
    c->model.ffn_hidden = 96 * l->tp;
    c->model.vocabulary = 256;
    c->model.tied_embeddings = c->software.pipeline.split == SPLIT_COST;
    transformer_complete(&c->model);
    const uint64_t microbatches = l->pp * (l->pp < 4 ? 2 : 1);
    c->training = (struct training_spec){
        .sequence = 64 * l->cp * l->tp,
        .global_batch = l->dp * l->microbatch * microbatches,
        .precision = precision_find("bf16"),
        .optimizer = optimizer_find("adamw"),
        .attention = ATTENTION_FLASH2,
        .causal = true,
    };
}

static bool set_layout(const struct law_case *k, unsigned rank_max, struct configuration *c)
{
    const uint8_t *level = k->level;
    c->layout = (struct layout_spec){
        .tp = law_sizes[level[LAW_TP]],
        .pp = law_sizes[level[LAW_PP]],
        .dp = law_sizes[level[LAW_DP]],
        .cp = law_sizes[level[LAW_CP]],
        .pipeline.vpp = level[LAW_VPP] + 1u,
        .microbatch = 1,
        .pipeline.schedule = schedule_kinds[level[LAW_SCHEDULE]],
        .data.sharding = sharding_kinds[level[LAW_SHARDING]],
        .pipeline.schedule_options = kind_defaults(&schedule_kinds[level[LAW_SCHEDULE]]->head),
        .data.sharding_options = kind_defaults(&sharding_kinds[level[LAW_SHARDING]]->head),
        .recompute = level[LAW_RECOMPUTE],
        .context.method = level[LAW_CP_METHOD],
        .sequence_parallel = level[LAW_SEQUENCE_PARALLEL] == 1,
        .placement = level[LAW_PLACEMENT],
        .order = orders[level[LAW_ORDER]],
    };
    /* One of two layers, or two with one input, which units of fsdp then gather together. */
    const bool groups = c->layout.recompute == RECOMPUTE_UNIFORM;
    c->layout.recompute_layers = groups ? 2 : c->layout.recompute == RECOMPUTE_BLOCK;
    c->layout.data.fsdp_unit_layers = groups ? 2 : 1;
    const bool chunks_unused = c->layout.pipeline.vpp > 1 &&
                               (c->layout.pp == 1 || !c->layout.pipeline.schedule->interleaved);
    return configuration_ranks(c) <= rank_max && !chunks_unused;
}

static bool set_cluster(const struct law_case *k, struct configuration *c)
{
    const uint64_t ranks = configuration_ranks(c), gpus = gpu_counts[k->level[LAW_GPUS]];
    const uint64_t nodes = (ranks + gpus - 1) / gpus;
    if (gpus > 2 && ranks <= gpus / 2)
        return false; /* the smaller node does as well */
    return law_cluster(&c->cluster, law_kind(TOPOLOGY_NODE, k->level[LAW_NODE]),
                       law_kind(TOPOLOGY_FABRIC, k->level[LAW_FABRIC]), nodes, gpus,
                       (enum law_variant)k->level[LAW_OPTIONS]);
}

/* A slow GPU and a bad link, neither at the first nor at the last rank where there is a choice. */
static void set_trouble(const struct law_case *k, struct law_setup *out)
{
    struct configuration *c = &out->c;
    const enum law_trouble trouble = (enum law_trouble)k->level[LAW_TROUBLE];
    const uint64_t gpus = configuration_gpus(c);
    const enum link_kind link = c->cluster.nodes > 1                       ? LINK_NIC
                                : c->cluster.node.nvlink.bytes_per_s > 0.0 ? LINK_NVLINK
                                                                           : LINK_PCIE;
    c->perturbations = out->perturbations;
    if (trouble == LAW_STRAGGLER || trouble >= LAW_BOTH) {
        out->perturbations[c->perturbation_count++] =
            (struct perturbation){.what = PERTURB_GPU_SPEED, .gpu = gpus / 2, .ratio = 0.7};
    }
    if (trouble >= LAW_LINK) {
        out->perturbations[c->perturbation_count++] = (struct perturbation){
            .what = PERTURB_LINK, .gpu = gpus / 3, .ratio = 0.4, .link = (int)link};
    }
    c->kernel_jitter_sigma = trouble == LAW_JITTER ? 0.05 : 0.0;
}

/* Where the software keeps its gradients as tensors a part of the state is on the host, and so are
 * the activations of half of the layers. */
static void set_offload(struct configuration *c)
{
    if (c->software.data.gradients != GRADIENT_TENSOR)
        return;
    c->layout.offload.optimizer = 0.25;
    c->layout.offload.activations = 0.5;
    c->cluster.node.host.dram_bytes_per_s = 100 * GIGA;
    c->cluster.node.host.dram_ratio = 0.5;
}

bool law_configure(const struct law_case *k, unsigned rank_max, struct law_setup *out)
{
    *out = (struct law_setup){.c = {.name = "law", .seed = 11}};
    struct configuration *c = &out->c;
    if (!set_layout(k, rank_max, c) || !set_cluster(k, c))
        return false;
    c->gpu = card_h100();
    c->software = software_of(k->level[LAW_SOFTWARE]);
    fit_model(c);
    set_trouble(k, out);
    set_offload(c);
    struct rule_break breaks[16];
    const unsigned count = configuration_check(c, breaks, 16);
    for (unsigned i = 0; i < count; i++)
        if (!breaks[i].warning)
            return false;
    return true;
}

void law_describe(const struct law_case *k, char *text, unsigned size)
{
    static const char *const variants[LAW_VARIANT_COUNT] = {"default", "tight", "hashed"};
    static const char *const troubles[LAW_TROUBLE_COUNT] = {"calm", "straggler", "link", "both",
                                                            "jitter"};
    const uint8_t *level = k->level;
    snprintf(text, size,
             "%s of %u, %s(%s), tp %u pp %u dp %u cp %u vpp %u, %s, %s, recompute %s, cp %s, "
             "sequence_parallel %u, %s, %s, software %u, %s",
             law_kind(TOPOLOGY_NODE, level[LAW_NODE])->head.name, gpu_counts[level[LAW_GPUS]],
             law_kind(TOPOLOGY_FABRIC, level[LAW_FABRIC])->head.name, variants[level[LAW_OPTIONS]],
             law_sizes[level[LAW_TP]], law_sizes[level[LAW_PP]], law_sizes[level[LAW_DP]],
             law_sizes[level[LAW_CP]], level[LAW_VPP] + 1u,
             schedule_kinds[level[LAW_SCHEDULE]]->head.name,
             sharding_kinds[level[LAW_SHARDING]]->head.name, recompute_names[level[LAW_RECOMPUTE]],
             cp_method_names[level[LAW_CP_METHOD]], level[LAW_SEQUENCE_PARALLEL],
             placement_names[level[LAW_PLACEMENT]], orders[level[LAW_ORDER]], level[LAW_SOFTWARE],
             troubles[level[LAW_TROUBLE]]);
}
