/* Laws of layouts over every small shape and several rank orders: each rank stands in exactly one
 * group of each kind, groups are disjoint, of the right size, and of ranks that differ only where
 * their kind says. */
#include <string.h>

#include "models/layout/layout.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

static const uint32_t all_streams = (1u << STREAM_COUNT) - 1;
static const char *const orders[] = {"tp-cp-dp-pp", "tp-cp-pp-dp", "pp-dp-cp-tp", "dp-tp-pp-cp"};

/* Some context ranks exchange heads, others pass keys round. */
static bool two_levels(const struct configuration *c)
{
    const struct context_ranks ranks = configuration_context_ranks(c);
    return ranks.heads > 1 && ranks.ring > 1;
}

static uint64_t wanted_size(const struct configuration *c, enum stream kind)
{
    uint64_t replicas = configuration_replicas(c), shards = configuration_shards(c);
    bool hybrid = c->layout.data.sharding->hybrid;
    switch (kind) {
    case STREAM_TP:
        return c->layout.tp;
    case STREAM_CP:
        return two_levels(c) ? configuration_context_ranks(c).ring : c->layout.cp;
    case STREAM_CP_HEADS:
        return configuration_context_ranks(c).heads;
    case STREAM_DP:
        return hybrid ? shards : replicas;
    case STREAM_GATHER:
        return shards;
    case STREAM_REPLICATE:
        return replicas / shards;
    case STREAM_WORLD:
        return shards * c->layout.tp * c->layout.pp;
    case STREAM_EP:
        return configuration_expert_ranks(c).ep;
    case STREAM_EP_DATA:
    case STREAM_EP_GATHER:
        return hybrid ? configuration_expert_shards(c) : configuration_expert_ranks(c).edp;
    case STREAM_EP_REPLICATE:
        return hybrid ? configuration_expert_ranks(c).edp / configuration_expert_shards(c) : 1;
    case STREAM_EMBED:
    case STREAM_SEND_NEXT:
    case STREAM_RECV_PREV:
    case STREAM_SEND_PREV:
    case STREAM_RECV_NEXT:
        return 2;
    case STREAM_COMPUTE:
    case STREAM_COPY:
    case STREAM_TO_HOST:
    case STREAM_FROM_HOST:
    case STREAM_COUNT:
        break;
    }
    fail_msg("stream %d has no groups", kind);
    return 0;
}

/* Does the rank take part in this kind at all? */
static bool takes_part(const struct configuration *c, uint32_t rank, unsigned stream)
{
    uint32_t stage = layout_coordinates(c, rank).pp, last = (uint32_t)c->layout.pp - 1;
    bool ring = c->layout.pipeline.vpp > 1;
    if ((STREAMS_ALONE >> stream & 1u) != 0)
        return false;
    if (stream < STREAM_EMBED || stream == STREAM_WORLD || stream == STREAM_EP_DATA ||
        stream == STREAM_EP_GATHER || stream == STREAM_EP_REPLICATE)
        return true;
    if (stream == STREAM_CP_HEADS)
        return two_levels(c);
    if (last == 0)
        return false;
    switch (stream) {
    case STREAM_EMBED:
        return stage == 0 || stage == last;
    case STREAM_SEND_NEXT:
    case STREAM_RECV_NEXT:
        return ring || stage != last;
    default:
        return ring || stage != 0;
    }
}

static bool is_pair(enum stream kind)
{
    return kind == STREAM_SEND_NEXT || kind == STREAM_SEND_PREV;
}

/* The stream on which a member takes part: the receiver of a pair on that which answers. */
static enum stream role_of(const struct group *group, uint32_t member)
{
    if (!is_pair(group->kind) || member == 0)
        return group->kind;
    return group->kind == STREAM_SEND_NEXT ? STREAM_RECV_PREV : STREAM_RECV_NEXT;
}

static bool membership_holds(const struct configuration *c, const struct layout *l)
{
    for (uint32_t rank = 0; rank < l->rank_count; rank++) {
        for (unsigned s = 0; s < STREAM_COUNT; s++) {
            uint32_t group = layout_group_of(l, rank, s);
            if ((group != GROUP_NONE) != takes_part(c, rank, s))
                return false;
            if (group == GROUP_NONE)
                continue;
            const struct group of = layout_group(l, group);
            unsigned found = 0;
            for (uint32_t i = 0; i < of.member_count; i++)
                found += role_of(&of, i) == s && layout_member(l, &of, i) == rank;
            if (found != 1)
                return false;
        }
    }
    return true;
}

/* Rows of members follow one another, and no group has a member that does not know of it. */
static bool sizes_hold(const struct configuration *c, const struct layout *l)
{
    uint32_t members = 0, of_pairs = 0, memberships = 0;
    for (uint32_t g = 0; g < l->group_count; g++) {
        const struct group given = layout_group(l, g), *group = &given;
        const bool pair = is_pair(group->kind);
        if (group->member_count != wanted_size(c, group->kind) ||
            (!pair && group->first != members))
            return false;
        *(pair ? &of_pairs : &members) += group->member_count;
    }
    for (uint32_t rank = 0; rank < l->rank_count; rank++)
        for (unsigned s = 0; s < STREAM_COUNT; s++)
            memberships += layout_group_of(l, rank, s) != GROUP_NONE;
    return memberships == members + of_pairs;
}

/* Members of a tp group differ in tp alone, and so on; a pair is a stage and its neighbour. */
static bool relation_holds(const struct configuration *c, const struct layout *l)
{
    for (uint32_t g = 0; g < l->group_count; g++) {
        const struct group given = layout_group(l, g), *group = &given;
        struct coordinates a = layout_coordinates(c, layout_member(l, group, 0));
        for (uint32_t i = 1; i < group->member_count; i++) {
            struct coordinates b = layout_coordinates(c, layout_member(l, group, i));
            bool tp = a.tp == b.tp, cp = a.cp == b.cp, dp = a.dp == b.dp, pp = a.pp == b.pp;
            bool holds = true;
            uint32_t stages = (uint32_t)c->layout.pp;
            const uint32_t inner = (uint32_t)configuration_context_ranks(c).heads;
            switch (group->kind) {
            case STREAM_TP:
                holds = cp && dp && pp && !tp;
                break;
            case STREAM_CP:
                holds = tp && dp && pp && !cp && (!two_levels(c) || a.cp % inner == b.cp % inner);
                break;
            case STREAM_CP_HEADS:
                holds = tp && dp && pp && !cp && a.cp / inner == b.cp / inner;
                break;
            case STREAM_EP:
            case STREAM_EP_GATHER:
            case STREAM_EP_REPLICATE:
            case STREAM_EP_DATA: /* ranks of a stage; where an expert is split, of one part */
                holds = pp && (tp || configuration_expert_ranks(c).etp == 1);
                break;
            case STREAM_DP:
            case STREAM_GATHER:
            case STREAM_REPLICATE:
                holds = tp && pp;
                break;
            case STREAM_SEND_NEXT:
                holds = tp && cp && dp && (a.pp + 1) % stages == b.pp;
                break;
            case STREAM_SEND_PREV:
                holds = tp && cp && dp && (b.pp + 1) % stages == a.pp;
                break;
            case STREAM_EMBED:
                holds = tp && cp && dp && !pp;
                break;
            case STREAM_COMPUTE:
            case STREAM_WORLD:
            case STREAM_RECV_PREV:
            case STREAM_RECV_NEXT:
            case STREAM_COPY:
            case STREAM_TO_HOST:
            case STREAM_FROM_HOST:
            case STREAM_COUNT:
                break;
            }
            if (!holds)
                return false;
        }
    }
    return true;
}

/* Where a rank stands in its group of this kind. */
static uint32_t place_of(const struct layout *l, uint32_t rank, enum stream kind)
{
    const struct group group = layout_group(l, layout_group_of(l, rank, kind));
    uint32_t place = 0;
    while (layout_member(l, &group, place) != rank)
        place++;
    return place;
}

/* Ranks that reduce across the replicas hold the same shard (the same place in their shard group)
 * of different copies; who gathers weights gathers from those that scatter its gradients. */
static bool shards_hold(const struct layout *l)
{
    for (uint32_t rank = 0; rank < l->rank_count; rank++) {
        const uint32_t across = layout_group_of(l, rank, STREAM_REPLICATE);
        const uint32_t shard = layout_group_of(l, rank, STREAM_DP);
        const uint32_t gather = layout_group_of(l, rank, STREAM_GATHER);
        if (gather != GROUP_NONE && shard != GROUP_NONE &&
            place_of(l, rank, STREAM_GATHER) != place_of(l, rank, STREAM_DP))
            return false;
        if (across == GROUP_NONE || shard == GROUP_NONE)
            continue;
        const struct group group = layout_group(l, across);
        for (uint32_t i = 0; i < group.member_count; i++) {
            const uint32_t other = layout_member(l, &group, i);
            const bool same_copy = layout_group_of(l, other, STREAM_DP) == shard;
            if (place_of(l, other, STREAM_DP) != place_of(l, rank, STREAM_DP) ||
                same_copy != (other == rank))
                return false;
        }
    }
    return true;
}

static void check_layout(struct configuration *c)
{
    struct arena *arena = arena_create();
    struct layout l;
    layout_build(arena, c, all_streams, &l);
    assert_int_equal(l.rank_count, configuration_ranks(c));
    assert_true(membership_holds(c, &l));
    assert_true(sizes_hold(c, &l));
    assert_true(relation_holds(c, &l));
    assert_true(!c->layout.data.sharding->hybrid || shards_hold(&l));
    for (uint32_t rank = 0; rank < l.rank_count; rank++) {
        assert_int_equal(layout_rank(c, layout_coordinates(c, rank)), rank);
        for (uint32_t other = 0; other < rank; other++)
            assert_int_not_equal(l.gpu_of_rank[rank], l.gpu_of_rank[other]);
    }
    arena_destroy(arena);
}

static void check_shape(struct configuration *c)
{
    for (unsigned i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        for (c->layout.pipeline.vpp = 1; c->layout.pipeline.vpp <= 2; c->layout.pipeline.vpp++) {
            c->layout.order = orders[i];
            check_layout(c);
        }
    }
    c->layout.pipeline.vpp = 1;
    c->layout.placement = PLACEMENT_SCATTERED;
    check_layout(c);
}

static void test_every_shape(void **state)
{
    for (uint64_t tp = 1; tp <= 4; tp *= 2) {
        for (uint64_t cp = 1; cp <= 2; cp++) {
            for (uint64_t dp = 1; dp <= 4; dp++) {
                for (uint64_t pp = 1; pp <= 3; pp++) {
                    struct configuration c = lower_case();
                    lower_case_size(&c, tp, cp, dp, pp, 4);
                    check_shape(&c);
                    c.layout.placement = PLACEMENT_PACKED;
                    c.layout.data.sharding = &sharding_fsdp;
                    check_layout(&c);
                    c.layout.data.sharding = &sharding_hsdp;
                    c.layout.data.shard_group = dp % 2 == 0 ? 2 : cp;
                    check_layout(&c);
                }
            }
        }
    }
}

/* Groups of cp_inner neighbours, and those of one place in each. */
static void test_two_levels(void **state)
{
    for (uint64_t tp = 1; tp <= 2; tp++) {
        for (uint64_t inner = 1; inner <= 4; inner *= 2) {
            struct configuration c = lower_case();
            lower_case_size(&c, tp, 4, 2, 2, 4);
            c.layout.context.method = CP_ALL_TO_ALL_RING;
            c.layout.context.inner = inner;
            check_shape(&c);
        }
    }
}

/* 2 x 1 x 2 x 2 by hand, in two orders. */
static void test_orders(void **state)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 2, 1, 2, 2, 4);
    struct coordinates five = layout_coordinates(&c, 5);
    assert_true(five.tp == 1 && five.dp == 0 && five.pp == 1);
    c.layout.order = "tp-pp-dp-cp";
    five = layout_coordinates(&c, 5);
    assert_true(five.tp == 1 && five.dp == 1 && five.pp == 0);
    assert_true(layout_order_valid("tp-cp-dp-pp"));
    static const char *const bad[] = {"",         "tp-cp-dp",     "tp-cp-dp-dp",   "tp-cp-dp-ep",
                                      "tpcpdppp", "tp-cp-dp-pp-", "tp-cp-dp-pp-tp"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(layout_order_valid(bad[i]));
}

static void test_placement(void **state)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 8, 1, 2, 1, 1);
    struct arena *arena = arena_create();
    struct layout l;
    layout_build(arena, &c, 1u << STREAM_TP, &l);
    assert_int_equal(l.gpu_of_rank[9], 9);
    c.layout.placement = PLACEMENT_SCATTERED;
    layout_build(arena, &c, 1u << STREAM_TP, &l);
    assert_int_equal(l.gpu_of_rank[0], 0);
    assert_int_equal(l.gpu_of_rank[1], 8);
    assert_int_equal(l.gpu_of_rank[2], 1);
    for (uint32_t i = 1; i < 8; i++) { /* members stand node by node all the same */
        const uint32_t *m = l.members + l.groups[0].first;
        assert_true(l.gpu_of_rank[m[i - 1]] < l.gpu_of_rank[m[i]]);
    }
    arena_destroy(arena);
}

/* Packed ranks fill node after node, scattered ones take as many nodes as there are. */
static void test_nodes_in_use(void **state)
{
    static const struct {
        uint64_t ranks, packed, scattered;
    } rows[] = {{1, 1, 1}, {3, 1, 3}, {8, 1, 5}, {9, 2, 5}, {16, 2, 5}, {17, 3, 5}, {40, 5, 5}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct configuration c = lower_case();
        c.layout.dp = rows[i].ranks;
        c.cluster.node.gpus = 8;
        c.cluster.nodes = 5;
        assert_int_equal(layout_nodes(&c), rows[i].packed);
        c.layout.placement = PLACEMENT_SCATTERED;
        assert_int_equal(layout_nodes(&c), rows[i].scattered);
        assert_int_equal(layout_gpu(&c, 0), 0);
        assert_int_equal(layout_gpu(&c, 7), 2 * 8 + 1);
    }
}

/* Nodes of the first group of expert ranks, counted member by member. */
static uint64_t nodes_counted(const struct configuration *c, const struct layout *l)
{
    const struct group group = layout_group(l, layout_group_of(l, 0, STREAM_EP));
    bool met[16] = {false};
    uint64_t nodes = 0;
    for (uint32_t i = 0; i < group.member_count; i++) {
        bool *node = &met[l->gpu_of_rank[layout_member(l, &group, i)] / c->cluster.node.gpus];
        nodes += !*node;
        *node = true;
    }
    return nodes;
}

static void test_nodes_of_experts(void **state)
{
    unsigned several = 0;
    for (unsigned at = 0; at < 2 * 4 * 4 * 3; at++) {
        static const uint64_t stages[] = {1, 2, 3};
        struct configuration c = lower_case();
        struct arena *arena = arena_create();
        struct layout l;
        lower_case_size(&c, 2, 1, 4, stages[at / 32], 4);
        c.model.moe.experts = 8;
        c.layout.etp = 1;
        c.layout.ep = 1u << at / 8 % 4;
        c.layout.order = orders[at / 2 % 4];
        c.layout.placement = at % 2 == 0 ? PLACEMENT_PACKED : PLACEMENT_SCATTERED;
        c.cluster.node.gpus = 4;
        c.cluster.nodes = 2 * stages[at / 32];
        layout_build(arena, &c, 1u << STREAM_EP, &l);
        assert_int_equal(layout_expert_nodes(&c), nodes_counted(&c, &l));
        several += layout_expert_nodes(&c) > 1;
        arena_destroy(arena);
    }
    assert_true(several > 24);
}

/* Shard groups of hsdp are inside a node by default. */
static void test_hybrid_groups(void **state)
{
    struct configuration c = lower_case();
    c.layout.data.sharding = &sharding_hsdp;
    lower_case_size(&c, 2, 1, 8, 1, 1);
    assert_int_equal(configuration_shards(&c), 4);
    struct arena *arena = arena_create();
    struct layout l;
    layout_build(arena, &c, 1u << STREAM_GATHER, &l);
    assert_int_equal(l.group_count, 4);
    for (uint32_t g = 0; g < l.group_count; g++) {
        for (uint32_t i = 1; i < l.groups[g].member_count; i++) {
            const uint32_t *m = l.members + l.groups[g].first;
            assert_int_equal(l.gpu_of_rank[m[i]] / 8, l.gpu_of_rank[m[0]] / 8);
        }
    }
    arena_destroy(arena);
}

static void test_planted_faults(void **state)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 2, 1, 2, 2, 4);
    struct arena *arena = arena_create();
    struct layout l;
    layout_build(arena, &c, all_streams, &l);
    l.members[0] = l.members[1]; /* a rank lost, another twice */
    assert_false(membership_holds(&c, &l));
    layout_build(arena, &c, all_streams, &l);
    l.groups[0].member_count--;
    assert_false(sizes_hold(&c, &l));
    layout_build(arena, &c, all_streams, &l);
    uint32_t swap = l.members[0]; /* ranks of two groups swapped */
    l.members[0] = l.members[2];
    l.members[2] = swap;
    assert_false(relation_holds(&c, &l));
    lower_case_size(&c, 1, 1, 4, 1, 1);
    c.layout.data.sharding = &sharding_hsdp;
    c.layout.data.shard_group = 2;
    layout_build(arena, &c, all_streams, &l);
    assert_true(shards_hold(&l));
    const struct group one = layout_group(&l, layout_group_of(&l, 0, STREAM_REPLICATE));
    const struct group two = layout_group(&l, layout_group_of(&l, 1, STREAM_REPLICATE));
    swap = l.members[one.first + 1]; /* two shards exchanged in one copy */
    l.members[one.first + 1] = l.members[two.first + 1];
    l.members[two.first + 1] = swap;
    assert_true(relation_holds(&c, &l));
    assert_false(shards_hold(&l));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_shape),    cmocka_unit_test(test_two_levels),
        cmocka_unit_test(test_orders),         cmocka_unit_test(test_placement),
        cmocka_unit_test(test_hybrid_groups),  cmocka_unit_test(test_nodes_in_use),
        cmocka_unit_test(test_planted_faults), cmocka_unit_test(test_nodes_of_experts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
