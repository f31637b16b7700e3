/* lower_parts.h - what the files of the lowering share; nobody else includes it.
 *
 * A *block* is a layer, the embedding or the head, compiled once into pieces: ops without labels,
 * priced, with what they allocate and free. A *unit* is a block at its place in a stage. lower.c
 * walks the passes of a stage and plays units through lower_block.c (compute and tensor-parallel
 * transfers), lower_data.c (data-parallel transfers, update) and lower_memory.c (the ledger). */
#ifndef ORRERY_MODELS_PROGRAM_LOWER_PARTS_H
#define ORRERY_MODELS_PROGRAM_LOWER_PARTS_H

#include "models/layout/configuration.h"
#include "models/program/lower_pipeline.h"
#include "models/sharding/sharding_kind.h"

/* One op of a block: a stretch of kernels, or a transfer. */
struct piece {
    uint8_t kind, stream, phase;
    bool beside; /* transfer: the next compute runs meanwhile; the one after waits for it */
    uint16_t opens, closes, rebuilds; /* segments whose memory changes here, bit sets */
    const char *name;
    struct op_cost cost;
    struct op_kernel *kernels;
    uint32_t kernel_count;
    struct transfer transfer;
    double host_s;
    /* Rows of the program under way. */
    uint32_t row, host;
    uint16_t name_row;
};
struct piece_list {
    struct piece *rows;
    uint32_t count, room;
    double host_left_s; /* host time behind its last op: of that op's kernels after the first */
    double launches;    /* kernels and collectives */
    double gpu_s, host_s;
};
struct block {
    const struct layer *layer;
    const char *name;
    struct piece_list forward, backward; /* backward with selective recomputation in it */
    struct piece_list recompute;         /* full: the forward again */
    bool full_recompute;
    uint32_t tensor_count; /* of one microbatch, one unit */
    double parameters;     /* that a rank computes with: its tensor-parallel share */
};
struct unit {
    struct block *block;
    uint32_t chunk;
    uint16_t layer;       /* UINT16_MAX: embedding or head */
    double held;          /* parameters of which this rank keeps state, before sharding */
    uint32_t group;       /* FSDP unit */
    uint32_t gradient;    /* tensor of its gradient in the step, or TENSOR_NONE */
    uint32_t last_gather; /* overlapped parameter gather: op that the first forward waits for */
};
/* Units that are gathered and scattered together. */
struct group_of_units {
    uint32_t first, count; /* units */
    double gathered, held; /* parameters */
    uint32_t tensor;       /* gathered weights, TENSOR_NONE: not here */
    uint32_t gather;       /* the op that gathers them now, OP_NONE */
    uint32_t scratch;      /* unsharded gradients, TENSOR_NONE: not here */
};
#define TENSOR_NONE UINT32_MAX

/* Blocks whose free comes later than their last use. */
struct late_tensor {
    uint32_t tensor;
    double bytes;
    double launched; /* kernels that the stage had launched */
};
struct late_list { /* first in, first out; numbers are used again */
    struct late_tensor *rows;
    uint32_t *spare;
    uint32_t first, count, room, spare_count, spare_room;
};

enum block_index {
    BLOCK_EMBEDDING,
    BLOCK_LAYER,
    BLOCK_HEAD,
    BLOCK_COUNT
};

/* What all stages have in common. */
struct lowering {
    struct arena *arena;
    const struct configuration *c;
    struct layer_context context;
    struct layer layers[BLOCK_COUNT];
    struct block blocks[BLOCK_COUNT];
    struct schedule_shape shape;
    uint32_t *split, *layer_start; /* by global chunk */
    double launch_s;               /* of one kernel, at this tp */
    double tensor_host_s;          /* of one tensor-parallel collective */
    double slowing;                /* of compute, by tensor-parallel collectives beside it: >= 1 */
    double message_bytes;
    double message_gather_bytes; /* a received message is gathered from the tp ranks; 0: whole */
    double vocabulary_shard;     /* parameters of this rank's rows of the vocabulary */
    /* Data parallelism. */
    const struct sharding_kind *sharding;
    uint32_t replicas, shards, reducers; /* reducers: ranks of a STREAM_DP group */
    bool scatters; /* gradients leave in every backward, only shards accumulate */
    bool gathers;  /* weights are gathered unit by unit */
    bool reshards; /* ... and dropped after the forward */
    double weight_bytes, kept_bytes, wire_bytes; /* of an element */
    bool tied_across;                            /* first and last stage hold the same embedding */
    bool has_world;                              /* more than one rank holds a part of a copy */
};

/* One stage under way. Invariant: every op is written through stage_op. */
struct stage {
    struct lowering *l;
    struct program_writer *w;
    struct pipeline pipeline; /* its waits are those of the next compute op */
    struct waits joining;     /* transfers beside the next compute; the one after waits */
    bool joined;              /* the next compute op is that one */
    uint32_t stage, last;     /* last compute op */
    uint32_t streams;
    double extra_host_s; /* added to the next op */
    /* Labels and flags of the ops being written. */
    uint16_t microbatch, layer;
    uint8_t chunk, flags;
    /* Units in forward order, by chunk. */
    struct unit *units;
    uint32_t *chunk_units; /* [chunks + 1] first unit of each chunk */
    uint32_t unit_count;
    struct group_of_units *groups;
    uint32_t *chunk_groups; /* [chunks + 1] */
    uint32_t group_count;
    uint32_t *backwards_left; /* [chunk] backward passes that have not been completed */
    uint32_t *forwards_done;  /* [chunk] */
    /* Data parallelism. */
    double bucket; /* parameters in the open bucket */
    uint32_t scatter_last, replicate_last;
    uint32_t *history;     /* [history_room] last compute op of the latest groups computed */
    uint32_t history_room; /* prefetch + 1 */
    uint32_t group_step;   /* groups computed so far, over all passes */
    /* Tensors. */
    uint32_t tensor_next;
    uint32_t *saved;              /* [unit x microbatch] first tensor of its block, TENSOR_NONE */
    uint32_t *spare[BLOCK_COUNT]; /* tensor ranges free for reuse */
    uint32_t spare_count[BLOCK_COUNT];
    bool workspace_taken;
    struct late_list recorded;       /* buffers of collectives that the GPU has not passed */
    struct late_list pass_gradients; /* of the pass under way */
    double launched;                 /* kernels and collectives so far */
    uint32_t reducing;               /* buffer of the reduction on the wire, 0: none */
    double reducing_bytes;
    double receive_bytes; /* of the message of this pass, until its first op; 0: none */
};

/* lower_block.c */
void block_compile(struct lowering *l, struct block *block, const struct layer *layer,
                   const char *name, bool full_recompute);
void block_rows(struct block *block, struct program_writer *w); /* rows of this program */
uint32_t stage_op(struct stage *s, struct op op);
uint32_t stage_transfer(struct stage *s, enum stream stream, struct transfer transfer,
                        enum phase phase, const char *name, uint32_t wait);
uint32_t stage_kernel(struct stage *s, const struct kernel *kernel, enum phase phase,
                      double host_s);
void stage_pieces(struct stage *s, const struct piece_list *list, struct unit *unit);
uint32_t stage_result(struct stage *s); /* op after which the pass's output is there */
/* lower_entry.c */
/* Numbers of tensors that are there once at most; others count up from TENSOR_FIRST. */
enum fixed_tensor {
    TENSOR_SCRATCH,
    TENSOR_WORKSPACE,
    TENSOR_RECEIVE,
    TENSOR_FIRST
};
struct tensor {
    enum tenant tenant;
    uint32_t number;
    double bytes;
    const char *name;
    unsigned flags; /* enum ledger_flag */
};
void memory_entry(struct stage *s, enum ledger_action action, struct tensor tensor,
                  const char *call_site);
uint32_t memory_tensor(struct stage *s); /* a new number */
/* lower_memory.c */
void memory_setup(struct stage *s);
void memory_piece(struct stage *s, const struct piece *piece, const struct unit *unit);
void memory_first_op(struct stage *s);
void memory_received(struct stage *s, double bytes);
void memory_handed_over(struct stage *s); /* the receive buffer is now the first op's input */
void memory_unit_gradient(struct stage *s, struct unit *unit);
void memory_gather(struct stage *s, struct group_of_units *group);
void memory_drop(struct stage *s, struct group_of_units *group);
void memory_scratch(struct stage *s, struct group_of_units *group);
/* The group's gradients have left; its flat buffer stays until the next call when `overlaps`. */
void memory_scattered(struct stage *s, struct group_of_units *group, bool overlaps);
void memory_update(struct stage *s);
double shard_elements(double elements, uint32_t shards); /* padded to a whole element */
/* lower_late.c */
/* The whole output of a product whose sum is scattered. */
void late_buffer(struct stage *s, const struct unit *unit, bool forward,
                 const struct segment_transfer *scatter);
void late_gradient(struct stage *s, const struct unit *unit);
void late_pass_end(struct stage *s);
void late_host_waits(struct stage *s); /* the GPU has passed all that was launched */
/* lower_data.c */
void data_begin(struct stage *s);
void data_unit_begin(struct stage *s, const struct pass *pass, uint32_t unit);
void data_unit_gradient(struct stage *s, uint32_t unit); /* its backward ops are written */
void data_unit_end(struct stage *s, const struct pass *pass, uint32_t unit);
void data_pass_end(struct stage *s, const struct pass *pass); /* its output has been handed on */
void data_step_end(struct stage *s);
/* lower_split.c has lower_split (lower.h). */

#endif
