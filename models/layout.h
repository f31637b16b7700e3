/* layout.h - which rank stands where, and who talks to whom.
 *
 * Rank numbers run over the dimensions in the order of layout.order (Megatron's `--rank-order`).
 * Communicators are built once; each has one kind (the stream that it serves) and each rank is in
 * at most one of each kind. A pipeline pair has two members: sender, receiver; it serves the
 * sender's SEND stream and the receiver's matching RECV stream. With chunks the pipeline is a ring:
 * the last stage sends to the first. Members of a collective stand in the order of their GPUs. */
#ifndef ORRERY_MODELS_LAYOUT_H
#define ORRERY_MODELS_LAYOUT_H

#include "models/configuration.h"
#include "models/program.h"

/* An order names each of tp, cp, dp, pp once, joined by dashes. */
bool layout_order_valid(const char *order);

#define GROUP_NONE UINT32_MAX

struct coordinates {
    uint32_t tp, cp, dp, pp;
};
struct group {
    enum stream kind; /* pairs: the sender's stream */
    uint32_t first;   /* row of members */
    uint32_t member_count;
};
struct layout {
    const struct layout_spec *spec;
    uint32_t rank_count;
    uint32_t *gpu_of_rank; /* packed: rank r on GPU r; scattered: round the nodes */
    struct group *groups;
    uint32_t *members;                  /* ranks, by group */
    uint32_t (*group_of)[STREAM_COUNT]; /* [rank][stream]: group, or GROUP_NONE */
    uint32_t group_count;
};

/* `wanted` is a bit set of streams whose communicators are needed (those the programs use). */
void layout_build(struct arena *arena, const struct configuration *c, uint32_t wanted,
                  struct layout *out);
struct coordinates layout_coordinates(const struct configuration *c, uint32_t rank);
uint32_t layout_rank(const struct configuration *c, struct coordinates where);
/* Nodes with ranks are numbered without gaps, packed or scattered: so many; those behind them stay
 * out of the job. */
uint64_t layout_nodes(const struct configuration *c);
/* The GPU of a rank: packed: number `rank`; scattered: round the nodes. */
uint32_t layout_gpu(const struct configuration *c, uint32_t rank);

#endif
