/* worker_breakdown.c - where the time of a rank's step went.
 *
 * The compute stream tiles [0, its last finish] into busy spans and gaps. A gap is explained from
 * its end backwards: the op after it was posted at the instant at which the last thing that it
 * waited for was there; that thing is an op (whose span is a cause, and which was itself posted for
 * a reason) or the host. Each step backwards takes the time down to where the cause began, so the
 * pieces of a gap tile it, and every step goes to an earlier op, so the walk ends.
 *
 * A wait for others is a wait for who came last. If that rank does the same work, something made it
 * late (worker_lag.c). If it is of another stage, the wait until the first rank of that stage had
 * come is the pipeline's, and is walked back in the same way among the ranks that kept this one
 * waiting; the rest is what made the last later than the first. */
#include <math.h>

#include "models/step/simulate/worker_state.h"
#include "sim/check.h"

const char *const breakdown_names[PART_COUNT] = {
    "compute",    "recompute",  "exposed_tp", "exposed_cp", "exposed_ep", "bubble",
    "exposed_pp", "exposed_dp", "offload",    "optimizer",  "host",       "straggler",
};

/* Of kernels. What copies a shard's weights and gradients is a kernel of the pass that it is in. */
static const enum breakdown_part part_of_phase[PHASE_COUNT] = {
    [PHASE_FORWARD] = PART_COMPUTE,     [PHASE_BACKWARD] = PART_COMPUTE,
    [PHASE_RECOMPUTE] = PART_RECOMPUTE, [PHASE_GRADIENTS] = PART_COMPUTE,
    [PHASE_OPTIMIZER] = PART_OPTIMIZER, [PHASE_PARAMETERS] = PART_COMPUTE,
};

struct walk {
    const struct worker *worker;
    uint32_t rank_class; /* where it stands */
    bool elsewhere;      /* among ranks that another stage's rank waits for */
    struct worker_books *books;
    double floor_s; /* where the gap began */
    double at_s;    /* down to here, from its end, the gap has been explained */
};

/* A rank waits from from_s until `late` posts op `op`, or finishes the step with it. */
struct wait {
    uint32_t rank_class, late, op;
    uint32_t early, early_op; /* the first of late's stage to be there, and its op */
    bool for_finish;
    double early_s; /* when it was */
    double from_s;
};

static const struct rank_state *rank_of(const struct walk *walk)
{
    return &walk->worker->ranks[walk->rank_class];
}

/* The time from `from_s` to where the walk stands goes into an account: a part's, or (PART_COUNT)
 * that of what is not judged yet. */
static void take_into(struct walk *walk, double from_s, enum breakdown_part part)
{
    struct worker_books *books = walk->books;
    const double down_s = worker_later(from_s, walk->floor_s);
    if (down_s < walk->at_s) {
        *(part == PART_COUNT ? &books->other_s : &books->parts[part]) += walk->at_s - down_s;
        worker_books_span(books, down_s, walk->at_s, part);
        walk->at_s = down_s;
    }
}

/* What a rank of another stage does is the pipeline's bubble, passes, updates and all that happens
 * beside them, but for messages on the wire. What it reduces after its last pass is not judged
 * yet. */
static void take_others(struct walk *walk, double from_s, enum breakdown_part part)
{
    const double passed_s = rank_of(walk)->finish_s[rank_of(walk)->program->last_pass];
    if (part == PART_EXPOSED_DP)
        take_into(walk, worker_later(from_s, passed_s), PART_COUNT);
    take_into(walk, from_s, part == PART_EXPOSED_PP ? PART_EXPOSED_PP : PART_BUBBLE);
}

static void take(struct walk *walk, double from_s, enum breakdown_part part)
{
    if (walk->elsewhere)
        take_others(walk, from_s, part);
    else
        take_into(walk, from_s, part);
}

/* Other stages reduce as this rank does: as far as it has reduced as long itself, what it waited
 * for is how much later they began, the bubble. The rest took longer there. */
static void close_others(struct worker_books *books)
{
    const double own_s = books->parts[PART_EXPOSED_DP] - books->reduced_s;
    const double alike_s = fmin(own_s, books->other_s);
    books->parts[PART_EXPOSED_DP] += books->other_s - alike_s;
    books->parts[PART_BUBBLE] += alike_s;
    worker_books_judge(books, alike_s);
}

static enum breakdown_part own_part(const struct rank_state *rank, uint32_t index)
{
    const struct played_op *op = &rank->program->ops[index];
    return op->stream == STREAM_COMPUTE ? part_of_phase[rank->program->source->ops[index - 1].phase]
                                        : worker_wire_part(op->stream);
}

/* Goes back from the finish of `index`, where the walk stands, to its post; among other ranks to
 * the post of one that it waited for. Returns the op there. */
static uint32_t take_op(struct walk *walk, uint32_t index);

/* Explains the gap below the post of `index`; the walk stands there. */
static void explain_post(struct walk *walk, uint32_t index)
{
    while (walk->at_s > walk->floor_s) {
        bool by_host;
        index = worker_cause(rank_of(walk), index, &by_host);
        if (by_host)
            take(walk, rank_of(walk)->finish_s[index], PART_HOST);
        if (index == 0) {
            CHECK(walk->at_s <= walk->floor_s); /* the start of the step is the lowest floor */
            return;
        }
        index = take_op(walk, index);
    }
}

static void explain_finish(struct walk *walk, uint32_t index)
{
    if (walk->at_s > walk->floor_s)
        explain_post(walk, take_op(walk, index));
}

/* The end of the wait, in which ranks of late's stage were there already: what made `late` later
 * than `early`. */
static void put_down_lag(const struct walk *walk, const struct wait *w, uint32_t early,
                         double from_s)
{
    const struct lag lag = {.late = w->late,
                            .early = early,
                            .op = w->op,
                            .from_s = from_s,
                            .wait_s = walk->at_s - from_s,
                            .part = own_part(&walk->worker->ranks[w->late], w->op)};
    (w->for_finish ? worker_blame_finish : worker_blame_post)(walk->worker, lag, walk->books);
}

/* Takes the wait down to where the walk goes on: its start, on the same rank, when it was for a
 * rank of the same stage; else the moment at which the first of the other stage was there. True: it
 * goes on there. */
static bool take_lag(struct walk *walk, const struct wait *w)
{
    const struct rank_class *ranks = walk->worker->symmetry->ranks;
    const bool alike = ranks[w->late].program == ranks[w->rank_class].program;
    const double down_s = alike ? w->from_s : worker_later(w->early_s, w->from_s);
    if (walk->at_s > down_s) {
        put_down_lag(walk, w, alike ? w->rank_class : w->early, down_s);
        walk->at_s = down_s;
    }
    return !alike;
}

/* A wait for another stage, among whose ranks the walk goes on down to where the wait began. */
static struct walk among_others(const struct walk *walk, const struct wait *w)
{
    return (struct walk){.worker = walk->worker,
                         .rank_class = w->early,
                         .elsewhere = true,
                         .books = walk->books,
                         .floor_s = w->from_s,
                         .at_s = walk->at_s};
}

static struct wait wait_of(const struct walk *walk, uint32_t index)
{
    const struct worker *worker = walk->worker;
    const struct rank_state *rank = rank_of(walk), *ranks = worker->ranks;
    const struct played_op *op = &rank->program->ops[index];
    const uint32_t nth = op->nth;
    const uint32_t group = worker->symmetry->ranks[walk->rank_class].group[op->stream];
    const struct party *last = worker_latecomer(worker, group, nth);
    struct wait w = {.rank_class = walk->rank_class, .late = last->rank_class};
    w.early =
        worker_meets_widely(worker, group) ? *worker_first_row(worker, group, nth) - 1 : w.late;
    w.op = w.early_op = worker_nth_op(ranks[w.late].program, last->stream, nth);
    w.early_s = worker_post_s(ranks[w.early].finish_s, &ranks[w.early].program->ops[w.op]);
    w.from_s = worker_later(worker_post_s(rank->finish_s, op), walk->floor_s);
    return w;
}

static uint32_t take_op(struct walk *walk, uint32_t index)
{
    const struct rank_state *rank = rank_of(walk);
    take(walk, worker_begin_s(rank, index), own_part(rank, index));
    if (rank->program->ops[index].play != PLAY_COMMUNICATION || walk->at_s <= walk->floor_s)
        return index;
    if (!walk->elsewhere && walk->at_s <= worker_post_s(rank->finish_s, &rank->program->ops[index]))
        return index; /* nobody was waited for */
    const struct wait w = wait_of(walk, index);
    if (!take_lag(walk, &w))
        return index;
    if (walk->elsewhere) {
        walk->rank_class = w.early;
        return w.early_op;
    }
    struct walk others = among_others(walk, &w);
    explain_post(&others, w.early_op);
    walk->at_s = w.from_s;
    return index;
}

/* The op of the rank that finishes last; the lowest among equals. 0: it has none. */
static uint32_t last_op(const struct rank_state *rank)
{
    uint32_t last = 0;
    for (unsigned s = 0; s < STREAM_COUNT; s++) {
        const uint32_t op = rank->program->last[s];
        const double finish_s = rank->finish_s[op], best_s = rank->finish_s[last];
        if (op != 0 && (last == 0 || finish_s > best_s || (finish_s == best_s && op < last)))
            last = op;
    }
    return last;
}

/* After the last compute: transfers that the rank still carries out, then the wait for who finishes
 * the step. */
static void explain_tail(struct walk *walk, double busy_until_s)
{
    const struct worker *worker = walk->worker;
    const struct finishers *f = &worker->finishers;
    const uint32_t program = worker->symmetry->ranks[f->last].program;
    const double finish_s = worker_finish_s(worker, walk->rank_class);
    const uint32_t early = f->earliest[program];
    const struct wait w = {.rank_class = walk->rank_class,
                           .late = f->last,
                           .early = early,
                           .op = last_op(&worker->ranks[f->last]),
                           .early_op = last_op(&worker->ranks[early]),
                           .for_finish = true,
                           .early_s = f->earliest_s[program],
                           .from_s = finish_s};
    walk->floor_s = finish_s;
    walk->at_s = f->last_s;
    if (walk->at_s > finish_s && take_lag(walk, &w)) {
        struct walk others = among_others(walk, &w);
        explain_finish(&others, w.early_op);
    }
    walk->floor_s = busy_until_s;
    walk->at_s = finish_s;
    explain_finish(walk, last_op(rank_of(walk)));
}

/* Compute at the pace of the slowest card: the mean rank would have waited for the excess, which is
 * told as the end of the op. What is paid for transfers beside it does not depend on the pace. */
static void take_compute(const struct worker *worker, const struct rank_state *rank, uint32_t index,
                         double begin_s, struct worker_books *books)
{
    const double finish_s = rank->finish_s[index], spent_s = finish_s - begin_s;
    const double excess_ratio = worker->options.excess_ratio;
    const struct played_op *op = &rank->program->ops[index];
    const double paced_s = op->joins ? spent_s - worker_joined_s(rank, op) : spent_s;
    const double waited_s = paced_s * (excess_ratio / (1.0 + excess_ratio));
    books->parts[own_part(rank, index)] += spent_s - waited_s;
    books->parts[PART_STRAGGLER] += waited_s;
    if (books->of_ops) {
        worker_books_span(books, begin_s, finish_s - waited_s, own_part(rank, index));
        worker_books_span(books, finish_s - waited_s, finish_s, PART_STRAGGLER);
    }
}

/* Divides the step of a rank class; `books` has parts, and an arena or none. */
static void divide(const struct worker *worker, uint32_t rank_class, struct worker_books *books)
{
    CHECK(rank_class < worker->symmetry->rank_class_count && worker->open_streams == 0);
    const struct rank_state *rank = &worker->ranks[rank_class];
    struct walk walk = {.worker = worker, .rank_class = rank_class, .books = books};
    double until_s = 0.0;
    for (unsigned p = 0; p < PART_COUNT; p++)
        books->parts[p] = 0.0;
    for (uint32_t i = rank->program->first[STREAM_COMPUTE]; i != OP_END;
         i = rank->program->ops[i].next) {
        walk.floor_s = until_s;
        const double begin_s = worker_post_s(rank->finish_s, &rank->program->ops[i]);
        walk.at_s = begin_s;
        explain_post(&walk, i);
        until_s = rank->finish_s[i];
        take_compute(worker, rank, i, begin_s, books);
        if (i == rank->program->last_pass)
            books->reduced_s = books->parts[PART_EXPOSED_DP];
    }
    explain_tail(&walk, until_s);
    close_others(books);
}

void worker_breakdown(const struct worker *worker, uint32_t rank_class, double parts[PART_COUNT])
{
    struct worker_books books = {.parts = parts};
    divide(worker, rank_class, &books);
}

static const struct worker_idle *spans_of(const struct worker *worker, uint32_t rank_class,
                                          bool of_ops, struct arena *arena, uint32_t *count)
{
    double parts[PART_COUNT];
    struct worker_books books = {.parts = parts, .arena = arena, .of_ops = of_ops};
    divide(worker, rank_class, &books);
    worker_books_sort(&books);
    *count = books.span_count;
    return books.spans;
}

const struct worker_idle *worker_idle(const struct worker *worker, uint32_t rank_class,
                                      struct arena *arena, uint32_t *count)
{
    return spans_of(worker, rank_class, false, arena, count);
}

const struct worker_idle *worker_spans(const struct worker *worker, uint32_t rank_class,
                                       struct arena *arena, uint32_t *count)
{
    return spans_of(worker, rank_class, true, arena, count);
}
