#include "analysis/explain/trace_align.h"

#include <math.h>
#include <string.h>

#include "sim/check.h"

/* In logarithms. Two gaps cost more than any pair of spans that do as much, however their times
 * differ, so that a slow span stays beside its partner; and less than one whose amounts differ by a
 * factor of 20 and whose times by one of 7, which is other work. */
#define PAIR_GAP 2.0
#define PAIR_KINDS 0.5
#define TIME_WEIGHT 0.25
#define TIME_MOST 1.0
#define AMOUNT_MOST 3.0
#define AMOUNT_SAME 0.01 /* in logarithms: rounding of what is counted */

enum trace_group {
    GROUP_GEMM,
    GROUP_ATTENTION,
    GROUP_STREAM,
    GROUP_COPY,    /* no work of a layer */
    GROUP_UNKNOWN, /* may be anything, and makes no pair */
    GROUP_OPTIMIZER,
    GROUP_COMMUNICATION
};
/* What an alignment looks at. */
struct trace_feature {
    enum trace_group group;
    enum span_kind kind;
    enum span_role role;
    enum span_direction does, during;
    double log_time, log_amount; /* NAN: not told */
};
struct aligning {
    const struct trace_feature *a, *b;
    double *forward, *backward; /* a row each */
    uint32_t *partner;
};

static enum trace_group group_of(enum span_kind kind)
{
    switch (kind) {
    case SPAN_GEMM:
        return GROUP_GEMM;
    case SPAN_ATTENTION:
        return GROUP_ATTENTION;
    case SPAN_OPTIMIZER:
        return GROUP_OPTIMIZER;
    case SPAN_OTHER:
        return GROUP_UNKNOWN;
    case SPAN_NORM:
    case SPAN_ELEMENTWISE:
        return GROUP_STREAM;
    case SPAN_COPY:
        return GROUP_COPY;
    case SPAN_ALL_REDUCE:
    case SPAN_ALL_GATHER:
    case SPAN_REDUCE_SCATTER:
    case SPAN_BROADCAST:
    case SPAN_ALL_TO_ALL:
    case SPAN_SEND_RECV:
    case SPAN_COMMUNICATION:
        return GROUP_COMMUNICATION;
    case SPAN_KIND_COUNT:
        break;
    }
    UNREACHABLE("kind is an enum span_kind");
}

static struct trace_feature *features_of(struct arena *arena, struct trace_list list)
{
    struct trace_feature *out = ARENA_ARRAY(arena, struct trace_feature, list.count + 1);
    for (uint32_t i = 0; i < list.count; i++) {
        const struct trace_span *s = list.spans[i];
        out[i] = (struct trace_feature){
            .group = group_of(s->kind),
            .kind = s->kind,
            .role = s->role,
            .does = s->does,
            .during = s->during,
            .log_time = s->busy_s > 0.0 ? log(s->busy_s) : NAN,
            .log_amount = s->amount > 0.0 ? log(s->amount) : NAN,
        };
    }
    return out;
}

/* Of values that are told both. */
static double apart(double x, double y, double most)
{
    const double difference = fabs(x - y);
    return difference < most ? difference : isnan(difference) ? 0.0 : most;
}

/* Of two that are told both. */
static bool opposed(enum span_direction a, enum span_direction b)
{
    return a != SPAN_EITHER && b != SPAN_EITHER && a != b;
}

static bool other_role(enum span_role a, enum span_role b)
{
    return a != SPAN_ANY && b != SPAN_ANY && a != b;
}

static double pair_cost(const struct trace_feature *a, const struct trace_feature *b)
{
    if (a->group != b->group || a->group == GROUP_UNKNOWN || opposed(a->does, b->does) ||
        opposed(a->during, b->during) || other_role(a->role, b->role))
        return INFINITY;
    const double amount = apart(a->log_amount, b->log_amount, AMOUNT_MOST);
    return (a->kind != b->kind ? PAIR_KINDS : 0.0) + (amount > AMOUNT_SAME ? amount : 0.0) +
           fmin(TIME_WEIGHT * apart(a->log_time, b->log_time, INFINITY), TIME_MOST);
}

/* Of both lists. */
struct trace_range {
    uint32_t a_first, a_last, b_first, b_last;
};

/* row[j]: the cheapest alignment of the range of `a` with the first j of b's; backwards: of the
 * last j. */
static void fill_row(const struct aligning *x, struct trace_range in, bool backwards, double *row)
{
    const uint32_t count = in.b_last - in.b_first;
    for (uint32_t j = 0; j <= count; j++)
        row[j] = j * PAIR_GAP;
    for (uint32_t i = 0; i < in.a_last - in.a_first; i++) {
        const struct trace_feature *a = &x->a[backwards ? in.a_last - 1 - i : in.a_first + i];
        double corner = row[0];
        row[0] += PAIR_GAP;
        for (uint32_t j = 1; j <= count; j++) {
            const struct trace_feature *b = &x->b[backwards ? in.b_last - j : in.b_first + j - 1];
            const double pair = corner + pair_cost(a, b);
            corner = row[j];
            row[j] = fmin(pair, fmin(row[j], row[j - 1]) + PAIR_GAP);
        }
    }
}

/* One of `a` with its best partner, if a pair is cheaper than two gaps. */
static void align_one(const struct aligning *x, struct trace_range in)
{
    double best = 2.0 * PAIR_GAP;
    for (uint32_t j = in.b_first; j < in.b_last; j++) {
        const double cost = pair_cost(&x->a[in.a_first], &x->b[j]);
        if (cost < best) {
            best = cost;
            x->partner[in.a_first] = j;
        }
    }
}

static void align_range(const struct aligning *x, struct trace_range in)
{
    while (in.a_first < in.a_last && in.b_first < in.b_last &&
           pair_cost(&x->a[in.a_first], &x->b[in.b_first]) == 0.0)
        x->partner[in.a_first++] = in.b_first++;
    if (in.a_last - in.a_first <= 1 || in.b_first == in.b_last) {
        if (in.a_first < in.a_last)
            align_one(x, in);
        return;
    }
    struct trace_range before = in, behind = in;
    before.a_last = behind.a_first = in.a_first + (in.a_last - in.a_first) / 2;
    fill_row(x, before, false, x->forward);
    fill_row(x, behind, true, x->backward);
    const uint32_t count = in.b_last - in.b_first;
    uint32_t cut = 0;
    for (uint32_t j = 1; j <= count; j++)
        if (x->forward[j] + x->backward[count - j] < x->forward[cut] + x->backward[count - cut])
            cut = j;
    before.b_last = behind.b_first = in.b_first + cut;
    align_range(x, before);
    align_range(x, behind);
}

void trace_align(struct arena *arena, struct trace_list a, struct trace_list b, uint32_t *partner)
{
    struct aligning x = {.partner = partner};
    CHECK((double)a.count * b.count <= TRACE_CELLS_MAX);
    x.a = features_of(arena, a);
    x.b = features_of(arena, b);
    x.forward = ARENA_ARRAY(arena, double, b.count + 1);
    x.backward = ARENA_ARRAY(arena, double, b.count + 1);
    for (uint32_t i = 0; i < a.count; i++)
        partner[i] = TRACE_NONE;
    align_range(&x, (struct trace_range){0, a.count, 0, b.count});
    for (uint32_t i = 0, last = 0; i < a.count; i++) {
        if (partner[i] == TRACE_NONE)
            continue;
        CHECK(partner[i] >= last && partner[i] < b.count); /* in order, each once */
        last = partner[i] + 1;
    }
}
