/* Invariants:
 * 1. The waits of a stage name transfers that the next compute op needs; compute needs no wait for
 *    compute, its stream is in order.
 * 2. A transfer waits for the last compute op and for what that compute would have waited for.
 * 3. A transfer beside compute joins the waits after the next compute op. */
#include <math.h>
#include <string.h>

#include "models/program/lower_parts.h"
#include "sim/check.h"
#include "sim/list.h"

/* Kernels gathered so far for the piece under way. */
struct stretch {
    struct lowering *l;
    struct piece_list *out;
    const char *block_name;
    struct op_kernel kernels[LAYER_SEGMENT_MAX * 2 * SEGMENT_KERNEL_MAX];
    struct piece piece;
    double launches;
    unsigned segments; /* that have kernels in it */
};

static void push(struct lowering *l, struct piece_list *list, const struct piece *piece)
{
    LIST_ROOM(l->arena, list->rows, list->count, 1, list->room);
    list->rows[list->count++] = *piece;
}

static void restart(struct stretch *s, enum phase phase)
{
    s->piece =
        (struct piece){.kind = OP_COMPUTE, .stream = STREAM_COMPUTE, .phase = (uint8_t)phase};
    s->launches = 0.0;
    s->segments = 0;
}

/* Closes the piece under way, if there is anything in it. */
static void flush(struct stretch *s)
{
    struct piece *p = &s->piece;
    enum phase phase = (enum phase)p->phase;
    const bool marked = p->opens || p->closes || p->rebuilds;
    CHECK(marked || p->kernel_count == 0);
    if (marked) {
        p->kernels = ARENA_ARRAY(s->l->arena, struct op_kernel, p->kernel_count);
        memcpy(p->kernels, s->kernels, sizeof *p->kernels * p->kernel_count);
        /* The GPU starts with the first kernel; launching the others holds up what follows. */
        double first = fmin(s->launches, 1.0);
        p->host_s = first * s->l->launch_s + s->out->host_left_s;
        s->out->host_left_s = (s->launches - first) * s->l->launch_s;
        s->out->host_s += s->launches * s->l->launch_s;
        if (s->segments > 1 || p->name == NULL) {
            p->name = s->block_name;
        }
        push(s->l, s->out, p);
    }
    restart(s, phase);
}

static void add_kernels(struct stretch *s, const char *segment, const struct kernel *kernels,
                        unsigned count)
{
    struct piece *p = &s->piece;
    for (unsigned i = 0; i < count; i++) {
        const struct kernel *k = &kernels[i];
        CHECK(p->kernel_count < sizeof s->kernels / sizeof s->kernels[0]);
        double time_s = kernel_time_s(&s->l->c->gpu, &s->l->c->kernels, k) * s->l->slowing;
        s->kernels[p->kernel_count++] = (struct op_kernel){k->name, time_s, k->flops, k->bytes};
        p->cost.gpu_s += time_s;
        p->cost.peak_s += kernel_peak_time_s(&s->l->c->gpu, k);
        p->cost.flops += k->flops;
        p->cost.bytes += k->bytes;
        s->launches += k->launches;
        s->out->launches += k->launches;
        s->out->gpu_s += time_s;
    }
    if (p->name != segment) {
        s->segments++;
        p->name = segment;
    }
}

static bool present(const struct segment_transfer *t)
{
    return t->comm != SEGMENT_NONE;
}

/* What a collective takes at least, on the port that its ranks share least of: only who runs ahead
 * of whom is judged by it. */
static double transfer_least_s(const struct lowering *l, const struct segment_transfer *t)
{
    const struct configuration *c = l->c;
    double ranks = (double)(t->comm == SEGMENT_TP ? c->layout.tp : c->layout.cp);
    bool inside = c->layout.tp * c->layout.cp <= c->cluster.node.gpus;
    double rate = inside ? c->cluster.node.nvlink_bytes_per_s : c->cluster.node.nic_bytes_per_s;
    return rate > 0.0 ? t->bytes * (ranks - 1.0) / ranks / rate : 0.0;
}

/* Ends the stretch and sends. A collective costs the host one launch, like a kernel. */
static void add_transfer(struct stretch *s, const struct segment_transfer *t, const char *name,
                         bool beside)
{
    if (!present(t)) {
        return;
    }
    flush(s);
    bool tensor = t->comm == SEGMENT_TP;
    struct piece piece = {
        .kind = OP_COLLECTIVE,
        .stream = tensor ? STREAM_TP : STREAM_CP,
        .phase = s->piece.phase,
        .beside = beside,
        .name = name,
        .transfer = {t->op, t->bytes},
        .host_s = (tensor ? s->l->tensor_host_s : s->l->launch_s) + s->out->host_left_s,
    };
    s->out->host_left_s = 0.0;
    s->out->launches += 1.0;
    s->out->gpu_s += transfer_least_s(s->l, t);
    s->out->host_s += tensor ? s->l->tensor_host_s : s->l->launch_s;
    push(s->l, s->out, &piece);
}

/* The last product of a layer gives nothing that its backward needs, nor does what is sent of it.
 */
static void compile_forward(struct stretch *s, const struct layer *layer, bool stops_early)
{
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *g = &layer->segments[i];
        bool stops = stops_early && i + 1 == layer->segment_count;
        add_transfer(s, &g->before, g->name, false);
        add_transfer(s, &g->beside, g->name, true);
        s->piece.opens |= (uint16_t)(1u << i);
        s->piece.closes |= (uint16_t)(1u << i);
        add_kernels(s, g->name, g->forward, g->forward_count - (stops ? 1 : 0));
        if (present(&g->beside)) {
            flush(s);
        }
        if (!stops) {
            add_transfer(s, &g->after, g->name, false);
        }
    }
    flush(s);
}

static void add_core(struct stretch *s, const struct segment *g, unsigned index)
{
    if (s->l->c->layout.recompute != RECOMPUTE_SELECTIVE || g->core_count == 0) {
        return;
    }
    flush(s);
    restart(s, PHASE_RECOMPUTE);
    s->piece.rebuilds |= (uint16_t)(1u << index);
    add_kernels(s, g->name, g->core, g->core_count);
    flush(s);
    restart(s, PHASE_BACKWARD);
}

/* What is gathered again is the input of the column-parallel layer, whose weight gradient runs
 * beside `backward_after` when that overlaps; without overlap it is the next op. */
static void compile_backward_segment(struct stretch *s, const struct segment *g, unsigned index)
{
    unsigned beside = g->wgrad_beside_count;
    bool overlap = s->l->c->software.backward_tp_overlap && present(&g->backward_after);
    if (!overlap) {
        beside = 0;
    }
    add_transfer(s, &g->backward_before, g->name, false);
    add_core(s, g, index);
    add_transfer(s, &g->backward_beside, g->name, true);
    add_transfer(s, &g->backward_gather, g->name, true);
    s->piece.opens |= (uint16_t)(1u << index);
    add_kernels(s, g->name, g->dgrad, g->dgrad_count);
    if (present(&g->backward_gather) && beside == 0) {
        flush(s);
    }
    add_kernels(s, g->name, g->wgrad, g->wgrad_count - beside);
    if (beside == 0) {
        s->piece.closes |= (uint16_t)(1u << index);
    }
    if (present(&g->backward_beside)) {
        flush(s);
    }
    add_transfer(s, &g->backward_after, g->name, beside > 0);
    if (beside > 0) {
        s->piece.closes |= (uint16_t)(1u << index);
        add_kernels(s, g->name, g->wgrad + g->wgrad_count - beside, beside);
        flush(s);
    }
}

static uint32_t count_tensors(const struct layer *layer)
{
    uint32_t count = 1; /* the layer's input, kept by full recomputation */
    for (unsigned i = 0; i < layer->segment_count; i++) {
        count += layer->segments[i].saved_count;
    }
    return count;
}

void block_compile(struct lowering *l, struct block *block, const struct layer *layer,
                   const char *name, bool full_recompute)
{
    struct stretch *s = ARENA_NEW(l->arena, struct stretch);
    *block = (struct block){.layer = layer,
                            .name = name,
                            .full_recompute = full_recompute,
                            .tensor_count = count_tensors(layer)};
    s->l = l;
    s->block_name = name;
    s->out = &block->forward;
    restart(s, PHASE_FORWARD);
    compile_forward(s, layer, false);
    s->out = &block->backward;
    restart(s, PHASE_BACKWARD);
    for (unsigned i = layer->segment_count; i-- > 0;) {
        compile_backward_segment(s, &layer->segments[i], i);
    }
    flush(s);
    if (full_recompute) {
        s->out = &block->recompute;
        restart(s, PHASE_RECOMPUTE);
        compile_forward(s, layer, l->c->software.recompute_stops_early);
    }
}

static void list_rows(struct piece_list *list, struct program_writer *w)
{
    for (uint32_t i = 0; i < list->count; i++) {
        struct piece *p = &list->rows[i];
        p->row = p->kind == OP_COMPUTE ? program_cost(w, &p->cost, p->kernels, p->kernel_count)
                                       : program_transfer(w, p->transfer.op, p->transfer.bytes);
        p->host = program_host(w, p->host_s);
        p->name_row = (uint16_t)program_name(w, p->name);
    }
}

void block_rows(struct block *block, struct program_writer *w)
{
    list_rows(&block->forward, w);
    list_rows(&block->backward, w);
    list_rows(&block->recompute, w);
}

uint32_t stage_op(struct stage *s, struct op op)
{
    op.microbatch = s->microbatch;
    op.layer = s->layer;
    op.chunk = s->chunk;
    if (op.kind == OP_COMPUTE) {
        op.flags |= (uint8_t)(s->flags | (s->joined ? OP_JOIN : 0));
        s->joined = false;
    }
    s->streams |= 1u << op.stream;
    uint32_t index = program_op(s->w, op);
    if (op.kind == OP_COMPUTE) {
        s->last = index;
        memory_first_op(s);
    }
    return index;
}

static uint32_t host_row(struct stage *s, uint32_t row, double host_s)
{
    if (s->extra_host_s > 0.0) {
        row = program_host(s->w, host_s + s->extra_host_s);
        s->extra_host_s = 0.0;
    }
    return row;
}

/* A transfer of data parallelism: one launch on the host; waits for one op. */
uint32_t stage_transfer(struct stage *s, enum stream stream, struct transfer transfer,
                        enum phase phase, const char *name, uint32_t wait)
{
    struct op op = {
        .kind = OP_COLLECTIVE,
        .stream = (uint8_t)stream,
        .phase = (uint8_t)phase,
        .cost = program_transfer(s->w, transfer.op, transfer.bytes),
        .wait = {wait, OP_NONE},
        .name = (uint16_t)program_name(s->w, name),
        .host = program_host(s->w, s->l->launch_s),
    };
    return stage_op(s, op);
}

/* One kernel as an op of its own; takes the waits. */
uint32_t stage_kernel(struct stage *s, const struct kernel *kernel, enum phase phase, double host_s)
{
    double time_s = kernel_time_s(&s->l->c->gpu, &s->l->c->kernels, kernel);
    struct op_kernel row = {kernel->name, time_s, kernel->flops, kernel->bytes};
    struct op_cost cost = {
        time_s, kernel_peak_time_s(&s->l->c->gpu, kernel), kernel->flops, kernel->bytes, 0, 0};
    double all_s = host_s + kernel->launches * s->l->launch_s;
    struct op op = {
        .kind = OP_COMPUTE,
        .stream = STREAM_COMPUTE,
        .phase = (uint8_t)phase,
        .cost = program_cost(s->w, &cost, &row, 1),
        .name = (uint16_t)program_name(s->w, kernel->name),
    };
    op.host = host_row(s, program_host(s->w, all_s), all_s);
    waits_take(&s->pipeline.waits, s->w, op.wait);
    return stage_op(s, op);
}

static void join_beside(struct stage *s)
{
    s->joined = s->joining.count > 0;
    for (unsigned i = 0; i < s->joining.count; i++) {
        waits_add(&s->pipeline.waits, s->joining.op[i]);
    }
    s->joining.count = 0;
}

static void stage_piece(struct stage *s, const struct piece *p, const struct unit *unit)
{
    struct waits *waits = &s->pipeline.waits;
    struct op op = {.kind = p->kind, .stream = p->stream, .phase = p->phase, .cost = p->row};
    op.name = p->name_row;
    op.host = host_row(s, p->host, p->host_s);
    if (p->kind == OP_COMPUTE) {
        waits_take(waits, s->w, op.wait);
        stage_op(s, op);
        join_beside(s);
        memory_piece(s, p, unit);
        return;
    }
    struct waits needs = *waits;
    waits_add(&needs, s->last);
    waits_take(&needs, s->w, op.wait);
    uint32_t index = stage_op(s, op);
    if (p->beside) {
        waits_add(&s->joining, index);
    } else {
        waits->count = 0;
        waits_add(waits, index);
    }
}

void stage_pieces(struct stage *s, const struct piece_list *list, struct unit *unit)
{
    for (uint32_t i = 0; i < list->count; i++) {
        stage_piece(s, &list->rows[i], unit);
    }
    s->launched += list->launches;
    s->extra_host_s += list->host_left_s;
}

uint32_t stage_result(struct stage *s)
{
    join_beside(s);
    struct waits *waits = &s->pipeline.waits;
    if (waits->count == 1) {
        uint32_t op = waits->op[0];
        waits->count = 0;
        return op;
    }
    if (waits->count == 0 && s->last != OP_NONE) {
        return s->last;
    }
    struct op_cost nothing = {0};
    struct op join = {.kind = OP_COMPUTE, .stream = STREAM_COMPUTE, .phase = PHASE_FORWARD};
    join.cost = program_cost(s->w, &nothing, NULL, 0);
    join.host = program_host(s->w, 0.0);
    join.name = (uint16_t)program_name(s->w, "join");
    waits_take(waits, s->w, join.wait);
    return stage_op(s, join);
}
