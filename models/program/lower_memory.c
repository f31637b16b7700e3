/* lower_memory.c - what a stage allocates and frees, and when.
 *
 * Invariants
 * 1. One set of scratch (temporaries of a segment) is open at a time in each of two passes that
 *    take turns.
 * 2. Blocks are freed in the reverse order of their allocation within a segment.
 * 3. The weights of a group are gathered at most once at a time; so are its unsharded gradients. */
#include <math.h>

#include "models/program/lower_parts.h"
#include "sim/check.h"

static double weight_elements(const struct stage *s, const struct lowered_unit *u)
{
    const struct lowering *l = s->l;
    return lower_units_part(u, lower_plan_counts(l, l->data.sharding->shards_weights));
}

static double gradient_elements(const struct stage *s, const struct lowered_unit *u)
{
    const struct lowering *l = s->l;
    return lower_units_part(u, lower_plan_counts(l, l->data.shards_gradients));
}

static double state_elements(const struct stage *s, const struct lowered_unit *u)
{
    const struct lowering *l = s->l;
    return l->data.on_card *
           lower_units_part(u, lower_plan_counts(l, l->data.sharding->shards_optimizer));
}

/* Of the k-th moment of a unit. */
static double moment_bytes(const struct stage *s, const struct lowered_unit *u, unsigned k)
{
    const struct lowering *l = s->l;
    const struct shard_counts shards = lower_plan_counts(l, l->data.sharding->shards_optimizer);
    return l->data.on_card * l->data.state.moment_bytes[k] *
           lower_units_moment(u, shards, l->c->training.optimizer->moments[k].extent);
}

/* Of those that stay, with their copies; the shards of what is frozen have no master copy. */
static double weight_bytes(const struct stage *s, const struct lowered_unit *u)
{
    const struct data_plan *data = &s->l->data;
    const struct shard_counts shards = lower_plan_counts(s->l, data->sharding->shards_weights);
    const double trained = weight_elements(s, u) * u->block->weight_bytes;
    const double copies =
        data->gathers ? 0.0 : u->block->copied * s->l->c->training.precision->copy_bytes;
    return (data->weights_are_master ? 0.0 : trained) + copies +
           u->frozen_bytes / (double)shards.all;
}

static void setup_weights(struct stage *s)
{
    const struct model_shape *m = &s->l->c->model;
    for (uint32_t i = 0; i < s->units.count; i++) {
        const struct lowered_unit *u = &s->units.rows[i];
        const char *site = "model construction";
        if (u->layer != UINT16_MAX)
            site = arena_format(s->l->arena, "model construction, layer %u of %u",
                                (unsigned)u->layer + 1, (unsigned)(m->layers + m->mtp_layers));
        const char *name = arena_format(s->l->arena, "%s weights", u->block->name);
        lower_tensors_setup(&s->tensors,
                            (struct tensor){TENANT_WEIGHTS, 0, weight_bytes(s, u), name, 0}, site,
                            u->layer);
    }
}

/* One flat buffer for all gradients that this rank accumulates, and one for the 16-bit ones that
 * some software keeps beside it. */
static void setup_gradients(struct stage *s)
{
    const struct configuration *c = s->l->c;
    double elements = 0.0, whole = 0.0;
    for (uint32_t i = 0; i < s->units.count; i++) {
        elements += gradient_elements(s, &s->units.rows[i]);
        whole += s->units.rows[i].held + s->units.rows[i].experts;
    }
    if (c->software.gradients == GRADIENT_BUFFER) {
        lower_tensors_setup(&s->tensors,
                            (struct tensor){TENANT_GRADIENTS, 0, elements * s->l->data.kept_bytes,
                                            "gradient buffer", 0},
                            "gradient buffer construction", UINT16_MAX);
    }
    if (c->software.gradient_copy && !s->l->data.scatters) {
        lower_tensors_setup(&s->tensors,
                            (struct tensor){TENANT_GRADIENTS, 0,
                                            whole * c->training.precision->gradient_bytes,
                                            "gradient buckets", 0},
                            "gradient buffer construction", UINT16_MAX);
    }
}

/* Parameter gathers and gradient reductions share a communicator, and so do all pipeline pairs: who
 * gathers also reduces, and who receives from a neighbour also sends to it. */
static void setup_communicators(struct stage *s)
{
    static const struct {
        const char *name;
        uint32_t streams;
    } kinds[] = {
        {"tensor-parallel communicator", 1u << STREAM_TP},
        {"context-parallel communicator", 1u << STREAM_CP},
        {"context-parallel communicator of heads", 1u << STREAM_CP_HEADS},
        {"expert-parallel communicator", 1u << STREAM_EP},
        {"data-parallel communicator", 1u << STREAM_DP},
        {"data-parallel communicator of experts", 1u << STREAM_EP_DATA},
        {"replica communicator", 1u << STREAM_REPLICATE},
        {"replica communicator of experts", 1u << STREAM_EP_REPLICATE},
        {"embedding communicator", 1u << STREAM_EMBED},
        {"world communicator", 1u << STREAM_WORLD},
        {"pipeline communicator", 1u << STREAM_SEND_NEXT | 1u << STREAM_SEND_PREV},
    };
    const uint32_t streams = s->ops.streams | s->pipeline.streams;
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (streams & kinds[i].streams)
            lower_tensors_setup(&s->tensors,
                                (struct tensor){TENANT_COMMUNICATION, 0,
                                                s->l->c->software.communicator_bytes, kinds[i].name,
                                                LEDGER_OUTSIDE},
                                "communicator construction", UINT16_MAX);
    }
}

static void setup_optimizer(struct stage *s)
{
    const struct training_spec *t = &s->l->c->training;
    const char *site = "optimizer construction";
    const double master_bytes = s->l->data.state.master_bytes;
    for (uint32_t i = 0; i < s->units.count && master_bytes > 0.0; i++) {
        const struct lowered_unit *u = &s->units.rows[i];
        lower_tensors_setup(&s->tensors,
                            (struct tensor){TENANT_MASTER, 0, state_elements(s, u) * master_bytes,
                                            "master weights", 0},
                            site, u->layer);
    }
    if (s->l->c->software.build != BUILD_EAGER)
        return;
    for (unsigned k = 0; k < t->optimizer->moment_count; k++) {
        const struct moment *m = &t->optimizer->moments[k];
        for (uint32_t i = 0; i < s->units.count; i++) {
            const struct lowered_unit *u = &s->units.rows[i];
            lower_tensors_setup(
                &s->tensors, (struct tensor){TENANT_MOMENTS, 0, moment_bytes(s, u, k), m->name, 0},
                site, u->layer);
        }
    }
}

/* In the order of the software: context, weights as the model is built layer by layer, the gradient
 * buffer, communicators, then the optimizer. */
void lower_memory_setup(struct stage *s)
{
    lower_tensors_setup(&s->tensors,
                        (struct tensor){TENANT_CONTEXT, 0, s->l->c->gpu.context_bytes,
                                        "CUDA context", LEDGER_OUTSIDE},
                        "process start", UINT16_MAX);
    setup_weights(s);
    setup_gradients(s);
    setup_communicators(s);
    setup_optimizer(s);
}

double lower_memory_state_bytes(const struct stage *s)
{
    const struct lowering *l = s->l;
    const struct configuration *c = l->c;
    double bytes = 0.0;
    for (uint32_t i = 0; i < s->units.count; i++) {
        const struct lowered_unit *u = &s->units.rows[i];
        bytes += state_elements(s, u) * l->data.state.master_bytes;
        for (unsigned k = 0; k < l->data.state.moment_count; k++)
            bytes += moment_bytes(s, u, k);
        bytes += weight_bytes(s, u);
        if (c->software.gradients == GRADIENT_BUFFER)
            bytes += gradient_elements(s, u) * l->data.kept_bytes;
        if (c->software.gradient_copy && !l->data.scatters)
            bytes += (u->held + u->experts) * c->training.precision->gradient_bytes;
    }
    return bytes + c->gpu.context_bytes;
}

enum which {
    WHICH_ALL,
    WHICH_DROPPED, /* by recomputation of a part */
    WHICH_LATE,    /* what the gradients of weights read */
    WHICH_NOT_LATE
};

static bool is_dropped(const struct stage *s, const struct segment *g, unsigned k)
{
    return lower_block_drops(s->l->c->layout.recompute, g, k);
}

static void saved_tensors(struct stage *s, const struct lowered_unit *u, unsigned segment,
                          enum ledger_action action, enum which which, const char *call_site)
{
    const struct segment *g = &u->block->layer->segments[segment];
    uint32_t first = lower_tensors_segment(&s->tensors, u, segment);
    for (unsigned i = 0; i < g->saved_count; i++) {
        unsigned k = action == LEDGER_ALLOCATE ? i : g->saved_count - 1 - i;
        const bool late = g->saved[k].weights;
        if (which == WHICH_ALL || (which == WHICH_DROPPED && is_dropped(s, g, k)) ||
            (which == WHICH_LATE && late) || (which == WHICH_NOT_LATE && !late)) {
            lower_tensors_entry(&s->tensors, action,
                                (struct tensor){TENANT_ACTIVATIONS, first + k, g->saved[k].bytes,
                                                g->saved[k].name, 0},
                                call_site);
        }
    }
}

double lower_memory_kept_bytes(const struct lowered_unit *u)
{
    return u->keeps_input || !u->block->full_recompute ? u->block->kept_bytes : 0.0;
}

static void scratch(struct stage *s, enum ledger_action action, double bytes, const char *name,
                    const char *call_site)
{
    lower_tensors_entry(
        &s->tensors, action,
        (struct tensor){TENANT_TEMPORARY, lower_tensors_scratch(&s->tensors), bytes, name, 0},
        call_site);
}

static void apart(struct stage *s, enum ledger_action action, const struct segment *g, unsigned i)
{
    lower_tensors_entry(
        &s->tensors, action,
        (struct tensor){TENANT_TEMPORARY, TENSOR_APART + i, g->apart_bytes, g->name, 0},
        "backward");
}

/* Large tensors are apart: the allocator may put each into a hole. */
static void backward_scratch(struct stage *s, enum ledger_action action, const struct segment *g)
{
    const double rest = g->backward_temporary_bytes - g->apart_bytes * g->apart_count;
    for (unsigned i = 0; action == LEDGER_ALLOCATE && i < g->apart_count; i++)
        apart(s, action, g, i);
    scratch(s, action, rest, g->name, "backward");
    for (unsigned i = g->apart_count; action == LEDGER_FREE && i > 0; i--)
        apart(s, action, g, i - 1);
}

/* Forward that keeps what the backward needs (also when it is run again by full recomputation). */
static void forward_kept(struct stage *s, const struct lowered_unit *u, unsigned i,
                         const char *call_site)
{
    const struct segment *g = &u->block->layer->segments[i];
    scratch(s, LEDGER_ALLOCATE, g->forward_temporary_bytes, g->name, call_site);
    saved_tensors(s, u, i, LEDGER_ALLOCATE, WHICH_ALL, call_site);
    saved_tensors(s, u, i, LEDGER_FREE, WHICH_DROPPED, call_site);
    scratch(s, LEDGER_FREE, g->forward_temporary_bytes, g->name, call_site);
    lower_late_buffer(&s->late, u, true, &g->after);
}

/* Forward under full recomputation: only the input is kept, of a group that of its first layer; the
 * rest lives inside its segment. */
static void forward_dropped(struct stage *s, const struct lowered_unit *u, unsigned i)
{
    const struct segment *g = &u->block->layer->segments[i];
    if (i == 0 && u->keeps_input) {
        lower_tensors_entry(&s->tensors, LEDGER_ALLOCATE,
                            (struct tensor){TENANT_ACTIVATIONS, lower_tensors_input(&s->tensors, u),
                                            u->block->layer->input_bytes, "layer input", 0},
                            "forward");
    }
    scratch(s, LEDGER_ALLOCATE, g->forward_temporary_bytes, g->name, "forward");
    saved_tensors(s, u, i, LEDGER_ALLOCATE, WHICH_ALL, "forward");
    saved_tensors(s, u, i, LEDGER_FREE, WHICH_ALL, "forward");
    scratch(s, LEDGER_FREE, g->forward_temporary_bytes, g->name, "forward");
    lower_late_buffer(&s->late, u, true, &g->after);
}

/* Gradients of outputs, from the input pass to that of the weights. */
static void output_gradients(struct stage *s, const struct lowered_unit *u, unsigned i,
                             enum ledger_action action)
{
    const struct tensor gradients = {TENANT_ACTIVATIONS, lower_tensors_gradient(&s->tensors, u, i),
                                     u->block->layer->segments[i].gradient_bytes,
                                     "gradients of outputs", 0};
    lower_tensors_entry(&s->tensors, action, gradients, "backward");
}

/* The pass of inputs frees what the products of the weights do not read (which is what there is of
 * a block without them); that of the weights frees the rest. */
static void backward_split(struct stage *s, const struct lowered_unit *u, unsigned i,
                           enum pass_kind part)
{
    const struct segment *g = &u->block->layer->segments[i];
    if (part == PASS_WEIGHTS) {
        output_gradients(s, u, i, LEDGER_FREE);
        saved_tensors(s, u, i, LEDGER_FREE, WHICH_LATE, "backward");
        lower_late_buffer(&s->late, u, false, &g->backward_gather);
        return;
    }
    lower_late_buffer(&s->late, u, false, &g->backward_after);
    backward_scratch(s, LEDGER_FREE, g);
    saved_tensors(s, u, i, LEDGER_FREE, WHICH_NOT_LATE, "backward");
    output_gradients(s, u, i, LEDGER_ALLOCATE);
}

static void backward_whole(struct stage *s, const struct lowered_unit *u, unsigned i)
{
    const struct segment *g = &u->block->layer->segments[i];
    lower_late_buffer(&s->late, u, false, &g->backward_after);
    backward_scratch(s, LEDGER_FREE, g);
    saved_tensors(s, u, i, LEDGER_FREE, WHICH_ALL, "backward");
    lower_late_buffer(&s->late, u, false, &g->backward_gather);
}

static void backward(struct stage *s, const struct lowered_unit *u, unsigned i,
                     const struct lowered_piece *p)
{
    const enum pass_kind part = (enum pass_kind)p->part;
    if (p->opens >> i & 1u)
        backward_scratch(s, LEDGER_ALLOCATE, &u->block->layer->segments[i]);
    if (!(p->closes >> i & 1u))
        return;
    if (part == PASS_BACKWARD)
        backward_whole(s, u, i);
    else
        backward_split(s, u, i, part);
    if (i > 0)
        return;
    const bool weights_to_come = part == PASS_BACKWARD_INPUT && u->block->weights.count > 0;
    if (part == PASS_WEIGHTS) {
        lower_tensors_give(&s->tensors, u);
        return;
    }
    if (u->block->full_recompute && u->keeps_input) {
        lower_tensors_entry(&s->tensors, LEDGER_FREE,
                            (struct tensor){TENANT_ACTIVATIONS, lower_tensors_input(&s->tensors, u),
                                            u->block->layer->input_bytes, "layer input", 0},
                            "backward");
    }
    if (!weights_to_come)
        lower_tensors_give(&s->tensors, u);
}

static void piece_segment(struct stage *s, const struct lowered_piece *p,
                          const struct lowered_unit *u, unsigned i)
{
    bool opens = p->opens >> i & 1u;
    if (p->phase == PHASE_FORWARD && opens) {
        if (i == 0)
            lower_tensors_take(&s->tensors, u);
        if (u->block->full_recompute)
            forward_dropped(s, u, i);
        else
            forward_kept(s, u, i, "forward");
    } else if (p->phase == PHASE_RECOMPUTE && opens) {
        forward_kept(s, u, i, "recomputation");
    } else if (p->phase == PHASE_RECOMPUTE && (p->rebuilds >> i & 1u)) {
        saved_tensors(s, u, i, LEDGER_ALLOCATE, WHICH_DROPPED, "recomputation");
    } else if (p->phase == PHASE_BACKWARD) {
        backward(s, u, i, p);
    }
}

void lower_memory_piece(struct stage *s, const struct lowered_piece *p,
                        const struct lowered_unit *u)
{
    unsigned count = u->block->layer->segment_count;
    for (unsigned k = 0; k < count; k++)
        piece_segment(s, p, u, p->phase == PHASE_BACKWARD ? count - 1 - k : k);
    lower_tensors_handed_over(&s->tensors);
}

/* Of an allocation on the stream of a gather or a reduction. */
static unsigned side_flag(const struct stage *s, enum ledger_action action)
{
    return s->l->data.buffers && action == LEDGER_ALLOCATE ? LEDGER_SIDE : 0;
}

/* Gradients kept tensor by tensor: from the first backward to the update. */
static void gradient_tensor(struct stage *s, struct lowered_unit *u, enum ledger_action action)
{
    if (s->l->c->software.gradients != GRADIENT_TENSOR)
        return;
    if (action == LEDGER_ALLOCATE && u->gradient == TENSOR_NONE)
        u->gradient = lower_tensors_number(&s->tensors);
    else if (action == LEDGER_ALLOCATE || u->gradient == TENSOR_NONE)
        return;
    lower_tensors_entry(&s->tensors, action,
                        (struct tensor){TENANT_GRADIENTS, u->gradient,
                                        gradient_elements(s, u) * s->l->data.kept_bytes,
                                        "gradients", side_flag(s, action)},
                        action == LEDGER_ALLOCATE ? "backward" : "gradients set to none");
}

void lower_memory_unit_gradient(struct stage *s, struct lowered_unit *unit)
{
    gradient_tensor(s, unit, LEDGER_ALLOCATE);
}

static void communication(struct stage *s, enum ledger_action action, uint32_t tensor, double bytes,
                          const char *name)
{
    lower_tensors_entry(&s->tensors, action,
                        (struct tensor){TENANT_COMMUNICATION, tensor, bytes, name, 0}, name);
}

void lower_memory_gather(struct stage *s, struct group_of_units *group)
{
    CHECK(group->tensor == TENSOR_NONE); /* 3 */
    group->tensor = lower_tensors_number(&s->tensors);
    communication(s, LEDGER_ALLOCATE, group->tensor, group->alive_bytes, "gathered weights");
}

static void arrival(struct stage *s, enum ledger_action action, const struct group_of_units *group)
{
    lower_tensors_entry(&s->tensors, action,
                        (struct tensor){TENANT_COMMUNICATION, group->arriving,
                                        group->gathered_bytes, "gather buffer",
                                        side_flag(s, action)},
                        "gather buffer");
}

/* A gather is under way into a buffer of its stream. */
void lower_memory_arriving(struct stage *s, struct group_of_units *group)
{
    CHECK(group->tensor == TENSOR_NONE && group->arriving == TENSOR_NONE); /* 3 */
    group->arriving = lower_tensors_number(&s->tensors);
    arrival(s, LEDGER_ALLOCATE, group);
}

/* It has been copied into tensors of the compute stream. */
void lower_memory_arrived(struct stage *s, struct group_of_units *group)
{
    lower_memory_gather(s, group);
    arrival(s, LEDGER_FREE, group);
    group->arriving = TENSOR_NONE;
}

void lower_memory_drop(struct stage *s, struct group_of_units *group)
{
    communication(s, LEDGER_FREE, group->tensor, group->alive_bytes, "gathered weights");
    group->tensor = TENSOR_NONE;
}

static double scratch_bytes(const struct stage *s, const struct group_of_units *group)
{
    return (group->held + group->experts) * s->l->c->training.precision->gradient_bytes;
}

void lower_memory_scratch(struct stage *s, struct group_of_units *group)
{
    CHECK(group->scratch == TENSOR_NONE); /* 3 */
    group->scratch = lower_tensors_number(&s->tensors);
    communication(s, LEDGER_ALLOCATE, group->scratch, scratch_bytes(s, group),
                  "unsharded gradients");
}

/* What a reduction reads: a flat copy in the type that is sent, a bucket of it at most
 * (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce;
 * deepspeed/runtime/zero/stage3.py). */
static double flat_bytes(const struct stage *s, const struct group_of_units *group)
{
    const double bucket = s->l->c->software.bucket_bytes, room = bucket > 0.0 ? bucket : INFINITY;
    const double experts = s->l->data.expert_replicas > 1 ? group->experts : 0.0;
    return fmin(group->held * s->l->data.wire_bytes, room) +
           fmin(experts * s->l->data.wire_bytes, room);
}

void lower_memory_scattered(struct stage *s, struct group_of_units *group, bool overlaps)
{
    lower_late_reduction(&s->late, flat_bytes(s, group));
    for (uint32_t i = 0; i < group->count; i++)
        gradient_tensor(s, &s->units.rows[group->first + i], LEDGER_ALLOCATE);
    communication(s, LEDGER_FREE, group->scratch, scratch_bytes(s, group), "unsharded gradients");
    group->scratch = TENSOR_NONE;
    if (!overlaps)
        lower_late_reduction_end(&s->late);
}

/* On the update op: moments that are built in the first step, then the gradients go. torch.optim
 * builds them parameter by parameter. */
void lower_memory_update(struct stage *s)
{
    const struct optimizer *o = s->l->c->training.optimizer;
    for (uint32_t i = 0; i < s->units.count && s->l->c->software.build == BUILD_FIRST_STEP; i++) {
        lower_labels_unit(&s->labels, s->units.rows[i].layer);
        for (unsigned k = 0; k < o->moment_count; k++) {
            lower_tensors_entry(&s->tensors, LEDGER_ALLOCATE,
                                (struct tensor){TENANT_MOMENTS, lower_tensors_number(&s->tensors),
                                                moment_bytes(s, &s->units.rows[i], k),
                                                o->moments[k].name,
                                                LEDGER_FIRST_STEP | LEDGER_STAYS},
                                "first optimizer step");
        }
        lower_labels_unit_end(&s->labels);
    }
    for (uint32_t i = 0; i < s->units.count; i++) {
        lower_labels_unit(&s->labels, s->units.rows[i].layer);
        gradient_tensor(s, &s->units.rows[i], LEDGER_FREE);
        lower_labels_unit_end(&s->labels);
    }
}
