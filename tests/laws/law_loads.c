#include "tests/laws/law_loads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/list.h"

#define INSTANT_RATIO 1e-12 /* of the step */
#define CLOSE 1e-9

struct pieces {
    struct arena *arena;
    struct worker_load *rows;
    uint32_t count, capacity;
};
struct turn { /* the rate of a link rises or falls */
    uint32_t link;
    double at_s, rise;
};

static void keep(void *context, const struct worker_load *load)
{
    struct pieces *all = context;
    LIST_ROOM(all->arena, all->rows, all->count, 1, all->capacity);
    all->rows[all->count++] = *load;
}

static int by_link_and_time(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

static bool lies_outside(const struct law_play *p, const struct worker_load *piece,
                         char text[LAW_TEXT])
{
    const double slack_s = INSTANT_RATIO * p->step_s;
    if (piece->link < p->symmetry.link_class_count &&
        piece->rank_class < p->symmetry.rank_class_count && piece->bytes > 0.0 &&
        piece->from_s >= 0.0 && piece->from_s <= piece->until_s &&
        piece->until_s <= p->step_s + slack_s)
        return false;
    snprintf(text, LAW_TEXT, "link %u carries %.17g bytes from %.17g to %.17g s of %.17g",
             piece->link, piece->bytes, piece->from_s, piece->until_s, p->step_s);
    return true;
}

static bool bytes_differ(const struct law_play *p, const double *bytes, char text[LAW_TEXT])
{
    for (uint32_t i = 0; i < p->symmetry.link_class_count; i++) {
        const double expected = network_link_bytes(p->network, i);
        if (!(fabs(bytes[i] - expected) <= CLOSE * expected)) {
            snprintf(text, LAW_TEXT, "link %u: pieces of %.17g bytes, moved %.17g", i, bytes[i],
                     expected);
            return true;
        }
    }
    return false;
}

/* Pieces, each shorter by an instant, so that neighbours do not meet. */
static uint32_t fill_turns(const struct law_play *p, const struct worker_load *pieces,
                           uint32_t count, struct turn *turns)
{
    const double half_s = INSTANT_RATIO * p->step_s / 2.0;
    uint32_t turn_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const double span_s = pieces[i].until_s - pieces[i].from_s;
        if (span_s <= 2.0 * half_s)
            continue;
        const double rate = pieces[i].bytes / span_s;
        turns[turn_count++] = (struct turn){pieces[i].link, pieces[i].from_s + half_s, rate};
        turns[turn_count++] = (struct turn){pieces[i].link, pieces[i].until_s - half_s, -rate};
    }
    qsort(turns, turn_count, sizeof *turns, by_link_and_time);
    return turn_count;
}

static bool exceeds_capacity(const struct law_play *p, const struct turn *turns, uint32_t count,
                             char text[LAW_TEXT])
{
    double rate = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || turns[i].link != turns[i - 1].link)
            rate = 0.0;
        rate += turns[i].rise;
        const double most = p->symmetry.links[turns[i].link].bytes_per_s;
        if (rate > most * (1.0 + CLOSE)) {
            snprintf(text, LAW_TEXT, "link %u carries %.17g bytes/s of %.17g at %.17g s",
                     turns[i].link, rate, most, turns[i].at_s);
            return true;
        }
    }
    return false;
}

const char *law_pieces_fault(const struct law_play *p, const struct worker_load *pieces,
                             uint32_t count, char text[LAW_TEXT])
{
    struct arena *arena = arena_create();
    double *bytes = ARENA_ARRAY(arena, double, p->symmetry.link_class_count + 1);
    struct turn *turns = ARENA_ARRAY(arena, struct turn, 2 * (size_t)count + 1);
    bool fault = false;
    for (uint32_t i = 0; i < count && !fault; i++) {
        fault = lies_outside(p, &pieces[i], text);
        if (!fault)
            bytes[pieces[i].link] += pieces[i].bytes;
    }
    fault = fault || bytes_differ(p, bytes, text) ||
            exceeds_capacity(p, turns, fill_turns(p, pieces, count, turns), text);
    arena_destroy(arena);
    return fault ? text : NULL;
}

const char *law_loads_fault(const struct law_play *p, char text[LAW_TEXT])
{
    struct pieces all = {.arena = arena_create()};
    worker_loads(p->worker, keep, &all);
    const char *fault = law_pieces_fault(p, all.rows, all.count, text);
    arena_destroy(all.arena);
    return fault;
}
