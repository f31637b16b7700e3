/* lower_block.c - blocks into pieces.
 *
 * A pipelined gather of n parts feeds a product part by part: the first part is there, so n - 1
 * of the product's parts run beside the transfer and the last one after both: the larger of
 * n g and g + (n - 1) c for parts of g on the GPU and c on the wire. A pipelined scatter of s parts
 * leaves part by part, the last transfer alone: g + (s - 1) max(g, c) + c.
 *
 * Invariants
 * 1. A piece of compute ends where a transfer stands, and where a phase does.
 * 2. Host time that no piece was charged with is left for what follows. */
#include "models/lower/plan/lower_block.h"

#include "models/gpu/gpu_work.h"

#include <math.h>
#include <string.h>

#include "models/lower/plan/lower_capture.h"
#include "sim/check.h"
#include "sim/list.h"

/* Kernels gathered so far for the piece under way. */
struct stretch {
    struct arena *arena;
    const struct block_spec *spec;
    struct piece_list *out;
    struct op_kernel *kernels; /* of `piece`, which counts them */
    uint32_t room;
    struct lowered_piece piece;
    double launches;
    unsigned segments;   /* that have kernels in it */
    double taken_sms;    /* by what runs beside */
    enum pass_kind part; /* of the backward that is written */
    struct capture capture;
};

static void push(struct arena *arena, struct piece_list *list, const struct lowered_piece *piece)
{
    LIST_ROOM(arena, list->rows, list->count, 1, list->room);
    list->rows[list->count++] = *piece;
}

static void restart(struct stretch *s, enum phase phase)
{
    s->piece = (struct lowered_piece){.kind = OP_COMPUTE,
                                      .stream = STREAM_COMPUTE,
                                      .phase = (uint8_t)phase,
                                      .part = (uint8_t)s->part};
    s->launches = 0.0;
    s->segments = 0;
}

/* Closes the piece under way, if there is anything in it. */
static void flush(struct stretch *s)
{
    struct lowered_piece *p = &s->piece;
    if (p->opens || p->closes || p->rebuilds || p->kernel_count > 0) {
        p->kernels = ARENA_ARRAY(s->arena, struct op_kernel, p->kernel_count);
        memcpy(p->kernels, s->kernels, sizeof *p->kernels * p->kernel_count);
        /* The GPU starts with the first kernel; launching the others holds up what follows. */
        double first = fmin(s->launches, 1.0);
        p->host_s = first * s->spec->costs->launch_s + s->out->host_left_s;
        s->out->host_left_s = (s->launches - first) * s->spec->costs->launch_s;
        s->out->host_s += s->launches * s->spec->costs->launch_s;
        if (s->segments > 1 || p->name == NULL)
            p->name = s->spec->name;
        push(s->arena, s->out, p);
    }
    restart(s, (enum phase)p->phase);
}

/* So many kernels like this one, and what the host launches for them. */
static void add_times(struct stretch *s, const char *segment, const struct kernel *k, double times,
                      double launches)
{
    struct lowered_piece *p = &s->piece;
    LIST_ROOM(s->arena, s->kernels, p->kernel_count, 1, s->room);
    struct kernel beside = *k;
    beside.taken_sms += s->taken_sms;
    struct kernel_time one = gpu_kernel_time(&s->spec->costs->gpu, &s->spec->c->kernels, &beside);
    double time_s = one.s * times;
    s->kernels[p->kernel_count++] = (struct op_kernel){
        k->name, time_s, k->flops * times, k->bytes * times, one.evidence, one.shape};
    p->cost.gpu_s += time_s;
    p->cost.peak_s += gpu_kernel_peak_time_s(&s->spec->c->gpu, k) * times;
    p->cost.flops += k->flops * times;
    p->cost.bytes += k->bytes * times;
    const struct gpu_work work = gpu_work_of(&s->spec->c->gpu, k, one.s);
    p->cost.flop_j += work.flop_j * times;
    p->cost.byte_j += work.byte_j * times;
    const double made = lower_capture_launches(&s->capture, launches, false);
    s->launches += made;
    s->out->launches += made;
    s->out->gpu_s += time_s;
    if (p->name != segment) {
        s->segments++;
        p->name = segment;
    }
}

/* Those from `first` up to `end`. */
static void add_kernels(struct stretch *s, const char *segment, const struct segment_kernels *list,
                        unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++) {
        lower_capture_enter(&s->capture, list->modules[i]);
        add_times(s, segment, &list->kernels[i], 1.0, list->kernels[i].launches);
    }
    if (first >= end && s->piece.name != segment) {
        s->segments++;
        s->piece.name = segment;
    }
}

/* What is sent before the first kernel of a pass stands with it; a segment whose products wait for
 * parts of what is sent is of one module. */
static void enter(struct stretch *s, const struct segment *g, const struct segment_kernels *list)
{
    lower_capture_enter(&s->capture, list->count > 0 ? list->modules[0] : g->modules);
}

static bool present(const struct segment_transfer *t)
{
    return t->comm != SEGMENT_NONE;
}

/* What a collective takes at least on its wire. */
static double transfer_least_s(const struct block_costs *costs, const struct segment_transfer *t)
{
    const struct least_wire wire = costs->wires[t->comm];
    return wire.bytes_per_s > 0.0 ? t->bytes * (wire.ranks - 1.0) / wire.ranks / wire.bytes_per_s
                                  : 0.0;
}

static enum stream stream_of(enum segment_comm comm)
{
    static const enum stream streams[] = {[SEGMENT_TP] = STREAM_TP,
                                          [SEGMENT_CP] = STREAM_CP,
                                          [SEGMENT_EP] = STREAM_EP,
                                          [SEGMENT_CP_HEADS] = STREAM_CP_HEADS};
    return streams[comm];
}

/* Ends the stretch and sends. A collective costs the host one launch, like a kernel. */
static void add_transfer(struct stretch *s, const struct segment_transfer *t, const char *name,
                         bool beside)
{
    if (!present(t))
        return;
    flush(s);
    bool tensor = t->comm == SEGMENT_TP;
    const bool rows = t->comm == SEGMENT_EP && (s->capture.graphs & GRAPH_EXPERTS) == 0;
    const double made = lower_capture_launches(&s->capture, 1.0, rows);
    const double host_s =
        made * (tensor ? s->spec->costs->tensor_host_s : s->spec->costs->launch_s);
    struct lowered_piece piece = {
        .kind = OP_COLLECTIVE,
        .stream = (uint8_t)stream_of(t->comm),
        .phase = s->piece.phase,
        .beside = beside,
        .name = name,
        .transfer = {t->op, t->bytes},
        .host_s = host_s + s->out->host_left_s,
    };
    s->out->host_left_s = 0.0;
    s->out->launches += made;
    s->out->gpu_s += transfer_least_s(s->spec->costs, t);
    s->out->host_s += host_s;
    push(s->arena, s->out, &piece);
}

/* The product that a pipelined transfer feeds (the first) or empties (the last); `count`: none. */
static unsigned fed_product(const struct stretch *s, const struct segment *g,
                            const struct segment_transfer *t, const struct kernel *kernels,
                            unsigned count)
{
    if (!g->transfers.pipelined || !present(t) || !s->spec->costs->tensor_inside)
        return count;
    for (unsigned i = 0; i < count; i++)
        if (kernels[i].kind == KERNEL_GEMM)
            return i;
    return count;
}

static unsigned emptied_product(const struct stretch *s, const struct segment *g,
                                const struct segment_transfer *t, const struct kernel *kernels,
                                unsigned count)
{
    unsigned found = fed_product(s, g, t, kernels, count);
    for (unsigned i = found; i < count; i++)
        if (kernels[i].kind == KERNEL_GEMM)
            found = i;
    return found;
}

/* One of the parts of a product, cut along its rows. */
static struct kernel part_of(const struct kernel *product, double parts)
{
    struct kernel part = *product;
    part.m /= parts;
    part.flops /= parts;
    part.bytes = (part.m * part.k + part.k * part.n) * part.element_bytes * part.batch +
                 part.m * part.n * part.result_bytes * part.batch;
    return part;
}

/* Each part but the first is copied and multiplied by launches of its own. The last part of the
 * product is left in the piece under way. */
static void feed(struct stretch *s, const struct segment *g, const struct segment_transfer *t,
                 const struct kernel *product)
{
    double parts = (double)s->spec->c->layout.tp;
    struct kernel part = part_of(product, parts);
    add_transfer(s, t, g->name, true);
    add_times(s, g->name, &part, parts - 1.0, 2.0 * (parts - 1.0));
    flush(s);
    add_times(s, g->name, &part, 1.0, 1.0);
}

static void empty(struct stretch *s, const struct segment *g, const struct segment_transfer *t,
                  const struct kernel *product)
{
    const struct software_profile *software = &s->spec->c->software;
    double parts = (double)software->tensor.scatter_splits;
    struct kernel part = part_of(product, parts);
    struct segment_transfer sent = *t;
    part.taken_sms = (double)software->tensor.scatter_sms;
    add_times(s, g->name, &part, 1.0, 1.0);
    if (parts > 1.0) {
        sent.bytes = t->bytes * (parts - 1.0) / parts;
        add_transfer(s, &sent, g->name, true);
        add_times(s, g->name, &part, parts - 1.0, 2.0 * (parts - 1.0));
    }
    sent.bytes = t->bytes / parts;
    add_transfer(s, &sent, g->name, false);
}

/* Rows of experts leave, and hold SMs while the kernels of the segment run. */
static void begin_exchange(struct stretch *s, const struct segment *g,
                           const struct segment_transfer *t)
{
    if (!present(t))
        return;
    add_transfer(s, t, g->name, true);
    s->taken_sms += s->spec->costs->exchange_sms;
}

static void end_exchange(struct stretch *s, const struct segment_transfer *t)
{
    if (!present(t))
        return;
    flush(s);
    s->taken_sms -= s->spec->costs->exchange_sms;
}

static void compile_forward_segment(struct stretch *s, const struct segment *g, unsigned index,
                                    bool stops)
{
    enter(s, g, &g->forward);
    unsigned count = g->forward.count - (stops ? 1 : 0);
    unsigned fed = fed_product(s, g, &g->transfers.before, g->forward.kernels, count);
    unsigned emptied =
        stops ? count : emptied_product(s, g, &g->transfers.after, g->forward.kernels, count);
    unsigned done = 0;
    if (emptied == fed)
        emptied = count;
    begin_exchange(s, g, &g->transfers.exchange);
    if (fed == count)
        add_transfer(s, &g->transfers.before, g->name, false);
    add_transfer(s, &g->transfers.beside, g->name, true);
    s->piece.opens |= (uint16_t)(1u << index);
    s->piece.closes |= (uint16_t)(1u << index);
    if (fed < count) {
        add_kernels(s, g->name, &g->forward, 0, fed);
        feed(s, g, &g->transfers.before, &g->forward.kernels[fed]);
        done = fed + 1;
    }
    add_kernels(s, g->name, &g->forward, done, emptied);
    s->piece.host_waits = s->piece.host_waits || g->host_waits;
    if (present(&g->transfers.beside) || g->host_waits)
        flush(s);
    end_exchange(s, &g->transfers.exchange);
    if (emptied < count) {
        empty(s, g, &g->transfers.after, &g->forward.kernels[emptied]);
        add_kernels(s, g->name, &g->forward, emptied + 1, count); /* of the rows that are sent */
    } else if (!stops) {
        add_transfer(s, &g->transfers.after, g->name, false);
    }
}

/* Recomputation that stops early runs up to the last segment with a kernel: that kernel gives
 * nothing that the backward reads, nor does what is sent behind it (PyTorch's checkpoint stops as
 * the last tensor is saved: torch/utils/checkpoint.py, _StopRecomputationError). */
static void compile_forward(struct stretch *s, const struct layer *layer, bool stops_early)
{
    lower_capture_begin(&s->capture);
    unsigned count = layer->segment_count;
    while (stops_early && layer->segments[count - 1].forward.count == 0)
        CHECK(layer->segments[--count].saved.count == 0);
    for (unsigned i = 0; i < count; i++)
        compile_forward_segment(s, &layer->segments[i], i, stops_early && i + 1 == count);
    flush(s);
}

/* What recomputation of a part runs again. Inputs of column-parallel layers are gathered again, by
 * modules those of products alone; what a row-parallel layer has scattered was kept. */
static void compile_repeated(struct stretch *s, const struct layer *layer)
{
    lower_capture_begin(&s->capture);
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *g = &layer->segments[i];
        enter(s, g, &g->forward);
        const bool modules = s->spec->c->layout.recompute == RECOMPUTE_MODULES;
        const struct segment_transfer *input = modules ? &g->transfers.again : &g->transfers.before;
        if (transformer_repeats(g) && input->comm == SEGMENT_TP)
            add_transfer(s, input, g->name, false);
        s->piece.rebuilds |= (uint16_t)(1u << i);
        for (unsigned k = 0; k < g->forward.count; k++)
            if (g->forward.repeated[k])
                add_kernels(s, g->name, &g->forward, k, k + 1);
    }
    flush(s);
}

static void add_core(struct stretch *s, const struct segment *g, unsigned index)
{
    if (s->spec->c->layout.recompute != RECOMPUTE_SELECTIVE || g->core.count == 0)
        return;
    flush(s);
    restart(s, PHASE_RECOMPUTE);
    s->piece.rebuilds |= (uint16_t)(1u << index);
    add_kernels(s, g->name, &g->core, 0, g->core.count);
    flush(s);
    restart(s, PHASE_BACKWARD);
}

/* The gradient of the output comes, whole or by parts. Returns how many kernels are written. */
static unsigned begin_backward(struct stretch *s, const struct segment *g, unsigned index)
{
    unsigned fed =
        fed_product(s, g, &g->transfers.backward_before, g->dgrad.kernels, g->dgrad.count);
    if (fed == g->dgrad.count) {
        add_transfer(s, &g->transfers.backward_before, g->name, false);
        add_core(s, g, index);
        return 0;
    }
    add_core(s, g, index);
    s->piece.opens |= (uint16_t)(1u << index);
    add_kernels(s, g->name, &g->dgrad, 0, fed);
    feed(s, g, &g->transfers.backward_before, &g->dgrad.kernels[fed]);
    return fed + 1;
}

/* The weight gradient of the column-parallel layer, whose input is gathered again, runs beside
 * `backward_after` when that overlaps; without overlap it is the next op. */
static void compile_backward_segment(struct stretch *s, const struct segment *g, unsigned index)
{
    enter(s, g, &g->dgrad);
    const bool overlaps = s->spec->c->software.tensor.backward_overlap;
    const unsigned beside =
        overlaps && present(&g->transfers.backward_after) ? g->wgrad_beside_count : 0;
    begin_exchange(s, g, &g->transfers.backward_exchange);
    unsigned done = begin_backward(s, g, index);
    add_transfer(s, &g->transfers.backward_beside, g->name, true);
    const unsigned apart = transformer_gathering_kernel(g, done);
    if (apart == done)
        add_transfer(s, &g->transfers.backward_gather, g->name, true);
    s->piece.opens |= (uint16_t)((done == 0) << index);
    add_kernels(s, g->name, &g->dgrad, done, apart);
    if (apart > done)
        add_transfer(s, &g->transfers.backward_gather, g->name, true);
    add_kernels(s, g->name, &g->dgrad, apart, g->dgrad.count);
    if (present(&g->transfers.backward_gather) && beside == 0)
        flush(s);
    add_kernels(s, g->name, &g->wgrad, 0, g->wgrad.count - beside);
    s->piece.closes |= (uint16_t)((beside == 0) << index);
    if (present(&g->transfers.backward_beside))
        flush(s);
    end_exchange(s, &g->transfers.backward_exchange);
    add_transfer(s, &g->transfers.backward_after, g->name, beside > 0);
    if (beside > 0) {
        s->piece.closes |= (uint16_t)(1u << index);
        add_kernels(s, g->name, &g->wgrad, g->wgrad.count - beside, g->wgrad.count);
        flush(s);
    }
}

/* The same without the gradients of weights; of a segment without a linear layer these are no
 * products that could wait (an embedding, whose rows are added), and nothing waits for them. */
static void compile_input_segment(struct stretch *s, const struct segment *g, unsigned index)
{
    enter(s, g, &g->dgrad);
    begin_exchange(s, g, &g->transfers.backward_exchange);
    const unsigned done = begin_backward(s, g, index);
    add_transfer(s, &g->transfers.backward_beside, g->name, true);
    if (done == 0)
        s->piece.opens |= (uint16_t)(1u << index);
    add_kernels(s, g->name, &g->dgrad, done, g->dgrad.count);
    if (!(g->memory.gradient_bytes > 0.0))
        add_kernels(s, g->name, &g->wgrad, 0, g->wgrad.count);
    s->piece.closes |= (uint16_t)(1u << index);
    if (present(&g->transfers.backward_beside))
        flush(s);
    end_exchange(s, &g->transfers.backward_exchange);
    add_transfer(s, &g->transfers.backward_after, g->name, false);
}

/* The gradients of weights alone: what was dropped of their inputs is gathered again. */
static void compile_weights_segment(struct stretch *s, const struct segment *g, unsigned index)
{
    enter(s, g, &g->wgrad);
    const bool waits = g->memory.gradient_bytes > 0.0;
    if (waits)
        add_transfer(s, &g->transfers.backward_gather, g->name, false);
    s->piece.closes |= (uint16_t)(1u << index);
    if (waits)
        add_kernels(s, g->name, &g->wgrad, 0, g->wgrad.count);
}

static bool has_linear(const struct layer *layer)
{
    for (unsigned i = 0; i < layer->segment_count; i++)
        if (layer->segments[i].memory.gradient_bytes > 0.0)
            return true;
    return false;
}

static void compile_split(struct stretch *s, struct block *out)
{
    const struct layer *layer = s->spec->layer;
    s->out = &out->lists[PIECES_INPUT];
    s->part = PASS_BACKWARD_INPUT;
    lower_capture_begin(&s->capture);
    restart(s, PHASE_BACKWARD);
    for (unsigned i = layer->segment_count; i-- > 0;)
        compile_input_segment(s, &layer->segments[i], i);
    flush(s);
    s->out = &out->lists[PIECES_WEIGHTS];
    s->part = PASS_WEIGHTS;
    lower_capture_begin(&s->capture);
    restart(s, PHASE_BACKWARD);
    for (unsigned i = has_linear(layer) ? layer->segment_count : 0; i-- > 0;)
        compile_weights_segment(s, &layer->segments[i], i);
    flush(s);
    s->part = PASS_BACKWARD;
}

static void compile_passes(struct stretch *s, struct piece_list *forward,
                           struct piece_list *backward)
{
    const struct layer *layer = s->spec->layer;
    s->out = forward;
    restart(s, PHASE_FORWARD);
    compile_forward(s, layer, false);
    s->out = backward;
    lower_capture_begin(&s->capture);
    restart(s, PHASE_BACKWARD);
    for (unsigned i = layer->segment_count; i-- > 0;)
        compile_backward_segment(s, &layer->segments[i], i);
    flush(s);
}

void lower_block_compile(struct arena *arena, const struct block_spec *spec, struct block *out)
{
    const struct layer *layer = spec->layer;
    struct stretch *s = ARENA_NEW(arena, struct stretch);
    *out = (struct block){.layer = layer,
                          .name = spec->name,
                          .full_recompute = spec->full_recompute,
                          .repeats = spec->repeats,
                          .splits = spec->splits,
                          .tensor_count = lower_block_tensors(layer, spec->splits),
                          .kept_bytes = lower_block_kept_bytes(spec),
                          .kept_count = lower_block_kept_count(spec),
                          .late_bytes = lower_block_late_bytes(layer)};
    s->arena = arena;
    LIST_ROOM(arena, s->kernels, 0, SEGMENT_KERNEL_MAX, s->room);
    s->spec = spec;
    s->capture.graphs = spec->costs->graphs;
    s->part = PASS_BACKWARD;
    compile_passes(s, &out->lists[PIECES_FORWARD], &out->lists[PIECES_BACKWARD]);
    if (spec->splits)
        compile_split(s, out);
    if (spec->paired_sms > 0.0) {
        s->taken_sms = spec->paired_sms;
        compile_passes(s, &out->lists[PIECES_PAIRED_FORWARD], &out->lists[PIECES_PAIRED_BACKWARD]);
        s->taken_sms = 0.0;
    }
    s->out = &out->lists[PIECES_RECOMPUTE];
    restart(s, PHASE_RECOMPUTE);
    if (spec->full_recompute) {
        compile_forward(s, layer, spec->c->software.layer.recompute_stops_early);
        s->out = &out->lists[PIECES_WHOLE];
        restart(s, PHASE_RECOMPUTE);
        if (spec->inside_group)
            compile_forward(s, layer, false);
    } else if (spec->repeats) {
        compile_repeated(s, layer);
    }
}
