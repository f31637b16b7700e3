/* worker_breakdown.c - where the time of a rank's step went.
 *
 * The compute stream tiles [0, its last finish] into busy spans and gaps. A gap is explained from
 * its end backwards: the op after it was posted at the instant at which the last thing that it
 * waited for was there; that thing is an op (whose span is a cause, and which was itself posted for
 * a reason) or the host. Each step backwards takes the time down to where the cause began, so the
 * pieces of a gap tile it, and every step goes to an earlier op, so the walk ends. */
#include "models/worker_state.h"
#include "sim/check.h"

const char *const breakdown_names[PART_COUNT] = {
    "compute",    "recompute",  "exposed_tp", "exposed_cp", "exposed_ep", "bubble",
    "exposed_pp", "exposed_dp", "optimizer",  "host",       "straggler",
};

static const enum breakdown_part part_of_phase[PHASE_COUNT] = {
    [PHASE_FORWARD] = PART_COMPUTE,     [PHASE_BACKWARD] = PART_COMPUTE,
    [PHASE_RECOMPUTE] = PART_RECOMPUTE, [PHASE_GRADIENTS] = PART_OPTIMIZER,
    [PHASE_OPTIMIZER] = PART_OPTIMIZER, [PHASE_PARAMETERS] = PART_OPTIMIZER,
};
static const enum breakdown_part part_of_wire[STREAM_COUNT] = {
    [STREAM_TP] = PART_EXPOSED_TP,        [STREAM_CP] = PART_EXPOSED_CP,
    [STREAM_EP] = PART_EXPOSED_EP,        [STREAM_DP] = PART_EXPOSED_DP,
    [STREAM_GATHER] = PART_EXPOSED_DP,    [STREAM_REPLICATE] = PART_EXPOSED_DP,
    [STREAM_EMBED] = PART_EXPOSED_DP,     [STREAM_WORLD] = PART_OPTIMIZER,
    [STREAM_SEND_NEXT] = PART_EXPOSED_PP, [STREAM_RECV_PREV] = PART_EXPOSED_PP,
    [STREAM_SEND_PREV] = PART_EXPOSED_PP, [STREAM_RECV_NEXT] = PART_EXPOSED_PP,
};

struct walk {
    const struct worker *worker;
    const struct rank_class *rank;
    const struct played_program *program;
    const struct rank_state *state;
    double *parts;
    double floor_s; /* where the gap began */
    double at_s;    /* down to here, from its end, the gap has been explained */
};

/* The time from `from_s` to where the walk stands goes to `part`. */
static void take(struct walk *walk, double from_s, enum breakdown_part part)
{
    const double down_s = from_s > walk->floor_s ? from_s : walk->floor_s;
    if (down_s < walk->at_s) {
        walk->parts[part] += walk->at_s - down_s;
        walk->at_s = down_s;
    }
}

/* Waiting for peers: of another stage it is the pipeline's bubble, else they are stragglers. */
static enum breakdown_part part_of_wait(const struct walk *walk, unsigned stream)
{
    return walk->worker->spans_stages[walk->rank->group[stream]] ? PART_BUBBLE : PART_STRAGGLER;
}

/* What `op`, posted where the walk stands, waited for last: an op, or 0 when it was the host, whose
 * time is then taken and whose last sync is the op (0: the start). */
static uint32_t cause(struct walk *walk, uint32_t index)
{
    const struct played_op *op = &walk->program->ops[index];
    const double *finish_s = walk->state->finish_s;
    const double post_s = worker_post_s(finish_s, op);
    const uint32_t candidates[] = {op->wait[WAIT_FIRST], op->wait[WAIT_SECOND], op->previous};
    for (unsigned i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        if (candidates[i] != 0 && finish_s[candidates[i]] == post_s) {
            return candidates[i];
        }
    }
    CHECK(worker_issue_s(finish_s, op) == post_s); /* a post has a cause, to the bit */
    take(walk, finish_s[op->wait[WAIT_HOST]], PART_HOST);
    return op->wait[WAIT_HOST];
}

/* Takes the span of op `index`, from its finish, where the walk stands, down to its post. */
static void take_op(struct walk *walk, uint32_t index)
{
    const struct played_op *op = &walk->program->ops[index];
    const struct op_times times = worker_times_of(walk->state, index);
    if (op->play == PLAY_COMMUNICATION) {
        take(walk, times.begin_s, part_of_wire[op->stream]);
        take(walk, times.post_s, part_of_wait(walk, op->stream));
    } else {
        take(walk, times.begin_s, part_of_phase[walk->program->source->ops[index - 1].phase]);
    }
}

/* Explains the gap below the post of `index`; the walk stands there. */
static void explain_post(struct walk *walk, uint32_t index)
{
    while (walk->at_s > walk->floor_s) {
        index = cause(walk, index);
        if (index == 0) {
            CHECK(walk->at_s <= walk->floor_s); /* the start of the step is the lowest floor */
            return;
        }
        take_op(walk, index);
    }
}

/* The op of the rank that finishes last; the lowest among equals. 0: it has none. */
static uint32_t last_op(const struct walk *walk)
{
    uint32_t last = 0;
    for (unsigned s = 0; s < STREAM_COUNT; s++) {
        const uint32_t op = walk->program->last[s];
        const double finish_s = walk->state->finish_s[op], best_s = walk->state->finish_s[last];
        if (op != 0 && (last == 0 || finish_s > best_s || (finish_s == best_s && op < last))) {
            last = op;
        }
    }
    return last;
}

/* After the last compute: transfers that the rank still carries out, then the wait for the others.
 */
static void explain_tail(struct walk *walk, double busy_until_s, double step_s)
{
    const uint32_t last = last_op(walk);
    const double finish_s = walk->state->finish_s[last];
    walk->floor_s = finish_s;
    walk->at_s = step_s;
    take(walk, finish_s, PART_BUBBLE);
    walk->floor_s = busy_until_s;
    walk->at_s = finish_s;
    if (finish_s > busy_until_s) {
        take_op(walk, last);
        explain_post(walk, last);
    }
}

/* Compute at the pace of the slowest card: the mean rank would have waited for the excess. */
static void take_compute(const struct worker *worker, const struct op *op, double spent_s,
                         double parts[PART_COUNT])
{
    const double excess_ratio = worker->options.excess_ratio;
    const double waited_s = spent_s * (excess_ratio / (1.0 + excess_ratio));
    parts[part_of_phase[op->phase]] += spent_s - waited_s;
    parts[PART_STRAGGLER] += waited_s;
}

void worker_breakdown(const struct worker *worker, uint32_t rank_class, double step_s,
                      double parts[PART_COUNT])
{
    CHECK(step_s >= worker_finish_s(worker, rank_class));
    const struct rank_state *rank = &worker->ranks[rank_class];
    struct walk walk = {
        .worker = worker,
        .rank = &worker->symmetry->ranks[rank_class],
        .program = rank->program,
        .state = rank,
        .parts = parts,
    };
    double until_s = 0.0;
    for (unsigned p = 0; p < PART_COUNT; p++) {
        parts[p] = 0.0;
    }
    for (uint32_t i = rank->program->first[STREAM_COMPUTE]; i != OP_END;
         i = rank->program->ops[i].next) {
        walk.floor_s = until_s;
        const double begin_s = worker_post_s(rank->finish_s, &rank->program->ops[i]);
        walk.at_s = begin_s;
        explain_post(&walk, i);
        until_s = rank->finish_s[i];
        take_compute(worker, &rank->program->source->ops[i - 1], until_s - begin_s, parts);
    }
    explain_tail(&walk, until_s, step_s);
}
