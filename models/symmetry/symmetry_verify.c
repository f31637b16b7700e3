/* symmetry_verify.c - is the partition equitable? Compared member by member, without any hash. */
#include "models/symmetry/symmetry_state.h"
#include "sim/check.h"

static void verify_ranks(const struct real *real, const struct partition *partition,
                         const struct symmetry *symmetry)
{
    const struct layout *layout = real->layout;
    for (uint32_t r = 0; r < layout->rank_count; r++) {
        const struct rank_class *class = &symmetry->ranks[symmetry->class_of_rank[r]];
        CHECK(partition->rank[symmetry_rank_row(real, r)] == symmetry->class_of_rank[r]);
        CHECK(class->program == real->lowered->program_of_rank[r]);
        CHECK(class->speed_ratio == real->speed[layout->gpu_of_rank[r]]);
        for (unsigned s = 0; s < STREAM_COUNT; s++) {
            const uint32_t group = layout_group_of(layout, r, s);
            CHECK(class->group[s] == (group == GROUP_NONE
                                          ? GROUP_NONE
                                          : partition->group[symmetry_group_row(real, group)]));
        }
    }
}

/* Members of each class and role, as many as in the class's first group. */
static void verify_members(const struct real *real, const struct partition *partition,
                           const struct symmetry *symmetry)
{
    const struct layout *layout = real->layout;
    uint32_t *met = ARENA_ARRAY(real->arena, uint32_t, symmetry->party_count);
    for (uint32_t g = 0; g < layout->group_count; g++) {
        const struct group group = layout_group(layout, g);
        const uint32_t mine = symmetry_group_row(real, g);
        const struct group_class *class = &symmetry->groups[partition->group[mine]];
        CHECK(class->kind == group.kind);
        const struct real_group *first =
            &real->groups[symmetry_group_row(real, class->representative)];
        CHECK(real->groups[mine].menu == first->menu);
        for (uint32_t s = 0; s < real->menus[first->menu].set_count; s++) {
            CHECK(real->wire_weights[real->groups[mine].set_first + s] ==
                  real->wire_weights[first->set_first + s]);
        }
        for (uint32_t i = 0; i < class->party_count; i++)
            met[class->party_first + i] = 0;
        for (uint32_t i = 0; i < group.member_count; i++) {
            const uint32_t rank = symmetry->class_of_rank[layout_member(layout, &group, i)];
            const enum stream role = symmetry_role(&group, i);
            const uint32_t row = class->party_first + symmetry->ranks[rank].party[role];
            CHECK(row < class->party_first + class->party_count);
            CHECK(symmetry->parties[row].rank_class == rank);
            CHECK(symmetry->parties[row].stream == role);
            met[row]++;
        }
        for (uint32_t i = 0; i < class->party_count; i++) {
            const uint32_t row = class->party_first + i;
            CHECK(met[row] == symmetry->parties[row].member_count);
        }
    }
}

/* A load as a whole number: weights are multiples of 2^-24 (share_weight). Sums of these are exact
 * modulo 2^64 in any order. */
static uint64_t load_term(double weight, uint32_t class)
{
    return (uint64_t)(weight * 0x1p24) * ((uint64_t) class + 1);
}

/* Every group puts as much on each link class as its class's first group, every link carries as
 * much of each group class as the first of its class: sums weighted by class numbers. */
static void verify_loads(const struct real *real, const struct partition *partition,
                         const struct symmetry *symmetry)
{
    uint64_t *of_link = ARENA_ARRAY(real->arena, uint64_t, real->used.count);
    uint64_t *of_group = ARENA_ARRAY(real->arena, uint64_t, real->shift.group_rows);
    uint64_t *of_first = ARENA_ARRAY(real->arena, uint64_t, symmetry->link_class_count);
    for (uint32_t g = 0; g < real->shift.group_rows; g++) {
        const struct real_group *group = &real->groups[g];
        for (uint32_t i = 0; i < group->load_count; i++) {
            const struct wire_load *load = &real->loads.rows[group->load_first + i];
            of_link[load->link] += load_term(load->weight, partition->group[g]);
            of_group[g] += symmetry_load_copies(real, g, load->link) *
                           load_term(load->weight, partition->link[load->link]);
        }
    }
    for (uint32_t g = 0; g < real->shift.group_rows; g++) {
        const uint32_t first = symmetry->groups[partition->group[g]].representative;
        CHECK(of_group[g] == of_group[symmetry_group_row(real, first)]);
    }
    for (uint32_t l = real->used.count; l-- > 0;) {
        const struct link_class *class = &symmetry->links[partition->link[l]];
        CHECK(class->bytes_per_s == symmetry_capacity(real, l));
        of_first[partition->link[l]] = of_link[l];
    }
    for (uint32_t l = 0; l < real->used.count; l++)
        CHECK(of_link[l] == of_first[partition->link[l]]);
}

void symmetry_verify(const struct real *real, const struct partition *partition,
                     const struct symmetry *symmetry)
{
    verify_ranks(real, partition, symmetry);
    verify_members(real, partition, symmetry);
    verify_loads(real, partition, symmetry);
}
