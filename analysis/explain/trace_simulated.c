#include "analysis/explain/trace_simulated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"

/* Of rows with the ranks of the experts: the one of a phase that came last. */
struct trace_exchange {
    enum span_role role; /* SPAN_ANY: none yet */
    uint16_t microbatch, layer;
};
struct simulating {
    const struct program *program;
    const struct op *op;
    struct trace_span *spans; /* NULL: count only */
    uint32_t count;
    struct trace_exchange last[PHASE_COUNT];
};

/* Recomputation is forward work during the backward half; behind both stand gradients and the
 * optimizer, whose kernels frameworks launch as it suits them. */
static enum span_direction during(enum phase phase)
{
    switch (phase) {
    case PHASE_FORWARD:
        return SPAN_FORWARD;
    case PHASE_BACKWARD:
    case PHASE_RECOMPUTE:
        return SPAN_BACKWARD;
    case PHASE_GRADIENTS:
    case PHASE_OPTIMIZER:
    case PHASE_PARAMETERS:
    case PHASE_COUNT:
        break;
    }
    return SPAN_EITHER;
}

static enum span_direction does(enum phase phase, const char *name)
{
    if (phase == PHASE_FORWARD || phase == PHASE_RECOMPUTE)
        return SPAN_FORWARD;
    return phase == PHASE_BACKWARD && strstr(name, "grad") != NULL ? SPAN_BACKWARD : SPAN_EITHER;
}

static bool tells_half(enum span_kind kind)
{
    return !span_communicates(kind) || kind == SPAN_ALL_TO_ALL;
}

/* Of a layer's two exchanges in each pass the first dispatches: rows, or gradients of what was
 * combined. Two passes of one phase never interleave. */
static enum span_role exchange_role(struct simulating *s)
{
    struct trace_exchange *last = &s->last[s->op->phase];
    const bool second = last->role == SPAN_DISPATCH && last->microbatch == s->op->microbatch &&
                        last->layer == s->op->layer;
    *last = (struct trace_exchange){second ? SPAN_COMBINE : SPAN_DISPATCH, s->op->microbatch,
                                    s->op->layer};
    return last->role;
}

static enum span_role role_of(struct simulating *s, enum span_kind kind, const char *name)
{
    if (kind == SPAN_ALL_TO_ALL && s->op->stream == STREAM_EP)
        return exchange_role(s);
    if (kind != SPAN_GEMM)
        return SPAN_ANY;
    return strncmp(name, "expert ", 7) == 0 ? SPAN_GROUPED : SPAN_DENSE;
}

static void add(struct simulating *s, enum span_kind kind, const char *name, double amount,
                double begin_s, double finish_s)
{
    if (!(finish_s > begin_s))
        return;
    if (s->spans != NULL)
        s->spans[s->count] = (struct trace_span){
            .kind = kind,
            .role = role_of(s, kind, name),
            .does = span_communicates(kind) ? SPAN_EITHER : does(s->op->phase, name),
            .during = tells_half(kind) ? during(s->op->phase) : SPAN_EITHER,
            .name = name,
            .stream = stream_names[s->op->stream],
            .phase = phase_names[s->op->phase],
            .microbatch = s->op->microbatch,
            .layer = s->op->layer,
            .begin_s = begin_s,
            .finish_s = finish_s,
            .busy_s = finish_s - begin_s,
            .amount = amount,
        };
    s->count++;
}

static void add_compute(struct simulating *s, const struct op_times *at)
{
    const struct op_cost *cost = &s->program->costs[s->op->cost];
    const struct op_kernel *kernels = &s->program->kernels[cost->kernel_first];
    const double took_s = at->finish_s - at->begin_s;
    double sum_s = 0.0, done_s = 0.0;
    for (uint32_t i = 0; i < cost->kernel_count; i++)
        sum_s += kernels[i].gpu_s;
    for (uint32_t i = 0; sum_s > 0.0 && i < cost->kernel_count; i++) {
        const double from = done_s / sum_s;
        done_s += kernels[i].gpu_s;
        add(s, span_kind_of_simulated(kernels[i].name, kernels[i].flops), kernels[i].name,
            kernels[i].flops, at->begin_s + from * took_s, at->begin_s + done_s / sum_s * took_s);
    }
}

static void add_op(struct simulating *s, const struct op_times *at)
{
    if (s->op->kind == OP_COMPUTE) {
        add_compute(s, at);
        return;
    }
    const struct transfer *transfer = &s->program->transfers[s->op->cost];
    if (transfer->bytes > 0.0)
        add(s, span_kind_of_operation(comm_op_names[transfer->op]), s->program->names[s->op->name],
            transfer->bytes, at->post_s, at->finish_s);
}

static void add_all(struct simulating *s, const struct op_times *times)
{
    s->count = 0;
    for (uint32_t i = 0; i < s->program->op_count; i++) {
        s->op = &s->program->ops[i];
        add_op(s, &times[i]);
    }
}

static int by_begin(const void *left, const void *right)
{
    const struct trace_span *a = left, *b = right;
    if (a->begin_s != b->begin_s)
        return a->begin_s < b->begin_s ? -1 : 1;
    return a->finish_s != b->finish_s ? (a->finish_s < b->finish_s ? -1 : 1)
                                      : strcmp(a->stream, b->stream);
}

uint32_t trace_simulated(struct arena *arena, const struct step *step, uint32_t rank,
                         struct trace_span **out)
{
    CHECK(step->worker != NULL && rank < step->counts.ranks);
    const uint32_t rank_class = step->symmetry.class_of_rank[rank];
    struct simulating s = {.program =
                               step->lowered.programs[step->symmetry.ranks[rank_class].program]};
    struct op_times *times = ARENA_ARRAY(arena, struct op_times, s.program->op_count + 1);
    worker_read(step->worker, rank_class, times);
    add_all(&s, times);
    s.spans = ARENA_ARRAY(arena, struct trace_span, s.count + 1);
    add_all(&s, times);
    qsort(s.spans, s.count, sizeof *s.spans, by_begin);
    const double first_s = s.count > 0 ? s.spans[0].begin_s : 0.0;
    for (uint32_t i = 0; i < s.count; i++) {
        s.spans[i].begin_s -= first_s;
        s.spans[i].finish_s -= first_s;
    }
    *out = s.spans;
    return s.count;
}
