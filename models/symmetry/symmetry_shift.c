/* symmetry_shift.c - one look at a replica instead of at each.
 *
 * Let the replicas be cut into equal parts, `turns`, that fill whole nodes. Most clusters are the
 * same turn many times over: each group lies in one turn, with its like at the same places of every
 * other turn, or has members in all of them alike; and what can bind are links of nodes and their
 * NICs. Two turns whose ranks, links, shapes and loads are alike can then change places without
 * anybody noticing, and the coarsest equitable partition does not tell them apart. So only the
 * first turn of each kind is measured and refined, and a million ranks cost what a few replicas
 * cost. Nothing of this is taken for granted:
 * 1. A rank has the program, and the place in its node, of the rank in turn 0; all ranks of a node
 *    are of one turn and of one node there (ranks_turn).
 * 2. No link of the fabric itself can bind (symmetry_fabric_binds): what binds on a route then
 *    belongs to the nodes at its ends.
 * 3. Groups lie within one turn, member for member as in turn 0, or have all turns of each of their
 *    members (groups_turn).
 * 4. Turns are of one kind when their ranks are equally fast, their links of the same types, their
 *    groups of the same shapes, and when groups with members in all turns load their links alike
 *    (symmetry_loads.c adds the last two to the signatures). A signature is a sum of hashes.
 * Without 1 to 3 every rank, group and link is looked at. */
#include <string.h>

#include "models/symmetry/symmetry_state.h"
#include "sim/check.h"

uint32_t symmetry_turn_of(const struct real *real, uint32_t rank)
{
    const struct shift *s = &real->shift;
    return divisor_quotient(&s->by_turn, divisor_remainder(&s->by_block, rank));
}

static uint32_t turned(const struct real *real, uint32_t rank, uint32_t turn)
{
    return rank + (turn - symmetry_turn_of(real, rank)) * real->shift.by_turn.by;
}

uint32_t symmetry_turned_group(const struct real *real, const struct group *group, uint32_t turn)
{
    const uint32_t rank = turned(real, layout_member(real->layout, group, 0), turn);
    return layout_group_of(real->layout, rank, group->kind);
}

static uint32_t node_of(const struct real *real, uint32_t rank)
{
    return real->layout->gpu_of_rank[rank] / real->topology->gpus_per_node;
}

static uint32_t node_of_link(const struct topology *t, uint32_t link)
{
    const uint32_t inside = t->node_count * t->node_links;
    return link < inside ? link / t->node_links : (link - inside) / 2 / t->nics_per_node;
}

uint32_t symmetry_turn_of_link(const struct real *real, uint32_t link)
{
    return symmetry_turn_of(real, real->shift.node_rank[node_of_link(real->topology, link)]);
}

struct turned_link symmetry_first_link(const struct real *real, uint32_t link)
{
    const struct topology *t = real->topology;
    const uint32_t from = node_of_link(t, link), rank = real->shift.node_rank[from];
    const uint32_t turn = symmetry_turn_of(real, rank);
    const uint32_t to = node_of(real, rank - turn * real->shift.by_turn.by);
    const bool inside = link < t->node_count * t->node_links;
    const uint32_t each = inside ? t->node_links : 2 * t->nics_per_node;
    return (struct turned_link){.turn = turn, .link = link - from * each + to * each};
}

uint32_t symmetry_node_like(const struct real *real, uint32_t node)
{
    const struct shift *s = &real->shift;
    if (s->turns == 1 || s->node_rank[node] == ROW_NONE)
        return node;
    const uint32_t rank = s->node_rank[node], like = s->first_like[symmetry_turn_of(real, rank)];
    return node_of(real, turned(real, rank, like));
}

/* Does a rank stand in its node as the rank of turn 0 in its own? */
static bool rank_turns(struct real *real, uint32_t rank)
{
    const uint32_t turn = symmetry_turn_of(real, rank), like = turned(real, rank, 0);
    const uint32_t *gpu = real->layout->gpu_of_rank, per_node = real->topology->gpus_per_node;
    uint32_t *node_rank = real->shift.node_rank, node = node_of(real, rank);
    if (node_rank[node] == ROW_NONE)
        node_rank[node] = rank;
    const uint32_t fellow = node_rank[node], first = node_rank[node_of(real, like)];
    return gpu[rank] % per_node == gpu[like] % per_node &&
           real->lowered->program_of_rank[rank] == real->lowered->program_of_rank[like] &&
           symmetry_turn_of(real, fellow) == turn &&
           node_of(real, turned(real, fellow, 0)) == node_of(real, like) &&
           node_of(real, turned(real, first, turn)) == node;
}

/* 1. Ranks of turn 0 come before their likes. */
static bool ranks_turn(struct real *real, uint32_t step)
{
    real->shift.step = step;
    real->shift.turns = real->shift.replicas / step;
    real->shift.by_turn = divisor_of(step * real->shift.stride);
    memset(real->shift.node_rank, 0xff, sizeof *real->shift.node_rank * real->topology->node_count);
    bool good = true;
    for (uint32_t rank = 0; good && rank < real->layout->rank_count; rank++)
        good = rank_turns(real, rank);
    return good;
}

static bool in_one_turn(const struct real *real, const struct group *group)
{
    const uint32_t turn = symmetry_turn_of(real, layout_member(real->layout, group, 0));
    bool one = true;
    for (uint32_t i = 1; one && i < group->member_count; i++)
        one = symmetry_turn_of(real, layout_member(real->layout, group, i)) == turn;
    return one;
}

/* 3. */
static bool group_turns(struct real *real, uint32_t index)
{
    const struct layout *layout = real->layout;
    const struct group group = layout_group(layout, index);
    const bool one = in_one_turn(real, &group);
    const uint32_t like = one ? symmetry_turned_group(real, &group, 0) : index;
    real->shift.one_turn[index] = one;
    if (like == GROUP_NONE)
        return false;
    const struct group first = layout_group(layout, like);
    bool good = first.member_count == group.member_count;
    for (uint32_t i = 0; good && i < group.member_count; i++) {
        const uint32_t rank = layout_member(layout, &group, i);
        if (one) {
            good = layout_member(layout, &first, i) == turned(real, rank, 0);
        } else {
            const uint32_t next = (symmetry_turn_of(real, rank) + 1) % real->shift.turns;
            const uint32_t other = turned(real, rank, next);
            good = layout_group_of(layout, other, symmetry_role(&group, i)) == index;
        }
    }
    return good;
}

static bool groups_turn(struct real *real)
{
    bool good = true;
    real->shift.one_turn = ARENA_ARRAY(real->arena, bool, real->layout->group_count);
    for (uint32_t g = 0; good && g < real->layout->group_count; g++)
        good = group_turns(real, g);
    return good;
}

/* Links of one node, beside those of its like in turn 0. */
static void sign_links(struct real *real, uint32_t first, uint32_t count)
{
    const struct graph *graph = &real->topology->graph;
    for (uint32_t l = first; l < first + count; l++) {
        const struct turned_link like = symmetry_first_link(real, l);
        const uint32_t type = graph_type_of(graph, (struct link_id){l});
        if (type != graph_type_of(graph, (struct link_id){like.link}))
            symmetry_sign(real, like.turn, UINT64_MAX - like.link, type);
    }
}

/* 4. What differs from turn 0, so that most turns have nothing to add. */
static void sign_ranks_and_links(struct real *real)
{
    const struct topology *t = real->topology;
    for (uint32_t rank = 0; rank < real->layout->rank_count; rank++) {
        const double speed = real->speed[real->layout->gpu_of_rank[rank]];
        if (speed != 1.0) {
            symmetry_sign(real, symmetry_turn_of(real, rank), turned(real, rank, 0),
                          symmetry_bits(speed));
        }
    }
    for (uint32_t node = 0; node < t->node_count; node++) {
        const uint32_t rank = real->shift.node_rank[node];
        if (rank == ROW_NONE)
            continue; /* nothing is sent to a node without ranks */
        const uint32_t first = node_of(real, turned(real, rank, 0));
        if (!graph_same_types(&t->graph, node, first)) {
            sign_links(real, node * t->node_links, t->node_links);
            const uint32_t ends = 2 * t->nics_per_node;
            sign_links(real, t->node_count * t->node_links + node * ends, ends);
        }
    }
}

static bool may_turn(struct real *real)
{
    bool found = false;
    for (uint32_t step = 1; !found && step <= real->topology->gpus_per_node; step++) {
        const bool parts = 2 * step <= real->shift.replicas && real->shift.replicas % step == 0;
        found = parts && ranks_turn(real, step);
    }
    return found && !symmetry_fabric_binds(real->topology) && groups_turn(real);
}

void symmetry_no_shift(struct real *real)
{
    real->shift = (struct shift){
        .turns = 1, .rank_rows = real->layout->rank_count, .group_rows = real->layout->group_count};
}

/* The smallest number of replicas that fill whole nodes. */
void symmetry_find_shift(struct arena *arena, struct real *real)
{
    const struct coordinates second = {.dp = 1};
    const struct arena_mark mark = arena_mark(arena);
    real->shift = (struct shift){
        .replicas = (uint32_t)real->c->layout.dp,
        .stride = layout_rank(real->c, second),
        .by_block = divisor_of((uint32_t)real->c->layout.dp * layout_rank(real->c, second)),
        .node_rank = ARENA_ARRAY(arena, uint32_t, real->topology->node_count),
    };
    if (!may_turn(real)) {
        arena_rewind(arena, mark);
        symmetry_no_shift(real);
        return;
    }
    real->shift.signature = ARENA_ARRAY(arena, uint64_t, real->shift.turns);
    sign_ranks_and_links(real);
}

/* Finds the first turn of each kind, and how many there are of it. */
static void sort_turns(struct arena *arena, struct real *real)
{
    struct shift *s = &real->shift;
    struct table kinds = {0};
    uint32_t *first = ARENA_ARRAY(arena, uint32_t, s->turns);
    s->first_like = ARENA_ARRAY(arena, uint32_t, s->turns);
    s->alike = ARENA_ARRAY(arena, uint32_t, s->turns);
    for (uint32_t turn = 0; turn < s->turns; turn++) {
        const uint32_t before = kinds.count,
                       kind = symmetry_number(arena, &kinds, s->signature[turn]);
        first[kind] = kind == before ? turn : first[kind];
        s->first_like[turn] = first[kind];
        s->alike[first[kind]]++;
    }
}

void symmetry_number_rows(struct arena *arena, struct real *real)
{
    struct shift *s = &real->shift;
    const uint32_t ranks = real->layout->rank_count, groups = real->layout->group_count;
    sort_turns(arena, real);
    s->row_of_rank = ARENA_ARRAY(arena, uint32_t, ranks);
    s->rank_at = ARENA_ARRAY(arena, uint32_t, ranks);
    s->row_of_group = ARENA_ARRAY(arena, uint32_t, groups);
    s->group_at = ARENA_ARRAY(arena, uint32_t, groups);
    s->moves = ARENA_ARRAY(arena, bool, groups);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const uint32_t turn = symmetry_turn_of(real, rank), like = s->first_like[turn];
        if (like == turn) {
            s->rank_at[s->rank_rows] = rank;
            s->row_of_rank[rank] = s->rank_rows++;
        } else {
            s->row_of_rank[rank] = s->row_of_rank[turned(real, rank, like)];
        }
    }
    for (uint32_t g = 0; g < groups; g++) {
        const bool one = s->one_turn[g];
        const struct group group = layout_group(real->layout, g);
        const uint32_t rank = layout_member(real->layout, &group, 0);
        const uint32_t turn = symmetry_turn_of(real, rank), like = s->first_like[turn];
        if (!one || like == turn) {
            s->moves[s->group_rows] = one;
            s->group_at[s->group_rows] = g;
            s->row_of_group[g] = s->group_rows++;
        } else {
            s->row_of_group[g] = s->row_of_group[symmetry_turned_group(real, &group, like)];
        }
    }
}

void symmetry_count_copies(struct arena *arena, struct real *real)
{
    struct shift *s = &real->shift;
    s->link_copies = ARENA_ARRAY(arena, uint32_t, real->used.count);
    for (uint32_t l = 0; l < real->used.count; l++) {
        const uint32_t turn = symmetry_turn_of_link(real, real->used.links[l]);
        s->link_copies[l] = s->alike[s->first_like[turn]];
    }
}

uint32_t symmetry_group_copies(const struct real *real, uint32_t row)
{
    const struct shift *s = &real->shift;
    if (s->turns == 1 || !s->moves[row])
        return 1;
    const struct group group = layout_group(real->layout, s->group_at[row]);
    return s->alike[symmetry_turn_of(real, layout_member(real->layout, &group, 0))];
}
