/* lower_parts.h - one stage while it is lowered: its parts, and the functions of the files that
 * compose them.
 *
 * A part is a struct with a header and a file of its own, which alone writes it and never sees the
 * whole; it may use parts that stand to the left of it here:
 *
 *     labels  units <- tensors <- late, ops <- traffic, runs
 *
 * (the rows of units and groups are written by whoever moves a gradient or gathers weights, which
 * are lower_data.c and lower_memory.c). lower.c writes the passes of a stage, lower_walk.c the
 * units of a pass and lower_pair.c those of two that take turns; lower_data.c decides when data is
 * sent, lower_update.c what the optimizer does, lower_memory.c what is allocated when,
 * lower_offload.c what of it waits on the host. They alone include this. */
#ifndef ORRERY_MODELS_PROGRAM_LOWER_PARTS_H
#define ORRERY_MODELS_PROGRAM_LOWER_PARTS_H

#include "models/program/lower_late.h"
#include "models/program/lower_runs.h"
#include "models/program/lower_traffic.h"

/* A unit of a microbatch, on its way out: still on the card as well. */
struct leaving {
    uint32_t unit, op; /* op OP_NONE: nobody is */
    uint16_t microbatch;
};
/* lower_offload.c: what of a stage's activations is on the host, or on its way there or back. */
struct offload {
    const struct pass *passes; /* of the stage, in order; borrowed */
    uint32_t pass_count;
    uint32_t *out, *back;         /* [unit x microbatch] its copy out while it is on the host; its
                                   * copy back until compute waits for it; OP_NONE */
    struct leaving older, newest; /* of the layer before the one under way, and of that one */
    bool paired;                  /* two passes take turns */
    double bytes, most_bytes;     /* on the host, now and at the fullest */
};

struct stage {
    struct lowering *l;
    struct program_writer *w;
    uint32_t stage;
    struct pipeline pipeline;
    struct labels labels;
    struct units units;
    struct tensors tensors;
    struct late late;
    struct ops ops;
    struct data_traffic traffic;
    struct runs runs;
    struct offload offload;
};

/* lower_walk.c: how far a pass has been written. It is walked unit by unit, a unit list by list
 * (what is computed again, then its own), a list piece by piece. */
struct pass_walk {
    const struct pass *pass;
    bool paired;                     /* its kernels run beside the exchanges of another */
    uint32_t unit, unit_end;         /* written of the chunk; all of it */
    uint32_t lists;                  /* of the unit under way that were begun */
    bool begun;                      /* it is */
    const struct piece_list *list;   /* under way, NULL: none */
    const struct lowered_unit *each; /* whose list it is */
    uint32_t piece;                  /* written of it */
};
void lower_walk_begin(struct pass_walk *walk, const struct stage *s, const struct pass *pass);
/* Writes the next piece, what its units send and allocate around it included. NULL: the pass is
 * over, and everything around its last piece is written too. */
const struct lowered_piece *lower_walk_piece(struct pass_walk *walk, struct stage *s);
/* All that is left. */
void lower_walk_all(struct pass_walk *walk, struct stage *s);

/* lower_pair.c: a forward and a backward of different microbatches that run together. One compute
 * stream serves both. Whoever has just sent rows to their experts gives way, so that the products
 * of the other run while they travel: the backward of a layer sends what it got of the layer
 * behind, the forward computes attention and sends, the backward its experts' products, and so on
 * (DeepSeek-V3, arXiv:2412.19437 section 3.2.1; NVIDIA/Megatron-LM
 * megatron/core/models/common/model_chunk_schedule_plan.py). Each has labels and waits of its own.
 */
enum strand_index {
    STRAND_BACKWARD,
    STRAND_FORWARD,
    STRAND_COUNT
};
struct strand {
    struct pass_walk walk;
    struct labels labels;
    struct pending pending;
};
struct pair {
    struct strand strands[STRAND_COUNT];
    enum strand_index now; /* whose labels and waits the stage has */
};
/* The stage has the backward's. */
void lower_pair_begin(struct pair *pair, struct stage *s, const struct pass *forward,
                      const struct pass *backward);
/* From here on the stage has this one's. */
void lower_pair_take(struct pair *pair, struct stage *s, enum strand_index strand);
/* All units of both. */
void lower_pair_units(struct pair *pair, struct stage *s);
/* Both have ended: what comes next follows the later compute of the two. */
void lower_pair_end(struct pair *pair, struct stage *s);

/* lower_memory.c */
void lower_memory_setup(struct stage *s);
/* What lower_memory_setup takes, and what the first step leaves for good, but for the buffers of
 * communicators. */
double lower_memory_state_bytes(const struct stage *s);
/* What a unit keeps of one microbatch from its forward to its backward. */
double lower_memory_kept_bytes(const struct lowered_unit *unit);
void lower_memory_piece(struct stage *s, const struct lowered_piece *piece,
                        const struct lowered_unit *unit);
void lower_memory_unit_gradient(struct stage *s, struct lowered_unit *unit);
void lower_memory_gather(struct stage *s, struct group_of_units *group);
void lower_memory_arriving(struct stage *s, struct group_of_units *group);
void lower_memory_arrived(struct stage *s, struct group_of_units *group);
void lower_memory_drop(struct stage *s, struct group_of_units *group);
void lower_memory_scratch(struct stage *s, struct group_of_units *group);
/* The group's gradients have left; its flat copy stays until the next call when `overlaps`. */
void lower_memory_scattered(struct stage *s, struct group_of_units *group, bool overlaps);
void lower_memory_update(struct stage *s);
/* lower_offload.c: what of its activations a stage keeps on the host. Nothing happens where none
 * leave. */
void lower_offload_begin(struct stage *s, const struct pass *passes, uint32_t count);
/* Around each unit of a pass, which is one of those that were begun with. */
void lower_offload_unit_begin(struct stage *s, const struct pass *pass, uint32_t unit);
void lower_offload_unit_end(struct stage *s, const struct pass *pass, uint32_t unit);
void lower_offload_end(struct stage *s); /* of the step */
/* Most of its activations that lie in the memory of the CPUs at once; of the steps written. */
double lower_offload_host_bytes(const struct stage *s);
/* lower_update.c */
void lower_update_orthogonal(struct stage *s); /* the steps of weights that are matrices */
/* What of it the host does: gradients go there, state is updated there, weights come back. */
void lower_update_offloaded(struct stage *s, double elements);
/* In the memory of the CPUs: state, and room for the gradients and weights that go there and back.
 */
double lower_update_host_bytes(const struct stage *s);
void lower_update(struct stage *s, double elements);
/* lower_data.c */
void lower_data_begin(struct stage *s);
/* Is nothing issued and nothing waited for among the units of this pass? */
bool lower_data_quiet(const struct stage *s, const struct pass *pass);
void lower_data_quiet_begin(struct stage *s); /* ... and it begins */
void lower_data_unit_begin(struct stage *s, const struct pass *pass, uint32_t unit);
void lower_data_unit_gradient(struct stage *s, uint32_t unit); /* its backward ops are written */
void lower_data_unit_end(struct stage *s, const struct pass *pass, uint32_t unit);
void lower_data_pass_end(struct stage *s,
                         const struct pass *pass); /* its output has been handed on */
void lower_data_step_end(struct stage *s);

#endif
