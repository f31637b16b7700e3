/* worker_state.h - what the files of the worker share: programs made ready to play, and ranks.
 *
 * Only worker*.c include it. Ops are numbered from 1 here, as in op.wait: row 0 of a rank's times
 * is "nothing", finished at 0 before all else, so that an absent wait needs no branch. */
#ifndef ORRERY_MODELS_STEP_SIMULATE_WORKER_STATE_H
#define ORRERY_MODELS_STEP_SIMULATE_WORKER_STATE_H

#include "models/step/simulate/worker.h"
#include "sim/random.h"

#define CACHE_LINE 64
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
    uint32_t nth;              /* of communication: how many of its stream come before it */
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
    uint32_t last_pass; /* op that ends the last pass, forward or backward; 0: there is none */
    uint32_t *meetings; /* ops of communication, stream by stream */
    uint32_t meeting_first[STREAM_COUNT + 1];
    /* [op]: the last compute op known to have finished when this one is posted; NULL when no op of
     * the program is sensitive. */
    uint32_t *after_compute;
};
struct stream_state {   /* of a rank: what an op touches lies side by side */
    uint32_t head;      /* first op that has not finished */
    uint32_t awaited;   /* the first op of this stream that another stream waits for */
    uint32_t met_first; /* row of activities of its group's first */
    uint32_t waiting;   /* streams whose head waits for an op of this stream */
};
struct rank_state {                        /* of whole cache lines */
    _Alignas(CACHE_LINE) double *finish_s; /* [0 .. op_count] */
    const double *begin_s; /* of the activities of all; compute begins when it is posted */
    const struct played_program *program;
    double slowness; /* 1 / speed of compute */
    double sync_s;   /* when `sync`, the last WAIT_HOST that was asked for, finished */
    uint32_t sync;
    uint32_t dirty;       /* streams whose head may be ready */
    bool queued;          /* on the stack of ranks to run, or running */
    uint8_t open_streams; /* with ops to play */
    struct stream_state streams[STREAM_COUNT];
};
_Static_assert(STREAM_COUNT <= 32, "sets of streams are 32 bits");
struct sensitive {               /* the sensitive op of a rank's compute stream */
    double remaining_s, since_s; /* work left at since_s, in seconds at full speed */
    double speed_ratio;
    uint32_t slot;
    uint32_t watched; /* bit set of the interfering streams that this rank has */
    uint32_t active;  /* those on the wire */
    bool running;
};
/* The k-th activity of a group class stands in row first + k. Groups of more than two that span
 * stages have as many rows again: who was the first of the last one's stage. */
struct activities {
    uint32_t *first; /* [group class] */
    double *begin_s; /* when all had arrived */
    uint32_t *last;  /* row of the party that came last, for the breakdown; of the second half, rank
                      * classes + 1 */
};
struct finishers {
    double last_s;
    uint32_t last;      /* rank class that finishes the step */
    uint32_t *earliest; /* [program]: its rank class that finishes first */
    double *earliest_s; /* [program]; below 0: none has */
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
    struct activities activities;
    struct finishers finishers;
    uint32_t *stack, stack_count; /* ranks with something to do */
    uint32_t *rank_of_slot, slot_capacity;
    uint64_t open_streams; /* streams of ranks with ops to play */
    uint64_t op_count;
    bool draining;
};

static inline double worker_later(double a, double b)
{
    return a > b ? a : b;
}

/* By what the work of compute on this stream takes longer; copies to the host and back go at the
 * pace of its link. */
static inline double worker_slowness(const struct rank_state *rank, unsigned stream)
{
    return (STREAMS_OF_HOST >> stream & 1u) != 0 ? 1.0 : rank->slowness;
}

/* When the host launches an op, once the sync that releases it has finished. */
static inline double worker_issue_s(const double *finish_s, const struct played_op *op)
{
    return finish_s[op->wait[WAIT_HOST]] + op->issue_s;
}

/* When an op that is launched at issue_s can start as far as its rank goes: waits done, stream
 * free. All have finished. */
static inline double worker_launched_post_s(const double *finish_s, const struct played_op *op,
                                            double issue_s)
{
    const double waits_s =
        worker_later(finish_s[op->wait[WAIT_FIRST]], finish_s[op->wait[WAIT_SECOND]]);
    return worker_later(waits_s, worker_later(finish_s[op->previous], issue_s));
}

static inline double worker_post_s(const double *finish_s, const struct played_op *op)
{
    return worker_launched_post_s(finish_s, op, worker_issue_s(finish_s, op));
}

/* The row of activities of communication `op`. */
static inline uint32_t worker_activity(const struct rank_state *rank, const struct played_op *op)
{
    return rank->streams[op->stream].met_first + op->nth;
}

/* When op `index`, numbered from 1, began; it has finished. */
static inline double worker_begin_s(const struct rank_state *rank, uint32_t index)
{
    const struct played_op *op = &rank->program->ops[index];
    return op->play == PLAY_COMMUNICATION ? rank->begin_s[worker_activity(rank, op)]
                                          : worker_post_s(rank->finish_s, op);
}

/* The times of op `index`, numbered from 1. */
static inline struct op_times worker_times_of(const struct rank_state *rank, uint32_t index)
{
    const struct played_op *op = &rank->program->ops[index];
    const double post_s = worker_post_s(rank->finish_s, op);
    const bool communicates = op->play == PLAY_COMMUNICATION;
    return (struct op_times){.post_s = post_s,
                             .begin_s =
                                 communicates ? rank->begin_s[worker_activity(rank, op)] : post_s,
                             .finish_s = rank->finish_s[index]};
}
/* When all streams of a rank have come to their end. */
static inline double worker_rank_finish_s(const struct rank_state *rank)
{
    double finish_s = 0.0;
    for (unsigned s = 0; s < STREAM_COUNT; s++)
        finish_s = worker_later(finish_s, rank->finish_s[rank->program->last[s]]);
    return finish_s;
}
/* The op of the program that meets on this stream after `nth` others. */
static inline uint32_t worker_nth_op(const struct played_program *program, enum stream stream,
                                     uint32_t nth)
{
    return program->meetings[program->meeting_first[stream] + nth];
}
/* What an op that joins pays for: the time that the compute before it and the transfers it waits
 * for spent beside each other. All have finished. */
double worker_joined_s(const struct rank_state *rank, const struct played_op *op);
/* What op `index` waited for last: an op that finished when it was posted, or 0 for the start. When
 * it was the host (`by_host`), the op is its last sync. */
uint32_t worker_cause(const struct rank_state *rank, uint32_t index, bool *by_host);
/* The books of one rank while its step is divided: seconds by part, and where they lie in time. */
struct worker_books {
    double *parts;
    double reduced_s;    /* its own reductions' part as it stood after its last pass */
    double other_s;      /* reductions of other stages after theirs while it waited for them */
    struct arena *arena; /* of the spans; NULL: none are kept */
    bool of_ops;         /* spans of ops are kept too */
    struct worker_idle *spans;
    uint32_t span_count, span_capacity;
};
/* Keeps a span of waiting, if spans are kept; PART_COUNT: not judged yet. */
void worker_books_span(struct worker_books *books, double from_s, double until_s,
                       enum breakdown_part part);
/* Of the spans that are not judged yet the first bubble_s are the bubble, the others the network.
 */
void worker_books_judge(struct worker_books *books, double bubble_s);
/* By time. */
void worker_books_sort(struct worker_books *books);
/* Two ranks of one program, one later than the other. */
struct lag {
    uint32_t late, early;     /* rank classes */
    uint32_t op;              /* that both play */
    double from_s;            /* when the wait began */
    double wait_s;            /* at most as long as `late` was later with it */
    enum breakdown_part part; /* where it goes when nothing is found that took longer */
};
/* worker_lag.c: enters wait_s in the books, by what took `late` longer than `early` before it
 * posted (finished) lag.op. What made it late last is the end of the wait. */
void worker_blame_post(const struct worker *worker, struct lag lag, struct worker_books *books);
void worker_blame_finish(const struct worker *worker, struct lag lag, struct worker_books *books);
/* Who came last to activity `nth` of a group class. */
static inline const struct party *worker_latecomer(const struct worker *worker, uint32_t group,
                                                   uint32_t nth)
{
    const struct activities *a = &worker->activities;
    return &worker->symmetry->parties[a->last[a->first[group] + nth]];
}
/* How often a group class meets in a step. */
static inline uint32_t worker_activities(const struct worker *worker, uint32_t group)
{
    const struct symmetry *y = worker->symmetry;
    const struct party *party = &y->parties[y->groups[group].party_first];
    const struct played_program *program = &worker->programs[y->ranks[party->rank_class].program];
    return program->meeting_first[party->stream + 1] - program->meeting_first[party->stream];
}
static inline bool worker_meets_widely(const struct worker *worker, uint32_t group)
{
    return worker->spans_stages[group] && worker->symmetry->groups[group].party_count > 2;
}
/* Of a group that meets widely: the row of the first rank class (+ 1; 0: unknown) of the stage that
 * was last. */
static inline uint32_t *worker_first_row(const struct worker *worker, uint32_t group, uint32_t nth)
{
    const struct activities *a = &worker->activities;
    return &a->last[a->first[group] + worker_activities(worker, group) + nth];
}
/* The part in which a wait for an op of this stream counts: of any but compute. */
enum breakdown_part worker_wire_part(unsigned stream);
/* worker_names.c. After the ranks. */
void worker_create_names(struct worker *worker, struct arena *arena);
void worker_keep_activity(struct worker *worker, const struct attendance *activity);
/* A stream of this rank has come to its end. Of two ranks that finish at once the one that
 * symmetry_named_before names is the last and not the first. */
void worker_name_finisher(struct worker *worker, struct rank_state *rank, double finish_s);
/* worker_program.c: reads a program once for all its ranks. */
void worker_prepare(struct arena *arena, const struct program *program, struct played_program *out);
/* worker_stuck.c: prints the first few blocked ranks, streams and ops to stderr. */
void worker_explain(const struct worker *worker);

#endif
