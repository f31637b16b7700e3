#include "analysis/record/database/store_wires.h"

#include <math.h>
#include <stdio.h>

#include "analysis/record/database/store_timeline.h"
#include "models/step/simulate/wires.h"
#include "sim/check.h"
#include "sim/digest.h"
#include "sim/units.h"

#define COUNT(values) (sizeof(values) / sizeof(values)[0])
enum {
    BINS = 512,      /* of the busiest wire of each kind */
    BINS_SUM = 4096, /* of all others, where each has between these */
    BINS_LEAST = 8,
    BINS_MOST = 64,
    VERTEX_BYTES = 64,
    NAME_BYTES = 2 * VERTEX_BYTES + 32
};

struct wire_curve {
    uint32_t link;  /* class */
    uint32_t first; /* lowest rank class that loads it */
    int64_t track;
    unsigned bins;
    double *bytes; /* in each part of the step */
};
struct wire_curves {
    const struct step *step;
    struct arena *arena;
    struct wire_curve *rows;
    uint32_t *row_of; /* [link class]: its row; WIRE_NONE: it has no curve */
    uint32_t count;
};

/* Bins begin and end at whole nanoseconds. */
static int64_t edge_ns(const struct step *step, const struct wire_curve *w, unsigned bin)
{
    return digest_ns(step->step_s) * bin / w->bins;
}

static double edge_s(const struct step *step, const struct wire_curve *w, unsigned bin)
{
    return (double)edge_ns(step, w, bin) / GIGA;
}

static unsigned bin_at(const struct step *step, const struct wire_curve *w, double time_s)
{
    const double place = time_s / step->step_s * w->bins;
    unsigned bin = place >= w->bins ? w->bins - 1 : (unsigned)place;
    while (bin > 0 && edge_s(step, w, bin) > time_s)
        bin--;
    return bin;
}

/* What a piece of a transfer puts on its wire, into the bins that it lies in. */
static void spread(const struct step *step, struct wire_curve *w, const struct worker_load *load)
{
    const double from_s = load->from_s, until_s = load->until_s;
    const unsigned first = bin_at(step, w, from_s), last = bin_at(step, w, until_s);
    double left = load->bytes;
    for (unsigned i = first; i < last; i++) {
        const double in_s = edge_s(step, w, i + 1) - fmax(from_s, edge_s(step, w, i));
        const double part = load->bytes * fmax(0.0, in_s) / (until_s - from_s);
        w->bytes[i] += part;
        left -= part;
    }
    w->bytes[last] += left;
}

static void take_load(void *context, const struct worker_load *load)
{
    struct wire_curves *all = context;
    const uint32_t row = all->row_of[load->link];
    if (row == WIRE_NONE)
        return;
    struct wire_curve *w = &all->rows[row];
    spread(all->step, w, load);
    w->first = load->rank_class < w->first ? load->rank_class : w->first;
}

static void write_track(struct store *store, const struct step *step, const struct wire_curve *w)
{
    const struct graph *graph = &step->topology.graph;
    const struct link_id id = {step->symmetry.links[w->link].representative};
    const struct link link = graph_link_at(graph, id);
    char from[VERTEX_BYTES], to[VERTEX_BYTES], name[NAME_BYTES];
    graph_vertex_name(graph, link.from, from, sizeof from);
    graph_vertex_name(graph, link.to, to, sizeof to);
    snprintf(name, sizeof name, "%s, %s to %s", graph_link_kind_name(wires_kind(step, w->link)),
             from, to);
    const struct store_value row[] = {
        store_integer(w->track), store_integer(STORE_RUN), store_integer(store_class_id(w->first)),
        store_text("wire"),      store_text(name),         store_integer(0),
        store_real(0.0),         store_real(0.0),          store_real(0.0),
    };
    store_row(store, STORE_track, row, COUNT(row));
}

static void write_load(struct store *store, const struct step *step, const struct wire_curve *w)
{
    double last = -1.0;
    for (unsigned i = 0; i < w->bins; i++) {
        const double rate = w->bytes[i] / (edge_s(step, w, i + 1) - edge_s(step, w, i));
        const struct store_value row[] = {store_integer(w->track),
                                          store_integer(edge_ns(step, w, i)), store_real(rate)};
        if (rate != last)
            store_row(store, STORE_counter_raw, row, COUNT(row));
        last = rate;
    }
}

/* A curve for a class of wires that carries something and has none. */
static void want(struct wire_curves *all, uint32_t link, int64_t track)
{
    if (link == WIRE_NONE || all->row_of[link] != WIRE_NONE)
        return;
    all->row_of[link] = all->count;
    all->rows[all->count++] = (struct wire_curve){
        .link = link, .first = all->step->symmetry.rank_class_count, .track = track, .bins = BINS};
}

static void want_all(struct wire_curves *all, const struct node_wires *nodes, int64_t first_track)
{
    const struct step *step = all->step;
    const uint32_t link_count = step->symmetry.link_class_count;
    all->rows = ARENA_ARRAY(all->arena, struct wire_curve, link_count);
    all->row_of = ARENA_ARRAY(all->arena, uint32_t, link_count);
    for (uint32_t i = 0; i < link_count; i++)
        all->row_of[i] = WIRE_NONE;
    for (unsigned kind = 0; kind < WIRE_KINDS; kind++)
        want(all, wires_busiest(step, (enum link_kind)kind), first_track + kind);
    const uint32_t busiest = all->count;
    for (uint32_t node = 0; node < step->topology.node_count; node++)
        for (unsigned kind = 0; kind < WIRE_KINDS; kind++)
            want(all, nodes[node].link[kind], first_track + WIRE_KINDS + all->count - busiest);
    const uint32_t others = all->count - busiest;
    const unsigned each = others == 0 ? 0 : BINS_SUM / others;
    for (uint32_t i = 0; i < all->count; i++) {
        struct wire_curve *w = &all->rows[i];
        if (i >= busiest)
            w->bins = each < BINS_LEAST ? BINS_LEAST : each > BINS_MOST ? BINS_MOST : each;
        w->bytes = ARENA_ARRAY(all->arena, double, w->bins);
    }
}

static void write_nodes(struct store *store, const struct wire_curves *all,
                        const struct node_wires *nodes)
{
    for (uint32_t node = 0; node < all->step->topology.node_count && store_good(store); node++)
        for (unsigned kind = 0; kind < WIRE_KINDS; kind++) {
            const uint32_t link = nodes[node].link[kind];
            if (link == WIRE_NONE)
                continue;
            const struct store_value row[] = {
                store_integer(STORE_RUN), store_integer(node),
                store_text(graph_link_kind_name((enum link_kind)kind)),
                store_integer(all->rows[all->row_of[link]].track)};
            store_row(store, STORE_node_wire, row, COUNT(row));
        }
}

void store_wires(struct store *store, const struct step *step, int64_t first_track)
{
    if (digest_ns(step->step_s) < BINS)
        return; /* bins would be empty */
    struct wire_curves all = {.step = step, .arena = arena_create()};
    const struct node_wires *nodes = wires_of_nodes(all.arena, step);
    want_all(&all, nodes, first_track);
    worker_loads(step->worker, take_load, &all);
    for (uint32_t i = 0; i < all.count && store_good(store); i++) {
        CHECK(all.rows[i].first < step->symmetry.rank_class_count);
        write_track(store, step, &all.rows[i]);
        write_load(store, step, &all.rows[i]);
    }
    write_nodes(store, &all, nodes);
    arena_destroy(all.arena);
}
