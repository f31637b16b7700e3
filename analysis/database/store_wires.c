#include "analysis/database/store_wires.h"

#include <math.h>
#include <stdio.h>

#include "analysis/database/store_timeline.h"
#include "sim/check.h"
#include "sim/digest.h"
#include "sim/units.h"

#define COUNT(values) (sizeof(values) / sizeof(values)[0])
enum {
    BINS = 512,
    VERTEX_BYTES = 64,
    NAME_BYTES = 2 * VERTEX_BYTES + 32
};

struct wire_curve {
    const struct step *step;
    uint32_t link;      /* class */
    uint32_t first;     /* lowest rank class that loads it */
    double bytes[BINS]; /* in each part of the step */
};

static const struct link_class *class_of(const struct wire_curve *w)
{
    return &w->step->symmetry.links[w->link];
}

/* Bytes that one activity of the plan puts on one wire of the class. */
static double bytes_on(const struct wire_curve *w, const struct played_plan *plan)
{
    const struct symmetry *y = &w->step->symmetry;
    double weight = 0.0;
    for (uint32_t i = plan->use_first; i < plan->use_first + plan->use_count; i++)
        weight += y->uses[i].link == w->link ? y->uses[i].weight : 0.0;
    for (uint32_t i = plan->own_first; i < plan->own_first + plan->own_count; i++)
        weight += y->uses[i].link == w->link ? y->uses[i].weight : 0.0;
    return plan->bytes * plan->wire_weight * weight;
}

/* Bins begin and end at whole nanoseconds. */
static int64_t edge_ns(const struct wire_curve *w, unsigned bin)
{
    return digest_ns(w->step->step_s) * bin / BINS;
}

static double edge_s(const struct wire_curve *w, unsigned bin)
{
    return (double)edge_ns(w, bin) / GIGA;
}

static unsigned bin_at(const struct wire_curve *w, double time_s)
{
    const double place = time_s / w->step->step_s * BINS;
    unsigned bin = place >= BINS ? BINS - 1 : (unsigned)place;
    while (bin > 0 && edge_s(w, bin) > time_s)
        bin--;
    return bin;
}

static void spread(struct wire_curve *w, double begin_s, double finish_s, double bytes)
{
    const unsigned first = bin_at(w, begin_s), last = bin_at(w, finish_s);
    double left = bytes;
    for (unsigned i = first; i < last; i++) {
        const double from_s = fmax(begin_s, edge_s(w, i)), until_s = edge_s(w, i + 1);
        const double part = bytes * fmax(0.0, until_s - from_s) / (finish_s - begin_s);
        w->bytes[i] += part;
        left -= part;
    }
    w->bytes[last] += left;
}

/* Every party of an activity posts it; the first one speaks for all. */
static void take_class(struct wire_curve *w, uint32_t rank_class)
{
    const struct step *step = w->step;
    const struct symmetry *y = &step->symmetry;
    const struct rank_class *mine = &y->ranks[rank_class];
    const struct program *program = step->lowered.programs[mine->program];
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct op *op = &program->ops[i];
        if (op->kind == OP_COMPUTE || mine->group[op->stream] == GROUP_NONE ||
            mine->party[op->stream] != 0)
            continue;
        const struct group_class *group = &y->groups[mine->group[op->stream]];
        const uint32_t plan = y->plan_of[y->parties[group->party_first].plan_first + op->cost];
        const double bytes = plan == PLAN_NONE ? 0.0 : bytes_on(w, &y->plans[plan]);
        if (bytes <= 0.0)
            continue;
        const struct op_times times = worker_times(step->worker, rank_class, i);
        spread(w, times.begin_s, times.finish_s, bytes);
        w->first = rank_class < w->first ? rank_class : w->first;
    }
}

static void write_track(struct store *store, const struct wire_curve *w, int64_t track)
{
    const struct graph *graph = &w->step->topology.graph;
    const struct link_id id = {class_of(w)->representative};
    const struct link link = graph_link_at(graph, id);
    char from[VERTEX_BYTES], to[VERTEX_BYTES], name[NAME_BYTES];
    graph_vertex_name(graph, link.from, from, sizeof from);
    graph_vertex_name(graph, link.to, to, sizeof to);
    snprintf(name, sizeof name, "%s, %s to %s",
             graph_link_kind_name(graph_link_type(graph, id)->kind), from, to);
    const struct store_value row[] = {
        store_integer(track), store_integer(STORE_RUN), store_integer(store_class_id(w->first)),
        store_text("wire"),   store_text(name),         store_integer(0),
        store_real(0.0),      store_real(0.0),          store_real(0.0),
    };
    store_row(store, STORE_track, row, COUNT(row));
}

static void write_load(struct store *store, const struct wire_curve *w, int64_t track)
{
    double last = -1.0;
    for (unsigned i = 0; i < BINS; i++) {
        const double rate = w->bytes[i] / (edge_s(w, i + 1) - edge_s(w, i));
        const struct store_value row[] = {store_integer(track), store_integer(edge_ns(w, i)),
                                          store_real(rate)};
        if (rate != last)
            store_row(store, STORE_counter_raw, row, COUNT(row));
        last = rate;
    }
}

/* The class of a kind that carries most of what it could; UINT32_MAX: none carries anything. */
static uint32_t busiest(const struct step *step, enum link_kind kind)
{
    uint32_t best = UINT32_MAX;
    double most = 0.0;
    for (uint32_t i = 0; i < step->symmetry.link_class_count; i++) {
        const struct link_class *l = &step->symmetry.links[i];
        const struct link_id id = {l->representative};
        const double use = network_link_bytes(step->network, i) / (l->bytes_per_s * step->step_s);
        if (graph_link_type(&step->topology.graph, id)->kind == kind && use > most) {
            most = use;
            best = i;
        }
    }
    return best;
}

void store_wires(struct store *store, const struct step *step, int64_t first_track)
{
    if (digest_ns(step->step_s) < BINS)
        return; /* bins would be empty */
    for (int kind = LINK_NVLINK; kind <= LINK_FABRIC && store_good(store); kind++) {
        struct wire_curve w = {.step = step,
                               .link = busiest(step, (enum link_kind)kind),
                               .first = step->symmetry.rank_class_count};
        if (w.link == UINT32_MAX)
            continue;
        for (uint32_t i = 0; i < step->symmetry.rank_class_count; i++)
            take_class(&w, i);
        CHECK(w.first < step->symmetry.rank_class_count);
        write_track(store, &w, first_track + kind);
        write_load(store, &w, first_track + kind);
    }
}
