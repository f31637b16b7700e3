/* share_parts.h - what a share is made of: what share.c (activities come and go) and share_solve.c
 * (their levels) have in common; nobody else includes it.
 *
 * The level of an activity is r / fairness: what max-min fairness compares. An edge joins an
 * activity to a link and carries the load that one unit of level puts there (fairness x weight). It
 * stands twice, as an edge of the activity and as a user of the link, each knowing the other's
 * place, so that leaving a link moves one user and searches nothing. */
#ifndef ORRERY_SIM_SHARE_PARTS_H
#define ORRERY_SIM_SHARE_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/arena.h"
#include "sim/list.h"

/* What an activity is to the solver. */
enum share_standing {
    STANDING_UNUSED,  /* no activity has this id */
    STANDING_WAITING, /* started, not solved yet */
    STANDING_FIXED,   /* has a level, which is not in question */
    STANDING_OPEN,    /* being solved: no level yet */
    STANDING_DECIDED  /* being solved: has its new level */
};

struct share_edge {
    double weight;
    uint32_t link, place; /* place: index in the link's users */
};

struct share_user {
    double weight;
    uint32_t activity, place; /* place: index in the activity's edges */
};

struct share_activity {
    enum share_standing standing;
    bool is_new; /* has never had a rate */
    uint32_t edge_count, edge_class;
    struct share_edge *edges;
    double fairness, cap, cap_level;
    double former_level; /* while solving: the level before; 0 for one that waited */
    double rate, remaining, since_s, finish_s; /* remaining: work left at since_s */
};

/* What the solver reads of a link, in one cache line; the rest is in share_users. */
struct share_link {
    double capacity;
    double load;         /* sum of weight x level, up to rounding */
    double level;        /* where the link binds; INFINITY: it binds nobody */
    double bound_weight; /* exact sum over users with that level (or above, while solving) */
    /* while solving (see share_solve.c) */
    double settled_load, open_weight, key;
    uint32_t region;
    bool exact, live, dirty;
};

struct share_users { /* one cache line */
    struct share_user *list;
    uint32_t count;
    uint32_t moving_count; /* users with a positive rate */
    double weight_total;   /* exact sum over users */
    double held_weight;    /* while solving: of those whom the link will hold, where it is exact */
    double moved, busy_s, busy_since_s;
    uint8_t class;
    bool tied; /* see link_fill */
};

struct share_item {
    double key;
    uint32_t thing; /* a link, or link_count + an activity that reaches its cap */
};

/* Equal keys come in an order that the same calls repeat. */
static inline bool share_item_before(const struct share_item *a, const struct share_item *b)
{
    return a->key < b->key;
}
HEAP_DEFINE(share_heap, struct share_item, share_item_before, 4)

struct share_group {
    double level, weight;
};

/* Room for the rounding of a link's load, relative to its capacity: far above what sums lose.
 * Decides only how soon a link is looked at, never a rate. */
#define SHARE_MARGIN 1e-9
/* Two levels on a link that differ by less, relative to them, are the same level: far above what
 * their rounding can be, far below what anybody can measure. Well below SHARE_MARGIN. */
#define SHARE_TIE 0x1p-40

enum {
    SHARE_CLASS_COUNT = 32
};

/* Ids of activities, with room for all of them. */
struct share_ids {
    uint32_t *ids, count;
};
struct share_region { /* what is being solved */
    uint32_t number, open_count, live_count;
    double level;           /* how far the filling has come */
    struct share_heap heap; /* what happens next as levels rise */
    struct {
        struct share_item *items;
        uint32_t count, capacity;
    } ties; /* links that wait for the end of a level */
};

struct share {
    struct arena *arena;
    struct share_link *links;
    struct share_users *users; /* by link */
    uint32_t link_count;
    struct share_activity *activities;
    double *levels; /* by activity; INFINITY while it is waiting or open */
    uint32_t activity_count, activity_capacity;
    double now_s;
    struct share_ids unused, started, opened, changed;
    uint32_t *sorted; /* scratch, with room for all activities */
    struct {
        uint32_t *ids, count, capacity;
    } dirty; /* links */
    struct share_region region;
    struct {
        struct share_group *groups;
        uint32_t group_capacity;
        double above_weight; /* of the link's users who fill nothing */
    } filled;                /* the link last filled */
    void *free_blocks[SHARE_CLASS_COUNT];
};

/* share_solve.c, called by share.c alone. Both functions decide the levels of all that may have
 * changed, forget what started and which links were dirty, and leave in `opened` whom they looked
 * at, with former_level set.
 *
 * Gives every activity that started, or whose level a dirty link puts in question, its level. */
void share_solve_region(struct share *share);
/* The same for all activities, from nothing. For tests, and where rounding defeats the region. */
void share_solve_all(struct share *share);

#endif
