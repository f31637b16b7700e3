/* lower_pipeline.h - messages between pipeline stages, as ops around the passes of a schedule.
 *
 * Shared by lower() and lower_passes(). For each pass: lower_pipeline_receive before it, the pass's
 * own ops, lower_pipeline_send after it; pipeline_take names what the first op of the next pass
 * waits for. Forward outputs go to the next stage, gradients to the one before; with chunks the
 * ends of the pipeline are neighbours; in a V, or from both ends, they go either way. Receives wait
 * for nothing but the host, so a send never waits for more than its message: no schedule can
 * deadlock on them. Where the host itself waits within a pass (experts, for their rows) and passes
 * wait for their sends, receives are posted some passes ahead, as a host that need not wait does. A
 * stream carries its messages in the order in which they were sent, so where a
 * stage takes two kinds of them from one neighbour they are received in that order, some ahead of
 * the pass that needs them. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_PIPELINE_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_PIPELINE_H

#include "models/lower/stage/lower_waits.h"
#include "models/schedule/schedule_kind.h"

struct pipeline_options {
    double message_bytes; /* 0: free and instant */
    double host_s;        /* of each send and receive */
    bool blocking;        /* the next pass waits until the sends of this one have finished */
    bool host_waits;      /* ... and so does the host before it launches that pass */
    /* A forward directly followed by a backward exchanges once, after both (Megatron-LM's
     * interleaved steady state, send_forward_backward_recv_forward_backward). */
    bool paired;
};
enum {
    FLOWS = 2 /* from the stage before, and from the one behind */
};
struct incoming { /* what one neighbour sends, as the passes of this stage that take it */
    struct pass *passes;
    uint32_t count, received;
};
struct receive_lead {           /* receives that come `passes` ahead of the pass that takes them */
    const struct pass *order;   /* of the stage; NULL: none do */
    uint32_t count;             /* passes of it */
    uint32_t passes, looked_at; /* ahead; of the order so far */
    uint32_t *posted;           /* [pass] its receive; OP_NONE */
};
struct pipeline {
    struct program_writer *w;
    const struct schedule_kind *kind;
    struct schedule_shape shape;
    uint32_t stage, parts;
    struct pipeline_options options;
    struct incoming incoming[FLOWS]; /* where the order is not that of the passes */
    uint32_t *ahead; /* [pass of a message] the receive that came before its pass; OP_NONE */
    struct receive_lead lead;
    uint32_t host, transfer;
    uint16_t names[4];
    struct waits *waits; /* of the next pass: its owner's */
    struct pass held;    /* in a pair: a forward whose output has not left yet */
    uint32_t held_op;    /* OP_NONE: none */
    uint32_t forwards_seen;
    bool backward_seen;
    uint32_t streams; /* bit set of streams used so far */
};
/* What the next pass waits for is added to `waits`, which whoever writes its ops takes. */
void lower_pipeline_begin(struct pipeline *p, struct program_writer *w,
                          const struct schedule_kind *kind, const struct schedule_shape *shape,
                          uint32_t stage, struct waits *waits);
/* How messages cost and wait; before the first. */
void lower_pipeline_options(struct pipeline *p, const struct pipeline_options *options);
/* The order of both neighbours, for a schedule whose messages go either way; before the first
 * receive. */
void lower_pipeline_neighbours(struct pipeline *p, struct arena *arena,
                               const struct pass_costs *costs);
/* Receives are posted `lead` passes before theirs; where the order is that of the passes, before
 * the first receive. The passes are the caller's, and those that lower_pipeline_receive gets. */
void lower_pipeline_lead(struct pipeline *p, struct arena *arena, const struct pass *passes,
                         uint32_t count, uint32_t lead);
/* Posts the receive of this pass's input, when it comes from another stage. Returns it, or OP_NONE.
 */
uint32_t lower_pipeline_receive(struct pipeline *p, const struct pass *pass);
/* After the receive: where the host waits for what this pass waits for. */
void lower_pipeline_host_wait(struct pipeline *p);
/* Sends what `op` (the last of the pass) has produced; `next`: the pass after it, or NULL. The
 * first message takes the extra host time, which is then 0; without a message it stays. */
void lower_pipeline_send(struct pipeline *p, const struct pass *pass, const struct pass *next,
                         uint32_t op, double *extra_host_s);
/* Does this pass give its output to another stage? */
bool lower_pipeline_sends(const struct pipeline *p, const struct pass *pass);

#endif
