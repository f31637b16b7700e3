/* layout.h - which rank stands where, and who talks to whom.
 *
 * Rank numbers run over the dimensions in the order of layout.order (Megatron's `--rank-order`).
 * Each communicator has one kind (the stream that it serves) and each rank is in at most one of
 * each kind. Those of collectives are written down once; members stand in the order of their GPUs.
 * A pipeline pair has two members: sender, receiver; it serves the sender's SEND stream and the
 * receiver's matching RECV stream. With chunks the pipeline is a ring: the last stage sends to the
 * first. Pairs are most of the groups and follow from rank numbers, so they take no memory. */
#ifndef ORRERY_MODELS_LAYOUT_LAYOUT_H
#define ORRERY_MODELS_LAYOUT_LAYOUT_H

#include "models/layout/configuration.h"
#include "models/layout/stream.h"
#include "sim/arena.h"

/* An order names each of tp, cp, dp, pp once, joined by dashes. */
/* What layout.order says where it leaves the order open, and what it then is as a rule. */
#define LAYOUT_ORDER_AUTO "auto"
#define LAYOUT_USUAL_ORDER "tp-cp-dp-pp"
/* The order of the dimensions in rank numbers, fastest first: as layout.order says. auto: the usual
 * one; where the ranks of a stage do not fill whole nodes but whole replicas do, the data ranks are
 * numbered last (NVIDIA/Megatron-LM --use-tp-pp-dp-mapping, which runs of Llama 3.1 405B on GB200
 * set: mlcommons/training_results_v5.1, TP_PP_DP_MAPPING in NVIDIA's config_common.sh): otherwise
 * the group that reduces a gradient has many ranks in some nodes and one in another, whose single
 * NIC is then all that joins it. Units of FSDP, and experts, stay with the usual one, by which they
 * are neighbours. */
const char *layout_order(const struct configuration *c);
bool layout_order_valid(const char *order);

#define GROUP_NONE UINT32_MAX

struct coordinates {
    uint32_t tp, cp, dp, pp;
};
struct group {
    enum stream kind; /* pairs: the sender's stream */
    uint32_t first;   /* row of members; pairs: the sender */
    uint32_t member_count;
};
/* Pipeline pairs of one direction, numbered by their senders. Ranks come in blocks in which each
 * stage stands once beside each other coordinate below it. */
struct pairs {
    uint32_t first, count;  /* groups */
    uint32_t block;         /* ranks of a block */
    uint32_t skip, senders; /* of a block: ranks before the first sender, ranks that send */
    uint32_t step;          /* from a sender to its receiver, round the block */
};
struct layout {
    const struct layout_spec *spec;
    uint32_t rank_count;
    uint32_t *gpu_of_rank;            /* packed: rank r on GPU r; scattered: round the nodes */
    struct group *groups;             /* of collectives; those behind them are pairs */
    uint32_t *members;                /* ranks, by group of collectives */
    uint32_t *group_of[STREAM_COUNT]; /* [stream][rank] of collectives; NULL: none was wanted */
    uint32_t collective_count, group_count;
    struct pairs forward, backward; /* to the next stage, to the one before */
};

/* `wanted` is a bit set of streams whose communicators are needed (those the programs use). */
void layout_build(struct arena *arena, const struct configuration *c, uint32_t wanted,
                  struct layout *out);
/* The group of this rank on a stream, or GROUP_NONE. */
uint32_t layout_group_of(const struct layout *layout, uint32_t rank, enum stream stream);
struct group layout_group(const struct layout *layout, uint32_t group);
/* The rank of a pair's receiver. */
uint32_t layout_receiver(const struct layout *layout, const struct group *pair);
static inline uint32_t layout_member(const struct layout *layout, const struct group *group,
                                     uint32_t member)
{
    if (group->kind == STREAM_SEND_NEXT || group->kind == STREAM_SEND_PREV)
        return member == 0 ? group->first : layout_receiver(layout, group);
    return layout->members[group->first + member];
}
struct coordinates layout_coordinates(const struct configuration *c, uint32_t rank);
uint32_t layout_rank(const struct configuration *c, struct coordinates where);
/* Nodes with ranks are numbered without gaps, packed or scattered: so many; those behind them stay
 * out of the job. */
uint64_t layout_nodes(const struct configuration *c);
/* Nodes in which the first `ep` ranks of the first stage stand, who share whole experts (etp 1); 1
 * for a dense model. Other groups may stand in more where ep and a node's GPUs do not divide. */
uint32_t layout_expert_nodes(const struct configuration *c);
/* The GPU of a rank: packed: number `rank`; scattered: round the nodes. */
uint32_t layout_gpu(const struct configuration *c, uint32_t rank);

#endif
