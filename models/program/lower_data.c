/* lower_data.c - data parallelism: which gradients and weights are sent when, and the update.
 *
 * Invariants
 * 1. A group of units is gathered at most once at a time; its compute waits for the gather.
 * 2. What has been reduced is waited for before the update, and every bucket has left by then. */
#include <math.h>

#include "models/program/lower_parts.h"
#include "sim/check.h"

static uint32_t gather_bucket(struct stage *s, enum data_part part, double elements)
{
    const double each = lower_units_weight_bytes(&s->units, part == DATA_EXPERTS);
    const struct transfer gather = {COMM_ALL_GATHER, elements * each};
    if (part == DATA_EXPERTS)
        return lower_ops_transfer(&s->ops, STREAM_EP_DATA, gather, PHASE_PARAMETERS,
                                  "gather expert parameters", OP_NONE);
    const uint32_t op = lower_ops_transfer(&s->ops, STREAM_DP, gather, PHASE_PARAMETERS,
                                           "gather parameters", OP_NONE);
    return lower_ops_copy(&s->ops, gather, PHASE_PARAMETERS, op);
}

static double part_of(const struct lowered_unit *u, enum data_part part)
{
    return part == DATA_EXPERTS ? u->experts : u->held;
}

static uint32_t *gather_of(struct lowered_unit *u, enum data_part part)
{
    return part == DATA_EXPERTS ? &u->last_expert_gather : &u->last_gather;
}

/* Of all units the nth that forwards need. Where each part is on two ranks, both begin with that
 * nearer to an end. */
static struct lowered_unit *nth_needed(struct stage *s, uint32_t nth)
{
    const struct units *units = &s->units;
    const bool far = s->l->c->layout.schedule->placement == PLACED_BOTH_WAYS &&
                     2 * s->stage >= s->l->shape.stages;
    return &units->rows[far ? (nth + units->chunk_first[1]) % units->count : nth];
}

/* Parameters that were updated in the step before arrive bucket by bucket beside the first forward:
 * the steady state of overlapped gathers. */
static void begin_gathers(struct stage *s, enum data_part part)
{
    const uint32_t count = s->units.count;
    uint32_t waiting = 0;
    if (lower_traffic_replicas(s->l, part) == 1)
        return;
    for (uint32_t i = 0; i < count; i++) {
        double elements = 0.0;
        unsigned full =
            lower_traffic_fill(&s->traffic, part, part_of(nth_needed(s, i), part), &elements);
        uint32_t gather = OP_NONE;
        for (unsigned k = 0; k < full; k++)
            gather = gather_bucket(s, part, elements);
        if (i + 1 == count && s->traffic.bucket[part] > 0.0)
            gather = gather_bucket(s, part, lower_traffic_rest(&s->traffic, part));
        /* A unit whose end lies in the open bucket waits for the bucket that closes next. */
        for (; gather != OP_NONE && waiting < i; waiting++)
            *gather_of(nth_needed(s, waiting), part) = gather;
        if (gather != OP_NONE && s->traffic.bucket[part] == 0.0) {
            *gather_of(nth_needed(s, i), part) = gather;
            waiting = i + 1;
        }
    }
}

void lower_data_begin(struct stage *s)
{
    const struct data_plan *plan = &s->l->data;
    const bool overlaps = s->l->c->software.overlap_parameters;
    for (int part = 0; part < DATA_PART_COUNT && overlaps; part++)
        if (plan->sharding->gather == GATHER_AFTER_UPDATE)
            begin_gathers(s, (enum data_part)part);
}

static void gather(struct stage *s, struct group_of_units *g, uint32_t ahead)
{
    if (g->tensor != TENSOR_NONE || g->arriving != TENSOR_NONE)
        return;
    const bool layers = s->units.rows[g->first].layer != UINT16_MAX;
    const uint64_t asked = s->l->c->software.gather_parts, parts = layers && asked > 1 ? asked : 1;
    const double bytes = (g->gathered_bytes - g->expert_bytes) / (double)parts;
    const uint32_t after = lower_traffic_gather_after(&s->traffic, ahead);
    for (uint64_t i = 0; i < parts; i++) {
        g->gather =
            lower_ops_transfer(&s->ops, STREAM_GATHER, (struct transfer){COMM_ALL_GATHER, bytes},
                               PHASE_PARAMETERS, "gather weights", after);
        g->gather = lower_ops_copy(&s->ops, (struct transfer){COMM_ALL_GATHER, bytes},
                                   PHASE_PARAMETERS, g->gather);
    }
    if (g->expert_bytes > 0.0 && s->l->data.sharded.experts > 1)
        g->expert_gather = lower_ops_transfer(&s->ops, STREAM_EP_GATHER,
                                              (struct transfer){COMM_ALL_GATHER, g->expert_bytes},
                                              PHASE_PARAMETERS, "gather expert weights", after);
    if (s->l->data.buffers)
        lower_memory_arriving(s, g);
    else
        lower_memory_gather(s, g);
}

/* The compute stream copies the tensors of a unit out of what was gathered, before it uses them
 * (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_all_gather_copy_out). */
static void copy_out(struct stage *s, struct group_of_units *g)
{
    if (g->arriving == TENSOR_NONE)
        return;
    const double bytes = 2.0 * g->gathered_bytes;
    const struct kernel kernel = gpu_kernel_memory("copy gathered weights", bytes, 1.0);
    lower_ops_kernel(&s->ops, &kernel, PHASE_PARAMETERS, 0.0);
    lower_memory_arrived(s, g);
}

/* ... and the gradients of a unit into what is reduced (foreach_reduce). */
static void copy_in(struct stage *s, const struct group_of_units *g)
{
    if (!s->l->data.buffers || !(g->held > 0.0))
        return;
    const double bytes = (g->held + g->experts) *
                         (s->l->c->training.precision->gradient_bytes + s->l->data.wire_bytes);
    const struct kernel kernel = gpu_kernel_memory("copy gradients", bytes, 1.0);
    lower_ops_kernel(&s->ops, &kernel, PHASE_GRADIENTS, 0.0);
}

/* This group, and those that are fetched ahead of their turn in this pass. */
static void gather_ahead(struct stage *s, const struct pass *pass, uint32_t group)
{
    bool forward = pass_is_forward(pass);
    uint32_t low = s->units.chunk_group[pass->chunk], high = s->units.chunk_group[pass->chunk + 1];
    uint32_t ahead = lower_plan_prefetch(s->l);
    for (uint32_t k = 0; k <= ahead; k++) {
        bool inside = forward ? group + k < high : group >= low + k;
        if (!inside)
            break;
        gather(s, &s->units.groups[forward ? group + k : group - k], k);
    }
    lower_ops_wait(&s->ops, s->units.groups[group].gather);
    lower_ops_wait(&s->ops, s->units.groups[group].expert_gather);
    copy_out(s, &s->units.groups[group]);
    CHECK(s->units.groups[group].tensor != TENSOR_NONE); /* 1 */
}

/* Is any unit's gather still to be waited for? Each chunk's first forward waits for its own. */
static bool gathers_left(const struct stage *s)
{
    for (uint32_t i = 0; i < s->units.count; i++)
        if ((s->units.rows[i].last_gather != OP_NONE ||
             s->units.rows[i].last_expert_gather != OP_NONE) &&
            lower_traffic_first_forward(&s->traffic, s->units.rows[i].chunk))
            return true;
    return false;
}

/* Has a chunk not had its first forward yet, which gathers what stays? */
static bool forwards_to_come(const struct stage *s)
{
    for (uint32_t chunk = 0; chunk < s->l->chunks; chunk++)
        if (lower_traffic_first_forward(&s->traffic, chunk))
            return true;
    return false;
}

/* Compute that may meet data-parallel traffic: everything once gathers and scatters run all the
 * time, else the first forwards after the update and what follows the first reduction. */
static void mark_sensitive(struct stage *s)
{
    const struct lowering *l = s->l;
    bool meets = (l->data.gathers && !l->data.keeps) || l->data.scatters ||
                 s->traffic.scatter_last[DATA_ALL] != OP_NONE ||
                 s->traffic.scatter_last[DATA_EXPERTS] != OP_NONE ||
                 (l->data.keeps && forwards_to_come(s));
    bool sensitive = l->c->software.interference_ratio > 0.0 && (meets || gathers_left(s));
    lower_labels_flags(&s->labels, sensitive ? OP_SENSITIVE : 0);
}

/* Does this pass make the last gradients of its chunk's weights? */
static bool is_last_backward(const struct stage *s, const struct pass *pass)
{
    return pass_ends_microbatch(pass) && lower_traffic_last_backward(&s->traffic, pass->chunk);
}

bool lower_data_quiet(const struct stage *s, const struct pass *pass)
{
    const struct data_plan *plan = &s->l->data;
    if (plan->scatters || (plan->gathers && (!plan->keeps || forwards_to_come(s))))
        return false;
    if (pass_is_forward(pass))
        return !lower_traffic_first_forward(&s->traffic, pass->chunk);
    return plan->replicas == 1 || !is_last_backward(s, pass);
}

void lower_data_quiet_begin(struct stage *s)
{
    mark_sensitive(s);
}

void lower_data_unit_begin(struct stage *s, const struct pass *pass, uint32_t unit)
{
    struct lowered_unit *u = &s->units.rows[unit];
    bool forward = pass_is_forward(pass);
    mark_sensitive(s);
    if (forward && lower_traffic_first_forward(&s->traffic, pass->chunk)) {
        lower_ops_wait(&s->ops, u->last_gather);
        lower_ops_wait(&s->ops, u->last_expert_gather);
    }
    if (s->l->data.gathers && lower_units_at_edge(&s->units, unit, forward, true))
        gather_ahead(s, pass, u->group);
}

/* Without overlap whatever comes next waits for the reductions before it. */
static void wait_for_reductions(struct stage *s)
{
    if (!s->l->c->software.overlap_gradients)
        lower_traffic_wait(&s->traffic, &s->ops);
}

void lower_data_pass_end(struct stage *s, const struct pass *pass)
{
    lower_traffic_pass_end(&s->traffic, pass);
    if (!pass_is_forward(pass) && s->l->data.scatters)
        wait_for_reductions(s);
}

/* FSDP2 keeps its root's weights, and torchtitan those of the last layer, which the backward pass
 * would gather at once (torchtitan parallelize_llama.py, apply_fsdp). */
static bool drops_after_forward(const struct stage *s, const struct pass *pass,
                                const struct group_of_units *g)
{
    const struct units *units = &s->units;
    const uint32_t end = units->chunk_first[pass->chunk + 1];
    uint32_t last = end - 1;
    while (last > 0 && units->rows[last].layer == UINT16_MAX)
        last--;
    const bool stays = units->rows[g->first].layer == UINT16_MAX ||
                       units->rows[last].group == units->rows[g->first].group;
    return s->l->data.reshards && !(s->l->data.buffers && stays);
}

static void end_group(struct stage *s, const struct pass *pass, struct group_of_units *g)
{
    bool forward = pass_is_forward(pass);
    bool last = g == &s->units.groups[s->units.chunk_group[pass->chunk]];
    if (!forward && s->l->data.scatters) {
        copy_in(s, g);
        if (g->held > 0.0)
            lower_traffic_reduce(&s->traffic, &s->ops, DATA_ALL, g->held);
        if (g->experts > 0.0)
            lower_traffic_reduce(&s->traffic, &s->ops, DATA_EXPERTS, g->experts);
        lower_memory_scattered(s, g, s->l->c->software.overlap_gradients && !last);
        wait_for_reductions(s);
    }
    if (s->l->data.gathers) {
        lower_traffic_computed(&s->traffic, s->ops.pending.last);
        const bool over = !s->l->data.keeps || is_last_backward(s, pass);
        if (forward ? drops_after_forward(s, pass, g) : over)
            lower_memory_drop(s, g);
    }
}

void lower_data_unit_gradient(struct stage *s, uint32_t unit)
{
    struct lowered_unit *u = &s->units.rows[unit];
    lower_late_gradient(&s->late, u);
    if (!s->l->data.scatters)
        lower_memory_unit_gradient(s, u);
    else if (lower_units_at_edge(&s->units, unit, false, true))
        lower_memory_scratch(s, &s->units.groups[u->group]);
}

void lower_data_unit_end(struct stage *s, const struct pass *pass, uint32_t unit)
{
    struct lowered_unit *u = &s->units.rows[unit];
    bool forward = pass_is_forward(pass);
    if (lower_units_at_edge(&s->units, unit, forward, false))
        end_group(s, pass, &s->units.groups[u->group]);
    const struct lowering *l = s->l;
    const bool leaves = !forward && is_last_backward(s, pass) && !l->data.scatters &&
                        l->c->software.overlap_gradients;
    for (int part = 0; part < DATA_PART_COUNT && leaves; part++) {
        double elements = 0.0;
        if (lower_traffic_replicas(l, (enum data_part)part) == 1)
            continue;
        unsigned full = lower_traffic_fill(&s->traffic, (enum data_part)part,
                                           part_of(u, (enum data_part)part), &elements);
        for (unsigned k = 0; k < full; k++)
            lower_traffic_reduce(&s->traffic, &s->ops, (enum data_part)part, elements);
    }
}

static double elements_of(const struct stage *s, enum data_part part)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < s->units.count; i++)
        sum += ceil(part_of(&s->units.rows[i], part));
    return sum;
}

/* What has not left during the backward. */
static void reduce_rest(struct stage *s)
{
    const struct lowering *l = s->l;
    for (int i = 0; i < DATA_PART_COUNT && !l->data.scatters; i++) {
        const enum data_part part = (enum data_part)i;
        const double open = lower_traffic_rest(&s->traffic, part);
        const double rest = l->c->software.overlap_gradients ? open : elements_of(s, part);
        if (rest > 0.0 && lower_traffic_replicas(l, part) > 1)
            lower_traffic_reduce(&s->traffic, &s->ops, part, rest);
    }
    lower_traffic_wait(&s->traffic, &s->ops);
    bool end = s->stage == 0 || s->stage + 1 == l->shape.stages;
    if (l->data.tied_across && end && !l->data.adapters) {
        uint32_t ready = lower_ops_result(&s->ops);
        double elements = l->vocabulary_shard /
                          (l->data.sharding->shards_gradients ? (double)l->data.shards : 1.0);
        uint32_t op =
            lower_ops_transfer(&s->ops, STREAM_EMBED,
                               (struct transfer){COMM_ALL_REDUCE, elements * l->data.kept_bytes},
                               PHASE_GRADIENTS, "reduce tied embedding", ready);
        lower_ops_wait(&s->ops, op);
    }
}

/* The gradient norm: one read of the gradients that this rank answers for, then four bytes over
 * every rank that holds a part of the model. */
static void clip(struct stage *s, double elements)
{
    if (!s->l->c->software.clip_gradients)
        return;
    struct kernel norm = gpu_kernel_memory("gradient norm", elements * s->l->data.kept_bytes, 1.0);
    uint32_t op = lower_ops_kernel(&s->ops, &norm, PHASE_OPTIMIZER, 0.0);
    if (s->l->data.has_world && !s->l->c->layout.schedule->steps_alone) {
        op = lower_ops_transfer(&s->ops, STREAM_WORLD, (struct transfer){COMM_ALL_REDUCE, 4.0},
                                PHASE_OPTIMIZER, "reduce gradient norm", op);
        lower_ops_wait(&s->ops, op);
    }
}

void lower_data_step_end(struct stage *s)
{
    const struct lowering *l = s->l;
    lower_labels_none(&s->labels);
    reduce_rest(s);
    CHECK(s->traffic.bucket[DATA_ALL] == 0.0 && s->traffic.bucket[DATA_EXPERTS] == 0.0); /* 2 */
    double elements =
        lower_units_elements(&s->units, lower_plan_counts(l, l->data.sharding->shards_optimizer));
    bool gathers = l->data.sharding->gather == GATHER_AFTER_UPDATE && l->data.replicas > 1 &&
                   !l->c->software.overlap_parameters;
    clip(s, elements);
    lower_update_orthogonal(s);
    lower_update_offloaded(s, elements);
    lower_labels_flags(&s->labels, l->c->software.host_sync_loss && !gathers ? OP_HOST_SYNC : 0);
    lower_update(s, elements);
    if (gathers) {
        double bytes = elements_of(s, DATA_ALL) * lower_units_weight_bytes(&s->units, false);
        const double expert_bytes =
            elements_of(s, DATA_EXPERTS) * lower_units_weight_bytes(&s->units, true);
        if (expert_bytes > 0.0 && l->data.expert_replicas > 1)
            lower_ops_transfer(&s->ops, STREAM_EP_DATA,
                               (struct transfer){COMM_ALL_GATHER, expert_bytes}, PHASE_PARAMETERS,
                               "gather expert parameters", s->ops.pending.last);
        uint32_t op =
            lower_ops_transfer(&s->ops, STREAM_DP, (struct transfer){COMM_ALL_GATHER, bytes},
                               PHASE_PARAMETERS, "gather parameters", s->ops.pending.last);
        lower_ops_copy(&s->ops, (struct transfer){COMM_ALL_GATHER, bytes}, PHASE_PARAMETERS, op);
    }
}
