/* Invariants:
 * 1. Reductions are issued in the order in which gradients become ready (the last unit first), on
 *    one stream, so waiting for the last one waits for all.
 * 2. A group of units is gathered at most once at a time; its compute waits for the gather.
 * 3. The gather of the k-th group of a rank's step waits for the compute of group k - 1 - prefetch:
 *    never more than prefetch + 1 gathered groups are alive beside what is kept. */
#include <math.h>

#include "models/program/lower_parts.h"
#include "sim/check.h"

/* More buckets than this leave a unit as so many larger ones: their latency is not told apart. */
enum {
    BUCKETS_MAX = 16
};

static double bucket_elements(const struct stage *s)
{
    double bytes = s->l->c->software.bucket_bytes;
    return bytes > 0.0 ? fmax(1.0, floor(bytes / s->l->kept_bytes)) : 0.0;
}

/* Adds a unit to the open bucket. Returns how many buckets are full now, and their size. */
static unsigned fill_bucket(struct stage *s, double added, double *elements)
{
    double room = bucket_elements(s);
    s->bucket += added;
    if (room == 0.0) {
        *elements = s->bucket;
        s->bucket = 0.0;
        return *elements > 0.0;
    }
    double full = floor(s->bucket / room);
    s->bucket -= full * room;
    *elements = full > BUCKETS_MAX ? full * room / BUCKETS_MAX : room;
    return full > BUCKETS_MAX ? BUCKETS_MAX : (unsigned)full;
}

/* Software that does not communicate in place copies between the tensors and the buffer of the
 * collective, one copy at a time, beside compute. Returns the op to wait for. */
static uint32_t copy_buffer(struct stage *s, double bytes, enum phase phase, uint32_t wait)
{
    double rate = s->l->c->software.dp_copy_bytes_per_s;
    if (rate <= 0.0 || bytes <= 0.0) {
        return wait;
    }
    double moved = 2.0 * bytes; /* read and written */
    struct op_kernel row = {"copy buffer", bytes / rate, 0.0, moved};
    struct op_cost cost = {
        .gpu_s = bytes / rate, .peak_s = moved / s->l->c->gpu.hbm_bytes_per_s, .bytes = moved};
    struct op op = {
        .kind = OP_COMPUTE,
        .stream = STREAM_COPY,
        .phase = (uint8_t)phase,
        .cost = program_cost(s->w, &cost, &row, 1),
        .wait = {wait, OP_NONE},
        .microbatch = s->microbatch,
        .layer = s->layer,
        .chunk = s->chunk,
        .name = (uint16_t)program_name(s->w, "copy buffer"),
        .host = program_host(s->w, s->l->launch_s),
    };
    s->streams |= 1u << STREAM_COPY;
    return program_op(s->w, op);
}

/* Reduces gradients over the replicas; returns nothing, the streams remember their last op. */
static void reduce(struct stage *s, double elements)
{
    const struct lowering *l = s->l;
    double bytes = elements * l->wire_bytes;
    uint32_t wait = s->last;
    if (l->reducers > 1) {
        enum comm_op what = l->sharding->reduce_scatter ? COMM_REDUCE_SCATTER : COMM_ALL_REDUCE;
        wait = s->scatter_last = stage_transfer(s, STREAM_DP, (struct transfer){what, bytes},
                                                PHASE_GRADIENTS, "reduce gradients", wait);
        wait = s->scatter_last = copy_buffer(s, bytes, PHASE_GRADIENTS, wait);
    }
    if (l->replicas > l->reducers) {
        s->replicate_last = stage_transfer(
            s, STREAM_REPLICATE, (struct transfer){COMM_ALL_REDUCE, bytes / (double)l->reducers},
            PHASE_GRADIENTS, "reduce gradients across replicas", wait);
    }
}

/* Parameters that were updated in the step before arrive bucket by bucket beside the first forward:
 * the steady state of overlapped gathers. */
static void begin_gathers(struct stage *s)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < s->unit_count; i++) {
        double elements = 0.0;
        unsigned full = fill_bucket(s, s->units[i].held, &elements);
        bool last = i + 1 == s->unit_count;
        if (last && s->bucket > 0.0 && full == 0) {
            elements = s->bucket;
            s->bucket = 0.0;
            full = 1;
        }
        uint32_t gather = OP_NONE;
        for (unsigned k = 0; k < full; k++) {
            gather = stage_transfer(
                s, STREAM_DP, (struct transfer){COMM_ALL_GATHER, elements * s->l->weight_bytes},
                PHASE_PARAMETERS, "gather parameters", OP_NONE);
            gather = copy_buffer(s, elements * s->l->weight_bytes, PHASE_PARAMETERS, gather);
        }
        if (last && s->bucket > 0.0) {
            gather = stage_transfer(
                s, STREAM_DP, (struct transfer){COMM_ALL_GATHER, s->bucket * s->l->weight_bytes},
                PHASE_PARAMETERS, "gather parameters", OP_NONE);
            gather = copy_buffer(s, s->bucket * s->l->weight_bytes, PHASE_PARAMETERS, gather);
            s->bucket = 0.0;
        }
        /* A unit whose end lies in the open bucket waits for the bucket that closes next. */
        for (; gather != OP_NONE && waiting < i; waiting++) {
            s->units[waiting].last_gather = gather;
        }
        if (gather != OP_NONE && s->bucket == 0.0) {
            s->units[i].last_gather = gather;
            waiting = i + 1;
        }
    }
}

static void add_group(struct stage *s, uint32_t unit)
{
    s->groups[s->group_count++] = (struct group_of_units){
        .first = unit, .tensor = TENSOR_NONE, .gather = OP_NONE, .scratch = TENSOR_NONE};
}

/* Cuts each chunk into groups: embedding and head are groups of their own, as in torchtitan. */
static void build_groups(struct stage *s)
{
    const struct lowering *l = s->l;
    uint64_t size = l->sharding->units ? l->c->layout.fsdp_unit_layers : 1;
    size = size > 0 ? size : 1;
    s->groups = ARENA_ARRAY(l->arena, struct group_of_units, s->unit_count + 1);
    s->chunk_groups = ARENA_ARRAY(l->arena, uint32_t, l->shape.chunks + 1);
    for (uint32_t chunk = 0; chunk < l->shape.chunks; chunk++) {
        s->chunk_groups[chunk] = s->group_count;
        for (uint32_t i = s->chunk_units[chunk]; i < s->chunk_units[chunk + 1]; i++) {
            struct unit *u = &s->units[i];
            bool joins = s->group_count > s->chunk_groups[chunk] && u->layer != UINT16_MAX &&
                         s->units[i - 1].layer != UINT16_MAX &&
                         s->groups[s->group_count - 1].count < size;
            if (!joins) {
                add_group(s, i);
            }
            struct group_of_units *g = &s->groups[s->group_count - 1];
            g->count++;
            g->gathered += u->block->parameters;
            g->held += u->held;
            u->group = s->group_count - 1;
        }
    }
    s->chunk_groups[l->shape.chunks] = s->group_count;
}

void data_begin(struct stage *s)
{
    const struct lowering *l = s->l;
    build_groups(s);
    s->history_room = (uint32_t)l->c->software.fsdp_prefetch + 1;
    s->history = ARENA_ARRAY(l->arena, uint32_t, s->history_room);
    if (l->sharding->gather == GATHER_AFTER_UPDATE && l->replicas > 1 &&
        l->c->software.overlap_parameters) {
        begin_gathers(s);
    }
}

static void gather(struct stage *s, struct group_of_units *g, uint32_t step)
{
    if (g->tensor != TENSOR_NONE) {
        return;
    }
    uint32_t wait = step >= s->history_room ? s->history[step % s->history_room] : OP_NONE;
    g->gather = stage_transfer(s, STREAM_GATHER,
                               (struct transfer){COMM_ALL_GATHER, g->gathered * s->l->weight_bytes},
                               PHASE_PARAMETERS, "gather weights", wait);
    g->gather = copy_buffer(s, g->gathered * s->l->weight_bytes, PHASE_PARAMETERS, g->gather);
    memory_gather(s, g);
}

/* Is this unit the first (or last) of its group in the direction of the pass? */
static bool at_edge(const struct stage *s, uint32_t unit, bool forward, bool first)
{
    const struct group_of_units *g = &s->groups[s->units[unit].group];
    return forward == first ? unit == g->first : unit == g->first + g->count - 1;
}

/* This group, and those that are fetched ahead of their turn in this pass. */
static void gather_ahead(struct stage *s, const struct pass *pass, uint32_t group)
{
    bool forward = pass_is_forward(pass);
    uint32_t low = s->chunk_groups[pass->chunk], high = s->chunk_groups[pass->chunk + 1];
    uint32_t ahead = (uint32_t)s->l->c->software.fsdp_prefetch;
    for (uint32_t k = 0; k <= ahead; k++) {
        bool inside = forward ? group + k < high : group >= low + k;
        if (!inside) {
            break;
        }
        gather(s, &s->groups[forward ? group + k : group - k], s->group_step + k);
    }
    waits_add(&s->pipeline.waits, s->groups[group].gather);
}

/* Is any unit's gather still to be waited for? Each chunk's first forward waits for its own. */
static bool gathers_left(const struct stage *s)
{
    for (uint32_t i = 0; i < s->unit_count; i++) {
        if (s->units[i].last_gather != OP_NONE && s->forwards_done[s->units[i].chunk] == 0) {
            return true;
        }
    }
    return false;
}

/* Compute that may meet data-parallel traffic: everything once gathers and scatters run all the
 * time, else the first forwards after the update and what follows the first reduction. */
static void mark_sensitive(struct stage *s)
{
    const struct lowering *l = s->l;
    s->flags = 0;
    if (l->c->software.interference_ratio > 0.0 &&
        (l->gathers || l->scatters || s->scatter_last != OP_NONE || gathers_left(s))) {
        s->flags = OP_SENSITIVE;
    }
}

void data_unit_begin(struct stage *s, const struct pass *pass, uint32_t unit)
{
    struct unit *u = &s->units[unit];
    bool forward = pass_is_forward(pass);
    mark_sensitive(s);
    if (forward && u->last_gather != OP_NONE && s->forwards_done[pass->chunk] == 0) {
        waits_add(&s->pipeline.waits, u->last_gather);
    }
    if (s->l->gathers && at_edge(s, unit, forward, true)) {
        gather_ahead(s, pass, u->group);
    }
}

/* Without overlap whatever comes next waits for the reductions before it. */
static void wait_for_reductions(struct stage *s)
{
    if (!s->l->c->software.overlap_gradients) {
        waits_add(&s->pipeline.waits, s->scatter_last);
        waits_add(&s->pipeline.waits, s->replicate_last);
    }
}

void data_pass_end(struct stage *s, const struct pass *pass)
{
    if (!pass_is_forward(pass) && s->l->scatters) {
        wait_for_reductions(s);
    }
}

static void end_group(struct stage *s, const struct pass *pass, struct group_of_units *g)
{
    bool forward = pass_is_forward(pass), last = g == &s->groups[s->chunk_groups[pass->chunk]];
    if (!forward && s->l->scatters) {
        reduce(s, g->held);
        memory_scattered(s, g, s->l->c->software.overlap_gradients && !last);
        wait_for_reductions(s);
    }
    if (s->l->gathers) {
        s->history[s->group_step++ % s->history_room] = s->last;
        if (!forward || s->l->reshards) {
            memory_drop(s, g);
        }
    }
}

void data_unit_gradient(struct stage *s, uint32_t unit)
{
    struct unit *u = &s->units[unit];
    late_gradient(s, u);
    if (!s->l->scatters) {
        memory_unit_gradient(s, u);
    } else if (at_edge(s, unit, false, true)) {
        memory_scratch(s, &s->groups[u->group]);
    }
}

void data_unit_end(struct stage *s, const struct pass *pass, uint32_t unit)
{
    struct unit *u = &s->units[unit];
    bool forward = pass_is_forward(pass);
    if (at_edge(s, unit, forward, false)) {
        end_group(s, pass, &s->groups[u->group]);
    }
    const struct lowering *l = s->l;
    bool leaves = !forward && s->backwards_left[pass->chunk] == 1 && !l->scatters &&
                  l->replicas > 1 && l->c->software.overlap_gradients;
    if (leaves) {
        double elements = 0.0;
        unsigned full = fill_bucket(s, u->held, &elements);
        for (unsigned k = 0; k < full; k++) {
            reduce(s, elements);
        }
    }
}

static double stage_elements(const struct stage *s, uint32_t shards)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < s->unit_count; i++) {
        sum += shard_elements(s->units[i].held, shards);
    }
    return sum;
}

/* What has not left during the backward. */
static void reduce_rest(struct stage *s)
{
    const struct lowering *l = s->l;
    if (!l->scatters && l->replicas > 1) {
        double rest = l->c->software.overlap_gradients ? s->bucket : stage_elements(s, 1);
        s->bucket = 0.0;
        if (rest > 0.0) {
            reduce(s, rest);
        }
    }
    struct waits *waits = &s->pipeline.waits;
    waits_add(waits, s->scatter_last);
    waits_add(waits, s->replicate_last);
    bool end = s->stage == 0 || s->stage + 1 == l->shape.stages;
    if (l->tied_across && end) {
        uint32_t ready = stage_result(s);
        double elements = l->vocabulary_shard / (l->scatters ? (double)l->shards : 1.0);
        uint32_t op = stage_transfer(s, STREAM_EMBED,
                                     (struct transfer){COMM_ALL_REDUCE, elements * l->kept_bytes},
                                     PHASE_GRADIENTS, "reduce tied embedding", ready);
        waits_add(waits, op);
    }
}

/* The gradient norm: one read of the gradients that this rank answers for, then four bytes over
 * every rank that holds a part of the model. */
static void clip(struct stage *s, double elements)
{
    if (!s->l->c->software.clip_gradients) {
        return;
    }
    struct kernel norm = kernel_memory("gradient norm", elements * s->l->kept_bytes, 1.0);
    uint32_t op = stage_kernel(s, &norm, PHASE_OPTIMIZER, 0.0);
    if (s->l->has_world) {
        waits_add(&s->pipeline.waits,
                  stage_transfer(s, STREAM_WORLD, (struct transfer){COMM_ALL_REDUCE, 4.0},
                                 PHASE_OPTIMIZER, "reduce gradient norm", op));
    }
}

/* Reads the gradient, writes the weight (reads it too when there is no master copy), and reads and
 * writes the state; then the kept gradients are cleared for the next step when they are a buffer.
 */
static void update(struct stage *s, double elements)
{
    const struct lowering *l = s->l;
    const struct training_spec *t = &l->c->training;
    double weight = t->precision->master_weights ? l->weight_bytes : 2.0 * l->weight_bytes;
    double traffic = t->optimizer->update_traffic_bytes;
    if (!t->precision->master_weights) {
        traffic -= 2.0 * t->optimizer->master_bytes;
    }
    double bytes = elements * (l->kept_bytes + weight + fmax(traffic, 0.0));
    if (l->c->software.gradients == GRADIENT_BUFFER) {
        double held = stage_elements(s, l->sharding->shards_gradients ? l->shards : 1);
        bytes += held * l->kept_bytes;
    }
    bytes += elements * l->c->software.optimizer_extra_bytes;
    struct kernel kernel = kernel_memory("optimizer update", bytes, 1.0);
    stage_kernel(s, &kernel, PHASE_OPTIMIZER, l->c->software.optimizer_host_s);
    memory_update(s);
}

void data_step_end(struct stage *s)
{
    const struct lowering *l = s->l;
    s->layer = s->microbatch = UINT16_MAX;
    s->chunk = 0;
    s->flags = 0;
    reduce_rest(s);
    double elements = stage_elements(s, l->sharding->shards_optimizer ? l->shards : 1);
    bool gathers = l->sharding->gather == GATHER_AFTER_UPDATE && l->replicas > 1 &&
                   !l->c->software.overlap_parameters;
    clip(s, elements);
    s->flags = l->c->software.host_sync_loss && !gathers ? OP_HOST_SYNC : 0;
    update(s, elements);
    if (gathers) {
        uint32_t op = stage_transfer(
            s, STREAM_DP,
            (struct transfer){COMM_ALL_GATHER, stage_elements(s, 1) * l->weight_bytes},
            PHASE_PARAMETERS, "gather parameters", s->last);
        copy_buffer(s, stage_elements(s, 1) * l->weight_bytes, PHASE_PARAMETERS, op);
    }
}
