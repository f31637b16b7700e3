/* symmetry_bundle.c - classes that differ in nothing but the loads of their wires, as one.
 *
 * 1. Colours of classes and group classes are refined as in symmetry.c, but links are not looked
 *    at: a bundle is a class of the coarsest partition in which members see the same groups in the
 *    same roles, and groups the same members and the same plans.
 * 2. The groups of a bundle do everything at once, so a bundled plan puts on a link what all its
 *    groups put there. Links of one capacity with the same loads of the same plans are one link.
 * 3. Max-min fair rates are those at which everybody is held: by its own ceiling, or by a full link
 *    on which nobody is faster (Bertsekas & Gallager, Data Networks, 6.5.2). A plan of several
 *    *ways* (the sets of links of its groups) therefore has the rates of its groups if each of its
 *    ways holds it: network.c asks that whenever rates change.
 * 4. Names (symmetry_named_before) are places of the first and the last of a bundle. Where groups
 *    of a bundle would name different members first, their class is `unnamed`. */
#include <stdlib.h>
#include <string.h>

#include "models/symmetry/symmetry_state.h"
#include "sim/check.h"

enum {
    WORTH_RATIO = 2 /* classes to a bundle, below which playing bundles gains little */
};

struct load { /* of a bundled plan on a link class */
    uint32_t link, plan;
    double weight;
};
struct bundling {
    struct arena *arena;
    const struct symmetry *fine;
    const struct lowered *lowered;
    struct symmetry *out;
    uint64_t *rank_colour, *group_colour; /* [class] */
    uint32_t *rank, *group;               /* [class]: its bundle */
    uint32_t *plan,
        *plan_first;      /* [plan]: its bundled plan; [group class], and the end: its first */
    uint32_t *place;      /* [class]: in the order of names */
    uint32_t *link;       /* [link class]: its bundled link */
    uint32_t *first_link; /* [bundled link]: its first link class */
    struct load *loads;   /* by link, then plan */
    size_t load_count;
};

static uint64_t plan_colour(const struct played_plan *plan, uint64_t colour)
{
    colour = symmetry_mix(colour, symmetry_bits(plan->bytes));
    colour = symmetry_mix(colour, symmetry_bits(plan->latency_s));
    colour = symmetry_mix(colour, symmetry_bits(plan->cap_bytes_per_s));
    colour = symmetry_mix(colour, symmetry_bits(plan->wire_weight));
    return symmetry_mix(colour, plan->use_count > 0);
}

static void first_colours(struct bundling *b)
{
    const struct symmetry *y = b->fine;
    for (uint32_t r = 0; r < y->rank_class_count; r++)
        b->rank_colour[r] =
            symmetry_mix(y->ranks[r].program, symmetry_bits(y->ranks[r].speed_ratio));
    for (uint32_t g = 0; g < y->group_class_count; g++)
        b->group_colour[g] = (uint64_t)y->groups[g].kind;
    for (uint32_t p = 0; p < y->plan_count; p++) { /* group by group */
        const uint32_t group = y->plans[p].group;
        b->group_colour[group] = plan_colour(&y->plans[p], b->group_colour[group]);
        b->plan_first[group + 1] = p + 1;
    }
    for (uint32_t g = 0; g < y->group_class_count; g++)
        if (b->plan_first[g + 1] < b->plan_first[g])
            b->plan_first[g + 1] = b->plan_first[g]; /* of no plans */
}

static uint32_t number(struct bundling *b, const uint64_t *colours, uint32_t count, uint32_t *out)
{
    const struct arena_mark mark = arena_mark(b->arena);
    struct table numbers = {0};
    for (uint32_t i = 0; i < count; i++)
        out[i] = symmetry_number(b->arena, &numbers, colours[i]);
    arena_rewind(b->arena, mark);
    return numbers.count;
}

static void refine_groups(struct bundling *b)
{
    const struct symmetry *y = b->fine;
    for (uint32_t g = 0; g < y->group_class_count; g++) {
        const struct group_class *group = &y->groups[g];
        uint64_t members = 0;
        for (uint32_t i = 0; i < group->party_count; i++) {
            const struct party *party = &y->parties[group->party_first + i];
            members += party->member_count *
                       symmetry_mix(b->rank_colour[party->rank_class], (uint64_t)party->stream);
        }
        b->group_colour[g] = symmetry_mix(b->group_colour[g], members);
    }
}

static void refine_ranks(struct bundling *b)
{
    const struct symmetry *y = b->fine;
    for (uint32_t r = 0; r < y->rank_class_count; r++)
        for (unsigned s = 0; s < STREAM_COUNT; s++)
            if (y->ranks[r].group[s] != GROUP_NONE)
                b->rank_colour[r] =
                    symmetry_mix(b->rank_colour[r], b->group_colour[y->ranks[r].group[s]] + s);
}

/* 1. */
static void find_bundles(struct bundling *b)
{
    const struct symmetry *y = b->fine;
    struct symmetry *out = b->out;
    uint32_t before;
    first_colours(b);
    do {
        before = out->rank_class_count + out->group_class_count;
        refine_groups(b);
        refine_ranks(b);
        out->rank_class_count = number(b, b->rank_colour, y->rank_class_count, b->rank);
        out->group_class_count = number(b, b->group_colour, y->group_class_count, b->group);
    } while (out->rank_class_count + out->group_class_count > before);
}

static void bundle_ranks(struct bundling *b)
{
    const struct symmetry *y = b->fine;
    struct symmetry *out = b->out;
    out->rank_count = y->rank_count;
    out->ranks = ARENA_ARRAY(b->arena, struct rank_class, out->rank_class_count);
    for (uint32_t r = 0; r < y->rank_class_count; r++) {
        struct rank_class *bundle = &out->ranks[b->rank[r]];
        const uint32_t ranks = bundle->rank_count + y->ranks[r].rank_count;
        const uint64_t place = b->place[r];
        if (bundle->rank_count == 0) {
            *bundle = y->ranks[r];
            bundle->colour = bundle->last_colour = place; /* 4 */
            for (unsigned s = 0; s < STREAM_COUNT; s++)
                bundle->group[s] =
                    bundle->group[s] == GROUP_NONE ? GROUP_NONE : b->group[bundle->group[s]];
        }
        bundle->rank_count = ranks;
        bundle->colour = place < bundle->colour ? place : bundle->colour;
        bundle->last_colour = place > bundle->last_colour ? place : bundle->last_colour;
    }
}

/* Rows of plan_of of a party, from those of its like in the first group class of the bundle. */
static uint32_t bundle_transfers(struct bundling *b, const struct party *party, uint32_t *room)
{
    const uint32_t program = b->fine->ranks[party->rank_class].program;
    const uint32_t count = b->lowered->programs[program]->transfer_count, first = *room;
    for (uint32_t t = 0; t < count; t++) {
        const uint32_t plan = b->fine->plan_of[party->plan_first + t];
        b->out->plan_of[first + t] = plan == PLAN_NONE ? PLAN_NONE : b->plan[plan];
    }
    *room += count;
    return first;
}

static struct party *find_party(struct symmetry *y, const struct group_class *group,
                                uint32_t rank_class, enum stream stream)
{
    for (uint32_t i = 0; i < group->party_count; i++) {
        struct party *party = &y->parties[group->party_first + i];
        if (party->rank_class == rank_class && party->stream == stream)
            return party;
    }
    return NULL;
}

static void bundle_parties(struct bundling *b, const struct group_class *fine,
                           struct group_class *group, uint32_t *transfers)
{
    struct symmetry *out = b->out;
    group->party_first = out->party_count;
    group->party_count = 0;
    for (uint32_t i = 0; i < fine->party_count; i++) {
        const struct party *party = &b->fine->parties[fine->party_first + i];
        const uint32_t bundle = b->rank[party->rank_class];
        struct party *known = find_party(out, group, bundle, party->stream);
        if (known != NULL) {
            known->member_count += party->member_count;
            continue;
        }
        out->ranks[bundle].party[party->stream] = group->party_count++;
        out->parties[out->party_count++] =
            (struct party){.rank_class = bundle,
                           .member_count = party->member_count,
                           .stream = party->stream,
                           .plan_first = bundle_transfers(b, party, transfers)};
    }
}

/* Group classes with their plans (uses come later) and parties, as in the first of each bundle. */
static void bundle_groups(struct bundling *b)
{
    const struct symmetry *y = b->fine;
    struct symmetry *out = b->out;
    uint32_t transfers = 0, room = 0;
    for (uint32_t i = 0; i < y->party_count; i++)
        room += b->lowered->programs[y->ranks[y->parties[i].rank_class].program]->transfer_count;
    out->groups = ARENA_ARRAY(b->arena, struct group_class, out->group_class_count);
    out->parties = ARENA_ARRAY(b->arena, struct party, y->party_count);
    out->plans = ARENA_ARRAY(b->arena, struct played_plan, y->plan_count);
    out->plan_of = ARENA_ARRAY(b->arena, uint32_t, room);
    uint32_t *first = ARENA_ARRAY(b->arena, uint32_t, out->group_class_count);
    for (uint32_t g = 0; g < y->group_class_count; g++) {
        struct group_class *group = &out->groups[b->group[g]];
        const bool is_first = group->group_count == 0;
        if (is_first) {
            *group = y->groups[g];
            first[b->group[g]] = out->plan_count;
        } else {
            group->group_count += y->groups[g].group_count;
        }
        for (uint32_t p = b->plan_first[g]; p < b->plan_first[g + 1]; p++) {
            b->plan[p] = first[b->group[g]] + p - b->plan_first[g];
            if (!is_first)
                continue;
            out->plans[out->plan_count] = y->plans[p];
            out->plans[out->plan_count].group = b->group[g];
            out->plans[out->plan_count++].own_count = 0; /* its ceiling knows them */
        }
        if (is_first)
            bundle_parties(b, &y->groups[g], group, &transfers);
    }
    CHECK(transfers <= room);
}

static int compare_loads(const void *a, const void *b)
{
    const struct load *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    return (x->plan > y->plan) - (x->plan < y->plan);
}

/* What bundled plans put on link classes, in order; weights add exactly (symmetry_fold.c). */
static void sum_loads(struct bundling *b)
{
    const struct symmetry *y = b->fine;
    size_t count = 0, kept = 0;
    for (uint32_t p = 0; p < y->plan_count; p++)
        count += y->plans[p].use_count;
    b->loads = ARENA_ARRAY(b->arena, struct load, count);
    count = 0;
    for (uint32_t p = 0; p < y->plan_count; p++)
        for (uint32_t u = 0; u < y->plans[p].use_count; u++) {
            const struct share_use *use = &y->uses[y->plans[p].use_first + u];
            b->loads[count++] = (struct load){use->link, b->plan[p], use->weight};
        }
    qsort(b->loads, count, sizeof *b->loads, compare_loads);
    for (size_t i = 0; i < count; i++)
        if (kept > 0 && compare_loads(&b->loads[kept - 1], &b->loads[i]) == 0)
            b->loads[kept - 1].weight += b->loads[i].weight;
        else
            b->loads[kept++] = b->loads[i];
    b->load_count = kept;
}

/* 2. */
static void bundle_links(struct bundling *b)
{
    const struct symmetry *y = b->fine;
    struct symmetry *out = b->out;
    uint64_t *colours = ARENA_ARRAY(b->arena, uint64_t, y->link_class_count);
    for (uint32_t l = 0; l < y->link_class_count; l++)
        colours[l] = symmetry_bits(y->links[l].bytes_per_s);
    for (size_t i = 0; i < b->load_count; i++) {
        const struct load *load = &b->loads[i];
        colours[load->link] = symmetry_mix(symmetry_mix(colours[load->link], load->plan),
                                           symmetry_bits(load->weight));
    }
    out->link_class_count = number(b, colours, y->link_class_count, b->link);
    out->links = ARENA_ARRAY(b->arena, struct link_class, out->link_class_count);
    for (uint32_t l = y->link_class_count; l-- > 0;) {
        struct link_class *link = &out->links[b->link[l]];
        const uint32_t links = link->link_count + y->links[l].link_count;
        *link = y->links[l];
        link->link_count = links;
        b->first_link[b->link[l]] = l;
    }
}

/* Loads of the first link class of each bundle, plan by plan in the order of links. */
static void bundle_uses(struct bundling *b)
{
    struct symmetry *out = b->out;
    out->uses = ARENA_ARRAY(b->arena, struct share_use, b->load_count);
    for (uint32_t p = 0; p < out->plan_count; p++)
        out->plans[p].use_count = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < b->load_count; i++) {
            const struct load *load = &b->loads[i];
            struct played_plan *plan = &out->plans[load->plan];
            if (b->first_link[b->link[load->link]] != load->link)
                continue;
            if (pass == 1)
                out->uses[plan->use_first + plan->use_count] =
                    (struct share_use){b->link[load->link], load->weight};
            plan->use_count++;
        }
        for (uint32_t p = 0; p < out->plan_count && pass == 0; p++) {
            out->plans[p].use_first = out->use_count;
            out->use_count += out->plans[p].use_count;
            out->plans[p].use_count = 0;
        }
    }
}

static int compare_links(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The links of a plan of the first symmetry, as bundled ones, each once. */
static uint32_t way_of(const struct bundling *b, const struct played_plan *plan, uint32_t *out)
{
    uint32_t count = 0, kept = 0;
    for (uint32_t u = plan->use_first; u < plan->use_first + plan->use_count; u++)
        out[count++] = b->link[b->fine->uses[u].link];
    qsort(out, count, sizeof *out, compare_links);
    for (uint32_t i = 0; i < count; i++)
        if (kept == 0 || out[kept - 1] != out[i])
            out[kept++] = out[i];
    return kept;
}

static bool way_is_known(const struct symmetry *y, const struct played_plan *plan,
                         const uint32_t *links, uint32_t count)
{
    for (uint32_t i = 0; i < plan->way_count; i++) {
        const struct way *way = &y->ways.rows[plan->way_first + i];
        if (way->link_count == count &&
            memcmp(y->ways.links + way->link_first, links, count * sizeof *links) == 0)
            return true;
    }
    return false;
}

/* 3. */
static void find_ways(struct bundling *b)
{
    const struct symmetry *y = b->fine;
    struct symmetry *out = b->out;
    uint32_t rows = 0, links = 0;
    size_t room = 0;
    for (uint32_t p = 0; p < y->plan_count; p++)
        room += y->plans[p].use_count;
    out->ways.rows = ARENA_ARRAY(b->arena, struct way, y->plan_count);
    out->ways.links = ARENA_ARRAY(b->arena, uint32_t, room);
    uint32_t *next = ARENA_ARRAY(b->arena, uint32_t, y->plan_count); /* of its bundled plan, + 1 */
    uint32_t *first = ARENA_ARRAY(b->arena, uint32_t, out->plan_count);
    for (uint32_t p = y->plan_count; p-- > 0;) {
        next[p] = first[b->plan[p]];
        first[b->plan[p]] = p + 1;
    }
    for (uint32_t p = 0; p < out->plan_count; p++) {
        struct played_plan *plan = &out->plans[p];
        plan->way_first = rows;
        for (uint32_t i = first[p]; i > 0; i = next[i - 1]) {
            const uint32_t count = way_of(b, &y->plans[i - 1], out->ways.links + links);
            if (way_is_known(out, plan, out->ways.links + links, count))
                continue;
            out->ways.rows[rows++] = (struct way){links, count};
            links += count;
            plan->way_count++;
        }
    }
}

struct span_of_names {
    uint32_t first, last;
};

/* The names of a bundle in one group. */
static struct span_of_names names_in(const struct bundling *b, const struct group_class *fine,
                                     const struct party *party)
{
    struct span_of_names names = {UINT32_MAX, 0};
    for (uint32_t i = 0; i < fine->party_count; i++) {
        const struct party *own = &b->fine->parties[fine->party_first + i];
        const uint32_t place = b->place[own->rank_class];
        if (b->rank[own->rank_class] != party->rank_class || own->stream != party->stream)
            continue;
        names.first = place < names.first ? place : names.first;
        names.last = place > names.last ? place : names.last;
    }
    return names;
}

/* Does this group name the members of any two bundles in the order in which these are named? */
static bool names_alike(const struct bundling *b, const struct group_class *fine,
                        const struct group_class *group)
{
    const struct symmetry *out = b->out;
    struct span_of_names *names = ARENA_ARRAY(b->arena, struct span_of_names, group->party_count);
    const struct party *parties = &out->parties[group->party_first];
    for (uint32_t i = 0; i < group->party_count; i++) {
        const struct rank_class *x = &out->ranks[parties[i].rank_class];
        names[i] = names_in(b, fine, &parties[i]);
        for (uint32_t k = 0; k < i; k++) {
            const struct rank_class *y = &out->ranks[parties[k].rank_class];
            if ((names[i].first < names[k].first) != (x->colour < y->colour) ||
                (names[i].last < names[k].last) != (x->last_colour < y->last_colour))
                return false;
        }
    }
    return true;
}

/* 4. False: several stages meet in a group of more than two, where the first of a stage has a name
 * as well as the last. */
static bool find_unnamed(struct bundling *b)
{
    const struct symmetry *out = b->out;
    for (uint32_t g = 0; g < b->fine->group_class_count; g++) {
        struct group_class *group = &b->out->groups[b->group[g]];
        const struct party *parties = &out->parties[group->party_first];
        const struct arena_mark mark = arena_mark(b->arena);
        group->unnamed = group->unnamed || !names_alike(b, &b->fine->groups[g], group);
        arena_rewind(b->arena, mark);
        for (uint32_t i = 0; group->unnamed && group->party_count > 2 && i < group->party_count;
             i++)
            if (out->ranks[parties[i].rank_class].program !=
                out->ranks[parties[0].rank_class].program)
                return false;
    }
    return true;
}

bool symmetry_bundle(struct arena *arena, const struct symmetry *fine,
                     const struct lowered *lowered, struct symmetry_bundles *out)
{
    struct bundling b = {.arena = arena, .fine = fine, .lowered = lowered, .out = &out->symmetry};
    *out = (struct symmetry_bundles){0};
    b.rank_colour = ARENA_ARRAY(arena, uint64_t, fine->rank_class_count);
    b.group_colour = ARENA_ARRAY(arena, uint64_t, fine->group_class_count);
    b.rank = out->of_class = ARENA_ARRAY(arena, uint32_t, fine->rank_class_count);
    b.group = ARENA_ARRAY(arena, uint32_t, fine->group_class_count);
    b.plan_first = ARENA_ARRAY(arena, uint32_t, fine->group_class_count + (size_t)1);
    find_bundles(&b);
    if (out->symmetry.rank_class_count * WORTH_RATIO > fine->rank_class_count)
        return false;
    b.plan = ARENA_ARRAY(arena, uint32_t, fine->plan_count);
    b.place = symmetry_places(arena, fine);
    b.link = ARENA_ARRAY(arena, uint32_t, fine->link_class_count);
    b.first_link = ARENA_ARRAY(arena, uint32_t, fine->link_class_count);
    bundle_ranks(&b);
    bundle_groups(&b);
    sum_loads(&b);
    bundle_links(&b);
    bundle_uses(&b);
    find_ways(&b);
    return find_unnamed(&b);
}
