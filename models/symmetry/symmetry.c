/* symmetry.c
 *
 * Invariants of the refinement
 * 1. A colour contains the colour of the round before: classes only split.
 * 2. What a colour takes from a set of neighbours is a sum of hashes, modulo 2^64: it depends on
 *    which colours there are and how many, not on their order.
 * 3. A round looks from groups, then from ranks, then from links, each time from all at once, so
 *    that the members of a class always see the same. It stops after a round in which no class has
 *    split: then all members of a class see the same number of neighbours of each class, in the
 *    same roles and with the same loads.
 * Equal hashes of unequal things (chance about n^2 / 2^65) are caught by symmetry_verify in checked
 * builds. */
#include "models/symmetry/symmetry.h"

#include <stdlib.h>
#include <string.h>

#include "models/symmetry/symmetry_state.h"
#include "sim/check.h"
#include "sim/random.h"

struct colours {
    uint64_t *rank, *group, *link;
};

static struct colours colours_create(struct arena *arena, const struct real *real)
{
    return (struct colours){
        .rank = ARENA_ARRAY(arena, uint64_t, real->shift.rank_rows),
        .group = ARENA_ARRAY(arena, uint64_t, real->shift.group_rows),
        .link = ARENA_ARRAY(arena, uint64_t, real->used.count),
    };
}

/* What each thing is by itself. */
static void first_colours(const struct real *real, struct colours *colours)
{
    const struct layout *layout = real->layout;
    for (uint32_t row = 0; row < real->shift.rank_rows; row++) {
        const uint32_t rank = symmetry_rank_at(real, row);
        colours->rank[row] = symmetry_mix(real->lowered->program_of_rank[rank],
                                          symmetry_bits(real->speed[layout->gpu_of_rank[rank]]));
    }
    for (uint32_t row = 0; row < real->shift.group_rows; row++) {
        const uint64_t kind = (uint64_t)layout_group(layout, symmetry_group_at(real, row)).kind;
        colours->group[row] =
            symmetry_mix(symmetry_mix(kind, real->groups[row].menu), real->groups[row].shape);
    }
    for (uint32_t l = 0; l < real->used.count; l++) {
        const struct link_type *link =
            graph_link_type(&real->topology->graph, (struct link_id){real->used.links[l]});
        colours->link[l] = symmetry_mix(symmetry_bits(link->bytes_per_s), real->used.own[l]);
    }
}

/* Groups look at their members and at their links. */
static void refine_groups(const struct real *real, struct colours *colours)
{
    const struct layout *layout = real->layout;
    for (uint32_t row = 0; row < real->shift.group_rows; row++) {
        const struct group group = layout_group(layout, symmetry_group_at(real, row));
        const struct real_group *measured = &real->groups[row];
        uint64_t members = 0, loads = 0;
        for (uint32_t i = 0; i < group.member_count; i++) {
            const uint32_t rank = symmetry_rank_row(real, layout_member(layout, &group, i));
            members += symmetry_mix(colours->rank[rank], (uint64_t)symmetry_role(&group, i));
        }
        for (uint32_t i = 0; i < measured->load_count; i++) {
            const struct wire_load *load = &real->loads.rows[measured->load_first + i];
            loads += symmetry_load_copies(real, row, load->link) *
                     symmetry_mix(colours->link[load->link], load->key);
        }
        colours->group[row] = symmetry_mix(symmetry_mix(colours->group[row], members), loads);
    }
}

/* Ranks look at their groups. */
static void refine_ranks(const struct real *real, struct colours *colours)
{
    const struct layout *layout = real->layout;
    for (uint32_t row = 0; row < real->shift.rank_rows; row++) {
        const uint32_t rank = symmetry_rank_at(real, row);
        uint64_t colour = colours->rank[row];
        for (unsigned s = 0; s < STREAM_COUNT; s++) {
            const uint32_t group = layout_group_of(layout, rank, s);
            if (group != GROUP_NONE) {
                const uint64_t seen = colours->group[symmetry_group_row(real, group)];
                colour = symmetry_mix(colour, seen + s);
            }
        }
        colours->rank[row] = colour;
    }
}

/* Links collect from their groups: where a row stands for many groups, one of them loads this very
 * link for each load of the row. */
static void refine_links(const struct real *real, struct colours *colours, uint64_t *collected)
{
    memset(collected, 0, sizeof *collected * real->used.count);
    for (uint32_t g = 0; g < real->shift.group_rows; g++) {
        const struct real_group *measured = &real->groups[g];
        for (uint32_t i = 0; i < measured->load_count; i++) {
            const struct wire_load *load = &real->loads.rows[measured->load_first + i];
            collected[load->link] += symmetry_mix(colours->group[g], load->key);
        }
    }
    for (uint32_t l = 0; l < real->used.count; l++)
        colours->link[l] = symmetry_mix(colours->link[l], collected[l]);
}

static uint32_t number_classes(struct arena *arena, struct table *numbers, const uint64_t *colours,
                               uint32_t count, uint32_t *classes)
{
    table_clear(numbers);
    for (uint32_t i = 0; i < count; i++)
        classes[i] = symmetry_number(arena, numbers, colours[i]);
    return numbers->count;
}

struct numbers {
    struct table rank, group, link; /* by colour */
};

static void number_all(struct arena *arena, const struct real *real, struct numbers *n,
                       const struct colours *colours, struct partition *out)
{
    const struct shift *shift = &real->shift;
    out->rank_count = number_classes(arena, &n->rank, colours->rank, shift->rank_rows, out->rank);
    out->group_count =
        number_classes(arena, &n->group, colours->group, shift->group_rows, out->group);
    out->link_count = number_classes(arena, &n->link, colours->link, real->used.count, out->link);
}

static void refine(struct arena *arena, const struct real *real, struct partition *out)
{
    struct numbers n = {0};
    struct colours colours = colours_create(arena, real);
    uint64_t *collected = ARENA_ARRAY(arena, uint64_t, real->used.count);
    first_colours(real, &colours);
    number_all(arena, real, &n, &colours, out);
    uint32_t before;
    do {
        before = out->rank_count + out->group_count + out->link_count;
        refine_groups(real, &colours);
        refine_ranks(real, &colours);
        refine_links(real, &colours, collected);
        number_all(arena, real, &n, &colours, out);
    } while (out->rank_count + out->group_count + out->link_count > before);
    out->rank_colour = colours.rank;
}

static void all_different(const struct real *real, struct partition *out)
{
    out->rank_count = real->shift.rank_rows;
    out->group_count = real->shift.group_rows;
    out->link_count = real->used.count;
    for (uint32_t i = 0; i < out->rank_count; i++)
        out->rank[i] = i;
    for (uint32_t i = 0; i < out->group_count; i++)
        out->group[i] = i;
    for (uint32_t i = 0; i < out->link_count; i++)
        out->link[i] = i;
}

static struct partition partition_create(struct arena *arena, const struct real *real)
{
    return (struct partition){
        .rank = ARENA_ARRAY(arena, uint32_t, real->shift.rank_rows),
        .group = ARENA_ARRAY(arena, uint32_t, real->shift.group_rows),
        .link = ARENA_ARRAY(arena, uint32_t, real->used.count),
    };
}

/* The colours that these ranks [rank] would have in a fold, for a play that is not folded. */
static uint64_t *colours_if_folded(struct arena *arena, const struct symmetry_input *step)
{
    uint64_t *colours = ARENA_ARRAY(arena, uint64_t, step->layout->rank_count);
    const struct arena_mark mark = arena_mark(arena);
    struct real real;
    symmetry_measure(arena, step, true, &real);
    struct partition partition = partition_create(arena, &real);
    refine(arena, &real, &partition);
    for (uint32_t r = 0; r < step->layout->rank_count; r++)
        colours[r] = partition.rank_colour[symmetry_rank_row(&real, r)];
    arena_rewind(arena, mark);
    return colours;
}

void symmetry_build(struct arena *arena, const struct symmetry_input *step, bool unfold,
                    struct symmetry *out)
{
    struct real real;
    CHECK(step->lowered->rank_count == step->layout->rank_count);
    const bool fold = !unfold && !(step->c->kernel_jitter_sigma > 0.0);
    symmetry_measure(arena, step, fold, &real);
    struct partition partition = partition_create(arena, &real);
    if (fold) {
        refine(arena, &real, &partition);
    } else {
        all_different(&real, &partition);
        partition.rank_colour = colours_if_folded(arena, step);
    }
    symmetry_fold(arena, &real, &partition, out);
#ifndef NDEBUG
    symmetry_verify(&real, &partition, out);
#endif
}

struct named {
    const struct symmetry *symmetry;
    uint32_t rank_class;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *first = a, *second = b;
    if (first->rank_class == second->rank_class)
        return 0;
    const bool before =
        symmetry_named_before(first->symmetry, first->rank_class, second->rank_class);
    return before ? -1 : 1;
}

uint32_t *symmetry_places(struct arena *arena, const struct symmetry *y)
{
    uint32_t *place = ARENA_ARRAY(arena, uint32_t, y->rank_class_count);
    const struct arena_mark mark = arena_mark(arena);
    struct named *names = ARENA_ARRAY(arena, struct named, y->rank_class_count);
    for (uint32_t r = 0; r < y->rank_class_count; r++)
        names[r] = (struct named){y, r};
    qsort(names, y->rank_class_count, sizeof *names, compare_named);
    for (uint32_t i = 0; i < y->rank_class_count; i++)
        place[names[i].rank_class] = i;
    arena_rewind(arena, mark);
    return place;
}
