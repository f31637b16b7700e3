#include "scenarios/import/trace/pytorch_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/trace/pytorch_points.h"
#include "sim/plural.h"

enum {
    COLLECTIVE_SAMPLES_LEAST = 3
};
#define COLLECTIVE_SCATTER 1.05
#define LATER_CARD "Sm90" /* in the names of FlashAttention 3's kernels */

/* What is measured once: an operator, or a kernel of NCCL. */
struct pytorch_sample {
    int64_t id; /* the operator's; PYTORCH_UNTOLD: a collective */
    struct calibrate_point point;
    double s;
};
struct sampling {
    struct arena *arena;
    const char *path;
    struct error *error;
    const struct pytorch_events *events;
    struct pytorch_sample *samples; /* operators, by id; then collectives */
    unsigned operators, count;
    struct pytorch_trace *out;
};

static int compare_ids(const void *left, const void *right)
{
    const struct pytorch_sample *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool find_operators(struct sampling *r)
{
    r->samples = ARENA_ARRAY(r->arena, struct pytorch_sample, r->events->count + 1);
    for (unsigned i = 0; i < r->events->count; i++) {
        const struct pytorch_event *event = &r->events->rows[i];
        struct pytorch_sample *s = &r->samples[r->operators];
        const bool point = pytorch_point_operator(event, &s->point);
        s->id = event->external;
        r->operators += s->id != PYTORCH_UNTOLD && point;
        if (event->category != PYTORCH_OPERATOR)
            continue;
        r->out->recorded++;
        if (!point)
            r->out->left[pytorch_point_left(event)]++;
    }
    qsort(r->samples, r->operators, sizeof *r->samples, compare_ids);
    for (unsigned i = 1; i < r->operators; i++)
        if (r->samples[i].id == r->samples[i - 1].id)
            return error_set(r->error,
                             "%s: two operators have the External id %" PRId64
                             ": traces are mixed; give those of one rank",
                             r->path, r->samples[i].id);
    r->count = r->operators;
    return true;
}

static void add_kernels(struct sampling *r, unsigned gpus_per_node)
{
    for (unsigned i = 0; i < r->events->count; i++) {
        const struct pytorch_event *event = &r->events->rows[i];
        struct pytorch_sample key = {.id = event->external};
        if (event->category != PYTORCH_KERNEL)
            continue;
        r->out->kernels_s += event->dur_s;
        if (event->collective != NULL) {
            struct pytorch_sample *s = &r->samples[r->count];
            *s = (struct pytorch_sample){.id = PYTORCH_UNTOLD, .s = event->dur_s};
            r->count +=
                pytorch_point_collective(event->collective, gpus_per_node, &s->point) && s->s > 0.0;
            continue;
        }
        struct pytorch_sample *s =
            key.id == PYTORCH_UNTOLD
                ? NULL
                : bsearch(&key, r->samples, r->operators, sizeof key, compare_ids);
        if (s == NULL)
            continue;
        s->s += event->dur_s;
        if (s->point.kind == POINT_ATTENTION && strcmp(s->point.name, "flash2") == 0 &&
            strstr(event->name, LATER_CARD) != NULL)
            snprintf(s->point.name, sizeof s->point.name, "flash3");
    }
}

/* Samples of one point stand together, the shortest first. */
static int compare_samples(const void *left, const void *right)
{
    const struct calibrate_point *a = &((const struct pytorch_sample *)left)->point;
    const struct calibrate_point *b = &((const struct pytorch_sample *)right)->point;
    const double x = ((const struct pytorch_sample *)left)->s,
                 y = ((const struct pytorch_sample *)right)->s;
    const int names = strcmp(a->name, b->name), types = strcmp(a->type, b->type);
    const int flags = (a->causal - b->causal) * 2 + a->backward - b->backward;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (names != 0 || types != 0 || flags != 0)
        return names != 0 ? names : types != 0 ? types : flags;
    for (unsigned i = 0; i < POINT_AXES; i++)
        if (a->size[i] != b->size[i])
            return a->size[i] < b->size[i] ? -1 : 1;
    return (x > y) - (x < y);
}

/* How many of the samples of a collective, shortest first, tell its time; 0: too few. */
static unsigned steady(const struct pytorch_sample *samples, unsigned count)
{
    unsigned near = 0;
    while (near < count && samples[near].s <= COLLECTIVE_SCATTER * samples[0].s)
        near++;
    return near >= COLLECTIVE_SAMPLES_LEAST ? near : 0;
}

static void make_point(struct sampling *r, const struct pytorch_sample *samples, unsigned count)
{
    double times[MEASURE_SAMPLES_MAX];
    struct pytorch_trace *out = r->out;
    unsigned used = 0;
    const bool collective = samples[0].point.kind == POINT_COLLECTIVE;
    const unsigned whole = collective ? steady(samples, count) : count;
    out->collectives_left += collective && whole == 0;
    unsigned first = 0; /* with a kernel */
    while (first < whole && samples[first].s <= 0.0)
        first++;
    const unsigned each = (whole - first + MEASURE_SAMPLES_MAX - 1) / MEASURE_SAMPLES_MAX;
    for (unsigned i = first; i < whole; i++) {
        out->points_s += samples[i].s;
        out->operators++;
        if ((i - first) % each == 0)
            times[used++] = samples[i].s;
    }
    if (used == 0)
        return;
    struct measured_point *point = &out->points[out->point_count++];
    *point = (struct measured_point){.point = samples[0].point, .measurement = {.settled = true}};
    measure_samples(times, used, &point->measurement);
}

static void make_points(struct sampling *r)
{
    r->out->points = ARENA_ARRAY(r->arena, struct measured_point, r->count + 1);
    qsort(r->samples, r->count, sizeof *r->samples, compare_samples);
    for (unsigned i = 0, next; i < r->count; i = next) {
        for (next = i + 1;
             next < r->count && point_same(&r->samples[next].point, &r->samples[i].point);)
            next++;
        make_point(r, &r->samples[i], next - i);
    }
}

const char *pytorch_trace_left(struct arena *arena, const struct pytorch_trace *trace)
{
    static const struct {
        const char *what, *why; /* of one; of all */
    } kinds[PYTORCH_LEFT_COUNT] = {
        [PYTORCH_LEFT_SIZES] = {"operator", "without the sizes of their inputs (record with "
                                            "record_shapes=True)"},
        [PYTORCH_LEFT_FP32] = {"product",
                               "in fp32, of which a trace does not tell whether tf32 ran"},
        [PYTORCH_LEFT_FORM] = {"operator",
                               "of another number format or form than those of profiles"},
    };
    const char *text = "";
    for (unsigned i = 0; i < PYTORCH_LEFT_COUNT; i++)
        if (kinds[i].what != NULL && trace->left[i] > 0)
            text =
                arena_format(arena, "%s%s%u %s%s %s", text, *text != '\0' ? "; " : "",
                             trace->left[i], kinds[i].what, plural_s(trace->left[i]), kinds[i].why);
    return text;
}

static bool no_points(const struct sampling *r)
{
    const char *left = pytorch_trace_left(r->arena, r->out);
    if (r->out->recorded == 0)
        return error_set(r->error,
                         "%s: kernels, but no operators of the host: record "
                         "ProfilerActivity.CPU, too, with record_shapes=True",
                         r->path);
    if (*left == '\0')
        return error_set(r->error, "%s: none of its %u operator%s is one that a profile takes",
                         r->path, r->out->recorded, plural_s(r->out->recorded));
    return error_set(r->error, "%s: no measurement for a profile in it: %s", r->path, left);
}

static void find_unknown(struct sampling *r)
{
    struct trace_span *spans = ARENA_ARRAY(r->arena, struct trace_span, r->events->count + 1);
    struct span_names *names = ARENA_NEW(r->arena, struct span_names);
    unsigned count = 0;
    for (unsigned i = 0; i < r->events->count; i++) {
        const struct pytorch_event *event = &r->events->rows[i];
        if (event->category == PYTORCH_KERNEL)
            spans[count++] = (struct trace_span){.kind = event->collective != NULL
                                                             ? SPAN_COMMUNICATION
                                                             : span_told(names, event->name)->kind,
                                                 .name = event->name,
                                                 .busy_s = event->dur_s};
    }
    span_unknown(r->arena, spans, count, &r->out->unknown);
}

bool pytorch_trace_read(struct arena *arena, struct import_file file, unsigned gpus_per_node,
                        struct pytorch_trace *out, struct error *error)
{
    struct pytorch_events events;
    struct sampling r = {
        .arena = arena, .path = file.path, .error = error, .events = &events, .out = out};
    *out = (struct pytorch_trace){.points = NULL};
    if (!pytorch_events_read(arena, file, &events, error))
        return false;
    out->device = events.device;
    out->mended = events.mended;
    if (!find_operators(&r))
        return false;
    /* one card: each process may have been given its own */
    add_kernels(&r, gpus_per_node > 0 ? gpus_per_node : events.devices > 1 ? events.devices : 0);
    if (out->kernels_s <= 0.0)
        return pytorch_events_idle(file.path, &events, error);
    make_points(&r);
    find_unknown(&r);
    return out->point_count > 0 || no_points(&r);
}
