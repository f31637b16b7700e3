#include "scenarios/import/trace/pytorch_spans.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/trace/pytorch_points.h"

/* PyTorch's engine records each node of the graph that it goes back through as an operator of this
 * name (pytorch/pytorch torch/csrc/autograd/engine.cpp); what is launched meanwhile on that thread
 * is of the backward pass, recomputation included. */
#define ENGINE "autograd::engine::evaluate_function"

struct backward_stretch {
    int64_t thread;
    double begin_s, finish_s;
};

struct pytorch_backward {
    struct backward_stretch *rows; /* by thread and begin; none overlaps another of its thread */
    unsigned count;                /* 0: nothing was recorded of any */
};

struct step_reading {
    struct arena *arena;
    const char *path;
    struct error *error;
    struct pytorch_events events;
    const struct pytorch_event **launches, **operators, **kernels; /* by number, id, begin */
    unsigned launch_count, operator_count, kernel_count;
    struct pytorch_backward backward;
    struct span_names names;
    struct pytorch_step *out;
};

static int by_thread(const void *left, const void *right)
{
    const struct backward_stretch *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->begin_s > b->begin_s) - (a->begin_s < b->begin_s);
}

static void find_backward(struct arena *arena, const struct pytorch_events *events,
                          struct pytorch_backward *out)
{
    struct backward_stretch *rows = ARENA_ARRAY(arena, struct backward_stretch, events->count + 1);
    unsigned found = 0;
    for (unsigned i = 0; i < events->count; i++) {
        const struct pytorch_event *event = &events->rows[i];
        if (event->category == PYTORCH_OPERATOR &&
            strncmp(event->name, ENGINE, strlen(ENGINE)) == 0)
            rows[found++] = (struct backward_stretch){event->thread, event->begin_s,
                                                      event->begin_s + event->dur_s};
    }
    qsort(rows, found, sizeof *rows, by_thread);
    *out = (struct pytorch_backward){rows, 0};
    for (unsigned i = 0; i < found; i++) {
        struct backward_stretch *last = &rows[out->count > 0 ? out->count - 1 : 0];
        if (out->count > 0 && last->thread == rows[i].thread && rows[i].begin_s <= last->finish_s)
            last->finish_s = rows[i].finish_s > last->finish_s ? rows[i].finish_s : last->finish_s;
        else
            rows[out->count++] = rows[i];
    }
}

/* Was that thread in it then? The end is not. */
static bool in_backward(const struct pytorch_backward *backward, int64_t thread, double at_s)
{
    unsigned first = 0, behind = backward->count; /* of those that begin no later */
    while (first < behind) {
        const unsigned middle = first + (behind - first) / 2;
        const struct backward_stretch *row = &backward->rows[middle];
        if (row->thread < thread || (row->thread == thread && row->begin_s <= at_s))
            first = middle + 1;
        else
            behind = middle;
    }
    return first > 0 && backward->rows[first - 1].thread == thread &&
           at_s < backward->rows[first - 1].finish_s;
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_correlation(const void *left, const void *right)
{
    const struct pytorch_event *const *a = left, *const *b = right;
    return compare_numbers((*a)->correlation, (*b)->correlation);
}

static int by_external(const void *left, const void *right)
{
    const struct pytorch_event *const *a = left, *const *b = right;
    return compare_numbers((*a)->external, (*b)->external);
}

/* As it began; what began at once, in the order of the file. */
static int by_begin(const void *left, const void *right)
{
    const struct pytorch_event *const *a = left, *const *b = right;
    if ((*a)->begin_s != (*b)->begin_s)
        return (*a)->begin_s < (*b)->begin_s ? -1 : 1;
    return (*a > *b) - (*a < *b);
}

static void sort_events(struct step_reading *r)
{
    const unsigned count = r->events.count;
    r->launches = ARENA_ARRAY(r->arena, const struct pytorch_event *, count + 1);
    r->operators = ARENA_ARRAY(r->arena, const struct pytorch_event *, count + 1);
    r->kernels = ARENA_ARRAY(r->arena, const struct pytorch_event *, count + 1);
    for (unsigned i = 0; i < count; i++) {
        const struct pytorch_event *event = &r->events.rows[i];
        if (event->category == PYTORCH_LAUNCH && event->correlation != PYTORCH_UNTOLD)
            r->launches[r->launch_count++] = event;
        else if (event->category == PYTORCH_OPERATOR && event->external != PYTORCH_UNTOLD)
            r->operators[r->operator_count++] = event;
        else if (event->category == PYTORCH_KERNEL || event->category == PYTORCH_COPY)
            r->kernels[r->kernel_count++] = event;
    }
    qsort(r->launches, r->launch_count, sizeof(void *), by_correlation);
    qsort(r->operators, r->operator_count, sizeof(void *), by_external);
    qsort(r->kernels, r->kernel_count, sizeof(void *), by_begin);
}

/* NULL: not told. */
static const struct pytorch_event *launch_of(const struct step_reading *r,
                                             const struct pytorch_event *kernel)
{
    const struct pytorch_event *const *launch =
        kernel->correlation == PYTORCH_UNTOLD
            ? NULL
            : bsearch(&kernel, r->launches, r->launch_count, sizeof(void *), by_correlation);
    return launch != NULL ? *launch : NULL;
}

/* When the host launched it; when it began, where that is not told. */
static double launched_s(const struct step_reading *r, const struct pytorch_event *kernel)
{
    const struct pytorch_event *launch = launch_of(r, kernel);
    return launch != NULL ? launch->begin_s : kernel->begin_s;
}

static bool is_in(const struct step_reading *r, const struct pytorch_event *mark,
                  const struct pytorch_event *kernel)
{
    const double at = launched_s(r, kernel);
    return mark == NULL || (at >= mark->begin_s && at < mark->begin_s + mark->dur_s);
}

/* The mark of the step that is asked for, or of the last one in which a kernel was launched; NULL:
 * there are no marks. */
static bool find_step(const struct step_reading *r, int64_t number,
                      const struct pytorch_event **out)
{
    double last_s = launched_s(r, r->kernels[0]);
    unsigned marks = 0;
    int64_t first = INT64_MAX, last = INT64_MIN;
    *out = NULL;
    for (unsigned i = 1; i < r->kernel_count; i++)
        last_s = fmax(last_s, launched_s(r, r->kernels[i]));
    for (unsigned i = 0; i < r->events.count; i++) {
        const struct pytorch_event *event = &r->events.rows[i];
        if (event->category != PYTORCH_STEP)
            continue;
        marks++;
        first = event->step < first ? event->step : first;
        last = event->step > last ? event->step : last;
        if (number != PYTORCH_UNTOLD
                ? event->step == number
                : event->begin_s <= last_s && (*out == NULL || event->begin_s > (*out)->begin_s))
            *out = event;
    }
    if (number != PYTORCH_UNTOLD && *out == NULL)
        return marks == 0
                   ? error_set(r->error, "%s: no ProfilerStep#%" PRId64 " in it, nor any such mark",
                               r->path, number)
                   : error_set(r->error,
                               "%s: no ProfilerStep#%" PRId64 " in it; there are %u such marks, "
                               "from %" PRId64 " to %" PRId64,
                               r->path, number, marks, first, last);
    return (marks == 0) == (*out == NULL) ||
           error_set(r->error, "%s: no kernel was launched in any ProfilerStep", r->path);
}

/* FLOPs of the operator that a kernel belongs to. */
static double flops_of(const struct step_reading *r, const struct pytorch_event *kernel)
{
    const struct pytorch_event *const *found =
        kernel->external == PYTORCH_UNTOLD
            ? NULL
            : bsearch(&kernel, r->operators, r->operator_count, sizeof(void *), by_external);
    return found != NULL ? pytorch_flops(*found) : 0.0;
}

/* Schedules that put weight gradients off compute them beside the engine, and those that overlap
 * two passes exchange rows there, so that of products and all-to-alls which it did not launch
 * nothing is told; nor of other messages, because pipelines and buckets send beside it. */
static enum span_direction during(const struct step_reading *r, const struct pytorch_event *event,
                                  enum span_kind kind)
{
    const struct pytorch_event *launch = launch_of(r, event);
    const bool exchanges = kind == SPAN_ALL_TO_ALL;
    if (launch == NULL || r->backward.count == 0 || (span_communicates(kind) && !exchanges))
        return SPAN_EITHER;
    if (in_backward(&r->backward, launch->thread, launch->begin_s))
        return SPAN_BACKWARD;
    return kind == SPAN_GEMM || exchanges ? SPAN_EITHER : SPAN_FORWARD;
}

static void set_span(struct step_reading *r, const struct pytorch_event *event, double origin_s,
                     struct trace_span *out)
{
    const struct span_told *told = span_told(&r->names, event->name);
    *out = (struct trace_span){
        .kind = event->category == PYTORCH_COPY ? SPAN_COPY : told->kind,
        .does = told->does,
        .role = told->role,
        .during = during(r, event, told->kind),
        .name = event->name,
        .stream = event->stream == PYTORCH_UNTOLD
                      ? ""
                      : arena_format(r->arena, "%" PRId64, event->stream),
        .phase = "",
        .microbatch = SPAN_UNTOLD,
        .layer = SPAN_UNTOLD,
        .begin_s = event->begin_s - origin_s,
        .finish_s = event->begin_s - origin_s + event->dur_s,
        .busy_s = event->dur_s,
    };
    if (event->collective != NULL) {
        const char *operation = pytorch_collective_operation(event->collective->name);
        const enum span_kind kind =
            span_kind_of_operation(*operation != '\0' ? operation : event->collective->name);
        if (kind != SPAN_COMMUNICATION || !span_communicates(out->kind))
            out->kind = kind;
        out->amount = pytorch_collective_bytes(event->collective);
    } else if (out->kind == SPAN_GEMM || out->kind == SPAN_ATTENTION) {
        out->amount = flops_of(r, event);
    }
}

/* One operator launched both; or one CUDA graph did, of whose kernels no operator is told: then
 * those of an optimizer must have one name, because its operators follow each other there. */
static bool share_operator(const struct pytorch_event *before, const struct pytorch_event *event,
                           enum span_kind kind)
{
    if (before->external != event->external)
        return false;
    if (event->external != PYTORCH_UNTOLD)
        return true;
    return event->correlation != PYTORCH_UNTOLD && before->correlation == event->correlation &&
           (kind != SPAN_OPTIMIZER || strcmp(before->name, event->name) == 0);
}

/* Does a kernel go on with what the one before it on its stream did? */
static bool goes_on(const struct pytorch_event *before, const struct trace_span *last,
                    const struct pytorch_event *event, const struct trace_span *span)
{
    if (before->stream != event->stream || last->kind != span->kind)
        return false;
    if (span->kind == SPAN_GEMM)
        return strstr(event->name, "splitKreduce") != NULL;
    return (span->kind == SPAN_ATTENTION || span->kind == SPAN_NORM ||
            span->kind == SPAN_OPTIMIZER) &&
           share_operator(before, event, span->kind);
}

static void make_spans(struct step_reading *r, const struct pytorch_event *mark)
{
    struct pytorch_step *out = r->out;
    const struct pytorch_event *before = NULL; /* of the span made last */
    double origin_s = 0.0;
    out->spans = ARENA_ARRAY(r->arena, struct trace_span, r->kernel_count + 1);
    for (unsigned i = 0; i < r->kernel_count; i++) {
        const struct pytorch_event *event = r->kernels[i];
        struct trace_span span, *last = &out->spans[out->count > 0 ? out->count - 1 : 0];
        if (!is_in(r, mark, event))
            continue;
        if (out->kernels++ == 0)
            origin_s = event->begin_s;
        set_span(r, event, origin_s, &span);
        if (before != NULL && goes_on(before, last, event, &span)) {
            last->finish_s = span.finish_s > last->finish_s ? span.finish_s : last->finish_s;
            last->busy_s += span.busy_s;
            last->does = last->does == SPAN_EITHER ? span.does : last->does;
        } else {
            out->spans[out->count++] = span;
        }
        before = event;
    }
}

/* A trace whose names tell a forward pass, and in which nothing goes back or updates a weight. */
static void tell_passes(struct pytorch_step *out)
{
    bool forward = false, training = false;
    for (unsigned i = 0; i < out->count; i++) {
        const struct trace_span *s = &out->spans[i];
        forward = forward || s->does == SPAN_FORWARD;
        training = training || s->does == SPAN_BACKWARD || s->during == SPAN_BACKWARD ||
                   s->kind == SPAN_OPTIMIZER;
    }
    out->forward_only = forward && !training;
    for (unsigned i = 0; out->forward_only && i < out->count; i++)
        if (!span_communicates(out->spans[i].kind))
            out->spans[i].during = SPAN_FORWARD;
}

bool pytorch_spans_read(struct arena *arena, struct import_file file, int64_t number,
                        struct pytorch_step *out, struct error *error)
{
    struct step_reading *r = ARENA_NEW(arena, struct step_reading);
    const struct pytorch_event *mark;
    *r = (struct step_reading){.arena = arena, .path = file.path, .error = error, .out = out};
    *out = (struct pytorch_step){.number = PYTORCH_UNTOLD};
    if (!pytorch_events_read(arena, file, &r->events, error))
        return false;
    sort_events(r);
    find_backward(arena, &r->events, &r->backward);
    if (r->kernel_count == 0)
        return pytorch_events_idle(file.path, &r->events, error);
    if (!find_step(r, number, &mark))
        return false;
    if (mark != NULL) {
        out->number = mark->step;
        out->host_s = mark->dur_s;
    }
    out->device = r->events.device;
    out->rank = r->events.rank;
    out->world_size = r->events.world_size;
    out->mended = r->events.mended;
    make_spans(r, mark);
    tell_passes(out);
    return out->count > 0 || error_set(error, "%s: no kernel was launched in ProfilerStep#%" PRId64,
                                       file.path, out->number);
}
