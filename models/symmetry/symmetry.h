/* symmetry.h - ranks, groups and links that are alike, found by colour refinement and played once.
 *
 * Start from program, GPU speed and kind; refine ranks by the classes of their groups (and their
 * role in them), groups by the classes of their members and links, links by the classes and loads
 * of what crosses them; stop when stable. The partition is equitable, so every member of a class
 * has the same timeline: exact, not an approximation. A collective's members see its class, not
 * their place in the ring. Links that can never bind (graph.h) are left out and split nothing. With
 * `unfold`, and with per-op jitter, every rank, group and link is its own class: the players are
 * the same.
 *
 * The result is all that the players need: classes, tuned plans and their loads on link classes.
 * Loads are sums of share_weight'ed terms, so folded and unfolded rates agree bit for bit; to keep
 * shares fair by bytes on the wire, they are relative to the busiest wire of their activity. */
#ifndef ORRERY_MODELS_SYMMETRY_SYMMETRY_H
#define ORRERY_MODELS_SYMMETRY_SYMMETRY_H

#include "models/collective/collective_kind.h"
#include "models/layout/layout.h"
#include "models/program/lowered.h"
#include "sim/share.h"

#define PLAN_NONE UINT32_MAX

struct rank_class {
    uint32_t program;
    uint32_t representative; /* its lowest rank */
    uint32_t rank_count;
    uint64_t colour;              /* the same for alike ranks and no others, folded or not */
    uint64_t last_colour;         /* the same; of a bundle that of its member named last */
    double speed_ratio;           /* of compute; 1: as the catalogue says */
    uint32_t group[STREAM_COUNT]; /* group class, or GROUP_NONE */
    uint32_t party[STREAM_COUNT]; /* its row among that group class's parties */
};
struct party { /* members of one rank class in each group of a class */
    uint32_t rank_class;
    uint32_t member_count;
    enum stream stream;  /* on which they take part: a pair has a sender and a receiver */
    uint32_t plan_first; /* row of plan_of for transfer 0 of their program */
};
struct group_class {
    enum stream kind;
    uint32_t representative; /* row of layout.groups */
    uint32_t group_count;
    uint32_t party_first, party_count;
    struct group_shape shape;
    bool unnamed; /* of a bundle whose groups do not name their members in one order */
};
struct link_class {
    uint32_t representative; /* link id */
    uint32_t link_count;
    double bytes_per_s;
};
struct node_link {       /* a link that carries something, at one of its ends a node */
    uint32_t node, link; /* the class, which may have links of several kinds */
    enum link_kind kind;
};
/* One collective or message, as the network plays it. A link whose groups never meet on it (see
 * symmetry_own.c) is not shared: it is a ceiling like the protocol's. Zero bytes and groups of one
 * take no time: nothing is sent. */
struct played_plan {
    struct collective_plan tuned;
    uint32_t group; /* the group class that plays it */
    double bytes;
    double latency_s;       /* tuned; 0 when nothing is sent */
    double cap_bytes_per_s; /* tuned, or less by links it never shares; INFINITY: none */
    double wire_weight;     /* bytes on the busiest wire for each payload byte: the unit of uses */
    uint32_t use_first, use_count; /* rows of uses: loads on link classes shared with others */
    uint32_t own_first, own_count; /* rows of uses: loads on links it never shares */
    uint32_t way_first, way_count; /* rows of ways: of a bundle; else none */
};
/* The shared links of one group, or of several alike, of a bundle. */
struct way {
    uint32_t link_first, link_count; /* rows of links of ways, ascending */
};
struct ways {
    struct way *rows;
    uint32_t *links; /* link classes */
};
struct symmetry {
    struct rank_class *ranks;
    struct group_class *groups;
    struct party *parties;
    struct link_class *links;
    struct played_plan *plans;
    struct share_use *uses;
    uint32_t *plan_of;       /* [party's plan_first + transfer] -> plan; PLAN_NONE: not used */
    uint32_t *class_of_rank; /* [rank] */
    uint32_t *node_like;     /* [node]: the first node of its kind, whose links carry the same */
    struct node_link *node_links; /* of those nodes, in any order */
    struct ways ways;
    uint32_t rank_class_count, group_class_count, party_count, link_class_count, plan_count,
        use_count, rank_count, node_link_count;
};
/* Of two rank classes that are late at one instant, is `a` the one to name? The slower card, then
 * by colour, so that folded and unfolded plays name alike ranks; of alike ranks the lower. */
static inline bool symmetry_named_before(const struct symmetry *y, uint32_t a, uint32_t b)
{
    const struct rank_class *x = &y->ranks[a], *z = &y->ranks[b];
    if (x->speed_ratio != z->speed_ratio)
        return x->speed_ratio < z->speed_ratio;
    return x->colour != z->colour ? x->colour < z->colour : x->representative < z->representative;
}
/* Is `a` of those that are late at one instant the one to name last? */
static inline bool symmetry_named_after(const struct symmetry *y, uint32_t a, uint32_t b)
{
    const struct rank_class *x = &y->ranks[a], *z = &y->ranks[b];
    if (x->speed_ratio != z->speed_ratio)
        return x->speed_ratio > z->speed_ratio;
    return x->last_colour != z->last_colour ? x->last_colour > z->last_colour
                                            : x->representative > z->representative;
}
/* [rank class]: its place in the order of names. */
uint32_t *symmetry_places(struct arena *arena, const struct symmetry *y);
struct symmetry_input { /* a step, placed on a cluster: plain data, which it borrows */
    const struct configuration *c;
    const struct topology *topology;
    const struct layout *layout;
    const struct lowered *lowered;
};
void symmetry_build(struct arena *arena, const struct symmetry_input *step, bool unfold,
                    struct symmetry *out);

/* Classes that differ in nothing but the loads of their wires, taken as one. Mostly these loads
 * make no difference, and all that a bundle does has the times of each of its classes, to the bit:
 * who plays it is told when that ends (network_parted). Nothing of nodes, of links that are not
 * shared, and of ranks one by one is known of it. */
struct symmetry_bundles {
    struct symmetry symmetry;
    uint32_t *of_class; /* [rank class]: its bundle */
};
/* False: there are nearly as many bundles as classes, or names would differ. */
bool symmetry_bundle(struct arena *arena, const struct symmetry *fine,
                     const struct lowered *lowered, struct symmetry_bundles *out);

#endif
