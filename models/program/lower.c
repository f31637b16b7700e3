/* Programs of one training step: each pipeline stage's passes in the order of the schedule, then
 * reduction, clipping, update and gather. docs/models/pipeline.md, docs/models/sharding.md. */
#include "models/program/lower.h"

#include <math.h>
#include <string.h>

#include "models/program/lower_parts.h"
#include "sim/check.h"

static struct layer_context make_context(const struct configuration *c, bool scatters)
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
        .cp_ring = c->layout.cp_method == CP_RING,
        .accumulate = configuration_microbatches(c) > 1 && !scatters,
    };
}

static void plan_data(struct lowering *l)
{
    const struct configuration *c = l->c;
    const struct software_profile *software = &c->software;
    l->sharding = c->layout.sharding;
    l->replicas = (uint32_t)configuration_replicas(c);
    l->shards = (uint32_t)configuration_shards(c);
    l->reducers = l->sharding->hybrid ? l->shards : l->replicas;
    l->scatters = l->sharding->reduce == REDUCE_EACH_MICROBATCH && l->replicas > 1;
    l->gathers = l->sharding->gather == GATHER_UNITS && l->shards > 1;
    l->reshards = software->fsdp_reshard || !l->sharding->units;
    l->weight_bytes = c->training.precision->weight_bytes;
    l->kept_bytes = c->training.gradient_bytes > 0.0 ? c->training.gradient_bytes
                                                     : software->gradient_kept_bytes;
    l->wire_bytes =
        software->gradient_reduce_bytes > 0.0 ? software->gradient_reduce_bytes : l->kept_bytes;
    l->tied_across = c->model.tied_embeddings && c->layout.pp > 1;
    l->has_world = c->layout.tp * c->layout.pp * l->shards > 1;
}

static void plan_pipeline(struct lowering *l)
{
    const struct configuration *c = l->c;
    l->shape = (struct schedule_shape){(uint32_t)c->layout.pp, (uint32_t)c->layout.vpp,
                                       (uint32_t)configuration_microbatches(c),
                                       &c->layout.schedule_options};
    uint32_t chunks = l->shape.stages * l->shape.chunks;
    l->split = ARENA_ARRAY(l->arena, uint32_t, chunks);
    l->layer_start = ARENA_ARRAY(l->arena, uint32_t, chunks);
    lower_split(c, l->split);
    for (uint32_t i = 1; i < chunks; i++) {
        l->layer_start[i] = l->layer_start[i - 1] + l->split[i - 1];
    }
}

/* Does any stage send to another node? */
static bool pipeline_spans_nodes(const struct configuration *c)
{
    for (uint32_t stage = 1; stage < c->layout.pp; stage++) {
        uint32_t from = layout_rank(c, (struct coordinates){.pp = stage - 1});
        uint32_t to = layout_rank(c, (struct coordinates){.pp = stage});
        if (layout_gpu(c, from) / c->cluster.node.gpus !=
            layout_gpu(c, to) / c->cluster.node.gpus) {
            return true;
        }
    }
    return false;
}

static void plan_host(struct lowering *l)
{
    const struct configuration *c = l->c;
    const struct software_profile *p = &c->software;
    double tp = (double)c->layout.tp;
    l->launch_s = p->launch_s * (1.0 + p->launch_tp_growth * log2(tp));
    l->tensor_host_s = l->launch_s + p->tp_exposed_host_s;
    if (pipeline_spans_nodes(c)) {
        l->tensor_host_s += p->tp_pipeline_host_s * tp;
    }
    l->slowing = c->layout.tp > 1 ? 1.0 / (1.0 - p->tp_interference_ratio) : 1.0;
}

static void plan_blocks(struct lowering *l)
{
    const struct configuration *c = l->c;
    l->context = make_context(c, l->scatters);
    plan_host(l);
    transformer_layer(&l->context, &l->layers[BLOCK_LAYER]);
    transformer_head(&l->context, &l->layers[BLOCK_HEAD]);
    struct layer *embedding = &l->layers[BLOCK_EMBEDDING];
    embedding->segment_count = 1;
    transformer_embedding(&l->context, &embedding->segments[0]);
    l->vocabulary_shard = (double)transformer_padded_vocabulary(&l->context) /
                          (double)c->layout.tp * (double)c->model.hidden;
    l->message_bytes = l->layers[BLOCK_LAYER].input_bytes;
    if (c->software.p2p_scatter && c->layout.tp > 1 && !l->context.sequence_parallel) {
        l->message_gather_bytes = l->message_bytes;
        l->message_bytes /= (double)c->layout.tp;
    }
    block_compile(l, &l->blocks[BLOCK_EMBEDDING], embedding, "embedding", false);
    block_compile(l, &l->blocks[BLOCK_LAYER], &l->layers[BLOCK_LAYER], "layer",
                  c->layout.recompute == RECOMPUTE_FULL);
    block_compile(l, &l->blocks[BLOCK_HEAD], &l->layers[BLOCK_HEAD], "head", false);
    l->blocks[BLOCK_EMBEDDING].parameters = transformer_embedding_shard(&l->context);
    l->blocks[BLOCK_LAYER].parameters = l->layers[BLOCK_LAYER].parameters;
    l->blocks[BLOCK_HEAD].parameters = transformer_head_shard(&l->context);
}

static void add_unit(struct stage *s, enum block_index block, uint32_t chunk, uint16_t layer)
{
    struct block *b = &s->l->blocks[block];
    double held = b->parameters;
    if (block == BLOCK_HEAD && s->l->c->model.tied_embeddings && !s->l->tied_across) {
        held -= s->l->vocabulary_shard; /* the embedding's, on the same rank */
    }
    s->units[s->unit_count++] = (struct unit){.block = b,
                                              .chunk = chunk,
                                              .layer = layer,
                                              .held = held,
                                              .gradient = TENSOR_NONE,
                                              .last_gather = OP_NONE};
}

static void build_units(struct stage *s)
{
    const struct lowering *l = s->l;
    uint32_t chunks = l->shape.chunks, room = 2;
    for (uint32_t k = 0; k < chunks; k++) {
        room += l->split[s->stage + k * l->shape.stages];
    }
    s->units = ARENA_ARRAY(l->arena, struct unit, room);
    s->chunk_units = ARENA_ARRAY(l->arena, uint32_t, chunks + 1);
    for (uint32_t k = 0; k < chunks; k++) {
        uint32_t global = s->stage + k * l->shape.stages;
        s->chunk_units[k] = s->unit_count;
        if (global == 0) {
            add_unit(s, BLOCK_EMBEDDING, k, UINT16_MAX);
        }
        for (uint32_t i = 0; i < l->split[global]; i++) {
            add_unit(s, BLOCK_LAYER, k, (uint16_t)(l->layer_start[global] + i));
        }
        if (global + 1 == l->shape.stages * chunks) {
            add_unit(s, BLOCK_HEAD, k, UINT16_MAX);
        }
    }
    s->chunk_units[chunks] = s->unit_count;
}

/* Rows that the passes of this stage write, nearly: data-parallel ops come on top. */
static void reserve(struct stage *s)
{
    uint64_t ops = 0, ledger = 0;
    for (uint32_t i = 0; i < s->unit_count; i++) {
        const struct block *b = s->units[i].block;
        uint64_t again = b->full_recompute ? 2 : 1, segments = b->layer->segment_count;
        ops += b->forward.count + b->recompute.count + b->backward.count;
        ledger += again * (2 * (uint64_t)b->tensor_count + 2 * segments) + 2 * segments;
    }
    uint64_t m = s->l->shape.microbatches, passes = 2 * m * s->l->shape.chunks;
    ops = ops * m + 4 * passes + 8 * (uint64_t)s->unit_count;
    ledger = ledger * m + 4 * passes + 8 * (uint64_t)s->unit_count;
    CHECK(ops < UINT32_MAX && ledger < UINT32_MAX);
    program_reserve(s->w, (uint32_t)ops, (uint32_t)ledger);
}

static void begin_stage(struct stage *s, struct lowering *l, uint32_t stage)
{
    *s = (struct stage){.l = l, .stage = stage, .layer = UINT16_MAX, .microbatch = UINT16_MAX};
    s->w = program_begin(l->arena, stage);
    for (unsigned b = 0; b < BLOCK_COUNT; b++) {
        block_rows(&l->blocks[b], s->w);
    }
    const struct software_profile *software = &l->c->software;
    bool interleaved = l->shape.chunks > 1;
    struct pipeline_options options = {
        .message_bytes = l->message_bytes,
        .host_s = l->launch_s + software->p2p_sync_s,
        .host_waits = software->p2p_host_wait && !interleaved,
        .blocking = interleaved ? software->p2p_blocking_interleaved : software->p2p_blocking,
        .paired = interleaved,
    };
    pipeline_begin(&s->pipeline, s->w, &l->shape, stage, &options);
    build_units(s);
    reserve(s);
    size_t slots = (size_t)s->unit_count * l->shape.microbatches;
    s->saved = ARENA_ARRAY(l->arena, uint32_t, slots);
    memset(s->saved, 0xff, sizeof *s->saved * slots);
    for (unsigned b = 0; b < BLOCK_COUNT; b++) {
        s->spare[b] = ARENA_ARRAY(l->arena, uint32_t, slots);
    }
    s->forwards_done = ARENA_ARRAY(l->arena, uint32_t, l->shape.chunks);
    s->backwards_left = ARENA_ARRAY(l->arena, uint32_t, l->shape.chunks);
    for (uint32_t k = 0; k < l->shape.chunks; k++) {
        s->backwards_left[k] = l->shape.microbatches;
    }
    data_begin(s);
}

static void write_unit(struct stage *s, const struct pass *pass, uint32_t index)
{
    struct unit *u = &s->units[index];
    s->layer = u->layer;
    data_unit_begin(s, pass, index);
    if (pass_is_forward(pass)) {
        stage_pieces(s, &u->block->forward, u);
    } else {
        stage_pieces(s, &u->block->recompute, u);
        stage_pieces(s, &u->block->backward, u);
        data_unit_gradient(s, index);
    }
    data_unit_end(s, pass, index);
    s->layer = UINT16_MAX;
}

/* Each tensor rank has sent its part over a wire of its own (arXiv:2104.04473 section 4.1). */
static void gather_message(struct stage *s, bool forward)
{
    struct op op = {
        .kind = OP_COLLECTIVE,
        .stream = STREAM_TP,
        .phase = forward ? PHASE_FORWARD : PHASE_BACKWARD,
        .cost = program_transfer(s->w, COMM_ALL_GATHER, s->l->message_gather_bytes),
        .name = (uint16_t)program_name(s->w, "gather message"),
        .host = program_host(s->w, s->l->launch_s),
    };
    waits_take(&s->pipeline.waits, s->w, op.wait);
    waits_add(&s->pipeline.waits, stage_op(s, op));
}

static void receive(struct stage *s, const struct pass *pass)
{
    const struct lowering *l = s->l;
    bool received = pipeline_receive(&s->pipeline, pass) != OP_NONE;
    if (received) {
        memory_received(s, fmax(l->message_bytes, l->message_gather_bytes));
    }
    pipeline_host_wait(&s->pipeline);
    if (received && s->l->c->software.p2p_host_wait) {
        late_host_waits(s);
    }
    if (received && l->message_gather_bytes > 0.0) {
        gather_message(s, pass_is_forward(pass));
    }
}

static void write_pass(struct stage *s, const struct pass *pass, const struct pass *next)
{
    CHECK(pass->kind < PASS_KIND_COUNT);
    const struct software_profile *software = &s->l->c->software;
    bool forward = pass_is_forward(pass);
    s->microbatch = pass->microbatch;
    s->chunk = pass->chunk;
    receive(s, pass);
    s->extra_host_s += software->pass_host_s;
    if (forward && s->stage == 0 && pass->chunk == 0) {
        s->extra_host_s += software->data_host_s;
    }
    uint32_t first = s->chunk_units[pass->chunk], end = s->chunk_units[pass->chunk + 1];
    for (uint32_t i = first; i < end; i++) {
        write_unit(s, pass, forward ? i : end - 1 - (i - first));
    }
    s->forwards_done[pass->chunk] += forward ? 1 : 0;
    s->backwards_left[pass->chunk] -= forward ? 0 : 1;
    uint32_t made = OP_NONE;
    if (pipeline_sends(&s->pipeline, pass)) {
        made = stage_result(s);
        memory_handed_over(s);
    }
    late_pass_end(s);
    if (next == NULL) {
        late_host_waits(s);
    }
    s->pipeline.waits.count = s->joining.count = 0;
    s->joined = false;
    data_pass_end(s, pass);
    s->pipeline.extra_host_s = s->extra_host_s;
    pipeline_send(&s->pipeline, pass, next, made);
    s->extra_host_s = s->pipeline.extra_host_s;
    s->pipeline.extra_host_s = 0.0;
}

static struct program *write_stage(struct lowering *l, uint32_t stage, uint32_t *streams)
{
    struct stage s;
    begin_stage(&s, l, stage);
    uint32_t room = 2 * l->shape.chunks * l->shape.microbatches;
    struct pass *passes = ARENA_ARRAY(l->arena, struct pass, room);
    uint32_t count = l->c->layout.schedule->write(&l->shape, stage, passes);
    for (uint32_t i = 0; i < count; i++) {
        write_pass(&s, &passes[i], i + 1 < count ? &passes[i + 1] : NULL);
    }
    data_step_end(&s);
    s.streams |= s.pipeline.streams;
    memory_setup(&s);
    struct program *program = program_end(s.w);
    program->interference_ratio = l->c->software.interference_ratio;
    program->join_ratio = l->c->software.tp_overlap_cost_ratio;
    program->interfering = 1u << STREAM_DP | 1u << STREAM_GATHER | 1u << STREAM_REPLICATE;
    *streams |= s.streams & ~(1u << STREAM_COMPUTE | 1u << STREAM_COPY);
    return program;
}

/* FLOPs that the kernels of one rank of this program do. */
static double kernel_flops(const struct program *p)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        if (p->ops[i].kind == OP_COMPUTE) {
            sum += p->costs[p->ops[i].cost].flops;
        }
    }
    return sum;
}

static void count_flops(const struct lowering *l, struct lowered *out)
{
    const struct configuration *c = l->c;
    double tokens = (double)c->training.global_batch * (double)c->training.sequence;
    out->model_flops = model_flops_per_token(&c->model, c->training.sequence, false) * tokens;
    out->causal_flops =
        model_flops_per_token(&c->model, c->training.sequence, c->training.causal) * tokens;
    double ranks = (double)(out->rank_count / out->program_count);
    for (uint32_t i = 0; i < out->program_count; i++) {
        out->hardware_flops += ranks * kernel_flops(out->programs[i]);
    }
}

static struct lowering *plan(struct arena *arena, const struct configuration *c)
{
    CHECK(c->model.experts == 0);
    struct lowering *l = ARENA_NEW(arena, struct lowering);
    l->arena = arena;
    l->c = c;
    plan_data(l);
    plan_pipeline(l);
    plan_blocks(l);
    return l;
}

struct program *lower_stage(struct arena *arena, const struct configuration *c, uint32_t stage)
{
    uint32_t streams = 0;
    return write_stage(plan(arena, c), stage, &streams);
}

void lower(struct arena *arena, const struct configuration *c, struct lowered *out)
{
    struct lowering *l = plan(arena, c);
    *out = (struct lowered){.program_count = l->shape.stages};
    out->rank_count = (uint32_t)configuration_ranks(c);
    out->programs = ARENA_ARRAY(arena, struct program *, out->program_count);
    out->program_of_rank = ARENA_ARRAY(arena, uint32_t, out->rank_count);
    out->layers_of_stage = ARENA_ARRAY(arena, uint32_t, out->program_count);
    for (uint32_t stage = 0; stage < l->shape.stages; stage++) {
        out->programs[stage] = write_stage(l, stage, &out->streams);
        for (uint32_t k = 0; k < l->shape.chunks; k++) {
            out->layers_of_stage[stage] += l->split[stage + k * l->shape.stages];
        }
    }
    for (uint32_t rank = 0; rank < out->rank_count; rank++) {
        out->program_of_rank[rank] = layout_coordinates(c, rank).pp;
    }
    count_flops(l, out);
}
