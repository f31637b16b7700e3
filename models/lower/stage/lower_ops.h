/* lower_ops.h - a part of a stage that is lowered: the ops that are being written, and what the
 * next one waits for.
 *
 * Every op of a stage but its messages is written here: it gets its labels, what it waits for and
 * the host's time before it. Compute runs in order on its own stream; what it needs of transfers is
 * told by lower_ops_wait. Knows neither units nor tensors, but for the workspace of the first
 * compute. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_OPS_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_OPS_H

#include "models/lower/stage/lower_tensors.h"
#include "models/lower/stage/lower_waits.h"
#include "sim/table.h"

/* What the next ops of a pass wait for. */
struct pending {
    struct waits waits;   /* of the next compute op */
    struct waits joining; /* transfers beside the next compute; the one after waits */
    bool joined;          /* the next compute op is that one */
    uint32_t last;        /* last compute op */
};
/* Pieces whose rows this program has: a plan that many programs share keeps none. */
struct known_piece {
    const struct lowered_piece *piece;
    uint32_t row, host;
    uint16_t name_row;
};
struct known_pieces {
    struct table numbers; /* by place */
    struct known_piece *rows;
    uint32_t room;
};
struct ops {
    struct program_writer *w;
    const struct lowering *l;
    const struct labels *labels;
    struct tensors *tensors;
    struct pending pending;
    struct known_pieces known;
    uint32_t streams;    /* bit set of those used */
    double extra_host_s; /* added to the next op */
};

/* Borrows all of it. */
void lower_ops_begin(struct ops *o, const struct lowering *l, struct program_writer *w,
                     const struct labels *labels, struct tensors *tensors);
void lower_ops_wait(struct ops *o,
                    uint32_t op); /* the next compute op does; OP_NONE: for nothing */
void lower_ops_host(struct ops *o,
                    double extra_s); /* ... and so much host time comes before the next */
/* A piece of a block. */
void lower_ops_piece(struct ops *o, const struct lowered_piece *piece);
/* A piece of a block that keeps no rows; it stays where it is until the program is written. */
void lower_ops_new_piece(struct ops *o, const struct lowered_piece *piece);
/* Nothing that was sent beside compute is still to be joined: a run may begin. */
bool lower_ops_settled(const struct ops *o);
/* A run: an op without labels and waits. So much host time comes before its first op; its row is in
 * the op. */
void lower_ops_run(struct ops *o, const struct op *run, double host_s);
/* A transfer of data parallelism: one launch on the host; waits for one op. */
uint32_t lower_ops_transfer(struct ops *o, enum stream stream, struct transfer transfer,
                            enum phase phase, const char *name, uint32_t wait);
/* Software that does not communicate in place copies between the tensors and the buffer of the
 * collective, one copy at a time, beside compute. Returns the op to wait for. */
uint32_t lower_ops_copy(struct ops *o, struct transfer of, enum phase phase, uint32_t wait);
/* Activations on their way between card and host, in so many copies (a launch each); the copy waits
 * for both ops, compute for none. `stream`: one of STREAMS_OF_HOST. */
struct host_copy {
    enum stream stream;
    enum phase phase;
    const char *name;
    double bytes, bytes_per_s;
    uint32_t copies;
};
uint32_t lower_ops_host_copy(struct ops *o, const struct host_copy *copy, uint32_t wait,
                             uint32_t other);
/* One kernel as an op of its own; takes the waits. */
uint32_t lower_ops_kernel(struct ops *o, const struct kernel *kernel, enum phase phase,
                          double host_s);
/* What takes so long whatever the card does, and holds up compute; takes the waits. */
uint32_t lower_ops_fixed(struct ops *o, const char *name, double time_s, enum phase phase);
/* Each tensor rank has sent its part over a wire of its own (arXiv:2104.04473 section 4.1): the
 * whole is there for the next compute. */
void lower_ops_gather_message(struct ops *o, double bytes, enum phase phase);
uint32_t lower_ops_result(struct ops *o); /* op after which the pass's output is there */
/* Another pass goes on, which had this to wait for when it stopped. */
void lower_ops_resume(struct ops *o, const struct pending *pending);
void lower_ops_pass_end(struct ops *o); /* nothing that it left is waited for */

#endif
