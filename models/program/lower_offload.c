/* lower_offload.c - activations that wait on the host between forward and backward.
 *
 * Out: when a layer's forward has been computed its tensors are copied to the host, one layer
 * behind the other; no layer begins before the copy of the one two before it is through, whose
 * memory is free from then on. Back: when the backward of a layer begins, the tensors of the next
 * one to be computed (of the same pass, or the last layer of the next backward pass, once it is on
 * the host) get memory and are copied back; a layer waits for its own. So two layers have memory on
 * either way beside those that stay: the one that is computed and the one that is copied.
 * The last layer stays where its backward comes at once. Both streams, the copy one ahead, the
 * first layers of each chunk and the last that stays: NVIDIA/Megatron-LM
 * megatron/core/pipeline_parallel/fine_grained_activation_offload.py; the wait of compute: its
 * max_inflight_offloads, and NVIDIA/TransformerEngine transformer_engine/pytorch/cpu_offload.py.
 *
 * Invariants
 * 1. A unit of a microbatch goes out at most once, and what went out comes back once.
 * 2. One copy out at most is under way whose end no layer has waited for, but for the newest.
 * 3. At the end of a step nothing is on the host. */
#include "models/program/lower_parts.h"
#include "sim/check.h"

static size_t slot(const struct stage *s, uint32_t unit, uint16_t microbatch)
{
    CHECK(unit < s->units.count && microbatch < s->l->shape.microbatches);
    return (size_t)unit * s->l->shape.microbatches + microbatch;
}

void lower_offload_begin(struct stage *s, const struct pass *passes, uint32_t count)
{
    const size_t slots = (size_t)s->units.count * s->l->shape.microbatches;
    s->offload = (struct offload){.passes = passes, .pass_count = count};
    if (!s->l->offloads)
        return;
    s->offload.out = ARENA_ARRAY(s->l->arena, uint32_t, slots);
    s->offload.back = ARENA_ARRAY(s->l->arena, uint32_t, slots);
}

static void entry(struct stage *s, enum ledger_action action, uint32_t number, double bytes,
                  const char *name)
{
    lower_tensors_entry(&s->tensors, action,
                        (struct tensor){TENANT_ACTIVATIONS, number, bytes, name, 0},
                        action == LEDGER_ALLOCATE ? "reload from host" : "offload to host");
}

static void kept_tensors(struct stage *s, const struct lowered_unit *u, enum ledger_action action)
{
    const struct layer *layer = u->block->layer;
    if (u->block->full_recompute) {
        entry(s, action, lower_tensors_input(&s->tensors, u), layer->input_bytes, "layer input");
        return;
    }
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *g = &layer->segments[i];
        const uint32_t first = lower_tensors_segment(&s->tensors, u, i);
        for (unsigned k = 0; k < g->saved_count; k++)
            if (!lower_block_drops(s->l->c->layout.recompute, g, k))
                entry(s, action, first + k, g->saved[k].bytes, g->saved[k].name);
    }
}

/* What a unit keeps of a microbatch gets memory of the card, or gives it up. */
static void memory(struct stage *s, uint32_t unit, uint16_t microbatch, enum ledger_action action)
{
    const struct labels labels = s->labels;
    if (s->l->timed)
        return;
    s->labels.microbatch = microbatch;
    s->labels.layer = s->units.rows[unit].layer;
    kept_tensors(s, &s->units.rows[unit], action);
    s->labels = labels;
}

static void free_leaving(struct stage *s, struct leaving *leaving)
{
    if (leaving->op != OP_NONE)
        memory(s, leaving->unit, leaving->microbatch, LEDGER_FREE);
    leaving->op = OP_NONE;
}

/* The next compute waits for the older of two copies out. */
static void turn(struct stage *s)
{
    struct offload *o = &s->offload;
    lower_ops_wait(&s->ops, o->older.op);
    free_leaving(s, &o->older);
    o->older = o->newest;
    o->newest.op = OP_NONE;
}

static struct host_copy copy_of(const struct stage *s, const struct lowered_unit *u, bool out)
{
    const struct activation_rates rates = configuration_activation_rates(s->l->c);
    return (struct host_copy){
        .stream = out ? STREAM_TO_HOST : STREAM_FROM_HOST,
        .phase = out ? PHASE_FORWARD : PHASE_BACKWARD,
        .name = out ? "offload activations" : "reload activations",
        .bytes = lower_memory_kept_bytes(u),
        .bytes_per_s = out ? rates.out_bytes_per_s : rates.back_bytes_per_s,
        .copies = u->block->kept_count,
    };
}

static bool is_leaving(const struct leaving *leaving, uint32_t unit, uint16_t microbatch)
{
    return leaving->op != OP_NONE && leaving->unit == unit && leaving->microbatch == microbatch;
}

static void bring_back(struct stage *s, uint32_t unit, uint16_t microbatch)
{
    struct offload *o = &s->offload;
    const size_t at = slot(s, unit, microbatch);
    const struct lowered_unit *u = &s->units.rows[unit];
    const struct labels labels = s->labels;
    if (o->out[at] == OP_NONE)
        return;
    if (is_leaving(&o->older, unit, microbatch))
        free_leaving(s, &o->older);
    if (is_leaving(&o->newest, unit, microbatch))
        free_leaving(s, &o->newest);
    const struct host_copy copy = copy_of(s, u, false);
    s->labels.microbatch = microbatch;
    s->labels.layer = u->layer;
    CHECK(o->back[at] == OP_NONE); /* 1 */
    o->back[at] = lower_ops_host_copy(&s->ops, &copy, s->ops.pending.last, o->out[at]);
    s->labels = labels;
    o->out[at] = OP_NONE;
    memory(s, unit, microbatch, LEDGER_ALLOCATE);
}

/* Layers of which the backward of this unit needs something: those that are computed again with it,
 * or itself. */
static uint32_t needed(const struct stage *s, uint32_t unit)
{
    const uint32_t again = s->units.rows[unit].again;
    return again > 1 ? again : 1;
}

static void bring_needed(struct stage *s, uint32_t unit, uint16_t microbatch)
{
    for (uint32_t k = 0; k < needed(s, unit); k++)
        bring_back(s, unit - k, microbatch);
}

static void wait_needed(struct stage *s, uint32_t unit, uint16_t microbatch)
{
    for (uint32_t k = 0; k < needed(s, unit); k++) {
        uint32_t *back = &s->offload.back[slot(s, unit - k, microbatch)];
        if (*back != OP_NONE)
            s->offload.bytes -= lower_memory_kept_bytes(&s->units.rows[unit - k]);
        lower_ops_wait(&s->ops, *back);
        *back = OP_NONE;
    }
}

static bool is_layer(const struct stage *s, uint32_t unit)
{
    return s->units.rows[unit].layer != UINT16_MAX;
}

static bool needs_activations(const struct pass *pass)
{
    return pass->kind == PASS_BACKWARD || pass->kind == PASS_BACKWARD_INPUT;
}

/* The unit whose backward comes behind that of this one. */
static void bring_next(struct stage *s, const struct pass *pass, uint32_t unit)
{
    const struct pass *end = s->offload.passes + s->offload.pass_count, *next = pass + 1;
    if (unit > s->units.chunk_first[pass->chunk] && is_layer(s, unit - 1)) {
        bring_needed(s, unit - 1, pass->microbatch);
        return;
    }
    while (next < end && !needs_activations(next))
        next++;
    if (next < end && s->units.chunk_first[next->chunk] < s->units.chunk_first[next->chunk + 1]) {
        const uint32_t last = s->units.chunk_first[next->chunk + 1] - 1;
        if (is_layer(s, last))
            bring_needed(s, last, next->microbatch);
    }
}

void lower_offload_unit_begin(struct stage *s, const struct pass *pass, uint32_t unit)
{
    if (!s->l->offloads || pass->kind == PASS_WEIGHTS)
        return;
    const bool forward = pass_is_forward(pass);
    if (is_layer(s, unit) && (forward || !s->offload.paired))
        turn(s);
    if (forward)
        return;
    bring_needed(s, unit, pass->microbatch);
    wait_needed(s, unit, pass->microbatch);
    bring_next(s, pass, unit);
}

/* Is the unit among what the first layer of the backward needs, and does that come at once? */
static bool comes_at_once(const struct stage *s, const struct pass *pass, uint32_t unit)
{
    const struct pass *end = s->offload.passes + s->offload.pass_count, *next = pass + 1;
    uint32_t last = s->units.chunk_first[pass->chunk + 1] - 1;
    last -= is_layer(s, last) ? 0 : 1;
    return next < end && needs_activations(next) && next->chunk == pass->chunk &&
           next->microbatch == pass->microbatch && unit + needed(s, last) > last;
}

void lower_offload_unit_end(struct stage *s, const struct pass *pass, uint32_t unit)
{
    const struct lowered_unit *u = &s->units.rows[unit];
    struct offload *o = &s->offload;
    const double bytes = s->l->offloads && u->leaves ? lower_memory_kept_bytes(u) : 0.0;
    if (!pass_is_forward(pass) || !(bytes > 0.0) || comes_at_once(s, pass, unit))
        return;
    const size_t at = slot(s, unit, pass->microbatch);
    CHECK(o->out[at] == OP_NONE && o->back[at] == OP_NONE); /* 1 */
    CHECK(o->newest.op == OP_NONE);                         /* 2 */
    const struct host_copy copy = copy_of(s, u, true);
    o->out[at] = lower_ops_host_copy(&s->ops, &copy, s->ops.pending.last, OP_NONE);
    o->newest = (struct leaving){unit, o->out[at], pass->microbatch};
    o->bytes += bytes;
    o->most_bytes = o->bytes > o->most_bytes ? o->bytes : o->most_bytes;
}

void lower_offload_end(struct stage *s)
{
    CHECK(s->offload.older.op == OP_NONE && s->offload.newest.op == OP_NONE);
    for (size_t i = 0; s->l->offloads && i < (size_t)s->units.count * s->l->shape.microbatches; i++)
        CHECK(s->offload.out[i] == OP_NONE && s->offload.back[i] == OP_NONE); /* 3 */
}

double lower_offload_host_bytes(const struct stage *s)
{
    const bool there = s->l->c->layout.activation_offload_to == OFFLOAD_CPU;
    return there ? s->offload.most_bytes : 0.0;
}
