/* lower_plan.c - what all stages have in common.
 *
 * Invariant 1: every layer belongs to one global chunk, in order: layer_start sums up split. */
#include "models/lower/plan/lower_plan.h"

#include <math.h>

#include "models/gpu/gpu_power.h"
#include "models/layout/configuration_split.h"
#include "models/layout/layout.h"
#include "models/lower/plan/lower_alive.h"
#include "models/lower/plan/lower_pace.h"
#include "sim/check.h"

static struct layer_context make_context(const struct configuration *c,
                                         const struct data_plan *data)
{
    const struct expert_ranks experts = configuration_expert_ranks(c);
    const struct context_ranks context = configuration_context_ranks(c);
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
        .fp8_recipe = configuration_fp8_recipe(c),
        .gathers_weights = lower_data_plan_gathers_anew(data),
        .transposed_copies = c->gpu.gemm.transposed_copies,
        .experts.ep = experts.ep,
        .experts.etp = experts.etp,
        .experts.imbalance = fmax(c->layout.experts.imbalance, 1.0),
        .experts.capacity = c->layout.experts.capacity,
        .experts.dispatch = configuration_dispatch(c),
        .experts.room = configuration_expert_room(c),
        .experts.nodes = layout_expert_nodes(c),
        .experts.dispatch_8bit = c->layout.experts.dispatch_8bit,
        .adapter = c->training.adapter,
        .ring.cp_ring = c->layout.context.method == CP_RING || context.ring > 1,
        .ring.cp_heads = context.heads > 1,
        .ring.cp_inner = context.heads,
        .ring.cp_uneven = c->layout.context.balance == CP_BALANCE_AUTO
                              ? c->software.context.uneven
                              : c->layout.context.balance == CP_BALANCE_NONE,
        .recompute = (enum recompute)c->layout.recompute,
        .accumulate = configuration_microbatches(c) > 1 && !lower_data_plan_scatters(data),
    };
}

static void plan_pipeline(struct lowering *l)
{
    const struct configuration *c = l->c;
    l->shape = (struct schedule_shape){(uint32_t)c->layout.pp, (uint32_t)c->layout.pipeline.vpp,
                                       (uint32_t)configuration_microbatches(c),
                                       &c->layout.pipeline.schedule_options};
    const struct schedule_kind *kind = c->layout.pipeline.schedule;
    l->chunks = schedule_chunks(kind, &l->shape);
    l->parts = schedule_parts(kind, &l->shape);
    l->microbatches = l->shape.microbatches / (kind->placement == PLACED_BOTH_WAYS ? 2 : 1);
    l->split = ARENA_ARRAY(l->arena, uint32_t, l->parts);
    l->layer_start = ARENA_ARRAY(l->arena, uint32_t, l->parts);
    configuration_split(c, l->split);
    for (uint32_t i = 1; i < l->parts; i++)
        l->layer_start[i] = l->layer_start[i - 1] + l->split[i - 1];
    CHECK(l->layer_start[l->parts - 1] + l->split[l->parts - 1] == c->model.layers); /* 1 */
}

static struct message_plan plan_message(const struct layer_context *context, double bytes)
{
    if (context->software->pipeline.scatter && context->tp > 1 && !context->sequence_parallel)
        return (struct message_plan){bytes / (double)context->tp, bytes};
    return (struct message_plan){bytes, 0.0};
}

/* Only layers have modules that come and go one by one. */
static double layer_alive(const struct lowering *l, enum block_index index)
{
    const struct block *b = &l->blocks[index];
    const double live = (double)l->c->software.shards.live_parameters;
    return l->layers[index]->module_count > 0
               ? lower_alive(l->layers[index], b->full_recompute, live)
               : b->weights.parameters;
}

/* Linear layers are kept as the adapters say, all else in 16 bits. */
static void plan_frozen(const struct lowering *l, const struct layer *layer, struct block *b)
{
    const struct adapter_spec *adapter = &l->c->training.adapter;
    double linear = 0.0;
    for (unsigned i = 0; i < layer->module_count; i++)
        linear += layer->modules[i];
    b->weights.frozen_bytes = linear * adapter_frozen_bytes(adapter) +
                              (b->weights.parameters - linear) * ADAPTER_WEIGHT_BYTES;
}

/* Of an embedding and a head the table is a matrix as wide as the model, and no layer's. */
static void plan_state(const struct lowering *l, enum block_index index, struct block *b)
{
    const struct layer *layer = l->layers[index];
    const double hidden = (double)l->c->model.hidden;
    b->weights.trained = l->data.adapters ? layer->adapter_parameters : b->weights.parameters;
    b->weights.state = (struct state_shape){.parameters = b->weights.trained};
    b->weights.matrix_count = layer->matrix_count;
    for (unsigned i = 0; i < layer->matrix_count; i++) {
        const struct weight_matrix *m = &layer->matrices[i];
        b->weights.matrices[i] = *m;
        b->weights.state.matrices += m->inputs * m->outputs * m->count;
        b->weights.state.sides += (m->inputs + m->outputs) * m->count;
    }
    b->weights.state.matrices = fmin(b->weights.state.matrices, b->weights.trained);
    b->weights.state.sided = b->weights.state.matrices;
    if (l->data.adapters)
        plan_frozen(l, layer, b);
    if (l->data.adapters || (index != BLOCK_EMBEDDING && index != BLOCK_HEAD))
        return;
    b->weights.state.sides = fmin(hidden + b->weights.parameters / hidden, b->weights.parameters);
    b->weights.state.sided = b->weights.parameters;
}

/* SMs that the kernels of a dispatch hold while passes run in pairs. */
static double paired_sms(const struct configuration *c, const struct block_costs *costs)
{
    const bool pairs = c->layout.pipeline.schedule->pairs && configuration_expert_ranks(c).ep > 1;
    return pairs ? costs->exchange_sms : 0.0;
}

static bool is_layer(enum block_index index)
{
    return (index >= BLOCK_LAYER && index < BLOCK_HEAD) || index >= BLOCK_FORMS;
}

static unsigned bits_of(enum block_index index)
{
    CHECK(is_layer(index));
    return index < BLOCK_HEAD ? (unsigned)(index - BLOCK_LAYER)
                              : (unsigned)(index - BLOCK_FORMS) % VARIANT_COUNT;
}

static enum layer_form form_of(enum block_index index)
{
    return index < BLOCK_HEAD
               ? LAYER_WHOLE
               : (enum layer_form)(1 + (unsigned)(index - BLOCK_FORMS) / VARIANT_COUNT);
}

/* The block of these bits (enum layer_variant) in this form. */
static enum block_index layer_block(enum layer_form form, unsigned bits)
{
    const unsigned begin =
        form == LAYER_WHOLE ? BLOCK_LAYER : BLOCK_FORMS + ((unsigned)form - 1) * VARIANT_COUNT;
    return (enum block_index)(begin + bits);
}

/* Embedding, head and the layers that stay wide are kept so. */
static double block_weight_bytes(const struct lowering *l, enum block_index index)
{
    const struct precision *p = l->c->training.precision;
    const enum block_index as = index == BLOCK_PREDICTION ? lower_plan_predicting(l->c) : index;
    const bool wide = !is_layer(as) || (bits_of(as) & VARIANT_WIDE) != 0;
    return wide ? precision_wide(p)->weight_bytes : p->weight_bytes;
}

/* Weights of 16 bits are cast to both copies; those of eight have one for each direction, but none
 * that stays where they come anew and are copied product by product. Beside adapters weights are
 * wide (a rule). */
static void plan_copies(const struct lowering *l, enum block_index index,
                        struct block_weights *weights)
{
    const struct layer_context *c = &l->context;
    const double each = configuration_weight_copy_bytes(l->c),
                 narrow = each > 0.0 ? l->layers[index]->narrow_parameters : 0.0;
    const double wide = precision_wide(c->precision)->weight_bytes;
    const bool passing = c->gathers_weights && c->precision->weight_bytes < wide;
    weights->sent_bytes = weights->weight_bytes;
    weights->copy_bytes = passing ? 0.0 : each * narrow;
    if (!(narrow > 0.0))
        return;
    const struct fp8_facts *facts = fp8_recipe_facts(c->fp8_recipe);
    const bool updated_wide = facts->weights_come_wide && !lower_data_plan_gathers(&l->data);
    const double made = 2.0 * (facts->element_bytes + facts->weight_scale_bytes);
    if (updated_wide)
        weights->sent_bytes = wide;
    if (!c->gathers_weights && !c->software->fp8.weights_each)
        weights->cast_bytes =
            narrow * (facts->weights_come_wide ? facts->reads * wide + made : 2.0);
}

static void compile(struct lowering *l, enum block_index index, const char *name, double parameters)
{
    const bool groups = l->c->layout.recompute == RECOMPUTE_UNIFORM;
    const bool all = groups || l->c->layout.recompute == RECOMPUTE_FULL;
    const bool layer = is_layer(index), joined = index == BLOCK_PREDICTION;
    const unsigned bits = layer ? bits_of(index) : 0;
    const struct block_spec spec = {
        .c = l->c,
        .costs = &l->costs,
        .layer = l->layers[index],
        .name = name,
        .full_recompute = (layer && (bits & VARIANT_AGAIN) != 0) || ((layer || joined) && all),
        .repeats = layer && (bits & VARIANT_AGAIN) == 0 &&
                   (l->context.recompute == RECOMPUTE_PER_OPERATOR ||
                    l->context.recompute == RECOMPUTE_MODULES),
        .inside_group = (layer && (bits & VARIANT_AGAIN) == 0 && groups) || (joined && all),
        .splits = l->c->layout.pipeline.schedule->splits,
        .paired_sms = layer ? paired_sms(l->c, &l->costs) : 0.0,
    };
    lower_block_compile(l->arena, &spec, &l->blocks[index]);
    l->blocks[index].weights.parameters = l->blocks[index].weights.alive = parameters;
    l->blocks[index].weights.expert_parameters = l->layers[index]->expert_parameters;
    l->blocks[index].weights.weight_bytes = block_weight_bytes(l, index);
    plan_copies(l, index, &l->blocks[index].weights);
    plan_state(l, index, &l->blocks[index]);
    if (l->data.weights != WEIGHTS_ONCE_A_STEP)
        l->blocks[index].weights.alive = layer_alive(l, index);
}

/* The bits of a layer (from 0) but for VARIANT_AGAIN. */
static unsigned variant_of(const struct configuration *c, uint64_t layer)
{
    const struct model_shape *m = &c->model;
    const bool takes = m->latent.indexer.heads > 0 &&
                       layer_form_attends(transformer_form(m, layer)) &&
                       !transformer_scores_keys(m, layer);
    const bool window = takes || transformer_span(m, layer, c->training.sequence) > 0;
    const bool feeds = layer_form_feeds(transformer_form(m, layer));
    const bool dense = m->moe.experts > 0 && feeds && !transformer_has_experts(m, layer);
    const bool wide = configuration_wide_layer(c, layer);
    return (window ? VARIANT_WINDOW : 0u) | (dense ? VARIANT_DENSE : 0u) |
           (wide ? VARIANT_WIDE : 0u);
}

static struct layer *add_layer(struct lowering *l, enum block_index index)
{
    l->layers[index] = ARENA_ROOM(l->arena, struct layer);
    transformer_clear(l->layers[index]);
    return l->layers[index];
}

/* The layers of each kind that the model has, and that of BLOCK_LAYER. */
static void plan_layers(struct lowering *l)
{
    const struct configuration *c = l->c;
    const bool some_again = c->layout.recompute == RECOMPUTE_EVERY_OTHER_LAYER ||
                            c->layout.recompute == RECOMPUTE_BLOCK;
    bool found[BLOCK_COUNT] = {[BLOCK_LAYER] = true};
    for (uint64_t layer = 0; layer < c->model.layers; layer++)
        found[layer_block(transformer_form(&c->model, layer), variant_of(c, layer))] = true;
    if (c->model.mtp_layers > 0)
        found[lower_plan_predicting(c)] = true;
    for (unsigned b = BLOCK_LAYER; b < lower_plan_block_count(l); b++) {
        if (!is_layer((enum block_index)b))
            continue;
        const unsigned bits = bits_of((enum block_index)b);
        if (!found[b - (bits & VARIANT_AGAIN)] || ((bits & VARIANT_AGAIN) != 0 && !some_again))
            continue;
        struct layer_context context = l->context;
        context.form = form_of((enum block_index)b);
        context.keys.window = (bits & VARIANT_WINDOW) != 0 ? c->model.windows.length : 0;
        context.keys.taken = (bits & VARIANT_WINDOW) != 0 && c->model.latent.indexer.heads > 0;
        context.experts.dense = (bits & VARIANT_DENSE) != 0;
        if ((bits & VARIANT_WIDE) != 0) {
            context.precision = precision_wide(context.precision);
            context.experts.dispatch_8bit = false;
        }
        transformer_layer(&context, add_layer(l, (enum block_index)b));
    }
}

static void plan_prediction(struct lowering *l)
{
    const unsigned bits = bits_of(lower_plan_predicting(l->c));
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

/* The card at the clock that its cap leaves for all parts together, so that a layout does not
 * change it. */
static struct gpu_spec paced_card(const struct lowering *l)
{
    const struct gpu_spec *gpu = &l->c->gpu;
    struct gpu_work work = {0};
    if (!gpu_power_is_capped(gpu))
        return *gpu;
    for (unsigned b = 0; b < lower_plan_block_count(l); b++)
        for (uint32_t part = 0; part < l->parts && l->layers[b] != NULL; part++)
            lower_pace_add(l->c, l->layers[b], lower_plan_times(l, part, (enum block_index)b),
                           &work);
    return gpu_work_card(gpu, &work);
}

static void plan_blocks(struct lowering *l)
{
    const struct configuration *c = l->c;
    l->context = make_context(c, &l->data);
    l->costs = lower_costs_block(c);
    plan_layers(l);
    transformer_head(&l->context, add_layer(l, BLOCK_HEAD));
    struct layer *embedding = add_layer(l, BLOCK_EMBEDDING);
    embedding->segment_count = 1;
    transformer_embedding(&l->context, &embedding->segments[0]);
    l->vocabulary_shard = (double)transformer_padded_vocabulary(&l->context) /
                          (double)c->layout.tp * (double)c->model.hidden;
    l->message = plan_message(&l->context, l->layers[BLOCK_HEAD]->input_bytes);
    l->costs.gpu = paced_card(l);
    compile(l, BLOCK_EMBEDDING, "embedding", transformer_embedding_shard(&l->context));
    for (unsigned b = BLOCK_LAYER; b < lower_plan_block_count(l); b++)
        if (is_layer((enum block_index)b) && l->layers[b] != NULL)
            compile(l, (enum block_index)b, "layer", l->layers[b]->parameters);
    compile(l, BLOCK_HEAD, "head", transformer_head_shard(&l->context));
    if (c->model.mtp_layers > 0)
        plan_prediction(l);
}

enum block_index lower_plan_predicting(const struct configuration *c)
{
    const unsigned own = c->model.latent.indexer.heads > 0 ? (unsigned)VARIANT_WINDOW : 0u;
    const unsigned last = variant_of(c, c->model.layers - 1) & ~((unsigned)VARIANT_WIDE | own);
    const bool four = c->training.precision->gemm_peak == PEAK_FP4;
    return layer_block(transformer_form(&c->model, c->model.layers - 1),
                       last + (four ? VARIANT_WIDE : 0u));
}

enum block_index lower_plan_block(const struct configuration *c, uint32_t i, uint32_t layer)
{
    const struct layout_spec *l = &c->layout;
    const bool again = (l->recompute == RECOMPUTE_EVERY_OTHER_LAYER && layer % 2 == 1) ||
                       (l->recompute == RECOMPUTE_BLOCK && i < l->recompute_layers);
    return layer_block(transformer_form(&c->model, layer),
                       variant_of(c, layer) + (again ? VARIANT_AGAIN : 0));
}

/* A stage's message over the wire that joins all ranks. */
static double message_s(const struct lowering *l)
{
    const double rate = topology_wire(&l->c->cluster, configuration_ranks(l->c)).bytes_per_s;
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
    case BLOCK_LAYER:
    case BLOCK_LAYER_AGAIN:
    case BLOCK_FORMS:
    case BLOCK_COUNT:
        break;
    }
    CHECK(is_layer(index)); /* one of the variants of a layer */
    return times + (ahead > 0 && index == lower_plan_predicting(l->c) ? ahead : 0);
}

struct pass_costs lower_plan_costs(struct arena *arena, const struct lowering *l)
{
    double *forward_s = ARENA_ARRAY(arena, double, l->parts);
    double *input_s = ARENA_ARRAY(arena, double, l->parts);
    double *weights_s = ARENA_ARRAY(arena, double, l->parts);
    double *kept_bytes = ARENA_ARRAY(arena, double, l->parts);
    double *late_bytes = ARENA_ARRAY(arena, double, l->parts);
    for (uint32_t part = 0; part < l->parts; part++) {
        for (unsigned b = 0; b < lower_plan_block_count(l); b++) {
            const struct block *block = &l->blocks[b];
            const double times = lower_plan_times(l, part, (enum block_index)b);
            forward_s[part] += times * block->lists[PIECES_FORWARD].gpu_s;
            input_s[part] +=
                times * (block->lists[PIECES_RECOMPUTE].gpu_s + block->lists[PIECES_INPUT].gpu_s);
            weights_s[part] += times * block->lists[PIECES_WEIGHTS].gpu_s;
            kept_bytes[part] += times * block->kept_bytes;
            late_bytes[part] += times * block->late_bytes;
        }
    }
    return (struct pass_costs){forward_s, input_s, weights_s, kept_bytes, late_bytes, message_s(l)};
}

struct pass *lower_plan_passes(const struct lowering *l, uint32_t stage, uint32_t *count)
{
    const struct schedule_kind *kind = l->c->layout.pipeline.schedule;
    struct pass *passes = ARENA_ARRAY(l->arena, struct pass, schedule_room(kind, &l->shape));
    const struct pass_costs costs =
        kind->write_timed != NULL ? lower_plan_costs(l->arena, l) : (struct pass_costs){0};
    *count =
        schedule_write(kind, &l->shape, kind->write_timed != NULL ? &costs : NULL, stage, passes);
    return passes;
}

double lower_plan_block_bytes(const struct lowering *l, const struct block *block, bool alive)
{
    const double parameters = alive ? block->weights.alive : block->weights.parameters;
    const double copies = alive ? block->weights.copy_bytes * block->weights.alive /
                                      fmax(block->weights.parameters, 1.0)
                                : 0.0;
    if (!l->data.adapters)
        return parameters * block->weights.weight_bytes + copies;
    const double frozen = block->weights.parameters > 0.0
                              ? parameters / block->weights.parameters * block->weights.frozen_bytes
                              : 0.0;
    return frozen + block->weights.trained * block->weights.weight_bytes;
}

static uint32_t prefetch(const struct lowering *l)
{
    const struct software_profile *p = &l->c->software;
    const double two_layers = 2.0 * l->blocks[BLOCK_LAYER].weights.parameters;
    const bool bound =
        p->shards.live_parameters > 0 && two_layers > (double)p->shards.live_parameters;
    return bound ? 0 : (uint32_t)p->shards.prefetch;
}

/* Does the order pair passes whose rows travel to their experts? */
static bool weaves(const struct lowering *l)
{
    for (unsigned b = BLOCK_LAYER;
         b < lower_plan_block_count(l) && l->c->layout.pipeline.schedule->pairs; b++)
        for (uint32_t i = 0; i < l->blocks[b].lists[PIECES_FORWARD].count; i++)
            if (l->blocks[b].lists[PIECES_FORWARD].rows[i].stream == STREAM_EP)
                return true;
    return false;
}

/* What the blocks do not depend on. */
static void plan_layout(struct lowering *l)
{
    l->weaves = weaves(l);
    l->prefetch = prefetch(l);
    l->offload = lower_costs_offload(l->c);
    l->host = lower_costs_host(l->c);
}

struct lowering *lower_plan_lowering(struct arena *arena, const struct configuration *c)
{
    struct lowering *l = ARENA_NEW(arena, struct lowering);
    l->arena = arena;
    l->c = c;
    l->layers = ARENA_ARRAY(arena, struct layer *, lower_plan_block_count(l));
    l->blocks = ARENA_ARRAY(arena, struct block, lower_plan_block_count(l));
    l->data = lower_data_plan(c);
    plan_pipeline(l);
    plan_blocks(l);
    plan_layout(l);
    return l;
}

struct lowering *lower_plan_like(struct arena *arena, const struct configuration *c,
                                 const struct lowering *from)
{
    struct lowering *l = ARENA_NEW(arena, struct lowering);
    *l = *from;
    l->arena = arena;
    l->c = c;
    l->data = lower_data_plan(c);
    plan_pipeline(l);
    plan_layout(l);
    CHECK(!c->layout.pipeline.schedule->splits || l->blocks[BLOCK_LAYER].splits);
    return l;
}
