/* lower_offload.c - activations that wait on the host between forward and backward.
 *
 * Out: a layer's tensors are copied to the host after its forward, one layer after another; a
 * layer waits for the copy of the second layer before it, whose memory is then free. Back: when
 * the backward of a layer starts, the tensors of the next one get memory and are copied back. Two
 * layers have memory in either direction beside those that stay (docs/models/offload.md, with
 * sources).
 *
 * Invariants
 * 1. A unit of a microbatch goes out at most once, and what went out comes back once.
 * 2. One copy out at most is under way whose end no layer has waited for, but for the newest.
 * 3. At the end of a step nothing is on the host. */
#include "models/lower/stage/lower_offload.h"

#include "sim/check.h"

static size_t slot(const struct offload *o, uint32_t unit, uint16_t microbatch)
{
    CHECK(unit < o->units->count && microbatch < o->l->shape.microbatches);
    return (size_t)unit * o->l->shape.microbatches + microbatch;
}

void lower_offload_begin(struct offload *o, const struct lowering *l, const struct units *units,
                         const struct offload_parts *parts)
{
    const size_t slots = (size_t)units->count * l->shape.microbatches;
    *o = (struct offload){.l = l,
                          .units = units,
                          .labels = parts->labels,
                          .tensors = parts->tensors,
                          .ops = parts->ops};
    if (!l->offload.activations)
        return;
    o->out = ARENA_ARRAY(l->arena, uint32_t, slots);
    o->back = ARENA_ARRAY(l->arena, uint32_t, slots);
}

void lower_offload_passes(struct offload *o, const struct pass *passes, uint32_t count)
{
    o->passes = passes;
    o->pass_count = count;
}

void lower_offload_paired(struct offload *o, bool paired)
{
    o->paired = paired;
}

static void entry(struct offload *o, enum ledger_action action, uint32_t number, double bytes,
                  const char *name)
{
    lower_tensors_entry(o->tensors, action,
                        (struct tensor){TENANT_ACTIVATIONS, number, bytes, name, 0},
                        action == LEDGER_ALLOCATE ? "reload from host" : "offload to host");
}

static void kept_tensors(struct offload *o, const struct lowered_unit *u, enum ledger_action action)
{
    const struct layer *layer = u->block->layer;
    if (u->block->full_recompute) {
        entry(o, action, lower_tensors_input(o->tensors, u), layer->input_bytes, "layer input");
        return;
    }
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *g = &layer->segments[i];
        const uint32_t first = lower_tensors_segment(o->tensors, u, i);
        for (unsigned k = 0; k < g->saved.count; k++)
            if (!lower_block_drops(o->l->c->layout.recompute, g, k))
                entry(o, action, first + k, g->saved.tensors[k].bytes, g->saved.tensors[k].name);
    }
}

/* What a unit keeps of a microbatch gets memory of the card, or gives it up. */
static void memory(struct offload *o, uint32_t unit, uint16_t microbatch, enum ledger_action action)
{
    if (o->l->detail != LOWERED_WITH_LEDGER)
        return;
    const struct labels labels =
        lower_labels_swap(o->labels, microbatch, o->units->rows[unit].layer);
    kept_tensors(o, &o->units->rows[unit], action);
    lower_labels_set(o->labels, &labels);
}

static void free_leaving(struct offload *o, struct leaving *leaving)
{
    if (leaving->op != OP_NONE)
        memory(o, leaving->unit, leaving->microbatch, LEDGER_FREE);
    leaving->op = OP_NONE;
}

/* The next compute waits for the older of two copies out. */
static void turn(struct offload *o)
{
    lower_ops_wait(o->ops, o->older.op);
    free_leaving(o, &o->older);
    o->older = o->newest;
    o->newest.op = OP_NONE;
}

static struct host_copy copy_of(const struct offload *o, const struct lowered_unit *u, bool out)
{
    const struct activation_rates rates = o->l->offload.activation_rates;
    return (struct host_copy){
        .stream = out ? STREAM_TO_HOST : STREAM_FROM_HOST,
        .phase = out ? PHASE_FORWARD : PHASE_BACKWARD,
        .name = out ? "offload activations" : "reload activations",
        .bytes = lower_units_kept_bytes(u),
        .bytes_per_s = out ? rates.out_bytes_per_s : rates.back_bytes_per_s,
        .copies = u->block->kept_count,
    };
}

static bool is_leaving(const struct leaving *leaving, uint32_t unit, uint16_t microbatch)
{
    return leaving->op != OP_NONE && leaving->unit == unit && leaving->microbatch == microbatch;
}

static void bring_back(struct offload *o, uint32_t unit, uint16_t microbatch)
{
    const size_t at = slot(o, unit, microbatch);
    const struct lowered_unit *u = &o->units->rows[unit];
    if (o->out[at] == OP_NONE)
        return;
    if (is_leaving(&o->older, unit, microbatch))
        free_leaving(o, &o->older);
    if (is_leaving(&o->newest, unit, microbatch))
        free_leaving(o, &o->newest);
    const struct host_copy copy = copy_of(o, u, false);
    CHECK(o->back[at] == OP_NONE); /* 1 */
    const struct labels labels = lower_labels_swap(o->labels, microbatch, u->layer);
    o->back[at] = lower_ops_host_copy(o->ops, &copy, o->ops->pending.last, o->out[at]);
    lower_labels_set(o->labels, &labels);
    o->out[at] = OP_NONE;
    memory(o, unit, microbatch, LEDGER_ALLOCATE);
}

/* Layers of which the backward of this unit needs something: those that are computed again with it,
 * or itself. */
static uint32_t needed(const struct offload *o, uint32_t unit)
{
    const uint32_t again = o->units->rows[unit].again;
    return again > 1 ? again : 1;
}

static void bring_needed(struct offload *o, uint32_t unit, uint16_t microbatch)
{
    for (uint32_t k = 0; k < needed(o, unit); k++)
        bring_back(o, unit - k, microbatch);
}

static void wait_needed(struct offload *o, uint32_t unit, uint16_t microbatch)
{
    for (uint32_t k = 0; k < needed(o, unit); k++) {
        uint32_t *back = &o->back[slot(o, unit - k, microbatch)];
        if (*back != OP_NONE)
            o->bytes -= lower_units_kept_bytes(&o->units->rows[unit - k]);
        lower_ops_wait(o->ops, *back);
        *back = OP_NONE;
    }
}

static bool is_layer(const struct offload *o, uint32_t unit)
{
    return o->units->rows[unit].layer != UINT16_MAX;
}

static bool needs_activations(const struct pass *pass)
{
    return pass->kind == PASS_BACKWARD || pass->kind == PASS_BACKWARD_INPUT;
}

/* The unit whose backward comes behind that of this one. */
static void bring_next(struct offload *o, const struct pass *pass, uint32_t unit)
{
    const struct pass *end = o->passes + o->pass_count, *next = pass + 1;
    if (unit > o->units->chunk_first[pass->chunk] && is_layer(o, unit - 1)) {
        bring_needed(o, unit - 1, pass->microbatch);
        return;
    }
    while (next < end && !needs_activations(next))
        next++;
    if (next < end && o->units->chunk_first[next->chunk] < o->units->chunk_first[next->chunk + 1]) {
        const uint32_t last = o->units->chunk_first[next->chunk + 1] - 1;
        if (is_layer(o, last))
            bring_needed(o, last, next->microbatch);
    }
}

void lower_offload_unit_begin(struct offload *o, const struct pass *pass, uint32_t unit)
{
    if (!o->l->offload.activations || pass->kind == PASS_WEIGHTS)
        return;
    const bool forward = pass_is_forward(pass);
    if (is_layer(o, unit) && (forward || !o->paired))
        turn(o);
    if (forward)
        return;
    bring_needed(o, unit, pass->microbatch);
    wait_needed(o, unit, pass->microbatch);
    bring_next(o, pass, unit);
}

/* Is the unit among what the first layer of the backward needs, and does that come at once? */
static bool comes_at_once(const struct offload *o, const struct pass *pass, uint32_t unit)
{
    const struct pass *end = o->passes + o->pass_count, *next = pass + 1;
    uint32_t last = o->units->chunk_first[pass->chunk + 1] - 1;
    last -= is_layer(o, last) ? 0 : 1;
    return next < end && needs_activations(next) && next->chunk == pass->chunk &&
           next->microbatch == pass->microbatch && unit + needed(o, last) > last;
}

void lower_offload_unit_end(struct offload *o, const struct pass *pass, uint32_t unit)
{
    const struct lowered_unit *u = &o->units->rows[unit];
    const double bytes = o->l->offload.activations && u->leaves ? lower_units_kept_bytes(u) : 0.0;
    if (!pass_is_forward(pass) || !(bytes > 0.0) || comes_at_once(o, pass, unit))
        return;
    const size_t at = slot(o, unit, pass->microbatch);
    CHECK(o->out[at] == OP_NONE && o->back[at] == OP_NONE); /* 1 */
    CHECK(o->newest.op == OP_NONE);                         /* 2 */
    const struct host_copy copy = copy_of(o, u, true);
    o->out[at] = lower_ops_host_copy(o->ops, &copy, o->ops->pending.last, OP_NONE);
    o->newest = (struct leaving){unit, o->out[at], pass->microbatch};
    o->bytes += bytes;
    o->most_bytes = o->bytes > o->most_bytes ? o->bytes : o->most_bytes;
}

void lower_offload_end(const struct offload *o)
{
    CHECK(o->older.op == OP_NONE && o->newest.op == OP_NONE);
    for (size_t i = 0;
         o->l->offload.activations && i < (size_t)o->units->count * o->l->shape.microbatches; i++)
        CHECK(o->out[i] == OP_NONE && o->back[i] == OP_NONE); /* 3 */
}

double lower_offload_host_bytes(const struct offload *o)
{
    const bool there = o->l->c->layout.offload.activations_to == OFFLOAD_CPU;
    return there ? o->most_bytes : 0.0;
}
