/* worker_lag.c - why one rank was later than another that does the same.
 *
 * Both play one program, so every op of the late rank has a twin on the early one. From an event at
 * which the late rank is behind by at least the wait, the walk goes back along what the late rank
 * waited for. It was behind at each such event: the early rank waited for the twin too. Where it is
 * less behind before an op than after, the op took longer than its twin, and that is what the wait
 * is put down to: a slower card when it is compute, the network when it is a transfer. At a meeting
 * the walk goes over to who came last, and compares it with its twin in the early rank's meeting.
 * At the start of the step, or at a meeting that both attended, nobody is behind and all has been
 * put down. Cards of one speed do the same compute in the same time: rounding is nobody's fault. */
#include <math.h>

#include "models/step/simulate/worker_state.h"
#include "sim/check.h"

static const enum breakdown_part part_of_wire[STREAM_COUNT] = {
    [STREAM_TP] = PART_EXPOSED_TP,           [STREAM_CP] = PART_EXPOSED_CP,
    [STREAM_EP] = PART_EXPOSED_EP,           [STREAM_DP] = PART_EXPOSED_DP,
    [STREAM_GATHER] = PART_EXPOSED_DP,       [STREAM_REPLICATE] = PART_EXPOSED_DP,
    [STREAM_EMBED] = PART_EXPOSED_DP,        [STREAM_WORLD] = PART_EXPOSED_DP,
    [STREAM_COPY] = PART_EXPOSED_DP, /* buckets, beside their transfers */
    [STREAM_EP_REPLICATE] = PART_EXPOSED_DP, [STREAM_EP_GATHER] = PART_EXPOSED_DP,
    [STREAM_EP_DATA] = PART_EXPOSED_DP,      [STREAM_SEND_NEXT] = PART_EXPOSED_PP,
    [STREAM_RECV_PREV] = PART_EXPOSED_PP,    [STREAM_SEND_PREV] = PART_EXPOSED_PP,
    [STREAM_RECV_NEXT] = PART_EXPOSED_PP,    [STREAM_TO_HOST] = PART_OFFLOAD,
    [STREAM_FROM_HOST] = PART_OFFLOAD,       [STREAM_CP_HEADS] = PART_EXPOSED_CP,
};

enum breakdown_part worker_wire_part(unsigned stream)
{
    return part_of_wire[stream];
}

uint32_t worker_cause(const struct rank_state *rank, uint32_t index, bool *by_host)
{
    const struct played_op *op = &rank->program->ops[index];
    const double *finish_s = rank->finish_s;
    const double post_s = worker_post_s(finish_s, op);
    const uint32_t candidates[] = {op->wait[WAIT_FIRST], op->wait[WAIT_SECOND], op->previous};
    *by_host = false;
    for (unsigned i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (candidates[i] != 0 && finish_s[candidates[i]] == post_s)
            return candidates[i];
    CHECK(worker_issue_s(finish_s, op) == post_s); /* a post has a cause, to the bit */
    *by_host = true;
    return op->wait[WAIT_HOST];
}

/* Before the op that is looked at `late` was behind by `lag_s`: what is more is put down to it. */
static void put_down(struct lag *lag, double lag_s, enum breakdown_part part,
                     struct worker_books *books)
{
    const double left_s = fmax(0.0, fmin(lag->wait_s, lag_s));
    if (left_s < lag->wait_s) {
        books->parts[part] += lag->wait_s - left_s;
        worker_books_span(books, lag->from_s + left_s, lag->from_s + lag->wait_s, part);
        lag->wait_s = left_s;
        lag->part = part;
    }
}

/* The wire that can make this compute longer, as a part; PART_COUNT: none can. */
static enum breakdown_part disturbing_part(const struct worker *worker, uint32_t rank_class,
                                           const struct played_op *op)
{
    const struct rank_class *class = &worker->symmetry->ranks[rank_class];
    const uint32_t interfering = worker->programs[class->program].source->interference.streams;
    for (unsigned s = 0; op->play == PLAY_SENSITIVE && s < STREAM_COUNT; s++)
        if ((interfering >> s & 1u) != 0 && class->group[s] != GROUP_NONE)
            return worker_wire_part(s);
    for (unsigned i = WAIT_FIRST; op->joins && i <= WAIT_SECOND; i++) {
        const bool beside = op->wait_stream[i] == STREAM_TP || op->wait_stream[i] == STREAM_CP;
        if (op->wait[i] != 0 && beside)
            return worker_wire_part(op->wait_stream[i]);
    }
    return PART_COUNT;
}

static void put_down_compute(const struct worker *worker, struct lag *lag,
                             struct worker_books *books)
{
    const struct rank_state *late = &worker->ranks[lag->late], *early = &worker->ranks[lag->early];
    const struct played_op *op = &late->program->ops[lag->op];
    const double lag_s = worker_post_s(late->finish_s, op) - worker_post_s(early->finish_s, op);
    const double after_s = late->finish_s[lag->op] - early->finish_s[lag->op];
    const double slower_s =
        worker->jitter != NULL
            ? INFINITY /* no draw is kept: all that is longer */
            : op->gpu_s * (worker_slowness(late, op->stream) - worker_slowness(early, op->stream));
    const enum breakdown_part wire = disturbing_part(worker, lag->late, op);
    if (slower_s > 0.0) {
        const double before_s = wire == PART_COUNT ? lag_s : fmax(lag_s, after_s - slower_s);
        put_down(lag, before_s, PART_STRAGGLER, books);
    }
    if (wire != PART_COUNT)
        put_down(lag, lag_s, wire, books);
}

/* The party of this program in a group class: of the member that came last, else the first. */
static const struct party *twin_party(const struct worker *worker, uint32_t group, uint32_t nth,
                                      uint32_t program)
{
    const struct symmetry *y = worker->symmetry;
    const struct party *party = worker_latecomer(worker, group, nth);
    if (y->ranks[party->rank_class].program == program)
        return party;
    party = &y->parties[y->groups[group].party_first];
    const struct party *end = party + y->groups[group].party_count;
    while (party < end && y->ranks[party->rank_class].program != program)
        party++;
    CHECK(party < end); /* alike ranks meet in groups of alike stages */
    return party;
}

/* From the begin of a transfer to the posts of those who came last. */
static void follow_meeting(const struct worker *worker, struct lag *lag)
{
    const struct rank_class *ranks = worker->symmetry->ranks;
    const struct played_program *program = worker->ranks[lag->late].program;
    const struct played_op *op = &program->ops[lag->op];
    const uint32_t nth = op->nth;
    const struct party *last = worker_latecomer(worker, ranks[lag->late].group[op->stream], nth);
    const uint32_t of_last = ranks[last->rank_class].program;
    const struct party *twin =
        twin_party(worker, ranks[lag->early].group[op->stream], nth, of_last);
    lag->late = last->rank_class;
    lag->early = twin->rank_class;
    lag->op = worker_nth_op(&worker->programs[of_last], last->stream, nth);
}

/* From the finish of lag.op to its post. */
static void put_down_span(const struct worker *worker, struct lag *lag, struct worker_books *books)
{
    const struct rank_state *late = &worker->ranks[lag->late], *early = &worker->ranks[lag->early];
    const struct played_op *op = &late->program->ops[lag->op];
    if (op->play != PLAY_COMMUNICATION) {
        put_down_compute(worker, lag, books);
        return;
    }
    const double lag_s = worker_begin_s(late, lag->op) - worker_begin_s(early, lag->op);
    put_down(lag, lag_s, worker_wire_part(op->stream), books);
    if (lag->wait_s > 0.0)
        follow_meeting(worker, lag);
}

void worker_blame_post(const struct worker *worker, struct lag lag, struct worker_books *books)
{
    while (lag.wait_s > 0.0) {
        bool by_host;
        lag.op = worker_cause(&worker->ranks[lag.late], lag.op, &by_host);
        if (lag.op == 0)
            break;
        put_down_span(worker, &lag, books);
    }
    books->parts[lag.part] += lag.wait_s; /* of the size of rounding, if any */
    worker_books_span(books, lag.from_s, lag.from_s + lag.wait_s, lag.part);
}

void worker_blame_finish(const struct worker *worker, struct lag lag, struct worker_books *books)
{
    put_down_span(worker, &lag, books);
    worker_blame_post(worker, lag, books);
}
