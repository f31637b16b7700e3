/* lower_plan.c - what all stages have in common.
 *
 * Invariants
 * 1. A group that reduces is no larger than the replicas, and no shard is empty of ranks.
 * 2. Every layer belongs to one global chunk, in order: layer_start sums up split. */
#include "models/program/lower_plan.h"

#include <math.h>

#include "models/layout/layout.h"
#include "models/program/lower_alive.h"
#include "models/program/lower_split.h"
#include "sim/check.h"

static enum fp8_recipe fp8_recipe_of(const struct configuration *c)
{
    return fp8_recipe_on((enum fp8_recipe)c->software.fp8_recipe, c->training.precision->gemm_peak,
                         c->gpu.block_scaling);
}

static struct layer_context make_context(const struct configuration *c,
                                         const struct data_plan *data)
{
    return (struct layer_context){
        .model = &c->model,
        .software = &c->software,
        .precision = c->training.precision,
        .attention = (enum attention_kernel)c->training.attention,
        .microbatch = c->layout.microbatch,
        .sequence = c->training.sequence,
        .tp = c->layout.tp,
        .cp = c->layout.cp,
        .sequence_parallel = c->layout.sequence_parallel && c->layout.tp > 1,
        .causal = c->training.causal,
        .fp8_recipe = fp8_recipe_of(c),
        .gathers_weights = data->gathers && !data->keeps,
        .transposed_copies = c->gpu.transposed_copies,
        .ep = configuration_expert_ranks(c).ep,
        .etp = configuration_expert_ranks(c).etp,
        .imbalance = fmax(c->layout.expert_imbalance, 1.0),
        .capacity = c->layout.expert_capacity,
        .dispatch = configuration_dispatch(c),
        .room = configuration_expert_room(c),
        .expert_nodes = layout_expert_nodes(c),
        .dispatch_8bit = c->layout.dispatch_8bit,
        .adapter = c->training.adapter,
        .cp_ring = c->layout.cp_method == CP_RING || configuration_context_ranks(c).ring > 1,
        .cp_heads = configuration_context_ranks(c).heads > 1,
        .cp_inner = configuration_context_ranks(c).heads,
        .cp_uneven = c->layout.cp_balance == CP_BALANCE_AUTO
                         ? c->software.cp_uneven
                         : c->layout.cp_balance == CP_BALANCE_NONE,
        .per_operator = c->layout.recompute == RECOMPUTE_PER_OPERATOR,
        .modules = c->layout.recompute == RECOMPUTE_MODULES,
        .accumulate = configuration_microbatches(c) > 1 && !data->scatters,
    };
}

static struct data_plan lower_plan_data(const struct configuration *c)
{
    const struct software_profile *software = &c->software;
    const struct sharding_kind *sharding = c->layout.sharding;
    uint32_t replicas = (uint32_t)configuration_holders(c);
    uint32_t shards = (uint32_t)configuration_shards(c);
    const struct expert_ranks experts = configuration_expert_ranks(c);
    double kept_bytes = c->training.gradient_bytes > 0.0 ? c->training.gradient_bytes
                                                         : software->gradient_kept_bytes;
    /* A stage's microbatches follow each other closely: whoever shards under a pipeline gathers
     * weights once, accumulates in full, and reduces after the last backward. */
    const bool once = c->layout.pp > 1;
    const uint32_t expert_shards = (uint32_t)configuration_expert_shards(c);
    const bool gathers = sharding->gather == GATHER_UNITS && shards > 1;
    const bool master =
        gathers && software->weights_are_master && c->training.precision->master_weights;
    CHECK(shards > 0 && shards <= replicas); /* 1 */
    return (struct data_plan){
        .sharding = sharding,
        .experts_apart = experts.apart,
        .experts_stay = experts.apart && expert_shards == 1 && !master,
        .expert_replicas = (uint32_t)experts.holders,
        .expert_reducers = sharding->hybrid ? expert_shards : (uint32_t)experts.holders,
        .sharded = {shards, expert_shards},
        .replicas = replicas,
        .shards = shards,
        .reducers = sharding->hybrid ? shards : replicas,
        .shards_gradients = sharding->shards_gradients && !once,
        .scatters = sharding->reduce == REDUCE_EACH_MICROBATCH && replicas > 1 && !once,
        .gathers = gathers,
        .reshards = (software->fsdp_reshard || !sharding->units) && !once,
        .keeps = gathers && once,
        .buffers = gathers && software->fsdp_buffers,
        .weights_are_master = master,
        .kept_bytes = kept_bytes,
        .wire_bytes =
            software->gradient_reduce_bytes > 0.0 ? software->gradient_reduce_bytes : kept_bytes,
        .state = optimizer_state(c->training.optimizer, c->training.precision,
                                 &c->training.state_formats),
        .on_card = 1.0 - c->layout.optimizer_offload,
        .adapters = c->training.adapter.kind != ADAPTER_NONE,
        .tied_across = (c->model.tied_embeddings || c->model.mtp_layers > 0) && c->layout.pp > 1 &&
                       c->layout.schedule->placement == PLACED_ROUND,
        .has_world = c->layout.tp * c->layout.pp * shards > 1,
    };
}

static void plan_pipeline(struct lowering *l)
{
    const struct configuration *c = l->c;
    l->shape = (struct schedule_shape){(uint32_t)c->layout.pp, (uint32_t)c->layout.vpp,
                                       (uint32_t)configuration_microbatches(c),
                                       &c->layout.schedule_options};
    const struct schedule_kind *kind = c->layout.schedule;
    l->chunks = schedule_chunks(kind, &l->shape);
    l->parts = schedule_parts(kind, &l->shape);
    l->microbatches = l->shape.microbatches / (kind->placement == PLACED_BOTH_WAYS ? 2 : 1);
    l->split = ARENA_ARRAY(l->arena, uint32_t, l->parts);
    l->layer_start = ARENA_ARRAY(l->arena, uint32_t, l->parts);
    lower_split(c, l->split);
    for (uint32_t i = 1; i < l->parts; i++)
        l->layer_start[i] = l->layer_start[i - 1] + l->split[i - 1];
    CHECK(l->layer_start[l->parts - 1] + l->split[l->parts - 1] == c->model.layers); /* 2 */
}

/* Does any stage send to another node? */
static struct block_costs plan_costs(const struct configuration *c)
{
    const struct software_profile *p = &c->software;
    double tp = (double)c->layout.tp;
    double launch_s = configuration_host_s(c, p->launch_s * (1.0 + p->launch_tp_growth * log2(tp)));
    return (struct block_costs){
        .launch_s = launch_s,
        .tensor_host_s = launch_s + configuration_host_s(c, p->tp_exposed_host_s),
        .slowing = c->layout.tp > 1 ? 1.0 / (1.0 - p->tp_interference_ratio) : 1.0,
    };
}

static struct message_plan plan_message(const struct layer_context *context, double bytes)
{
    if (context->software->p2p_scatter && context->tp > 1 && !context->sequence_parallel)
        return (struct message_plan){bytes / (double)context->tp, bytes};
    return (struct message_plan){bytes, 0.0};
}

/* Only layers have modules that come and go one by one. */
static double layer_alive(const struct lowering *l, enum block_index index)
{
    const struct block *b = &l->blocks[index];
    const double live = (double)l->c->software.live_parameters;
    return l->layers[index]->module_count > 0
               ? lower_alive(l->layers[index], b->full_recompute, live)
               : b->parameters;
}

/* Linear layers are kept as the adapters say, all else in 16 bits. */
static void plan_frozen(const struct lowering *l, const struct layer *layer, struct block *b)
{
    const struct adapter_spec *adapter = &l->c->training.adapter;
    double linear = 0.0;
    for (unsigned i = 0; i < layer->module_count; i++)
        linear += layer->modules[i];
    b->frozen_bytes =
        linear * adapter_frozen_bytes(adapter) + (b->parameters - linear) * ADAPTER_WEIGHT_BYTES;
}

/* Of an embedding and a head the table is a matrix as wide as the model, and no layer's. */
static void plan_state(const struct lowering *l, enum block_index index, struct block *b)
{
    const struct layer *layer = l->layers[index];
    const double hidden = (double)l->c->model.hidden;
    b->trained = l->data.adapters ? layer->adapter_parameters : b->parameters;
    b->state = (struct state_shape){.parameters = b->trained};
    b->matrix_count = layer->matrix_count;
    for (unsigned i = 0; i < layer->matrix_count; i++) {
        const struct weight_matrix *m = &layer->matrices[i];
        b->matrices[i] = *m;
        b->state.matrices += m->inputs * m->outputs * m->count;
        b->state.sides += (m->inputs + m->outputs) * m->count;
    }
    b->state.matrices = fmin(b->state.matrices, b->trained);
    b->state.sided = b->state.matrices;
    if (l->data.adapters)
        plan_frozen(l, layer, b);
    if (l->data.adapters || (index != BLOCK_EMBEDDING && index != BLOCK_HEAD))
        return;
    b->state.sides = fmin(hidden + b->parameters / hidden, b->parameters);
    b->state.sided = b->parameters;
}

/* SMs that the kernels of a dispatch hold while passes run in pairs. */
static double paired_sms(const struct configuration *c)
{
    const bool pairs = c->layout.schedule->pairs && configuration_expert_ranks(c).ep > 1;
    return pairs ? (double)configuration_dispatch(c)->sms : 0.0;
}

static bool is_layer(enum block_index index)
{
    return index >= BLOCK_LAYER && index < BLOCK_HEAD;
}

/* Embedding, head and the layers that stay wide are kept so. */
static double block_weight_bytes(const struct lowering *l, enum block_index index)
{
    const struct precision *p = l->c->training.precision;
    const enum block_index as = index == BLOCK_PREDICTION ? lower_plan_predicting(l->c) : index;
    const bool wide = !is_layer(as) || ((as - BLOCK_LAYER) & VARIANT_WIDE) != 0;
    return wide ? precision_wide(p)->weight_bytes : p->weight_bytes;
}

/* Weights of 16 bits that have narrow copies beside them. */
static double copied(const struct lowering *l, enum block_index index)
{
    const bool beside = l->c->training.precision->copy_bytes > 0.0;
    return beside ? l->layers[index]->narrow_parameters : 0.0;
}

static void compile(struct lowering *l, enum block_index index, const char *name, double parameters)
{
    const bool groups = l->c->layout.recompute == RECOMPUTE_UNIFORM;
    const bool all = groups || l->c->layout.recompute == RECOMPUTE_FULL;
    const bool layer = is_layer(index), joined = index == BLOCK_PREDICTION;
    const unsigned bits = layer ? (unsigned)index - BLOCK_LAYER : 0;
    const struct block_spec spec = {
        .c = l->c,
        .costs = &l->costs,
        .layer = l->layers[index],
        .name = name,
        .full_recompute = (layer && (bits & VARIANT_AGAIN) != 0) || ((layer || joined) && all),
        .repeats =
            layer && (bits & VARIANT_AGAIN) == 0 && (l->context.per_operator || l->context.modules),
        .inside_group = (layer && (bits & VARIANT_AGAIN) == 0 && groups) || (joined && all),
        .splits = l->c->layout.schedule->splits,
        .paired_sms = layer ? paired_sms(l->c) : 0.0,
    };
    lower_block_compile(l->arena, &spec, &l->blocks[index]);
    l->blocks[index].parameters = l->blocks[index].alive = parameters;
    l->blocks[index].expert_parameters = l->layers[index]->expert_parameters;
    l->blocks[index].weight_bytes = block_weight_bytes(l, index);
    l->blocks[index].copied = copied(l, index);
    plan_state(l, index, &l->blocks[index]);
    if (!l->data.keeps)
        l->blocks[index].alive = layer_alive(l, index);
}

/* The bits of a layer (from 0) but for VARIANT_AGAIN. */
static unsigned variant_of(const struct configuration *c, uint64_t layer)
{
    const struct model_shape *m = &c->model;
    const bool window = transformer_span(m, layer, c->training.sequence) > 0;
    const bool dense = m->experts > 0 && !transformer_has_experts(m, layer);
    const bool wide = configuration_wide_layer(c, layer);
    return (window ? VARIANT_WINDOW : 0u) | (dense ? VARIANT_DENSE : 0u) |
           (wide ? VARIANT_WIDE : 0u);
}

static struct layer *add_layer(struct lowering *l, enum block_index index)
{
    l->layers[index] = ARENA_NEW(l->arena, struct layer);
    return l->layers[index];
}

/* The layers of each kind that the model has, and that of BLOCK_LAYER. */
static void plan_layers(struct lowering *l)
{
    const struct configuration *c = l->c;
    const bool some_again = c->layout.recompute == RECOMPUTE_EVERY_OTHER_LAYER ||
                            c->layout.recompute == RECOMPUTE_BLOCK;
    unsigned found = 1u;
    for (uint64_t layer = 0; layer < c->model.layers; layer++)
        found |= 1u << variant_of(c, layer);
    if (c->model.mtp_layers > 0)
        found |= 1u << (lower_plan_predicting(c) - BLOCK_LAYER);
    for (unsigned bits = 0; bits < VARIANT_COUNT; bits++) {
        if ((found >> (bits & ~(unsigned)VARIANT_AGAIN) & 1u) == 0 ||
            ((bits & VARIANT_AGAIN) != 0 && !some_again))
            continue;
        struct layer_context context = l->context;
        context.window = (bits & VARIANT_WINDOW) != 0 ? c->model.window : 0;
        context.dense = (bits & VARIANT_DENSE) != 0;
        if ((bits & VARIANT_WIDE) != 0) {
            context.precision = precision_wide(context.precision);
            context.dispatch_8bit = false;
        }
        transformer_layer(&context, add_layer(l, (enum block_index)(BLOCK_LAYER + bits)));
    }
}

static void plan_prediction(struct lowering *l)
{
    const unsigned bits = lower_plan_predicting(l->c) - BLOCK_LAYER;
    struct layer_context context = l->context;
    if ((bits & VARIANT_WIDE) != 0)
        context.precision = precision_wide(context.precision);
    struct layer *joined = add_layer(l, BLOCK_PREDICTION);
    struct layer *head = add_layer(l, BLOCK_PREDICTION_HEAD);
    transformer_prediction(&context, joined);
    transformer_prediction_head(&l->context, head);
    compile(l, BLOCK_PREDICTION, "prediction", joined->parameters);
    compile(l, BLOCK_PREDICTION_HEAD, "prediction head", head->parameters);
}

static void plan_blocks(struct lowering *l)
{
    const struct configuration *c = l->c;
    l->context = make_context(c, &l->data);
    l->costs = plan_costs(c);
    plan_layers(l);
    transformer_head(&l->context, add_layer(l, BLOCK_HEAD));
    struct layer *embedding = add_layer(l, BLOCK_EMBEDDING);
    embedding->segment_count = 1;
    transformer_embedding(&l->context, &embedding->segments[0]);
    l->vocabulary_shard = (double)transformer_padded_vocabulary(&l->context) /
                          (double)c->layout.tp * (double)c->model.hidden;
    l->message = plan_message(&l->context, l->layers[BLOCK_LAYER]->input_bytes);
    compile(l, BLOCK_EMBEDDING, "embedding", transformer_embedding_shard(&l->context));
    for (unsigned b = BLOCK_LAYER; b < BLOCK_HEAD; b++)
        if (l->layers[b] != NULL)
            compile(l, (enum block_index)b, "layer", l->layers[b]->parameters);
    compile(l, BLOCK_HEAD, "head", transformer_head_shard(&l->context));
    if (c->model.mtp_layers > 0)
        plan_prediction(l);
}

enum block_index lower_plan_predicting(const struct configuration *c)
{
    const unsigned last = variant_of(c, c->model.layers - 1) & ~(unsigned)VARIANT_WIDE;
    const bool four = c->training.precision->gemm_peak == PEAK_FP4;
    return (enum block_index)(BLOCK_LAYER + last + (four ? VARIANT_WIDE : 0u));
}

enum block_index lower_plan_block(const struct configuration *c, uint32_t i, uint32_t layer)
{
    const struct layout_spec *l = &c->layout;
    const bool again = (l->recompute == RECOMPUTE_EVERY_OTHER_LAYER && layer % 2 == 1) ||
                       (l->recompute == RECOMPUTE_BLOCK && i < l->recompute_layers);
    return (enum block_index)(BLOCK_LAYER + variant_of(c, layer) + (again ? VARIANT_AGAIN : 0));
}

/* A stage's message over the wires of a card. */
static double message_s(const struct lowering *l)
{
    const struct node_spec *node = &l->c->cluster.node;
    const bool inside = configuration_ranks(l->c) <= node->gpus && node->nvlink_bytes_per_s > 0.0;
    const double rate = inside ? node->nvlink_bytes_per_s : node->nic_bytes_per_s;
    return rate > 0.0 ? l->message.bytes / rate : 0.0;
}

uint32_t lower_plan_times(const struct lowering *l, uint32_t part, enum block_index index)
{
    const bool last = part + 1 == l->parts;
    const uint32_t ahead = last ? (uint32_t)l->c->model.mtp_layers : 0;
    uint32_t times = 0;
    for (uint32_t i = 0; i < l->split[part]; i++)
        times += lower_plan_block(l->c, i, l->layer_start[part] + i) == index;
    switch (index) {
    case BLOCK_EMBEDDING:
        return (part == 0) + ahead;
    case BLOCK_HEAD:
        return last;
    case BLOCK_PREDICTION:
    case BLOCK_PREDICTION_HEAD:
        return ahead;
    default:
        return times + (ahead > 0 && index == lower_plan_predicting(l->c) ? ahead : 0);
    }
}

struct pass_costs lower_plan_costs(struct arena *arena, const struct lowering *l)
{
    double *forward_s = ARENA_ARRAY(arena, double, l->parts);
    double *input_s = ARENA_ARRAY(arena, double, l->parts);
    double *weights_s = ARENA_ARRAY(arena, double, l->parts);
    double *kept_bytes = ARENA_ARRAY(arena, double, l->parts);
    double *late_bytes = ARENA_ARRAY(arena, double, l->parts);
    for (uint32_t part = 0; part < l->parts; part++) {
        for (unsigned b = 0; b < BLOCK_COUNT; b++) {
            const struct block *block = &l->blocks[b];
            const double times = lower_plan_times(l, part, (enum block_index)b);
            forward_s[part] += times * block->forward.gpu_s;
            input_s[part] += times * (block->recompute.gpu_s + block->input.gpu_s);
            weights_s[part] += times * block->weights.gpu_s;
            kept_bytes[part] += times * block->kept_bytes;
            late_bytes[part] += times * block->late_bytes;
        }
    }
    return (struct pass_costs){forward_s, input_s, weights_s, kept_bytes, late_bytes, message_s(l)};
}

struct pass *lower_plan_passes(const struct lowering *l, uint32_t stage, uint32_t *count)
{
    const struct schedule_kind *kind = l->c->layout.schedule;
    struct pass *passes = ARENA_ARRAY(l->arena, struct pass, schedule_room(kind, &l->shape));
    const struct pass_costs costs =
        kind->write_timed != NULL ? lower_plan_costs(l->arena, l) : (struct pass_costs){0};
    *count =
        schedule_write(kind, &l->shape, kind->write_timed != NULL ? &costs : NULL, stage, passes);
    return passes;
}

double lower_plan_block_bytes(const struct lowering *l, const struct block *block, bool alive)
{
    const double parameters = alive ? block->alive : block->parameters;
    const double copies = alive ? block->copied * block->alive / fmax(block->parameters, 1.0) : 0.0;
    if (!l->data.adapters)
        return parameters * block->weight_bytes + copies * l->c->training.precision->copy_bytes;
    const double frozen =
        block->parameters > 0.0 ? parameters / block->parameters * block->frozen_bytes : 0.0;
    return frozen + block->trained * block->weight_bytes;
}

struct shard_counts lower_plan_counts(const struct lowering *l, bool sharded)
{
    return sharded ? l->data.sharded : (struct shard_counts){1, 1};
}

uint32_t lower_plan_prefetch(const struct lowering *l)
{
    const struct software_profile *p = &l->c->software;
    const double two_layers = 2.0 * l->blocks[BLOCK_LAYER].parameters;
    const bool bound = p->live_parameters > 0 && two_layers > (double)p->live_parameters;
    return bound ? 0 : (uint32_t)p->fsdp_prefetch;
}

bool lower_plan_copies_weights(const struct lowering *l)
{
    const struct layer_context *c = &l->context;
    return c->precision->gemm_peak == PEAK_FP8 && c->transposed_copies &&
           !fp8_recipe_facts(c->fp8_recipe)->by_direction && !c->gathers_weights &&
           !c->software->fp8_weights_each;
}

double lower_plan_cast_bytes(const struct lowering *l, const struct block *block)
{
    const struct layer_context *c = &l->context;
    if (!(block->copied > 0.0) || c->gathers_weights || c->software->fp8_weights_each)
        return 0.0;
    return block->copied * (fp8_recipe_facts(c->fp8_recipe)->reads * block->weight_bytes +
                            c->precision->copy_bytes);
}

/* Does the order pair passes whose rows travel to their experts? */
static bool weaves(const struct lowering *l)
{
    for (unsigned b = BLOCK_LAYER; b < BLOCK_HEAD && l->c->layout.schedule->pairs; b++)
        for (uint32_t i = 0; i < l->blocks[b].forward.count; i++)
            if (l->blocks[b].forward.rows[i].stream == STREAM_EP)
                return true;
    return false;
}

struct lowering *lower_plan_lowering(struct arena *arena, const struct configuration *c)
{
    struct lowering *l = ARENA_NEW(arena, struct lowering);
    l->arena = arena;
    l->c = c;
    l->layers = ARENA_ARRAY(arena, struct layer *, BLOCK_COUNT);
    l->offloads = c->layout.activation_offload > 0.0;
    l->data = lower_plan_data(c);
    plan_pipeline(l);
    plan_blocks(l);
    l->weaves = weaves(l);
    return l;
}

struct lowering *lower_plan_like(struct arena *arena, const struct configuration *c,
                                 const struct lowering *from)
{
    struct lowering *l = ARENA_NEW(arena, struct lowering);
    *l = *from;
    l->arena = arena;
    l->c = c;
    l->offloads = c->layout.activation_offload > 0.0;
    l->data = lower_plan_data(c);
    plan_pipeline(l);
    l->weaves = weaves(l);
    CHECK(!c->layout.schedule->splits || l->blocks[BLOCK_LAYER].splits);
    return l;
}
