/* Invariants:
 * 1. A rank is written into group_of[kind][rank] once; a second group of the same kind is a CHECK.
 * 2. Groups of a kind are numbered by their lowest rank, pairs by their senders; members of a group
 *    lie in one stretch.
 * 3. group_count and the rows of members never exceed what was counted before allocating.
 * 4. Every rank is sent to by at most one pair of a direction: a step round a block is a
 *    permutation of it. */
#include "models/layout/layout.h"

#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"

const char *const stream_names[STREAM_COUNT] = {
    "compute", "tp",        "cp",           "ep",        "dp",        "gather",    "replicate",
    "embed",   "world",     "send_next",    "recv_prev", "send_prev", "recv_next", "copy",
    "ep_data", "ep_gather", "ep_replicate", "to_host",   "from_host", "cp_heads",
};

enum layout_dimension {
    DIMENSION_TP,
    DIMENSION_CP,
    DIMENSION_DP,
    DIMENSION_PP,
    DIMENSION_COUNT
};
static const char dimension_letters[DIMENSION_COUNT] = {'t', 'c', 'd', 'p'};

/* How rank numbers are made: rank = sum of coordinate x stride. */
struct numbering {
    uint32_t size[DIMENSION_COUNT], stride[DIMENSION_COUNT];
    enum layout_dimension by_speed[DIMENSION_COUNT]; /* fastest first */
};

bool layout_order_valid(const char *order)
{
    static const char *const words[DIMENSION_COUNT] = {"tp", "cp", "dp", "pp"};
    unsigned seen = 0;
    const char *at = order;
    for (unsigned place = 0; place < DIMENSION_COUNT; place++) {
        unsigned found = DIMENSION_COUNT;
        for (unsigned d = 0; d < DIMENSION_COUNT; d++)
            found = strncmp(at, words[d], 2) == 0 ? d : found;
        if (found == DIMENSION_COUNT || (seen & 1u << found))
            return false;
        seen |= 1u << found;
        at += 2;
        if (*at != (place + 1 < DIMENSION_COUNT ? '-' : '\0'))
            return false;
        at++;
    }
    return true;
}

/* Are blocks of so many neighbours whole nodes, or whole parts of one? */
static bool fills_nodes(const struct configuration *c, uint64_t ranks)
{
    const uint64_t inside = c->cluster.node.gpus;
    return ranks % inside == 0 || inside % ranks == 0;
}

const char *layout_order(const struct configuration *c)
{
    const struct layout_spec *l = &c->layout;
    const uint64_t rank = l->tp * l->cp; /* and its tensor and context ranks */
    if (strcmp(l->order, LAYOUT_ORDER_AUTO) != 0)
        return l->order;
    const bool neighbours = l->data.sharding->units || c->model.moe.experts > 0;
    return !neighbours && !fills_nodes(c, rank * l->dp) && fills_nodes(c, rank * l->pp)
               ? "tp-cp-pp-dp"
               : LAYOUT_USUAL_ORDER;
}

static struct numbering number_ranks(const struct configuration *c)
{
    const struct layout_spec *spec = &c->layout;
    const char *order = layout_order(c);
    struct numbering n = {
        .size = {(uint32_t)spec->tp, (uint32_t)spec->cp, (uint32_t)spec->dp, (uint32_t)spec->pp}};
    CHECK(layout_order_valid(order));
    uint32_t stride = 1;
    for (unsigned place = 0; place < DIMENSION_COUNT; place++) {
        unsigned d = 0;
        while (dimension_letters[d] != order[3 * place])
            d++;
        n.by_speed[place] = (enum layout_dimension)d;
        n.stride[d] = stride;
        stride *= n.size[d];
    }
    return n;
}

struct coordinates layout_coordinates(const struct configuration *c, uint32_t rank)
{
    struct numbering n = number_ranks(c);
    uint32_t at[DIMENSION_COUNT];
    for (unsigned d = 0; d < DIMENSION_COUNT; d++)
        at[d] = rank / n.stride[d] % n.size[d];
    return (struct coordinates){at[DIMENSION_TP], at[DIMENSION_CP], at[DIMENSION_DP],
                                at[DIMENSION_PP]};
}

uint32_t layout_rank(const struct configuration *c, struct coordinates where)
{
    struct numbering n = number_ranks(c);
    return where.tp * n.stride[DIMENSION_TP] + where.cp * n.stride[DIMENSION_CP] +
           where.dp * n.stride[DIMENSION_DP] + where.pp * n.stride[DIMENSION_PP];
}

static const struct pairs no_pairs = {.block = 1};

struct layout_builder {
    const struct configuration *c;
    struct numbering n;
    struct layout *out;
    uint32_t member_count, group_room, member_room;
    uint32_t shards;       /* ranks of a shard group among the replicas */
    uint32_t *rank_of_gpu; /* [gpu_count], GROUP_NONE: idle */
    uint32_t gpu_count;
    uint32_t *key, *next; /* scratch, [rank_count + 1] */
};

uint64_t layout_nodes(const struct configuration *c)
{
    uint64_t ranks = configuration_ranks(c), inside = c->cluster.node.gpus;
    uint64_t packed = (ranks + inside - 1) / inside;
    uint64_t used = c->layout.placement == PLACEMENT_PACKED ? packed : ranks;
    return used < c->cluster.nodes ? used : c->cluster.nodes;
}

uint32_t layout_gpu(const struct configuration *c, uint32_t rank)
{
    if (c->layout.placement == PLACEMENT_PACKED)
        return rank;
    uint32_t nodes = (uint32_t)c->cluster.nodes, per_node = (uint32_t)c->cluster.node.gpus;
    return rank % nodes * per_node + rank / nodes;
}

/* The node of the n-th rank of the first stage. */
static uint32_t stage_node(const struct configuration *c, const struct numbering *n, uint32_t index)
{
    const uint32_t stride = n->stride[DIMENSION_PP], stages = n->size[DIMENSION_PP];
    const uint32_t rank = index / stride * stride * stages + index % stride;
    return layout_gpu(c, rank) / (uint32_t)c->cluster.node.gpus;
}

uint32_t layout_expert_nodes(const struct configuration *c)
{
    const struct numbering n = number_ranks(c);
    const uint32_t ranks = (uint32_t)configuration_expert_ranks(c).ep;
    uint32_t nodes = 0;
    for (uint32_t i = 0; i < ranks; i++) {
        uint32_t met = i;
        while (met > 0 && stage_node(c, &n, met - 1) != stage_node(c, &n, i))
            met--;
        nodes += met == 0;
    }
    return nodes;
}

static uint32_t coordinate(const struct layout_builder *b, uint32_t rank, enum layout_dimension d)
{
    return rank / b->n.stride[d] % b->n.size[d];
}

/* The number of the set of ranks that agree in every dimension outside `varying`: sets are numbered
 * by their lowest rank. */
static uint32_t key_without(const struct layout_builder *b, uint32_t rank, unsigned varying)
{
    uint32_t key = 0, weight = 1;
    for (unsigned place = 0; place < DIMENSION_COUNT; place++) {
        enum layout_dimension d = b->n.by_speed[place];
        if (!(varying & 1u << d)) {
            key += weight * coordinate(b, rank, d);
            weight *= b->n.size[d];
        }
    }
    return key;
}

/* A replica's number among the ranks with the same tp and pp, in the order of their ranks. */
static uint32_t replica_index(const struct layout_builder *b, uint32_t rank)
{
    return key_without(b, rank, 1u << DIMENSION_TP | 1u << DIMENSION_PP);
}

/* A rank's part of the model among the ranks of one copy. */
static uint32_t part_index(const struct layout_builder *b, uint32_t rank)
{
    return key_without(b, rank, 1u << DIMENSION_DP | 1u << DIMENSION_CP);
}

/* A rank's stage, or the lower one of those that hold the same parts of the model. */
static uint32_t holding_stage(const struct layout_builder *b, uint32_t rank)
{
    const uint32_t stage = coordinate(b, rank, DIMENSION_PP);
    const uint32_t far = b->n.size[DIMENSION_PP] - 1 - stage;
    const bool both = b->c->layout.pipeline.schedule->placement == PLACED_BOTH_WAYS;
    return both && far < stage ? far : stage;
}

/* The same where the schedule puts each part on two ranks, as far from either end. */
static uint32_t holders_index(const struct layout_builder *b, uint32_t rank)
{
    const uint32_t stages = b->n.size[DIMENSION_PP], tp = b->n.size[DIMENSION_TP];
    const uint32_t place = holding_stage(b, rank);
    const uint32_t shard = coordinate(b, rank, DIMENSION_TP);
    const bool tp_first = b->n.stride[DIMENSION_TP] < b->n.stride[DIMENSION_PP];
    return tp_first ? place * tp + shard : shard * ((stages + 1) / 2) + place;
}

enum expert_group {
    EXPERTS_SHARE, /* the ranks that share a layer's */
    EXPERTS_ALIKE, /* those that hold the same and share their state */
    EXPERTS_ACROSS /* hsdp: those that hold the same shard of the same, one of each shard group */
};
/* A rank's number among those of its stage that experts are laid out over: all of them, or those
 * of its place in a tensor group, where these share each expert; and its group by that. */
static uint32_t expert_key(const struct layout_builder *b, uint32_t rank, enum expert_group kind)
{
    const struct expert_ranks experts = configuration_expert_ranks(b->c);
    const uint32_t ep = (uint32_t)experts.ep;
    const uint32_t stage =
        kind == EXPERTS_SHARE ? coordinate(b, rank, DIMENSION_PP) : holding_stage(b, rank);
    const bool whole = experts.etp == 1;
    const unsigned fixed = 1u << DIMENSION_PP | (whole ? 0u : 1u << DIMENSION_TP);
    const uint32_t places = b->out->rank_count / b->n.size[DIMENSION_PP];
    const uint32_t parts = whole ? 1 : b->n.size[DIMENSION_TP];
    const uint32_t part = whole ? 0 : coordinate(b, rank, DIMENSION_TP);
    const uint32_t index = key_without(b, rank, fixed);
    const uint32_t all = places / parts;
    const uint32_t block = b->c->layout.data.sharding->hybrid
                               ? ep * (uint32_t)configuration_expert_shards(b->c)
                               : all; /* ranks of a shard group */
    const uint32_t within = kind == EXPERTS_SHARE   ? index / ep
                            : kind == EXPERTS_ALIKE ? index / block * ep + index % ep
                                                    : index % block;
    const uint32_t groups = kind == EXPERTS_SHARE   ? all / ep
                            : kind == EXPERTS_ALIKE ? all / block * ep
                                                    : block;
    return (stage * parts + part) * groups + within;
}

/* Context ranks that exchange heads are neighbours among them; those of one place in these groups
 * pass keys round. All do one or the other: they are one group, and the other kind has none. */
static uint32_t context_key(const struct layout_builder *b, uint32_t rank, bool heads)
{
    const struct context_ranks ranks = configuration_context_ranks(b->c);
    const uint32_t key = key_without(b, rank, 1u << DIMENSION_CP);
    const uint32_t at = coordinate(b, rank, DIMENSION_CP), inner = (uint32_t)ranks.heads;
    if (ranks.heads == 1 || ranks.ring == 1)
        return heads ? GROUP_NONE : key;
    return heads ? key * (uint32_t)ranks.ring + at / inner : key * inner + at % inner;
}

static uint32_t group_key(const struct layout_builder *b, uint32_t rank, enum stream kind)
{
    uint32_t stages = b->n.size[DIMENSION_PP], stage = coordinate(b, rank, DIMENSION_PP);
    uint32_t parts = b->n.size[DIMENSION_TP] * stages;
    switch (kind) {
    case STREAM_TP:
        return key_without(b, rank, 1u << DIMENSION_TP);
    case STREAM_CP:
    case STREAM_CP_HEADS:
        return context_key(b, rank, kind == STREAM_CP_HEADS);
    case STREAM_EP:
        return expert_key(b, rank, EXPERTS_SHARE);
    case STREAM_EP_DATA:
    case STREAM_EP_GATHER:
        return expert_key(b, rank, EXPERTS_ALIKE);
    case STREAM_EP_REPLICATE:
        return expert_key(b, rank, EXPERTS_ACROSS);
    case STREAM_DP:
        if (b->c->layout.pipeline.schedule->placement == PLACED_BOTH_WAYS)
            return holders_index(b, rank);
        if (!b->c->layout.data.sharding->hybrid)
            return part_index(b, rank);
        /* fallthrough */
    case STREAM_GATHER: /* one copy's shards of the same part */
        return replica_index(b, rank) / b->shards * parts + part_index(b, rank);
    case STREAM_REPLICATE: /* the same shard of all copies */
        return replica_index(b, rank) % b->shards * parts + part_index(b, rank);
    case STREAM_EMBED:
        return stages > 1 && (stage == 0 || stage + 1 == stages)
                   ? key_without(b, rank, 1u << DIMENSION_PP)
                   : GROUP_NONE;
    case STREAM_WORLD: /* every part of one copy */
        return replica_index(b, rank) / b->shards;
    case STREAM_COMPUTE: /* these have no collective communicator */
    case STREAM_SEND_NEXT:
    case STREAM_RECV_PREV:
    case STREAM_SEND_PREV:
    case STREAM_RECV_NEXT:
    case STREAM_COPY:
    case STREAM_TO_HOST:
    case STREAM_FROM_HOST:
        return GROUP_NONE;
    case STREAM_COUNT:
        break;
    }
    UNREACHABLE("kind is an enum stream");
}

/* Opens `keys` groups behind the others; next[key] becomes the row of its first member. */
static uint32_t open_groups(struct layout_builder *b, enum stream kind, uint32_t keys)
{
    uint32_t first = b->out->group_count;
    CHECK(first + keys <= b->group_room);
    for (uint32_t k = 0; k < keys; k++) {
        uint32_t count = b->next[k];
        b->out->groups[b->out->group_count++] = (struct group){kind, b->member_count, count};
        b->next[k] = b->member_count;
        b->member_count += count;
    }
    CHECK(b->member_count <= b->member_room);
    return first;
}

/* Groups the ranks by their key; members are entered GPU by GPU, so that they stand node by node.
 */
static void build_groups(struct layout_builder *b, enum stream kind)
{
    uint32_t keys = 0;
    memset(b->next, 0, sizeof *b->next * (b->out->rank_count + 1));
    for (uint32_t rank = 0; rank < b->out->rank_count; rank++) {
        uint32_t key = b->key[rank] = group_key(b, rank, kind);
        if (key != GROUP_NONE) {
            b->next[key]++;
            keys = key >= keys ? key + 1 : keys;
        }
    }
    uint32_t first = open_groups(b, kind, keys), *group_of = b->out->group_of[kind];
    for (uint32_t gpu = 0; gpu < b->gpu_count; gpu++) {
        uint32_t rank = b->rank_of_gpu[gpu];
        if (rank == GROUP_NONE || b->key[rank] == GROUP_NONE)
            continue;
        CHECK(group_of[rank] == GROUP_NONE); /* invariant 1 */
        group_of[rank] = first + b->key[rank];
        b->out->members[b->next[b->key[rank]]++] = rank;
    }
}

/* Pairs from each stage to the next, or to the one before; with chunks the ends are neighbours. */
static struct pairs number_pairs(struct layout_builder *b, bool forward)
{
    uint32_t stages = b->n.size[DIMENSION_PP], stride = b->n.stride[DIMENSION_PP];
    bool ring =
        b->c->layout.pipeline.vpp > 1 && b->c->layout.pipeline.schedule->placement == PLACED_ROUND;
    if (stages == 1)
        return no_pairs;
    struct pairs pairs = {
        .first = b->out->group_count,
        .block = stages * stride,
        .skip = ring || forward ? 0 : stride,
        .senders = (ring ? stages : stages - 1) * stride,
        .step = (forward ? 1 : stages - 1) * stride,
    };
    pairs.count = b->out->rank_count / pairs.block * pairs.senders;
    b->out->group_count += pairs.count;
    return pairs;
}

static uint32_t pair_of_sender(const struct pairs *pairs, uint32_t rank)
{
    const uint32_t within = rank % pairs->block - pairs->skip; /* huge below 0 */
    return within < pairs->senders ? pairs->first + rank / pairs->block * pairs->senders + within
                                   : GROUP_NONE;
}

/* The rank that stands so many ranks further round the block. */
static uint32_t round_block(const struct pairs *pairs, uint32_t rank, uint32_t step)
{
    const uint32_t within = rank % pairs->block;
    return rank - within + (within + step) % pairs->block;
}

static uint32_t pair_of_receiver(const struct pairs *pairs, uint32_t rank)
{
    return pair_of_sender(pairs, round_block(pairs, rank, pairs->block - pairs->step));
}

uint32_t layout_group_of(const struct layout *layout, uint32_t rank, enum stream stream)
{
    if (stream == STREAM_SEND_NEXT)
        return pair_of_sender(&layout->forward, rank);
    if (stream == STREAM_RECV_PREV)
        return pair_of_receiver(&layout->forward, rank);
    if (stream == STREAM_SEND_PREV)
        return pair_of_sender(&layout->backward, rank);
    if (stream == STREAM_RECV_NEXT)
        return pair_of_receiver(&layout->backward, rank);
    return layout->group_of[stream] != NULL ? layout->group_of[stream][rank] : GROUP_NONE;
}

static struct group pair_at(const struct pairs *pairs, enum stream kind, uint32_t group)
{
    const uint32_t index = group - pairs->first;
    const uint32_t sender =
        index / pairs->senders * pairs->block + pairs->skip + index % pairs->senders;
    return (struct group){.kind = kind, .first = sender, .member_count = 2};
}

struct group layout_group(const struct layout *layout, uint32_t group)
{
    CHECK(group < layout->group_count);
    if (group < layout->collective_count)
        return layout->groups[group];
    if (group - layout->forward.first < layout->forward.count)
        return pair_at(&layout->forward, STREAM_SEND_NEXT, group);
    return pair_at(&layout->backward, STREAM_SEND_PREV, group);
}

uint32_t layout_receiver(const struct layout *layout, const struct group *pair)
{
    const struct pairs *pairs =
        pair->kind == STREAM_SEND_NEXT ? &layout->forward : &layout->backward;
    return round_block(pairs, pair->first, pairs->step);
}

static const enum stream collectives[] = {STREAM_TP,        STREAM_CP,           STREAM_DP,
                                          STREAM_GATHER,    STREAM_REPLICATE,    STREAM_EMBED,
                                          STREAM_WORLD,     STREAM_EP,           STREAM_EP_DATA,
                                          STREAM_EP_GATHER, STREAM_EP_REPLICATE, STREAM_CP_HEADS};
enum {
    COLLECTIVE_KINDS = sizeof collectives / sizeof collectives[0]
};

static void build_wanted(struct layout_builder *b, uint32_t wanted)
{
    for (unsigned i = 0; i < COLLECTIVE_KINDS; i++)
        if (wanted & 1u << collectives[i])
            build_groups(b, collectives[i]);
    b->out->collective_count = b->out->group_count;
    b->out->forward = b->out->backward = no_pairs;
    if (wanted & (1u << STREAM_SEND_NEXT | 1u << STREAM_RECV_PREV))
        b->out->forward = number_pairs(b, true);
    if (wanted & (1u << STREAM_SEND_PREV | 1u << STREAM_RECV_NEXT))
        b->out->backward = number_pairs(b, false);
}

/* A kind has at most one group for each rank, and a rank is in it at most once. */
static void reserve(struct arena *arena, struct layout_builder *b, uint32_t wanted)
{
    uint32_t ranks = b->out->rank_count, kinds = 0;
    for (unsigned i = 0; i < COLLECTIVE_KINDS; i++) {
        if (wanted & 1u << collectives[i]) {
            uint32_t *group_of = ARENA_ARRAY(arena, uint32_t, ranks);
            memset(group_of, 0xff, sizeof *group_of * ranks);
            b->out->group_of[collectives[i]] = group_of;
            kinds++;
        }
    }
    b->group_room = kinds * ranks;
    b->member_room = kinds * ranks;
    b->out->groups = ARENA_ARRAY(arena, struct group, b->group_room);
    b->out->members = ARENA_ARRAY(arena, uint32_t, b->member_room);
}

static void place_ranks(struct arena *arena, struct layout_builder *b)
{
    struct layout *out = b->out;
    b->gpu_count = (uint32_t)(b->c->cluster.nodes * b->c->cluster.node.gpus);
    CHECK(out->rank_count <= b->gpu_count);
    b->rank_of_gpu = ARENA_ARRAY(arena, uint32_t, b->gpu_count);
    memset(b->rank_of_gpu, 0xff, sizeof *b->rank_of_gpu * b->gpu_count);
    for (uint32_t rank = 0; rank < out->rank_count; rank++) {
        uint32_t gpu = out->gpu_of_rank[rank] = layout_gpu(b->c, rank);
        CHECK(b->rank_of_gpu[gpu] == GROUP_NONE);
        b->rank_of_gpu[gpu] = rank;
    }
}

void layout_build(struct arena *arena, const struct configuration *c, uint32_t wanted,
                  struct layout *out)
{
    uint32_t ranks = (uint32_t)configuration_ranks(c);
    *out = (struct layout){.spec = &c->layout, .rank_count = ranks};
    out->gpu_of_rank = ARENA_ARRAY(arena, uint32_t, ranks);
    struct layout_builder b = {.c = c, .n = number_ranks(c), .out = out};
    b.shards = (uint32_t)configuration_shards(c);
    reserve(arena, &b, wanted);
    struct arena_mark mark = arena_mark(arena);
    place_ranks(arena, &b);
    b.key = ARENA_ARRAY(arena, uint32_t, ranks + 1);
    b.next = ARENA_ARRAY(arena, uint32_t, ranks + 1);
    build_wanted(&b, wanted);
    arena_rewind(arena, mark);
}
