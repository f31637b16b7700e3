/* worker_state.h - what the files of the worker share: programs made ready to play, and ranks.
 *
 * Only worker*.c include it. Ops are numbered from 1 here, as in op.wait: row 0 of a rank's times
 * is "nothing", finished at 0 before all else, so that an absent wait needs no branch. */
#ifndef ORRERY_MODELS_WORKER_STATE_H
#define ORRERY_MODELS_WORKER_STATE_H

#include "models/worker.h"
#include "sim/random.h"

#define OP_END UINT32_MAX /* after the last op of a stream */

enum play {
    PLAY_COMPUTE,
    PLAY_SENSITIVE,
    PLAY_COMMUNICATION
};
enum {
    WAIT_FIRST,
    WAIT_SECOND,
    WAIT_HOST,
    WAIT_COUNT
};
struct played_op {             /* 48 bytes; a program's ops are read by each rank that plays it */
    double gpu_s;              /* of compute, undisturbed */
    double issue_s;            /* host time from the finish of WAIT_HOST (or the start) to launch */
    uint32_t wait[WAIT_COUNT]; /* op that must have finished; 0: none; WAIT_HOST: last sync */
    uint32_t next;             /* op on the same stream, or OP_END */
    uint32_t previous;         /* op on the same stream, or 0 */
    uint32_t transfer;
    uint8_t wait_stream[WAIT_COUNT]; /* streams of the waits */
    uint8_t stream, play;
};
struct played_program {
    const struct program *source;
    struct played_op *ops; /* [1 .. op_count] */
    uint32_t op_count;
    uint32_t first[STREAM_COUNT]; /* OP_END: the stream has no ops */
    uint32_t last[STREAM_COUNT];  /* 0: the stream has no ops */
    bool sensitive;               /* has ops of PLAY_SENSITIVE */
};
struct rank_state {
    struct op_times *rows; /* [0 .. op_count] */
    const struct played_program *program;
    double slowness;                /* 1 / speed of compute */
    double tail_s[STREAM_COUNT];    /* finish of the last finished op */
    uint32_t head[STREAM_COUNT];    /* first op that has not finished */
    uint16_t waiting[STREAM_COUNT]; /* streams whose head waits for this stream's head */
    uint16_t dirty;                 /* streams whose head may be ready */
    bool queued;                    /* on the stack of ranks to run, or running */
};
struct sensitive {               /* the sensitive op of a rank's compute stream */
    double remaining_s, since_s; /* work left at since_s, in seconds at full speed */
    double speed_ratio;
    uint32_t slot;
    uint32_t watched; /* bit set of the interfering streams that this rank has */
    uint32_t active;  /* those on the wire */
    bool running;
};
struct worker {
    struct sim *sim;
    struct network *network;
    const struct symmetry *symmetry;
    const struct lowered *lowered;
    const struct layout *layout; /* for messages; may be NULL */
    struct worker_options options;
    struct played_program *programs;
    struct rank_state *ranks;
    struct sensitive *sensitive;   /* [rank class] */
    bool *spans_stages;            /* [group class]: pairs, and groups with members of two stages */
    struct random_stream **jitter; /* [rank class x streams], NULL without jitter */
    uint32_t *stack, stack_count;  /* ranks with something to do */
    uint32_t *rank_of_slot, slot_capacity;
    uint64_t open_streams; /* streams of ranks with ops to play */
    uint64_t op_count;
    bool draining;
};

/* When the host launches op `op`, once the sync that releases it has finished. */
static inline double worker_issue_s(const struct op_times *rows, const struct played_op *op)
{
    return rows[op->wait[WAIT_HOST]].finish_s + op->issue_s;
}

/* worker_program.c: reads a program once for all its ranks. */
void worker_prepare(struct arena *arena, const struct program *program, struct played_program *out);
/* worker_stuck.c: prints the first few blocked ranks, streams and ops to stderr. */
void worker_explain(const struct worker *worker);

#endif
