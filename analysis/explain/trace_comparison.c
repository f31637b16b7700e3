#include "analysis/explain/trace_comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct comparing {
    struct arena *arena;
    const struct trace_span *const *spans;
    const uint32_t *counts;
    struct trace_comparison *out;
    struct error *error;
};
/* A moment at which a span begins or ends. */
struct trace_edge {
    double at_s;
    bool communicates;
    int step; /* +1 or -1 */
};

static int by_time(const void *left, const void *right)
{
    const struct trace_edge *a = left, *b = right;
    if (a->at_s != b->at_s)
        return a->at_s < b->at_s ? -1 : 1;
    return a->step - b->step;
}

static void measure_times(const struct comparing *c, enum trace_side side)
{
    const uint32_t count = c->counts[side];
    struct trace_times *out = &c->out->times[side];
    struct trace_edge *edges = ARENA_ARRAY(c->arena, struct trace_edge, 2 * (size_t)count + 1);
    int running[2] = {0, 0}; /* of compute, of communication */
    for (uint32_t i = 0; i < count; i++) {
        const struct trace_span *s = &c->spans[side][i];
        edges[2 * i] = (struct trace_edge){s->begin_s, span_communicates(s->kind), 1};
        edges[2 * i + 1] = (struct trace_edge){s->finish_s, span_communicates(s->kind), -1};
    }
    qsort(edges, 2 * (size_t)count, sizeof *edges, by_time);
    for (uint32_t i = 0; i + 1 < 2 * count; i++) {
        const double s = edges[i + 1].at_s - edges[i].at_s;
        running[edges[i].communicates] += edges[i].step;
        out->compute_s += running[0] > 0 ? s : 0.0;
        out->communication_s += running[1] > 0 ? s : 0.0;
        out->exposed_s += running[1] > 0 && running[0] == 0 ? s : 0.0;
        out->idle_s += running[1] == 0 && running[0] == 0 ? s : 0.0;
        out->step_s += s;
    }
}

/* The spans of a side that compute, or those of one operation. */
static struct trace_list list_of(const struct comparing *c, enum trace_side side,
                                 enum span_kind kind)
{
    const struct trace_span **rows =
        ARENA_ARRAY(c->arena, const struct trace_span *, c->counts[side] + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->counts[side]; i++) {
        const struct trace_span *s = &c->spans[side][i];
        if (span_communicates(kind) ? s->kind == kind : !span_communicates(s->kind))
            rows[count++] = s;
    }
    return (struct trace_list){rows, count};
}

static void add_pair(struct comparing *c, const struct trace_span *measured,
                     const struct trace_span *simulated)
{
    struct trace_pair *pair = &c->out->pairs[c->out->pair_count++];
    const struct trace_span *of[TRACE_SIDES] = {measured, simulated};
    *pair = (struct trace_pair){.of = {measured, simulated}};
    pair->difference_s =
        (measured ? measured->busy_s : 0.0) - (simulated ? simulated->busy_s : 0.0);
    for (unsigned side = 0; side < TRACE_SIDES; side++) {
        if (of[side] == NULL)
            continue;
        struct trace_sum *sums[] = {&c->out->kinds[of[side]->kind], &c->out->all};
        for (unsigned i = 0; i < 2; i++) {
            sums[i]->count[side]++;
            sums[i]->seconds[side] += of[side]->busy_s;
            if (of[1 - side] == NULL) {
                sums[i]->left[side]++;
                sums[i]->left_s[side] += of[side]->busy_s;
            }
        }
    }
}

static bool pair_up(struct comparing *c, enum span_kind kind)
{
    const struct trace_list a = list_of(c, TRACE_MEASURED, kind);
    const struct trace_list b = list_of(c, TRACE_SIMULATED, kind);
    uint32_t *partner = ARENA_ARRAY(c->arena, uint32_t, a.count + 1);
    if ((double)a.count * b.count > TRACE_CELLS_MAX)
        return error_set(c->error,
                         "%u measured spans beside %u simulated ones are more than can be aligned: "
                         "record one step, or fewer microbatches of it",
                         a.count, b.count);
    trace_align(c->arena, a, b, partner);
    uint32_t next = 0; /* of b */
    for (uint32_t i = 0; i < a.count; i++) {
        while (partner[i] != TRACE_NONE && next < partner[i])
            add_pair(c, NULL, b.spans[next++]);
        add_pair(c, a.spans[i], partner[i] != TRACE_NONE ? b.spans[next++] : NULL);
    }
    while (next < b.count)
        add_pair(c, NULL, b.spans[next++]);
    return true;
}

static double place_s(const struct trace_pair *pair)
{
    return pair->of[pair->of[TRACE_MEASURED] == NULL]->begin_s;
}

static int by_place(const void *left, const void *right)
{
    const struct trace_pair *a = left, *b = right;
    const double x = place_s(a), y = place_s(b);
    return x != y ? (x < y ? -1 : 1) : (a->of[0] == NULL) - (b->of[0] == NULL);
}

static int by_difference(const void *left, const void *right)
{
    const struct trace_pair *a = *(const struct trace_pair *const *)left;
    const struct trace_pair *b = *(const struct trace_pair *const *)right;
    const double x = fabs(a->difference_s), y = fabs(b->difference_s);
    return x != y ? (x > y ? -1 : 1) : (a > b) - (a < b);
}

static int by_work(const void *left, const void *right)
{
    const struct trace_part *a = left, *b = right;
    const int names = strcmp(a->name, b->name), phases = strcmp(a->phase, b->phase);
    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : names != 0 ? names : phases;
}

static int by_size(const void *left, const void *right)
{
    const struct trace_part *a = left, *b = right;
    const double x = fabs(a->difference_s), y = fabs(b->difference_s);
    return x != y ? (x > y ? -1 : 1) : by_work(left, right);
}

/* Adds up parts of the same work, and orders them by their differences. Returns how many. */
static uint32_t add_up(struct trace_part *parts, uint32_t count)
{
    uint32_t kept = 0;
    qsort(parts, count, sizeof *parts, by_work);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || by_work(&parts[kept - 1], &parts[i]) != 0) {
            parts[kept++] = parts[i];
            continue;
        }
        parts[kept - 1].count += parts[i].count;
        parts[kept - 1].difference_s += parts[i].difference_s;
        for (unsigned side = 0; side < TRACE_SIDES; side++)
            parts[kept - 1].seconds[side] += parts[i].seconds[side];
    }
    qsort(parts, kept, sizeof *parts, by_size);
    return kept;
}

static void sum_up(const struct comparing *c)
{
    struct trace_comparison *out = c->out;
    out->parts = ARENA_ARRAY(c->arena, struct trace_part, out->pair_count + 1);
    out->left = ARENA_ARRAY(c->arena, struct trace_part, out->pair_count + 1);
    out->worst = ARENA_ARRAY(c->arena, const struct trace_pair *, out->pair_count + 1);
    for (uint32_t i = 0; i < out->pair_count; i++) {
        const struct trace_pair *pair = &out->pairs[i];
        const struct trace_span *m = pair->of[TRACE_MEASURED], *s = pair->of[TRACE_SIMULATED];
        const struct trace_span *names = s != NULL ? s : m;
        const struct trace_part part = {.kind = names->kind,
                                        .name = names->name,
                                        .phase = names->phase,
                                        .count = 1,
                                        .seconds = {m ? m->busy_s : 0.0, s ? s->busy_s : 0.0},
                                        .difference_s = pair->difference_s};
        if (m != NULL && s != NULL) {
            out->parts[out->part_count++] = part;
            out->worst[out->worst_count++] = pair;
        } else {
            out->left[out->left_count++] = part;
        }
    }
    out->part_count = add_up(out->parts, out->part_count);
    out->left_count = add_up(out->left, out->left_count);
    qsort(out->worst, out->worst_count, sizeof(void *), by_difference);
}

bool trace_compare(struct arena *arena, const struct trace_span *const spans[TRACE_SIDES],
                   const uint32_t counts[TRACE_SIDES], struct trace_comparison *out,
                   struct error *error)
{
    struct comparing c = {arena, spans, counts, out, error};
    *out = (struct trace_comparison){.pairs = NULL};
    out->pairs = ARENA_ARRAY(arena, struct trace_pair,
                             (size_t)counts[TRACE_MEASURED] + counts[TRACE_SIMULATED] + 1);
    if (!pair_up(&c, SPAN_GEMM)) /* and all that computes */
        return false;
    for (unsigned kind = SPAN_ALL_REDUCE; kind < SPAN_KIND_COUNT; kind++)
        if (!pair_up(&c, (enum span_kind)kind))
            return false;
    qsort(out->pairs, out->pair_count, sizeof *out->pairs, by_place);
    for (unsigned side = 0; side < TRACE_SIDES; side++)
        measure_times(&c, (enum trace_side)side);
    sum_up(&c);
    return true;
}
