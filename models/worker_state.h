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
    uint32_t begin;            /* of communication: row of begin_s */
    uint16_t transfer;
    uint8_t wait_stream[WAIT_COUNT]; /* streams of the waits */
    uint8_t stream, play;
    bool joins; /* OP_JOIN */
};
_Static_assert(sizeof(struct played_op) == 48, "ops are the hot data of a step");
struct played_program {
    const struct program *source;
    struct played_op *ops; /* [1 .. op_count] */
    uint32_t op_count, communication_count;
    uint32_t first[STREAM_COUNT]; /* OP_END: the stream has no ops */
    uint32_t last[STREAM_COUNT];  /* 0: the stream has no ops */
    /* [op]: the last compute op known to have finished when this one is posted; NULL when no op of
     * the program is sensitive. */
    uint32_t *after_compute;
};
struct rank_state {
    double *finish_s; /* [0 .. op_count] */
    double *begin_s;  /* [communication]; compute begins when it is posted */
    const struct played_program *program;
    double slowness;                /* 1 / speed of compute */
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

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

/* When the host launches an op, once the sync that releases it has finished. */
static inline double worker_issue_s(const double *finish_s, const struct played_op *op)
{
    return finish_s[op->wait[WAIT_HOST]] + op->issue_s;
}

/* When an op can start as far as its rank goes: waits done, stream free, launched. All four have
 * finished. */
static inline double worker_post_s(const double *finish_s, const struct played_op *op)
{
    const double waits_s = later(finish_s[op->wait[WAIT_FIRST]], finish_s[op->wait[WAIT_SECOND]]);
    const double free_s = later(finish_s[op->previous], worker_issue_s(finish_s, op));
    return later(waits_s, free_s);
}

/* The times of op `index`, numbered from 1. */
struct op_times worker_times_of(const struct rank_state *rank, uint32_t index);
/* worker_program.c: reads a program once for all its ranks. */
void worker_prepare(struct arena *arena, const struct program *program, struct played_program *out);
/* worker_stuck.c: prints the first few blocked ranks, streams and ops to stderr. */
void worker_explain(const struct worker *worker);

#endif
