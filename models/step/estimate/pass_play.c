/* pass_play.c
 *
 * Invariants
 * 1. The finish of an op is written once, and never read before: UNKNOWN until then.
 * 2. Of each stage the ops that are no messages are played in their order in the program; messages
 *    in their order on their stream, as soon as both ends can post.
 * 3. At the end every op has a finish: programs wait for earlier ops and for each other's messages
 *    alone, and no schedule can deadlock on these (lower_pipeline.h). */
#include "models/step/estimate/pass_play.h"

#include <math.h>

#include "models/step/estimate/pass_spans.h"
#include "sim/check.h"

#define UNKNOWN (-1.0)
#define STEADY 1e-9 /* two turns are alike: rounding */

enum {
    DIRECTIONS = 4,
    MEETING_COUNT = 2, /* of several stages: tied embedding, world */
    TURNS_KEPT = 3
};
static const uint8_t message_streams[DIRECTIONS] = {STREAM_SEND_NEXT, STREAM_SEND_PREV,
                                                    STREAM_RECV_PREV, STREAM_RECV_NEXT};
struct messages { /* of one stream, in order */
    uint32_t *ops;
    uint32_t count, done;
    double free_s;
};
struct stage_play {
    const struct program *program;
    double *finish_s; /* [op + 1]; row 0: nothing, at 0 */
    double *issue_s;  /* [op + 1] after the sync before it */
    uint32_t *sync;   /* [op + 1] that op + 1, or 0 */
    uint32_t next;    /* op + 1 of the first that has not been played and is no message */
    uint32_t last[STREAM_COUNT];
    double compute_begin_s; /* of the last compute */
    /* When each stream has done with the last microbatch, and with those one and two turns before;
     * compute with its forward. UNKNOWN: there is none. */
    double turn_end_s[STREAM_COUNT][TURNS_KEPT];
    bool backward, alternates; /* a backward has come; and a forward after it */
    struct messages messages[DIRECTIONS];
    struct pass_transfer *transfers; /* [transfer x streams]; wire_s UNKNOWN: not asked yet */
    double weights_free_s; /* the wires of data parallelism, which gathers and reductions share */
    struct pass_run *runs;
    struct pass_spans spans; /* of transfers that interfere with compute */
};
struct stage_meeting {
    uint32_t arrived;
    double latest_s;
    uint32_t *op; /* [stage] op + 1; 0: has not arrived */
};
/* Stages that have something to do, each once. */
struct waiting {
    uint32_t *stages, first, count, room;
    bool *queued;
};

static void queue_stage(struct waiting *w, uint32_t stage)
{
    if (w->queued[stage])
        return;
    w->queued[stage] = true;
    w->stages[(w->first + w->count++) % w->room] = stage;
}

struct staged {
    struct arena *arena;
    struct stage_play *stages;
    uint32_t count;
    struct pass_wires *wires;
    double slowness;
    bool apart;          /* transfers of weights do not wait for each other */
    uint64_t turn, last; /* microbatches of a turn; the last one of a direction */
    uint64_t directions;
    struct waiting waiting;
    struct stage_meeting meetings[MEETING_COUNT];
    bool host_bound; /* by a host that has run since the step began, after the first turn */
    /* Transfers of weights have waited so long for each other's wires; and some of a microbatch
     * that stands for others too. */
    double queued_s;
    bool queued_again;
};

static inline double later(double a, double b)
{
    return a > b ? a : b;
}

static int direction_of(unsigned stream)
{
    for (int d = 0; d < DIRECTIONS; d++)
        if (message_streams[d] == stream)
            return d;
    return -1;
}

static bool is_of_blocks(const struct op *op)
{
    return (STREAMS_OF_BLOCKS >> op->stream & 1u) != 0;
}

static struct pass_transfer transfer_time(struct staged *play, struct stage_play *s,
                                          const struct op *op)
{
    struct pass_transfer *time = &s->transfers[op->cost * STREAM_COUNT + op->stream];
    if (time->wire_s == UNKNOWN) {
        *time = pass_wires_time(play->wires, s->program->stage, (enum stream)op->stream,
                                s->program->transfers[op->cost]);
        if (play->apart && !is_of_blocks(op))
            time->wire_s = time->alone_s;
    }
    return *time;
}

/* Neither of the first microbatch, nor of the last, nor of none. */
static bool is_repeated(const struct staged *play, const struct op *op)
{
    const uint64_t nth = op->microbatch % (play->last + 1);
    return op->microbatch != UINT16_MAX && nth != 0 && nth != play->last;
}

static void note_queued(struct staged *play, const struct op *op, double queued_s)
{
    play->queued_s += queued_s;
    play->queued_again = play->queued_again || (queued_s > 0.0 && is_repeated(play, op));
}

/* What other groups of the stage add counts twice: where it slows compute too, it does so by less
 * than itself. */
static double transfer_s(struct staged *play, struct stage_play *s, const struct op *op)
{
    const struct pass_transfer time = transfer_time(play, s, op);
    if (!is_of_blocks(op))
        note_queued(play, op, 2.0 * (time.wire_s - time.alone_s));
    return time.wire_s + time.latency_s;
}

/* When op i (from 1) can begin as far as its own stage goes; UNKNOWN: not known yet. `free_s`: its
 * stream is, from then on. */
static double post_s(const struct stage_play *s, uint32_t i, double free_s)
{
    const struct op *op = &s->program->ops[i - 1];
    const double a_s = s->finish_s[op->wait[0]], b_s = s->finish_s[op->wait[1]];
    const double sync_s = s->finish_s[s->sync[i]];
    if (a_s == UNKNOWN || b_s == UNKNOWN || sync_s == UNKNOWN || free_s == UNKNOWN)
        return UNKNOWN;
    return later(later(a_s, b_s), later(free_s, sync_s + s->issue_s[i]));
}

/* Transfers sent beside the compute before, and waited for by this op: what the time spent together
 * costs. */
static double joined_s(const struct stage_play *s, uint32_t i)
{
    const struct program *p = s->program;
    const struct op *op = &p->ops[i - 1];
    const uint32_t before = s->last[STREAM_COMPUTE];
    double sum_s = 0.0;
    if ((op->flags & OP_JOIN) == 0 || before == 0)
        return 0.0;
    for (unsigned k = 0; k < 2; k++) {
        const uint32_t other = op->wait[k];
        const unsigned stream = other == 0 ? STREAM_COMPUTE : p->ops[other - 1].stream;
        if (stream != STREAM_TP && stream != STREAM_CP)
            continue;
        const struct pass_transfer *time =
            &s->transfers[p->ops[other - 1].cost * STREAM_COUNT + stream];
        const double begin_s = s->finish_s[other] - time->wire_s - time->latency_s;
        const double from_s = later(begin_s, s->compute_begin_s);
        sum_s += p->interference.join_ratio[stream == STREAM_TP ? JOIN_TENSOR : JOIN_CONTEXT] *
                 later(0.0, fmin(s->finish_s[before], s->finish_s[other]) - from_s);
    }
    return sum_s;
}

static double compute_finish_s(struct staged *play, struct stage_play *s, uint32_t i,
                               double begin_s)
{
    const struct program *p = s->program;
    const struct op *op = &p->ops[i - 1];
    const uint32_t *last = s->last;
    const double rings_s = later(s->finish_s[last[STREAM_CP]], s->finish_s[last[STREAM_CP_HEADS]]);
    const double wires_s = later(s->finish_s[last[STREAM_TP]], rings_s);
    double work_s, kernels_s;
    if ((op->flags & OP_RUN) != 0) {
        const struct pass_run *run = &s->runs[op->cost];
        const double launched_s = s->finish_s[s->sync[i]] + s->issue_s[i];
        const double end_s = later(begin_s + run->follows_s,
                                   later(launched_s + run->launched_s, wires_s + run->wires_s));
        work_s = end_s - begin_s;
        kernels_s = run->compute_s;
    } else {
        const bool of_host = (STREAMS_OF_HOST >> op->stream & 1u) != 0;
        work_s = kernels_s = p->costs[op->cost].gpu_s * (of_host ? 1.0 : play->slowness);
    }
    work_s += joined_s(s, i);
    if ((op->flags & OP_SENSITIVE) == 0 || !(p->interference.ratio > 0.0) || !(work_s > 0.0))
        return begin_s + work_s;
    pass_spans_forget(&s->spans, begin_s);
    const double share = kernels_s / work_s;
    const double speed = 1.0 / (share / (1.0 - p->interference.ratio) + 1.0 - share);
    return pass_spans_slowed_s(&s->spans, begin_s, work_s, speed);
}

/* Compute that begins when its host, which has not waited for anything, has launched it, or is held
 * up inside by it. */
static void note_host(struct staged *play, const struct stage_play *s, uint32_t i, double begin_s)
{
    const struct op *op = &s->program->ops[i - 1];
    const bool first = op->microbatch != UINT16_MAX &&
                       op->microbatch % (play->last + 1) < play->count / play->directions;
    if (s->sync[i] != 0 || op->stream != STREAM_COMPUTE || first)
        return;
    const bool run = (op->flags & OP_RUN) != 0;
    const double inside_s = run ? s->runs[op->cost].launched_s - s->runs[op->cost].follows_s : 0.0;
    play->host_bound = play->host_bound || s->issue_s[i] + inside_s >= begin_s;
}

/* A transfer that stages meet for: done when the last has come. Members of a group of several
 * stages go on from there. */
static void meet(struct staged *play, struct stage_play *s, uint32_t i, double begin_s)
{
    const struct op *op = &s->program->ops[i - 1];
    struct stage_meeting *m = &play->meetings[op->stream == STREAM_WORLD];
    const uint32_t stages = op->stream == STREAM_WORLD || play->count < 2 ? play->count : 2;
    const uint32_t stage = s->program->stage;
    CHECK(m->op[stage] == 0);
    m->op[stage] = i;
    m->latest_s = later(m->latest_s, begin_s);
    if (++m->arrived < stages)
        return;
    for (uint32_t k = 0; k < play->count; k++) {
        struct stage_play *other = &play->stages[k];
        if (m->op[k] == 0)
            continue;
        const struct op *theirs = &other->program->ops[m->op[k] - 1];
        other->finish_s[m->op[k]] = m->latest_s + transfer_s(play, s, op);
        queue_stage(&play->waiting, k);
        CHECK(theirs->stream == op->stream);
    }
}

/* Gathers and reductions of one rank have streams of their own and the same wires: shared, or one
 * behind the other as here, they are through at the same time. */
static double collective_finish_s(struct staged *play, struct stage_play *s, const struct op *op,
                                  double begin_s)
{
    const double alone_s = transfer_s(play, s, op);
    const struct pass_transfer time = transfer_time(play, s, op);
    if (play->apart || (STREAMS_OF_WEIGHTS >> op->stream & 1u) == 0)
        return begin_s + alone_s;
    note_queued(play, op, fmax(s->weights_free_s - begin_s, 0.0));
    s->weights_free_s = later(s->weights_free_s, begin_s) + time.busy_s;
    return later(begin_s + time.wire_s, s->weights_free_s) + time.latency_s;
}

static void note_turn(const struct staged *play, struct stage_play *s, uint32_t i)
{
    const struct op *op = &s->program->ops[i - 1];
    const bool computes = op->stream == STREAM_COMPUTE;
    const uint64_t each = play->last + 1; /* of a direction */
    /* Of two directions that of the nearer end: its forwards end with the turns. */
    const uint64_t direction = play->directions * s->program->stage / play->count;
    if (op->microbatch == UINT16_MAX || op->microbatch / each != direction)
        return;
    if (computes && op->phase == PHASE_BACKWARD)
        s->backward = true;
    if (computes && op->phase != PHASE_FORWARD)
        return;
    s->alternates = s->alternates || (computes && s->backward);
    for (unsigned k = 0; k < TURNS_KEPT; k++)
        if (op->microbatch % each + k * play->turn == play->last)
            s->turn_end_s[op->stream][k] = later(s->turn_end_s[op->stream][k], s->finish_s[i]);
}

static bool play_op(struct staged *play, struct stage_play *s, uint32_t i)
{
    const struct op *op = &s->program->ops[i - 1];
    const double begin_s = post_s(s, i, s->finish_s[s->last[op->stream]]);
    if (begin_s == UNKNOWN)
        return false;
    if (op->kind == OP_COMPUTE) {
        note_host(play, s, i, begin_s);
        s->finish_s[i] = compute_finish_s(play, s, i, begin_s);
        if (op->stream == STREAM_COMPUTE)
            s->compute_begin_s = begin_s;
    } else if (op->stream == STREAM_WORLD || op->stream == STREAM_EMBED) {
        meet(play, s, i, begin_s);
    } else {
        s->finish_s[i] = collective_finish_s(play, s, op, begin_s);
        if ((s->program->interference.streams >> op->stream & 1u) != 0)
            pass_spans_add(&s->spans, begin_s, s->finish_s[i]);
    }
    s->last[op->stream] = i;
    note_turn(play, s, i);
    return true;
}

/* The stage's own ops, until one waits for another stage. */
static void advance(struct staged *play, struct stage_play *s)
{
    const uint32_t count = s->program->op_count;
    while (s->next <= count) {
        const bool message = s->program->ops[s->next - 1].kind >= OP_SEND;
        if (!message && !play_op(play, s, s->next))
            break;
        s->next++;
    }
}

/* From when on the head of a queue of messages may be sent or taken; UNKNOWN: not yet known. */
static double head_s(const struct stage_play *s, const struct messages *m)
{
    if (m->done == m->count)
        return UNKNOWN;
    return post_s(s, m->ops[m->done], m->free_s);
}

static void end_message(struct stage_play *s, struct messages *m, double finish_s)
{
    s->finish_s[m->ops[m->done++]] = finish_s;
    m->free_s = finish_s;
}

/* Messages of this stage to its neighbour that both ends can post. */
static bool exchange(struct staged *play, uint32_t sender, int direction)
{
    const uint32_t step = direction == 0 ? 1 : play->count - 1;
    struct stage_play *from = &play->stages[sender];
    struct stage_play *to = &play->stages[(sender + step) % play->count];
    struct messages *sent = &from->messages[direction], *taken = &to->messages[direction + 2];
    bool any = false;
    for (;;) {
        const double send_s = head_s(from, sent), take_s = head_s(to, taken);
        if (send_s == UNKNOWN || take_s == UNKNOWN)
            return any;
        const struct op *op = &from->program->ops[sent->ops[sent->done] - 1];
        const double finish_s = later(send_s, take_s) + transfer_s(play, from, op);
        end_message(from, sent, finish_s);
        end_message(to, taken, finish_s);
        any = true;
    }
}

static void prepare_ops(struct stage_play *s)
{
    const struct program *p = s->program;
    uint32_t sync = 0;
    double issue_s = 0.0;
    for (uint32_t i = 1; i <= p->op_count; i++) {
        const struct op *op = &p->ops[i - 1];
        issue_s += p->hosts[op->host];
        s->issue_s[i] = issue_s;
        if ((op->flags & OP_RUN) != 0)
            issue_s += p->runs.rows[op->cost].host_s;
        s->sync[i] = sync;
        s->finish_s[i] = UNKNOWN;
        const int d = op->kind >= OP_SEND ? direction_of(op->stream) : -1;
        if (d >= 0)
            s->messages[d].ops[s->messages[d].count++] = i;
        if ((op->flags & OP_HOST_SYNC) != 0) {
            sync = i;
            issue_s = 0.0;
        }
    }
}

static void prepare(struct staged *play, struct stage_play *s, struct pass_prices *prices)
{
    const struct program *p = s->program;
    const size_t rows = p->op_count + (size_t)1;
    s->finish_s = ARENA_ARRAY(play->arena, double, rows);
    s->issue_s = ARENA_ARRAY(play->arena, double, rows);
    s->sync = ARENA_ARRAY(play->arena, uint32_t, rows);
    s->runs = ARENA_ARRAY(play->arena, struct pass_run, p->runs.count);
    for (uint32_t i = 0; i < p->runs.count; i++)
        s->runs[i] = pass_price_run(prices, &p->runs.rows[i]);
    const size_t times = (size_t)p->transfer_count * STREAM_COUNT;
    s->transfers = ARENA_ARRAY(play->arena, struct pass_transfer, times);
    for (size_t i = 0; i < times; i++)
        s->transfers[i].wire_s = UNKNOWN;
    for (unsigned d = 0; d < DIRECTIONS && play->count > 1; d++)
        s->messages[d].ops = ARENA_ARRAY(play->arena, uint32_t, rows);
    s->next = 1;
    for (unsigned stream = 0; stream < STREAM_COUNT; stream++)
        for (unsigned k = 0; k < TURNS_KEPT; k++)
            s->turn_end_s[stream][k] = UNKNOWN;
    prepare_ops(s);
}

/* Has this stage come to the time of the last turn, and has no stream of it fallen behind? Upstream
 * stages fill longer than the last one. */
static bool stage_is_steady(const struct stage_play *s, double turn_s, bool last)
{
    const double(*end_s)[TURNS_KEPT] = s->turn_end_s;
    const double *compute_s = end_s[STREAM_COMPUTE];
    if (!s->alternates || compute_s[2] == UNKNOWN)
        return false;
    for (unsigned k = 0; k < (last ? 2 : 1); k++)
        if (fabs(compute_s[k] - compute_s[k + 1] - turn_s) > STEADY * turn_s)
            return false;
    for (unsigned stream = 0; stream < STREAM_COUNT; stream++)
        if (stream != STREAM_COMPUTE && end_s[stream][2] != UNKNOWN &&
            end_s[stream][1] - end_s[stream][2] > turn_s * (1.0 + STEADY))
            return false; /* further with each turn */
    return true;
}

static void find_turns(const struct staged *play, struct pass_played *out)
{
    const double *end_s = play->stages[play->count - 1].turn_end_s[STREAM_COMPUTE];
    if (end_s[1] == UNKNOWN)
        return;
    out->turn_s = end_s[0] - end_s[1];
    out->steady = !play->host_bound;
    for (uint32_t k = 0; k < play->count && out->steady; k++)
        out->steady = stage_is_steady(&play->stages[k], out->turn_s,
                                      k + 1 == play->count || play->directions > 1);
}

static void finish(const struct staged *play, struct pass_played *out)
{
    *out = (struct pass_played){
        .step_s = 0.0, .queued_s = play->queued_s, .queued_again = play->queued_again};
    find_turns(play, out);
    for (uint32_t k = 0; k < play->count; k++) {
        const struct stage_play *s = &play->stages[k];
        out->op_count += s->program->op_count;
        for (uint32_t i = 1; i <= s->program->op_count; i++) {
            CHECK(s->finish_s[i] != UNKNOWN); /* 3 */
            out->step_s = later(out->step_s, s->finish_s[i]);
        }
    }
}

/* A stage that has gone on may have messages for its neighbours, and they for it. */
static void go_on(struct staged *play, uint32_t stage)
{
    const uint32_t count = play->count;
    const uint32_t next = (stage + 1) % count, before = (stage + count - 1) % count;
    const struct {
        uint32_t sender, receiver;
        int direction;
    } pairs[] = {{stage, next, 0}, {before, stage, 0}, {stage, before, 1}, {next, stage, 1}};
    advance(play, &play->stages[stage]);
    for (unsigned i = 0; i < sizeof pairs / sizeof pairs[0] && count > 1; i++) {
        if (exchange(play, pairs[i].sender, pairs[i].direction)) {
            queue_stage(&play->waiting, pairs[i].sender);
            queue_stage(&play->waiting, pairs[i].receiver);
        }
    }
}

static void play_all(struct staged *play)
{
    struct waiting *w = &play->waiting;
    *w = (struct waiting){.stages = ARENA_ARRAY(play->arena, uint32_t, play->count),
                          .room = play->count,
                          .queued = ARENA_ARRAY(play->arena, bool, play->count)};
    for (uint32_t k = 0; k < play->count; k++)
        queue_stage(w, k);
    while (w->count > 0) {
        const uint32_t stage = w->stages[w->first];
        w->first = (w->first + 1) % w->room;
        w->count--;
        w->queued[stage] = false;
        go_on(play, stage);
    }
}

void pass_play(struct arena *scratch, const struct pass_question *q, struct pass_played *out)
{
    struct staged play = {.arena = scratch,
                          .count = q->lowered->program_count,
                          .wires = q->wires,
                          .slowness = q->slowness,
                          .apart = q->apart,
                          .turn = q->turn,
                          .directions = q->directions,
                          .last = q->microbatches / q->directions - 1};
    play.stages = ARENA_ARRAY(scratch, struct stage_play, play.count);
    for (unsigned m = 0; m < MEETING_COUNT; m++)
        play.meetings[m].op = ARENA_ARRAY(scratch, uint32_t, play.count);
    for (uint32_t k = 0; k < play.count; k++) {
        play.stages[k].program = q->lowered->programs[k];
        prepare(&play, &play.stages[k], q->prices);
    }
    play_all(&play);
    finish(&play, out);
}
