/* lower_data.c - data parallelism: which gradients and weights are sent when, and the update.
 *
 * Invariants
 * 1. A group of units is gathered at most once at a time; its compute waits for the gather.
 * 2. What has been reduced is waited for before the update, and every bucket has left by then. */
#include "models/lower/stage/lower_data.h"

#include <math.h>

#include "sim/check.h"

static uint32_t gather_bucket(struct data_parallel *d, enum data_part part, double elements)
{
    const double each = lower_units_sent_bytes(d->units, part == DATA_EXPERTS);
    const struct transfer gather = {COMM_ALL_GATHER, elements * each};
    if (part == DATA_EXPERTS)
        return lower_ops_transfer(d->ops, STREAM_EP_DATA, gather, PHASE_PARAMETERS,
                                  "gather expert parameters", OP_NONE);
    const uint32_t op = lower_ops_transfer(d->ops, STREAM_DP, gather, PHASE_PARAMETERS,
                                           "gather parameters", OP_NONE);
    return lower_ops_copy(d->ops, gather, PHASE_PARAMETERS, op);
}

static double part_of(const struct lowered_unit *u, enum data_part part)
{
    return part == DATA_EXPERTS ? u->experts : u->held;
}

/* Of all units the nth that forwards need. Where each part is on two ranks, both begin with that
 * nearer to an end. */
static uint32_t nth_needed(const struct data_parallel *d, uint32_t nth)
{
    const struct units *units = d->units;
    const bool far = d->l->c->layout.pipeline.schedule->placement == PLACED_BOTH_WAYS &&
                     2 * d->stage >= d->l->shape.stages;
    return far ? (nth + units->chunk_first[1]) % units->count : nth;
}

/* Parameters that were updated in the step before arrive bucket by bucket beside the first forward:
 * the steady state of overlapped gathers. */
static void begin_gathers(struct data_parallel *d, enum data_part part)
{
    const uint32_t count = d->units->count;
    uint32_t waiting = 0;
    if (d->l->data.groups[part].replicas == 1)
        return;
    for (uint32_t i = 0; i < count; i++) {
        double elements = 0.0;
        const struct lowered_unit *u = &d->units->rows[nth_needed(d, i)];
        unsigned full = lower_traffic_fill(&d->traffic, part, part_of(u, part), &elements);
        uint32_t gather = OP_NONE;
        for (unsigned k = 0; k < full; k++)
            gather = gather_bucket(d, part, elements);
        if (i + 1 == count && d->traffic.bucket[part] > 0.0)
            gather = gather_bucket(d, part, lower_traffic_rest(&d->traffic, part));
        /* A unit whose end lies in the open bucket waits for the bucket that closes next. */
        for (; gather != OP_NONE && waiting < i; waiting++)
            d->first_waits[part][nth_needed(d, waiting)] = gather;
        if (gather != OP_NONE && d->traffic.bucket[part] == 0.0) {
            d->first_waits[part][nth_needed(d, i)] = gather;
            waiting = i + 1;
        }
    }
}

void lower_data_begin(struct data_parallel *d, const struct lowering *l, const struct units *units,
                      const struct data_parts *parts)
{
    *d = (struct data_parallel){.l = l,
                                .units = units,
                                .labels = parts->labels,
                                .ops = parts->ops,
                                .late = parts->late,
                                .memory = parts->memory,
                                .stage = parts->stage};
    for (int part = 0; part < DATA_PART_COUNT; part++) {
        d->first_waits[part] = ARENA_ARRAY(l->arena, uint32_t, units->count);
        d->gathers[part] = ARENA_ARRAY(l->arena, uint32_t, units->group_count);
    }
    lower_traffic_begin(&d->traffic, l);
    for (int part = 0; part < DATA_PART_COUNT; part++)
        if (l->data.weights == WEIGHTS_BESIDE_FORWARD)
            begin_gathers(d, (enum data_part)part);
}

static void gather(struct data_parallel *d, uint32_t group, uint32_t ahead)
{
    const struct group_of_units *g = &d->units->groups[group];
    uint32_t *all = &d->gathers[DATA_ALL][group];
    if (lower_memory_is_gathered(d->memory, group) || lower_memory_is_arriving(d->memory, group))
        return;
    const bool layers = d->units->rows[g->first].layer != UINT16_MAX;
    const uint64_t asked = d->l->c->software.shards.gather_parts,
                   parts = layers && asked > 1 ? asked : 1;
    const double bytes = (g->gathered_bytes - g->expert_bytes) / (double)parts;
    const uint32_t after = lower_traffic_gather_after(&d->traffic, ahead);
    for (uint64_t i = 0; i < parts; i++) {
        const struct transfer part = {COMM_ALL_GATHER, bytes};
        *all = lower_ops_transfer(d->ops, STREAM_GATHER, part, PHASE_PARAMETERS, "gather weights",
                                  after);
        *all = lower_ops_copy(d->ops, part, PHASE_PARAMETERS, *all);
    }
    if (g->expert_bytes > 0.0 && d->l->data.sharded.experts > 1)
        d->gathers[DATA_EXPERTS][group] = lower_ops_transfer(
            d->ops, STREAM_EP_GATHER, (struct transfer){COMM_ALL_GATHER, g->expert_bytes},
            PHASE_PARAMETERS, "gather expert weights", after);
    if (d->l->data.buffers)
        lower_memory_arriving(d->memory, group);
    else
        lower_memory_gather(d->memory, group);
}

/* The compute stream copies the tensors of a unit out of what was gathered, before it uses them
 * (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_all_gather_copy_out). */
static void copy_out(struct data_parallel *d, uint32_t group)
{
    if (!lower_memory_is_arriving(d->memory, group))
        return;
    const double bytes = 2.0 * d->units->groups[group].gathered_bytes;
    const struct kernel kernel = gpu_kernel_memory("copy gathered weights", bytes, 1.0);
    lower_ops_kernel(d->ops, &kernel, PHASE_PARAMETERS, 0.0);
    lower_memory_arrived(d->memory, group);
}

/* ... and the gradients of a unit into what is reduced (foreach_reduce). */
static void copy_in(struct data_parallel *d, const struct group_of_units *g)
{
    if (!d->l->data.buffers || !(g->held > 0.0))
        return;
    const double bytes = (g->held + g->experts) *
                         (d->l->c->training.precision->gradient_bytes + d->l->data.wire_bytes);
    const struct kernel kernel = gpu_kernel_memory("copy gradients", bytes, 1.0);
    lower_ops_kernel(d->ops, &kernel, PHASE_GRADIENTS, 0.0);
}

/* This group, and those that are fetched ahead of their turn in this pass. */
static void gather_ahead(struct data_parallel *d, const struct pass *pass, uint32_t group)
{
    bool forward = pass_is_forward(pass);
    uint32_t low = d->units->chunk_group[pass->chunk],
             high = d->units->chunk_group[pass->chunk + 1];
    uint32_t ahead = d->l->prefetch;
    for (uint32_t k = 0; k <= ahead; k++) {
        bool inside = forward ? group + k < high : group >= low + k;
        if (!inside)
            break;
        gather(d, forward ? group + k : group - k, k);
    }
    lower_ops_wait(d->ops, d->gathers[DATA_ALL][group]);
    lower_ops_wait(d->ops, d->gathers[DATA_EXPERTS][group]);
    copy_out(d, group);
    CHECK(lower_memory_is_gathered(d->memory, group)); /* 1 */
}

/* Is any unit's gather still to be waited for? Each chunk's first forward waits for its own. */
static bool gathers_left(const struct data_parallel *d)
{
    for (uint32_t i = 0; i < d->units->count; i++)
        if ((d->first_waits[DATA_ALL][i] != OP_NONE ||
             d->first_waits[DATA_EXPERTS][i] != OP_NONE) &&
            lower_traffic_first_forward(&d->traffic, d->units->rows[i].chunk))
            return true;
    return false;
}

/* Has a chunk not had its first forward yet, which gathers what stays? */
static bool forwards_to_come(const struct data_parallel *d)
{
    for (uint32_t chunk = 0; chunk < d->l->chunks; chunk++)
        if (lower_traffic_first_forward(&d->traffic, chunk))
            return true;
    return false;
}

/* Compute that may meet data-parallel traffic: everything once gathers and scatters run all the
 * time, else the first forwards after the update and what follows the first reduction. */
static void mark_sensitive(struct data_parallel *d)
{
    const struct lowering *l = d->l;
    bool meets = lower_data_plan_gathers_anew(&l->data) || lower_data_plan_scatters(&l->data) ||
                 d->traffic.scatter_last[DATA_ALL] != OP_NONE ||
                 d->traffic.scatter_last[DATA_EXPERTS] != OP_NONE ||
                 (l->data.weights == WEIGHTS_ONCE_A_STEP && forwards_to_come(d));
    bool sensitive = l->c->software.data.interference_ratio > 0.0 && (meets || gathers_left(d));
    lower_labels_flags(d->labels, sensitive ? OP_SENSITIVE : 0);
}

/* Does this pass make the last gradients of its chunk's weights? */
static bool is_last_backward(const struct data_parallel *d, const struct pass *pass)
{
    return pass_ends_microbatch(pass) && lower_traffic_last_backward(&d->traffic, pass->chunk);
}

bool lower_data_quiet(const struct data_parallel *d, const struct pass *pass)
{
    const struct data_plan *plan = &d->l->data;
    if (lower_data_plan_scatters(plan) || lower_data_plan_gathers_anew(plan) ||
        (plan->weights == WEIGHTS_ONCE_A_STEP && forwards_to_come(d)))
        return false;
    if (pass_is_forward(pass))
        return !lower_traffic_first_forward(&d->traffic, pass->chunk);
    return plan->groups[DATA_ALL].replicas == 1 || !is_last_backward(d, pass);
}

void lower_data_quiet_begin(struct data_parallel *d)
{
    mark_sensitive(d);
}

void lower_data_unit_begin(struct data_parallel *d, const struct pass *pass, uint32_t unit)
{
    const struct lowered_unit *u = &d->units->rows[unit];
    bool forward = pass_is_forward(pass);
    mark_sensitive(d);
    if (forward && lower_traffic_first_forward(&d->traffic, pass->chunk)) {
        lower_ops_wait(d->ops, d->first_waits[DATA_ALL][unit]);
        lower_ops_wait(d->ops, d->first_waits[DATA_EXPERTS][unit]);
    }
    if (lower_data_plan_gathers(&d->l->data) && lower_units_at_edge(d->units, unit, forward, true))
        gather_ahead(d, pass, u->group);
}

/* Without overlap whatever comes next waits for the reductions before it. */
static void wait_for_reductions(struct data_parallel *d)
{
    if (d->l->data.gradients == GRADIENTS_EACH_BACKWARD_WAITED)
        lower_traffic_wait(&d->traffic, d->ops);
}

void lower_data_pass_end(struct data_parallel *d, const struct pass *pass)
{
    lower_traffic_pass_end(&d->traffic, pass);
    if (!pass_is_forward(pass) && lower_data_plan_scatters(&d->l->data))
        wait_for_reductions(d);
}

/* FSDP2 keeps its root's weights, and torchtitan those of the last layer, which the backward pass
 * would gather at once (torchtitan parallelize_llama.py, apply_fsdp). */
static bool drops_after_forward(const struct data_parallel *d, const struct pass *pass,
                                const struct group_of_units *g)
{
    const struct units *units = d->units;
    const uint32_t end = units->chunk_first[pass->chunk + 1];
    uint32_t last = end - 1;
    while (last > 0 && units->rows[last].layer == UINT16_MAX)
        last--;
    const bool stays = units->rows[g->first].layer == UINT16_MAX ||
                       units->rows[last].group == units->rows[g->first].group;
    return d->l->data.weights == WEIGHTS_EACH_PASS && !(d->l->data.buffers && stays);
}

static void end_group(struct data_parallel *d, const struct pass *pass, uint32_t group)
{
    const struct group_of_units *g = &d->units->groups[group];
    bool forward = pass_is_forward(pass);
    bool last = group == d->units->chunk_group[pass->chunk];
    if (!forward && lower_data_plan_scatters(&d->l->data)) {
        copy_in(d, g);
        if (g->held > 0.0)
            lower_traffic_reduce(&d->traffic, d->ops, DATA_ALL, g->held);
        if (g->experts > 0.0)
            lower_traffic_reduce(&d->traffic, d->ops, DATA_EXPERTS, g->experts);
        lower_memory_scattered(d->memory, group,
                               d->l->data.gradients == GRADIENTS_EACH_BACKWARD && !last);
        wait_for_reductions(d);
    }
    if (lower_data_plan_gathers(&d->l->data)) {
        lower_traffic_computed(&d->traffic, d->ops->pending.last);
        const bool over = d->l->data.weights != WEIGHTS_ONCE_A_STEP || is_last_backward(d, pass);
        if (forward ? drops_after_forward(d, pass, g) : over)
            lower_memory_drop(d->memory, group);
    }
}

void lower_data_unit_gradient(struct data_parallel *d, uint32_t unit)
{
    const struct lowered_unit *u = &d->units->rows[unit];
    lower_late_gradient(d->late, u);
    if (!lower_data_plan_scatters(&d->l->data))
        lower_memory_unit_gradient(d->memory, unit);
    else if (lower_units_at_edge(d->units, unit, false, true))
        lower_memory_unsharded(d->memory, u->group);
}

void lower_data_unit_end(struct data_parallel *d, const struct pass *pass, uint32_t unit)
{
    const struct lowered_unit *u = &d->units->rows[unit];
    bool forward = pass_is_forward(pass);
    if (lower_units_at_edge(d->units, unit, forward, false))
        end_group(d, pass, u->group);
    const struct lowering *l = d->l;
    const bool leaves =
        !forward && is_last_backward(d, pass) && l->data.gradients == GRADIENTS_IN_LAST_BACKWARD;
    for (int part = 0; part < DATA_PART_COUNT && leaves; part++) {
        double elements = 0.0;
        if (l->data.groups[part].replicas == 1)
            continue;
        unsigned full = lower_traffic_fill(&d->traffic, (enum data_part)part,
                                           part_of(u, (enum data_part)part), &elements);
        for (unsigned k = 0; k < full; k++)
            lower_traffic_reduce(&d->traffic, d->ops, (enum data_part)part, elements);
    }
}

static double elements_of(const struct data_parallel *d, enum data_part part)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < d->units->count; i++)
        sum += ceil(part_of(&d->units->rows[i], part));
    return sum;
}

/* What has not left during the backward. */
void lower_data_reduce_rest(struct data_parallel *d)
{
    const struct lowering *l = d->l;
    for (int i = 0; i < DATA_PART_COUNT && !lower_data_plan_scatters(&l->data); i++) {
        const enum data_part part = (enum data_part)i;
        const double open = lower_traffic_rest(&d->traffic, part);
        const double rest =
            l->data.gradients == GRADIENTS_IN_LAST_BACKWARD ? open : elements_of(d, part);
        if (rest > 0.0 && l->data.groups[part].replicas > 1)
            lower_traffic_reduce(&d->traffic, d->ops, part, rest);
    }
    lower_traffic_wait(&d->traffic, d->ops);
    CHECK(d->traffic.bucket[DATA_ALL] == 0.0 && d->traffic.bucket[DATA_EXPERTS] == 0.0); /* 2 */
    bool end = d->stage == 0 || d->stage + 1 == l->shape.stages;
    if (l->data.tied_across && end && !l->data.adapters) {
        uint32_t ready = lower_ops_result(d->ops);
        double elements = l->vocabulary_shard /
                          (l->data.sharding->shards_gradients ? (double)l->data.sharded.all : 1.0);
        uint32_t op = lower_ops_transfer(
            d->ops, STREAM_EMBED, (struct transfer){COMM_ALL_REDUCE, elements * l->data.kept_bytes},
            PHASE_GRADIENTS, "reduce tied embedding", ready);
        lower_ops_wait(d->ops, op);
    }
}

void lower_data_gather_updated(struct data_parallel *d)
{
    const double bytes = elements_of(d, DATA_ALL) * lower_units_sent_bytes(d->units, false);
    const double expert_bytes =
        elements_of(d, DATA_EXPERTS) * lower_units_sent_bytes(d->units, true);
    const struct transfer all = {COMM_ALL_GATHER, bytes};
    if (d->l->data.weights != WEIGHTS_AFTER_UPDATE)
        return;
    if (expert_bytes > 0.0 && d->l->data.groups[DATA_EXPERTS].replicas > 1)
        lower_ops_transfer(d->ops, STREAM_EP_DATA, (struct transfer){COMM_ALL_GATHER, expert_bytes},
                           PHASE_PARAMETERS, "gather expert parameters", d->ops->pending.last);
    const uint32_t op = lower_ops_transfer(d->ops, STREAM_DP, all, PHASE_PARAMETERS,
                                           "gather parameters", d->ops->pending.last);
    lower_ops_copy(d->ops, all, PHASE_PARAMETERS, op);
}
