/* lower_block.h - blocks: a layer, the embedding or the head, compiled once into pieces: ops
 * without labels, priced, with what they allocate and free. Knows neither stages nor passes. */
#ifndef ORRERY_MODELS_LOWER_PLAN_LOWER_BLOCK_H
#define ORRERY_MODELS_LOWER_PLAN_LOWER_BLOCK_H

#include "models/lower/plan/lower_costs.h"
#include "models/program/program.h"
#include "models/schedule/schedule_kind.h"

#define TENSOR_NONE UINT32_MAX

/* One op of a block: a stretch of kernels, or a transfer. */
struct lowered_piece {
    uint8_t kind, stream, phase;
    uint8_t part;    /* of a backward: enum pass_kind */
    bool host_waits; /* compute: the host does not go on before it has finished */
    bool beside;     /* transfer: the next compute runs meanwhile; the one after waits for it */
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
    struct lowered_piece *rows;
    uint32_t count, room;
    double host_left_s; /* host time behind its last op: of that op's kernels after the first */
    double launches;    /* kernels and collectives */
    double gpu_s, host_s;
};
/* The lists of a block: of the passes, and of what is computed again. */
enum block_pieces {
    PIECES_FORWARD,
    PIECES_BACKWARD, /* with selective recomputation in it */
    PIECES_INPUT,    /* backward in two passes, where the schedule wants it so */
    PIECES_WEIGHTS,
    PIECES_RECOMPUTE,      /* full: the forward again; of a part: what it repeats */
    PIECES_WHOLE,          /* the same where a layer behind it needs all of the output */
    PIECES_PAIRED_FORWARD, /* beside exchanges that take SMs */
    PIECES_PAIRED_BACKWARD,
    PIECES_COUNT
};
/* The weights of a block on a rank, and the state that they have, in elements. */
struct block_weights {
    double parameters;        /* that a rank computes with: its tensor-parallel share */
    double expert_parameters; /* of them, of routed experts */
    double weight_bytes;      /* of one of them, as the forward pass reads it */
    double sent_bytes;        /* ... as it travels to ranks that did not update it */
    double copy_bytes;        /* of narrow copies of them at rest, beside those */
    double cast_bytes;        /* read and written to make these once a step, behind the update */
    double trained;           /* all of them; or those of adapters, which lie beside them */
    double frozen_bytes;      /* of parameters beside adapters */
    double alive;             /* of them, where they are gathered: at once */
    struct state_shape state; /* of all its parameters */
    unsigned matrix_count;    /* of the weight matrices of a layer */
    struct weight_matrix matrices[LAYER_MATRIX_MAX];
};
struct block {
    const struct layer *layer;
    const char *name;
    struct piece_list lists[PIECES_COUNT];
    bool full_recompute, repeats;
    bool splits;           /* has lists of input and weights */
    uint32_t tensor_count; /* of one microbatch, one unit */
    double kept_bytes;     /* of one microbatch, from a unit's forward to its backward */
    uint32_t kept_count;   /* ... in so many tensors */
    double late_bytes;     /* ... from its input pass to that of its weights */
    struct block_weights weights;
};
/* What a pass runs of a block, beside what it computes again. */
enum block_pieces lower_block_pieces(enum pass_kind kind);

struct block_spec { /* borrowed, the layer and the name for as long as the block */
    const struct configuration *c;
    const struct block_costs *costs;
    const struct layer *layer;
    const char *name;
    bool full_recompute, repeats;
    bool inside_group; /* full: other layers are recomputed from its input */
    bool splits;       /* backward in two passes as well */
    double paired_sms; /* that exchanges take of passes in pairs; 0: none, or there are no pairs */
};
/* Leaves the counts of parameters at 0. */
void lower_block_compile(struct arena *arena, const struct block_spec *spec, struct block *out);
/* Is the k-th saved tensor of a segment not kept until the backward at this level of recomputation?
 * Apart from layers that are recomputed in full. */
bool lower_block_drops(int recompute, const struct segment *segment, unsigned k);
/* Of a microbatch: tensors of a block, their bytes from forward to backward, and of those that the
 * pass of the weights reads, with the gradients of outputs. */
uint32_t lower_block_tensors(const struct layer *layer, bool splits);
double lower_block_kept_bytes(const struct block_spec *spec);
uint32_t lower_block_kept_count(const struct block_spec *spec);
double lower_block_late_bytes(const struct layer *layer);
void lower_block_rows(struct block *block, struct program_writer *w); /* rows of this program */

#endif
