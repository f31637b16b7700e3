/* lower_memory.c - what the ops of a step allocate and free, and when.
 *
 * Invariants
 * 1. One set of scratch (temporaries of a segment) is open at a time in each of two passes that
 *    take turns.
 * 2. Blocks are freed in the reverse order of their allocation within a segment.
 * 3. The weights of a group are gathered at most once at a time; so are its unsharded gradients. */
#include "models/lower/stage/lower_memory.h"

#include <math.h>
#include <string.h>

#include "models/lower/plan/lower_held.h"
#include "sim/check.h"

void lower_memory_begin(struct step_memory *m, const struct lowering *l, const struct units *units,
                        const struct memory_parts *parts)
{
    *m = (struct step_memory){.l = l,
                              .units = units,
                              .labels = parts->labels,
                              .tensors = parts->tensors,
                              .late = parts->late};
    m->gradients = ARENA_ARRAY(l->arena, uint32_t, units->count);
    m->groups = ARENA_ARRAY(l->arena, struct group_memory, units->group_count);
    memset(m->gradients, 0xff, sizeof *m->gradients * units->count);
    memset(m->groups, 0xff, sizeof *m->groups * units->group_count);
}

enum which {
    WHICH_ALL,
    WHICH_DROPPED, /* by recomputation of a part */
    WHICH_LATE,    /* what the gradients of weights read */
    WHICH_NOT_LATE
};

static bool is_dropped(const struct step_memory *m, const struct segment *g, unsigned k)
{
    return lower_block_drops(m->l->c->layout.recompute, g, k);
}

static void saved_tensors(struct step_memory *m, const struct lowered_unit *u, unsigned segment,
                          enum ledger_action action, enum which which, const char *call_site)
{
    const struct segment *g = &u->block->layer->segments[segment];
    uint32_t first = lower_tensors_segment(m->tensors, u, segment);
    for (unsigned i = 0; i < g->saved.count; i++) {
        unsigned k = action == LEDGER_ALLOCATE ? i : g->saved.count - 1 - i;
        const bool late = g->saved.tensors[k].weights;
        if (which == WHICH_ALL || (which == WHICH_DROPPED && is_dropped(m, g, k)) ||
            (which == WHICH_LATE && late) || (which == WHICH_NOT_LATE && !late)) {
            lower_tensors_entry(m->tensors, action,
                                (struct tensor){TENANT_ACTIVATIONS, first + k,
                                                g->saved.tensors[k].bytes, g->saved.tensors[k].name,
                                                0},
                                call_site);
        }
    }
}

static void scratch(struct step_memory *m, enum ledger_action action, double bytes,
                    const char *name, const char *call_site)
{
    lower_tensors_entry(
        m->tensors, action,
        (struct tensor){TENANT_TEMPORARY, lower_tensors_scratch(m->tensors), bytes, name, 0},
        call_site);
}

static void apart(struct step_memory *m, enum ledger_action action, const struct segment *g,
                  unsigned i)
{
    lower_tensors_entry(
        m->tensors, action,
        (struct tensor){TENANT_TEMPORARY, TENSOR_APART + i, g->memory.apart_bytes, g->name, 0},
        "backward");
}

/* Large tensors are apart: the allocator may put each into a hole. */
static void backward_scratch(struct step_memory *m, enum ledger_action action,
                             const struct segment *g)
{
    const double rest =
        g->memory.backward_temporary_bytes - g->memory.apart_bytes * g->memory.apart_count;
    for (unsigned i = 0; action == LEDGER_ALLOCATE && i < g->memory.apart_count; i++)
        apart(m, action, g, i);
    scratch(m, action, rest, g->name, "backward");
    for (unsigned i = g->memory.apart_count; action == LEDGER_FREE && i > 0; i--)
        apart(m, action, g, i - 1);
}

/* Forward that keeps what the backward needs (also when it is run again by full recomputation). */
static void forward_kept(struct step_memory *m, const struct lowered_unit *u, unsigned i,
                         const char *call_site)
{
    const struct segment *g = &u->block->layer->segments[i];
    scratch(m, LEDGER_ALLOCATE, g->memory.forward_temporary_bytes, g->name, call_site);
    saved_tensors(m, u, i, LEDGER_ALLOCATE, WHICH_ALL, call_site);
    saved_tensors(m, u, i, LEDGER_FREE, WHICH_DROPPED, call_site);
    scratch(m, LEDGER_FREE, g->memory.forward_temporary_bytes, g->name, call_site);
    lower_late_buffer(m->late, u, true, &g->transfers.after);
}

/* Forward under full recomputation: only the input is kept, of a group that of its first layer; the
 * rest lives inside its segment. */
static void forward_dropped(struct step_memory *m, const struct lowered_unit *u, unsigned i)
{
    const struct segment *g = &u->block->layer->segments[i];
    if (i == 0 && u->keeps_input) {
        lower_tensors_entry(m->tensors, LEDGER_ALLOCATE,
                            (struct tensor){TENANT_ACTIVATIONS, lower_tensors_input(m->tensors, u),
                                            u->block->layer->input_bytes, "layer input", 0},
                            "forward");
    }
    scratch(m, LEDGER_ALLOCATE, g->memory.forward_temporary_bytes, g->name, "forward");
    saved_tensors(m, u, i, LEDGER_ALLOCATE, WHICH_ALL, "forward");
    saved_tensors(m, u, i, LEDGER_FREE, WHICH_ALL, "forward");
    scratch(m, LEDGER_FREE, g->memory.forward_temporary_bytes, g->name, "forward");
    lower_late_buffer(m->late, u, true, &g->transfers.after);
}

/* Gradients of outputs, from the input pass to that of the weights. */
static void output_gradients(struct step_memory *m, const struct lowered_unit *u, unsigned i,
                             enum ledger_action action)
{
    const struct tensor gradients = {TENANT_ACTIVATIONS, lower_tensors_gradient(m->tensors, u, i),
                                     u->block->layer->segments[i].memory.gradient_bytes,
                                     "gradients of outputs", 0};
    lower_tensors_entry(m->tensors, action, gradients, "backward");
}

/* The pass of inputs frees what the products of the weights do not read (which is what there is of
 * a block without them); that of the weights frees the rest. */
static void backward_split(struct step_memory *m, const struct lowered_unit *u, unsigned i,
                           enum pass_kind part)
{
    const struct segment *g = &u->block->layer->segments[i];
    if (part == PASS_WEIGHTS) {
        output_gradients(m, u, i, LEDGER_FREE);
        saved_tensors(m, u, i, LEDGER_FREE, WHICH_LATE, "backward");
        lower_late_buffer(m->late, u, false, &g->transfers.backward_gather);
        return;
    }
    lower_late_buffer(m->late, u, false, &g->transfers.backward_after);
    backward_scratch(m, LEDGER_FREE, g);
    saved_tensors(m, u, i, LEDGER_FREE, WHICH_NOT_LATE, "backward");
    output_gradients(m, u, i, LEDGER_ALLOCATE);
}

static void backward_whole(struct step_memory *m, const struct lowered_unit *u, unsigned i)
{
    const struct segment *g = &u->block->layer->segments[i];
    lower_late_buffer(m->late, u, false, &g->transfers.backward_after);
    backward_scratch(m, LEDGER_FREE, g);
    saved_tensors(m, u, i, LEDGER_FREE, WHICH_ALL, "backward");
    lower_late_buffer(m->late, u, false, &g->transfers.backward_gather);
}

static void backward(struct step_memory *m, const struct lowered_unit *u, unsigned i,
                     const struct lowered_piece *p)
{
    const enum pass_kind part = (enum pass_kind)p->part;
    if (p->opens >> i & 1u)
        backward_scratch(m, LEDGER_ALLOCATE, &u->block->layer->segments[i]);
    if (!(p->closes >> i & 1u))
        return;
    if (part == PASS_BACKWARD)
        backward_whole(m, u, i);
    else
        backward_split(m, u, i, part);
    if (i > 0)
        return;
    const bool weights_to_come =
        part == PASS_BACKWARD_INPUT && u->block->lists[PIECES_WEIGHTS].count > 0;
    if (part == PASS_WEIGHTS) {
        lower_tensors_give(m->tensors, u);
        return;
    }
    if (u->block->full_recompute && u->keeps_input) {
        lower_tensors_entry(m->tensors, LEDGER_FREE,
                            (struct tensor){TENANT_ACTIVATIONS, lower_tensors_input(m->tensors, u),
                                            u->block->layer->input_bytes, "layer input", 0},
                            "backward");
    }
    if (!weights_to_come)
        lower_tensors_give(m->tensors, u);
}

static void piece_segment(struct step_memory *m, const struct lowered_piece *p,
                          const struct lowered_unit *u, unsigned i)
{
    bool opens = p->opens >> i & 1u;
    if (p->phase == PHASE_FORWARD && opens) {
        if (i == 0)
            lower_tensors_take(m->tensors, u);
        if (u->block->full_recompute)
            forward_dropped(m, u, i);
        else
            forward_kept(m, u, i, "forward");
    } else if (p->phase == PHASE_RECOMPUTE && opens) {
        forward_kept(m, u, i, "recomputation");
    } else if (p->phase == PHASE_RECOMPUTE && (p->rebuilds >> i & 1u)) {
        saved_tensors(m, u, i, LEDGER_ALLOCATE, WHICH_DROPPED, "recomputation");
    } else if (p->phase == PHASE_BACKWARD) {
        backward(m, u, i, p);
    }
}

void lower_memory_piece(struct step_memory *m, const struct lowered_piece *p,
                        const struct lowered_unit *u)
{
    unsigned count = u->block->layer->segment_count;
    for (unsigned k = 0; k < count; k++)
        piece_segment(m, p, u, p->phase == PHASE_BACKWARD ? count - 1 - k : k);
    lower_tensors_handed_over(m->tensors);
}

/* Of an allocation on the stream of a gather or a reduction. */
static unsigned side_flag(const struct step_memory *m, enum ledger_action action)
{
    return m->l->data.buffers && action == LEDGER_ALLOCATE ? LEDGER_SIDE : 0;
}

/* Gradients kept tensor by tensor: from the first backward to the update. */
static void gradient_tensor(struct step_memory *m, uint32_t unit, enum ledger_action action)
{
    const struct lowered_unit *u = &m->units->rows[unit];
    uint32_t *gradient = &m->gradients[unit];
    if (m->l->c->software.data.gradients != GRADIENT_TENSOR)
        return;
    if (action == LEDGER_ALLOCATE && *gradient == TENSOR_NONE)
        *gradient = lower_tensors_number(m->tensors);
    else if (action == LEDGER_ALLOCATE || *gradient == TENSOR_NONE)
        return;
    lower_tensors_entry(m->tensors, action,
                        (struct tensor){TENANT_GRADIENTS, *gradient,
                                        lower_held_gradient_bytes(m->l, u), "gradients",
                                        side_flag(m, action)},
                        action == LEDGER_ALLOCATE ? "backward" : "gradients set to none");
}

void lower_memory_unit_gradient(struct step_memory *m, uint32_t unit)
{
    gradient_tensor(m, unit, LEDGER_ALLOCATE);
}

static void communication(struct step_memory *m, enum ledger_action action, uint32_t tensor,
                          double bytes, const char *name)
{
    lower_tensors_entry(m->tensors, action,
                        (struct tensor){TENANT_COMMUNICATION, tensor, bytes, name, 0}, name);
}

bool lower_memory_is_gathered(const struct step_memory *m, uint32_t group)
{
    return m->groups[group].gathered != TENSOR_NONE;
}

bool lower_memory_is_arriving(const struct step_memory *m, uint32_t group)
{
    return m->groups[group].arriving != TENSOR_NONE;
}

void lower_memory_gather(struct step_memory *m, uint32_t group)
{
    uint32_t *gathered = &m->groups[group].gathered;
    CHECK(*gathered == TENSOR_NONE); /* 3 */
    *gathered = lower_tensors_number(m->tensors);
    communication(m, LEDGER_ALLOCATE, *gathered, m->units->groups[group].alive_bytes,
                  "gathered weights");
}

static void arrival(struct step_memory *m, enum ledger_action action, uint32_t group)
{
    lower_tensors_entry(m->tensors, action,
                        (struct tensor){TENANT_COMMUNICATION, m->groups[group].arriving,
                                        m->units->groups[group].gathered_bytes, "gather buffer",
                                        side_flag(m, action)},
                        "gather buffer");
}

/* A gather is under way into a buffer of its stream. */
void lower_memory_arriving(struct step_memory *m, uint32_t group)
{
    CHECK(!lower_memory_is_gathered(m, group) && !lower_memory_is_arriving(m, group)); /* 3 */
    m->groups[group].arriving = lower_tensors_number(m->tensors);
    arrival(m, LEDGER_ALLOCATE, group);
}

/* It has been copied into tensors of the compute stream. */
void lower_memory_arrived(struct step_memory *m, uint32_t group)
{
    lower_memory_gather(m, group);
    arrival(m, LEDGER_FREE, group);
    m->groups[group].arriving = TENSOR_NONE;
}

void lower_memory_drop(struct step_memory *m, uint32_t group)
{
    communication(m, LEDGER_FREE, m->groups[group].gathered, m->units->groups[group].alive_bytes,
                  "gathered weights");
    m->groups[group].gathered = TENSOR_NONE;
}

static void unsharded(struct step_memory *m, enum ledger_action action, uint32_t group)
{
    const struct group_of_units *of = &m->units->groups[group];
    const double bytes = (of->held + of->experts) * m->l->c->training.precision->gradient_bytes;
    communication(m, action, m->groups[group].unsharded, bytes, "unsharded gradients");
}

void lower_memory_unsharded(struct step_memory *m, uint32_t group)
{
    CHECK(m->groups[group].unsharded == TENSOR_NONE); /* 3 */
    m->groups[group].unsharded = lower_tensors_number(m->tensors);
    unsharded(m, LEDGER_ALLOCATE, group);
}

/* What a reduction reads: a flat copy in the type that is sent, a bucket of it at most
 * (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce;
 * deepspeed/runtime/zero/stage3.py). */
static double flat_bytes(const struct step_memory *m, const struct group_of_units *group)
{
    const double bucket = m->l->c->software.data.bucket_bytes,
                 room = bucket > 0.0 ? bucket : INFINITY;
    const double experts = m->l->data.groups[DATA_EXPERTS].replicas > 1 ? group->experts : 0.0;
    return fmin(group->held * m->l->data.wire_bytes, room) +
           fmin(experts * m->l->data.wire_bytes, room);
}

void lower_memory_scattered(struct step_memory *m, uint32_t group, bool overlaps)
{
    const struct group_of_units *of = &m->units->groups[group];
    lower_late_reduction(m->late, flat_bytes(m, of));
    for (uint32_t i = 0; i < of->count; i++)
        gradient_tensor(m, of->first + i, LEDGER_ALLOCATE);
    unsharded(m, LEDGER_FREE, group);
    m->groups[group].unsharded = TENSOR_NONE;
    if (!overlaps)
        lower_late_reduction_end(m->late);
}

/* On the update op: moments that are built in the first step, then the gradients go. torch.optim
 * builds them parameter by parameter. */
void lower_memory_update(struct step_memory *m)
{
    const struct optimizer *o = m->l->c->training.optimizer;
    for (uint32_t i = 0; i < m->units->count && m->l->c->software.memory.build == BUILD_FIRST_STEP;
         i++) {
        lower_labels_unit(m->labels, m->units->rows[i].layer);
        for (unsigned k = 0; k < o->moment_count; k++) {
            lower_tensors_entry(
                m->tensors, LEDGER_ALLOCATE,
                (struct tensor){TENANT_MOMENTS, lower_tensors_number(m->tensors),
                                lower_held_moment_bytes(m->l, &m->units->rows[i], k),
                                o->moments[k].name, LEDGER_FIRST_STEP | LEDGER_STAYS},
                "first optimizer step");
        }
        lower_labels_unit_end(m->labels);
    }
    for (uint32_t i = 0; i < m->units->count; i++) {
        lower_labels_unit(m->labels, m->units->rows[i].layer);
        gradient_tensor(m, i, LEDGER_FREE);
        lower_labels_unit_end(m->labels);
    }
}
