/* Invariants:
 * 1. A unit's saved tensors of a microbatch have a range of numbers from its first forward op to
 * its last backward op; ranges are used again afterwards, so numbers stay few.
 * 2. One block of scratch (temporary) is open at a time.
 * 3. Blocks are freed in the reverse order of their allocation within a segment. */
#include <math.h>
#include <string.h>

#include "models/program/lower_parts.h"
#include "sim/check.h"

double shard_elements(double elements, uint32_t shards)
{
    return ceil(elements / (double)shards);
}

/* The tensor gets a number here. */
static void setup_entry(struct stage *s, struct tensor tensor, const char *call_site,
                        uint16_t layer)
{
    if (!(tensor.bytes > 0.0)) {
        return;
    }
    struct ledger_entry e = {
        .action = LEDGER_ALLOCATE,
        .tenant = (uint8_t)tensor.tenant,
        .flags = (uint8_t)tensor.flags,
        .tensor = memory_tensor(s),
        .bytes = tensor.bytes,
        .name = tensor.name,
        .call_site = call_site,
        .layer = layer,
        .microbatch = UINT16_MAX,
    };
    program_setup(s->w, e);
}

static double weight_elements(const struct stage *s, const struct unit *u)
{
    const struct lowering *l = s->l;
    return l->sharding->shards_weights ? shard_elements(u->held, l->shards) : u->held;
}

static double gradient_elements(const struct stage *s, const struct unit *u)
{
    const struct lowering *l = s->l;
    return l->sharding->shards_gradients ? shard_elements(u->held, l->shards) : u->held;
}

static double state_elements(const struct stage *s, const struct unit *u)
{
    const struct lowering *l = s->l;
    return l->sharding->shards_optimizer ? shard_elements(u->held, l->shards) : u->held;
}

static void setup_weights(struct stage *s)
{
    for (uint32_t i = 0; i < s->unit_count; i++) {
        const struct unit *u = &s->units[i];
        const char *site = "model construction";
        if (u->layer != UINT16_MAX) {
            site = arena_format(s->l->arena, "model construction, layer %u of %u",
                                (unsigned)u->layer + 1, (unsigned)s->l->c->model.layers);
        }
        const char *name = arena_format(s->l->arena, "%s weights", u->block->name);
        setup_entry(
            s,
            (struct tensor){TENANT_WEIGHTS, 0, weight_elements(s, u) * s->l->weight_bytes, name, 0},
            site, u->layer);
    }
}

/* One flat buffer for all gradients that this rank accumulates, and one for the 16-bit ones that
 * some software keeps beside it. */
static void setup_gradients(struct stage *s)
{
    const struct configuration *c = s->l->c;
    double elements = 0.0, whole = 0.0;
    for (uint32_t i = 0; i < s->unit_count; i++) {
        elements += gradient_elements(s, &s->units[i]);
        whole += s->units[i].held;
    }
    if (c->software.gradients == GRADIENT_BUFFER) {
        setup_entry(
            s,
            (struct tensor){TENANT_GRADIENTS, 0, elements * s->l->kept_bytes, "gradient buffer", 0},
            "gradient buffer construction", UINT16_MAX);
    }
    if (c->software.gradient_copy && !s->l->scatters) {
        setup_entry(s,
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
        {"data-parallel communicator", 1u << STREAM_DP},
        {"replica communicator", 1u << STREAM_REPLICATE},
        {"embedding communicator", 1u << STREAM_EMBED},
        {"world communicator", 1u << STREAM_WORLD},
        {"pipeline communicator", 1u << STREAM_SEND_NEXT | 1u << STREAM_SEND_PREV},
    };
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (s->streams & kinds[i].streams) {
            setup_entry(s,
                        (struct tensor){TENANT_COMMUNICATION, 0,
                                        s->l->c->software.communicator_bytes, kinds[i].name,
                                        LEDGER_OUTSIDE},
                        "communicator construction", UINT16_MAX);
        }
    }
}

static void setup_optimizer(struct stage *s)
{
    const struct training_spec *t = &s->l->c->training;
    const char *site = "optimizer construction";
    for (uint32_t i = 0; i < s->unit_count && t->precision->master_weights; i++) {
        const struct unit *u = &s->units[i];
        setup_entry(s,
                    (struct tensor){TENANT_MASTER, 0,
                                    state_elements(s, u) * t->optimizer->master_bytes,
                                    "master weights", 0},
                    site, u->layer);
    }
    if (s->l->c->software.build != BUILD_EAGER) {
        return;
    }
    for (unsigned k = 0; k < t->optimizer->moment_count; k++) {
        const struct moment *m = &t->optimizer->moments[k];
        for (uint32_t i = 0; i < s->unit_count; i++) {
            const struct unit *u = &s->units[i];
            setup_entry(
                s, (struct tensor){TENANT_MOMENTS, 0, state_elements(s, u) * m->bytes, m->name, 0},
                site, u->layer);
        }
    }
}

/* In the order of the software: context, weights as the model is built layer by layer, the gradient
 * buffer, communicators, then the optimizer. */
void memory_setup(struct stage *s)
{
    setup_entry(s,
                (struct tensor){TENANT_CONTEXT, 0, s->l->c->gpu.context_bytes, "CUDA context",
                                LEDGER_OUTSIDE},
                "process start", UINT16_MAX);
    setup_weights(s);
    setup_gradients(s);
    setup_communicators(s);
    setup_optimizer(s);
}

void memory_first_op(struct stage *s)
{
    if (!s->workspace_taken) {
        s->workspace_taken = true;
        memory_entry(s, LEDGER_ALLOCATE,
                     (struct tensor){TENANT_TEMPORARY, TENSOR_WORKSPACE,
                                     s->l->c->software.workspace_bytes, "GEMM workspace",
                                     LEDGER_FIRST_STEP | LEDGER_STAYS},
                     "first matrix product");
    }
}

/* The received tensor becomes the input that the first segment saves: from then on it counts there.
 */
void memory_received(struct stage *s, double bytes)
{
    if (bytes > 0.0) {
        memory_entry(
            s, LEDGER_ALLOCATE,
            (struct tensor){TENANT_COMMUNICATION, TENSOR_RECEIVE, bytes, "receive buffer", 0},
            "pipeline receive");
        s->receive_bytes = bytes;
    }
}

void memory_handed_over(struct stage *s)
{
    memory_entry(s, LEDGER_FREE,
                 (struct tensor){TENANT_COMMUNICATION, TENSOR_RECEIVE, s->receive_bytes,
                                 "receive buffer", 0},
                 "pipeline receive");
    s->receive_bytes = 0.0;
}

static enum block_index block_of(const struct stage *s, const struct unit *u)
{
    return (enum block_index)(u->block - s->l->blocks);
}

static uint32_t *saved_slot(struct stage *s, const struct unit *u)
{
    return &s->saved[(size_t)(u - s->units) * s->l->shape.microbatches + s->microbatch];
}

static void take_range(struct stage *s, const struct unit *u)
{
    enum block_index b = block_of(s, u);
    uint32_t *slot = saved_slot(s, u);
    CHECK(*slot == TENSOR_NONE);
    if (s->spare_count[b] > 0) {
        *slot = s->spare[b][--s->spare_count[b]];
        return;
    }
    *slot = memory_tensor(s);
    s->tensor_next += u->block->tensor_count - 1;
}

static void give_range(struct stage *s, const struct unit *u)
{
    enum block_index b = block_of(s, u);
    uint32_t *slot = saved_slot(s, u);
    s->spare[b][s->spare_count[b]++] = *slot;
    *slot = TENSOR_NONE;
}

/* First number of a segment's saved tensors; the block's input is number 0 of its range. */
static uint32_t segment_tensor(struct stage *s, const struct unit *u, unsigned segment)
{
    uint32_t tensor = *saved_slot(s, u) + 1;
    for (unsigned i = 0; i < segment; i++) {
        tensor += u->block->layer->segments[i].saved_count;
    }
    return tensor;
}

enum which {
    WHICH_ALL,
    WHICH_CORE,
    WHICH_REST
};

static bool is_core(const struct stage *s, const struct segment *g, unsigned k)
{
    return s->l->c->layout.recompute == RECOMPUTE_SELECTIVE && g->saved[k].attention_core;
}

static void saved_tensors(struct stage *s, const struct unit *u, unsigned segment,
                          enum ledger_action action, enum which which, const char *call_site)
{
    const struct segment *g = &u->block->layer->segments[segment];
    uint32_t first = segment_tensor(s, u, segment);
    for (unsigned i = 0; i < g->saved_count; i++) {
        unsigned k = action == LEDGER_ALLOCATE ? i : g->saved_count - 1 - i;
        bool core = is_core(s, g, k);
        if (which == WHICH_ALL || core == (which == WHICH_CORE)) {
            memory_entry(s, action,
                         (struct tensor){TENANT_ACTIVATIONS, first + k, g->saved[k].bytes,
                                         g->saved[k].name, 0},
                         call_site);
        }
    }
}

static void scratch(struct stage *s, enum ledger_action action, double bytes, const char *name,
                    const char *call_site)
{
    memory_entry(s, action, (struct tensor){TENANT_TEMPORARY, TENSOR_SCRATCH, bytes, name, 0},
                 call_site);
}

/* Forward that keeps what the backward needs (also when it is run again by full recomputation). */
static void forward_kept(struct stage *s, const struct unit *u, unsigned i, const char *call_site)
{
    const struct segment *g = &u->block->layer->segments[i];
    scratch(s, LEDGER_ALLOCATE, g->forward_temporary_bytes, g->name, call_site);
    saved_tensors(s, u, i, LEDGER_ALLOCATE, WHICH_ALL, call_site);
    saved_tensors(s, u, i, LEDGER_FREE, WHICH_CORE, call_site);
    scratch(s, LEDGER_FREE, g->forward_temporary_bytes, g->name, call_site);
    late_buffer(s, u, true, &g->after);
}

/* Forward under full recomputation: only the input is kept, the rest lives inside its segment. */
static void forward_dropped(struct stage *s, const struct unit *u, unsigned i)
{
    const struct segment *g = &u->block->layer->segments[i];
    if (i == 0) {
        memory_entry(s, LEDGER_ALLOCATE,
                     (struct tensor){TENANT_ACTIVATIONS, *saved_slot(s, u),
                                     u->block->layer->input_bytes, "layer input", 0},
                     "forward");
    }
    scratch(s, LEDGER_ALLOCATE, g->forward_temporary_bytes, g->name, "forward");
    saved_tensors(s, u, i, LEDGER_ALLOCATE, WHICH_ALL, "forward");
    saved_tensors(s, u, i, LEDGER_FREE, WHICH_ALL, "forward");
    scratch(s, LEDGER_FREE, g->forward_temporary_bytes, g->name, "forward");
    late_buffer(s, u, true, &g->after);
}

static void backward(struct stage *s, const struct unit *u, unsigned i, bool opens, bool closes)
{
    const struct segment *g = &u->block->layer->segments[i];
    if (opens) {
        scratch(s, LEDGER_ALLOCATE, g->backward_temporary_bytes, g->name, "backward");
    }
    if (!closes) {
        return;
    }
    late_buffer(s, u, false, &g->backward_after);
    scratch(s, LEDGER_FREE, g->backward_temporary_bytes, g->name, "backward");
    saved_tensors(s, u, i, LEDGER_FREE, WHICH_ALL, "backward");
    late_buffer(s, u, false, &g->backward_gather);
    if (i > 0) {
        return;
    }
    if (u->block->full_recompute) {
        memory_entry(s, LEDGER_FREE,
                     (struct tensor){TENANT_ACTIVATIONS, *saved_slot(s, u),
                                     u->block->layer->input_bytes, "layer input", 0},
                     "backward");
    }
    give_range(s, u);
}

static void piece_segment(struct stage *s, const struct piece *p, const struct unit *u, unsigned i)
{
    bool opens = p->opens >> i & 1u, closes = p->closes >> i & 1u;
    if (p->phase == PHASE_FORWARD && opens) {
        if (i == 0) {
            take_range(s, u);
        }
        if (u->block->full_recompute) {
            forward_dropped(s, u, i);
        } else {
            forward_kept(s, u, i, "forward");
        }
    } else if (p->phase == PHASE_RECOMPUTE && opens) {
        forward_kept(s, u, i, "recomputation");
    } else if (p->phase == PHASE_RECOMPUTE && (p->rebuilds >> i & 1u)) {
        saved_tensors(s, u, i, LEDGER_ALLOCATE, WHICH_CORE, "recomputation");
    } else if (p->phase == PHASE_BACKWARD) {
        backward(s, u, i, opens, closes);
    }
}

void memory_piece(struct stage *s, const struct piece *p, const struct unit *u)
{
    unsigned count = u->block->layer->segment_count;
    for (unsigned k = 0; k < count; k++) {
        piece_segment(s, p, u, p->phase == PHASE_BACKWARD ? count - 1 - k : k);
    }
    memory_handed_over(s);
}

/* Gradients kept tensor by tensor: from the first backward to the update. */
static void gradient_tensor(struct stage *s, struct unit *u, enum ledger_action action)
{
    if (s->l->c->software.gradients != GRADIENT_TENSOR) {
        return;
    }
    if (action == LEDGER_ALLOCATE && u->gradient == TENSOR_NONE) {
        u->gradient = memory_tensor(s);
    } else if (action == LEDGER_ALLOCATE || u->gradient == TENSOR_NONE) {
        return;
    }
    memory_entry(s, action,
                 (struct tensor){TENANT_GRADIENTS, u->gradient,
                                 gradient_elements(s, u) * s->l->kept_bytes, "gradients", 0},
                 action == LEDGER_ALLOCATE ? "backward" : "gradients set to none");
}

void memory_unit_gradient(struct stage *s, struct unit *unit)
{
    gradient_tensor(s, unit, LEDGER_ALLOCATE);
}

static void communication(struct stage *s, enum ledger_action action, uint32_t tensor, double bytes,
                          const char *name)
{
    memory_entry(s, action, (struct tensor){TENANT_COMMUNICATION, tensor, bytes, name, 0}, name);
}

void memory_gather(struct stage *s, struct group_of_units *group)
{
    group->tensor = memory_tensor(s);
    communication(s, LEDGER_ALLOCATE, group->tensor, group->gathered * s->l->weight_bytes,
                  "gathered weights");
}

void memory_drop(struct stage *s, struct group_of_units *group)
{
    communication(s, LEDGER_FREE, group->tensor, group->gathered * s->l->weight_bytes,
                  "gathered weights");
    group->tensor = TENSOR_NONE;
}

static double scratch_bytes(const struct stage *s, const struct group_of_units *group)
{
    return group->held * s->l->c->training.precision->gradient_bytes;
}

void memory_scratch(struct stage *s, struct group_of_units *group)
{
    group->scratch = memory_tensor(s);
    communication(s, LEDGER_ALLOCATE, group->scratch, scratch_bytes(s, group),
                  "unsharded gradients");
}

/* What a reduction reads: a flat copy in the type that is sent, a bucket of it at most
 * (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_reduce;
 * deepspeed/runtime/zero/stage3.py). */
static double flat_bytes(const struct stage *s, const struct group_of_units *group)
{
    double bytes = group->held * s->l->wire_bytes, bucket = s->l->c->software.bucket_bytes;
    return bucket > 0.0 ? fmin(bytes, bucket) : bytes;
}

static void free_flat(struct stage *s)
{
    if (s->reducing != 0) {
        communication(s, LEDGER_FREE, s->reducing, s->reducing_bytes, "reduction buffer");
        s->reducing = 0;
    }
}

void memory_scattered(struct stage *s, struct group_of_units *group, bool overlaps)
{
    free_flat(s);
    s->reducing = memory_tensor(s);
    s->reducing_bytes = flat_bytes(s, group);
    communication(s, LEDGER_ALLOCATE, s->reducing, s->reducing_bytes, "reduction buffer");
    for (uint32_t i = 0; i < group->count; i++) {
        gradient_tensor(s, &s->units[group->first + i], LEDGER_ALLOCATE);
    }
    communication(s, LEDGER_FREE, group->scratch, scratch_bytes(s, group), "unsharded gradients");
    group->scratch = TENSOR_NONE;
    if (!overlaps) {
        free_flat(s);
    }
}

/* On the update op: moments that are built in the first step, then the gradients go. torch.optim
 * builds them parameter by parameter. */
void memory_update(struct stage *s)
{
    const struct optimizer *o = s->l->c->training.optimizer;
    for (uint32_t i = 0; i < s->unit_count && s->l->c->software.build == BUILD_FIRST_STEP; i++) {
        s->layer = s->units[i].layer;
        for (unsigned k = 0; k < o->moment_count; k++) {
            memory_entry(s, LEDGER_ALLOCATE,
                         (struct tensor){TENANT_MOMENTS, memory_tensor(s),
                                         state_elements(s, &s->units[i]) * o->moments[k].bytes,
                                         o->moments[k].name, LEDGER_FIRST_STEP | LEDGER_STAYS},
                         "first optimizer step");
        }
    }
    for (uint32_t i = 0; i < s->unit_count; i++) {
        s->layer = s->units[i].layer;
        gradient_tensor(s, &s->units[i], LEDGER_FREE);
    }
    s->layer = UINT16_MAX;
}
