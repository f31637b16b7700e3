/* worker.c
 *
 * Invariants
 * 1. Before control goes back to the calendar every op that can be timed has been: what is left
 *    waits for an event. So whatever is posted later is released by that event and lies at or after
 *    the clock, and the order in which ranks are run changes no time.
 * 2. An op has finished exactly when it stands before the head of its stream.
 * 3. A stream whose head is not in the network and not sensitive compute in flight is either dirty
 *    or stands in `waiting` of exactly one stream.
 * 4. Finishes and begins are written once, and never read before: see blocked.
 * 5. A stream stands in `waiting` of another only for an op of it that has not finished, and
 *    `awaited` is at most the first such op.
 *
 * State of a stream's head               leaves it by
 * WAITING  for an op, or for a sync      that op's finish [finish_op] -> dirty
 * dirty    may be ready                  [run_stream]: not ready -> WAITING; compute -> next head;
 *                                        communication -> POSTED; sensitive -> DUE
 * POSTED   in the network                [worker_done] -> next head, dirty
 * DUE      sensitive, to begin later     EVENT_COMPUTE [handle_compute] -> RUNNING
 * RUNNING  speed may change              EVENT_COMPUTE [handle_compute] -> next head, dirty */
#include <math.h>
#include <string.h>

#include "models/step/simulate/event.h"
#include "models/step/simulate/worker_state.h"
#include "sim/check.h"
#include "sim/list.h"

/* Draws are numbered by rank and stream; of streams beyond these none carries kernels, so that one
 * more leaves all draws as they are. */
#define JITTER_STREAMS 14u

static void push(struct worker *worker, uint32_t rank_class)
{
    struct rank_state *rank = &worker->ranks[rank_class];
    if (!rank->queued) {
        rank->queued = true;
        worker->stack[worker->stack_count++] = rank_class;
    }
}

/* The head of `stream` has finished: the next is head, and whoever waited may go on. */
static inline void finish_op(struct worker *worker, struct rank_state *rank,
                             const struct played_op *op, uint32_t index, double finish_s)
{
    struct stream_state *mine = &rank->streams[op->stream];
    mine->head = op->next;
    rank->finish_s[index] = finish_s;
    if (index >= mine->awaited) {
        rank->dirty |= mine->waiting;
        mine->waiting = 0;
        mine->awaited = OP_END;
    }
    if (op->next == OP_END) {
        worker->open_streams--;
        worker_name_finisher(worker, rank, finish_s);
    }
}

/* Does this op, the head of `stream`, still wait for another? Then its stream is woken by the first
 * of them that has not finished. */
static inline bool blocked(struct rank_state *rank, const struct played_op *op, unsigned stream)
{
    for (unsigned i = 0; i < WAIT_COUNT; i++) {
        struct stream_state *other = &rank->streams[op->wait_stream[i]];
        if (other->head <= op->wait[i]) {
            other->awaited = other->awaited < op->wait[i] ? other->awaited : op->wait[i];
            other->waiting |= 1u << stream;
            return true;
        }
    }
    return false;
}

static double jittered(struct worker *worker, uint32_t rank_class, const struct played_op *op)
{
    if (worker->jitter == NULL || (STREAMS_OF_HOST >> op->stream & 1u) != 0)
        return op->gpu_s;
    struct random_stream *stream = worker->jitter[rank_class * STREAM_COUNT + op->stream];
    return op->gpu_s * random_lognormal_mean1(stream, worker->options.jitter_sigma);
}

double worker_joined_s(const struct rank_state *rank, const struct played_op *op)
{
    if (!op->joins)
        return 0.0;
    const struct played_op *before = &rank->program->ops[op->previous];
    const double from_s = worker_post_s(rank->finish_s, before);
    const double until_s = rank->finish_s[op->previous];
    const double *ratio = rank->program->source->interference.join_ratio;
    double sum_s = 0.0;
    for (unsigned i = WAIT_FIRST; i <= WAIT_SECOND; i++) {
        const unsigned stream = op->wait_stream[i];
        if (op->wait[i] != 0 && (stream == STREAM_TP || stream == STREAM_CP)) {
            const double begin_s = worker_later(from_s, worker_begin_s(rank, op->wait[i]));
            const double end_s = fmin(until_s, rank->finish_s[op->wait[i]]);
            sum_s += ratio[stream == STREAM_TP ? JOIN_TENSOR : JOIN_CONTEXT] *
                     fmax(0.0, end_s - begin_s);
        }
    }
    return sum_s;
}

/* Can no watched stream have anything on the wire before this op, the head of the compute stream,
 * has finished? Each is at its end, or its head is posted after this op. */
static bool undisturbed(const struct worker *worker, uint32_t rank_class, uint32_t index)
{
    const struct rank_state *rank = &worker->ranks[rank_class];
    for (uint32_t left = worker->sensitive[rank_class].watched; left != 0; left &= left - 1) {
        const uint32_t head = rank->streams[__builtin_ctz(left)].head;
        if (head != OP_END && rank->program->after_compute[head] < index)
            return false;
    }
    return true;
}

/* worker_issue_s, without the look back at a sync that finished long ago. */
static inline double issue_s(struct rank_state *rank, const struct played_op *op)
{
    if (rank->sync != op->wait[WAIT_HOST]) {
        rank->sync = op->wait[WAIT_HOST];
        rank->sync_s = rank->finish_s[rank->sync];
    }
    return rank->sync_s + op->issue_s;
}

/* Plays a stream's ops as far as nothing outside is waited for. */
static void run_stream(struct worker *worker, uint32_t rank_class, unsigned stream)
{
    struct rank_state *rank = &worker->ranks[rank_class];
    const struct played_op *ops = rank->program->ops;
    const double slowness = worker_slowness(rank, stream);
    uint32_t index;
    while ((index = rank->streams[stream].head) != OP_END) {
        const struct played_op *op = &ops[index];
        if (blocked(rank, op, stream))
            return;
        const double post_s = worker_launched_post_s(rank->finish_s, op, issue_s(rank, op));
        if (op->play == PLAY_COMMUNICATION) {
            network_post(worker->network, rank_class, (enum stream)stream, op->transfer, index,
                         post_s);
            return;
        }
        const double work_s =
            jittered(worker, rank_class, op) * slowness + worker_joined_s(rank, op);
        if (op->play == PLAY_SENSITIVE && !undisturbed(worker, rank_class, index)) {
            worker->sensitive[rank_class].remaining_s = work_s;
            calendar_set(sim_calendar(worker->sim), worker->sensitive[rank_class].slot, post_s,
                         EVENT_COMPUTE);
            return;
        }
        finish_op(worker, rank, op, index, post_s + work_s);
    }
}

/* Runs every rank that has something to do, the latest first: the members of a group that has just
 * finished go on while they are in the cache. */
static void drain(struct worker *worker)
{
    if (worker->draining)
        return;
    worker->draining = true;
    while (worker->stack_count > 0 && !network_parted(worker->network)) {
        const uint32_t rank_class = worker->stack[--worker->stack_count];
        struct rank_state *rank = &worker->ranks[rank_class];
        while (rank->dirty != 0) {
            const unsigned stream = (unsigned)__builtin_ctz(rank->dirty);
            rank->dirty &= rank->dirty - 1u;
            run_stream(worker, rank_class, stream);
        }
        rank->queued = false;
    }
    worker->draining = false;
}

/* The head of a stream has finished by an event; drain plays what follows. */
static inline void finish_head(struct worker *worker, uint32_t rank_class, uint32_t index,
                               double finish_s)
{
    struct rank_state *rank = &worker->ranks[rank_class];
    const struct played_op *op = &rank->program->ops[index];
    DCHECK(rank->streams[op->stream].head == index);
    finish_op(worker, rank, op, index, finish_s);
    rank->dirty |= 1u << op->stream;
    push(worker, rank_class);
}

static void worker_done(void *context, const struct attendance *activity)
{
    struct worker *worker = context;
    DCHECK(activity->finish_s >= activity->begin_s);
    worker_keep_activity(worker, activity);
    for (uint32_t i = 0; i < activity->count; i++) {
        const struct attendee *who = &activity->attendees[i];
        finish_head(worker, who->rank_class, who->op, activity->finish_s);
    }
    drain(worker);
}

/* Speed from now on; moves the finish. */
static void set_speed(struct worker *worker, uint32_t rank_class)
{
    struct sensitive *s = &worker->sensitive[rank_class];
    const double now_s = sim_now_s(worker->sim);
    const double lost_ratio = worker->ranks[rank_class].program->source->interference.ratio;
    s->speed_ratio = s->active != 0 ? 1.0 - lost_ratio : 1.0;
    s->since_s = now_s;
    calendar_set(sim_calendar(worker->sim), s->slot, now_s + s->remaining_s / s->speed_ratio,
                 EVENT_COMPUTE);
}

static void worker_active(void *context, uint32_t rank_class, enum stream stream, bool active)
{
    struct worker *worker = context;
    struct sensitive *s = &worker->sensitive[rank_class];
    const bool was_disturbed = s->active != 0;
    const uint32_t bit = 1u << stream;
    s->active = active ? s->active | bit : s->active & ~bit;
    if (!s->running || was_disturbed == (s->active != 0))
        return;
    const double left_s = s->remaining_s - (sim_now_s(worker->sim) - s->since_s) * s->speed_ratio;
    s->remaining_s = left_s > 0.0 ? left_s : 0.0; /* rounding may leave a hair below zero */
    set_speed(worker, rank_class);
}

static void handle_compute(struct sim *sim, void *player, uint32_t slot)
{
    struct worker *worker = player;
    const uint32_t rank_class = worker->rank_of_slot[slot];
    struct sensitive *s = &worker->sensitive[rank_class];
    if (!s->running) {
        s->running = true;
        set_speed(worker, rank_class);
        return;
    }
    s->running = false;
    finish_head(worker, rank_class, worker->ranks[rank_class].streams[STREAM_COMPUTE].head,
                sim_now_s(sim));
    drain(worker);
}

static void watch(struct worker *worker, uint32_t rank_class)
{
    const struct played_program *program = worker->ranks[rank_class].program;
    struct sensitive *s = &worker->sensitive[rank_class];
    for (unsigned stream = 0; program->after_compute != NULL && stream < STREAM_COUNT; stream++) {
        const bool interferes = (program->source->interference.streams >> stream & 1u) != 0;
        if (interferes && worker->symmetry->ranks[rank_class].group[stream] != GROUP_NONE) {
            network_watch(worker->network, rank_class, (enum stream)stream);
            s->watched |= 1u << stream;
        }
    }
    if (s->watched == 0)
        return;
    s->slot = calendar_slot(sim_calendar(worker->sim));
    if (s->slot >= worker->slot_capacity) {
        const uint32_t count = worker->slot_capacity;
        LIST_ROOM(sim_arena(worker->sim), worker->rank_of_slot, count, s->slot + 1 - count,
                  worker->slot_capacity);
    }
    worker->rank_of_slot[s->slot] = rank_class;
}

static void create_rank(struct worker *worker, uint32_t rank_class)
{
    const struct rank_class *class = &worker->symmetry->ranks[rank_class];
    struct rank_state *rank = &worker->ranks[rank_class];
    const struct played_program *program = &worker->programs[class->program];
    CHECK(class->speed_ratio > 0.0);
    rank->program = program;
    rank->finish_s[0] = worker->options.start_s != NULL ? worker->options.start_s[rank_class] : 0.0;
    rank->sync_s = rank->finish_s[0];
    rank->slowness = (1.0 + worker->options.excess_ratio) / class->speed_ratio;
    for (unsigned s = 0; s < STREAM_COUNT; s++) {
        rank->streams[s].head = program->first[s];
        rank->streams[s].awaited = OP_END;
        rank->dirty |= program->first[s] != OP_END ? 1u << s : 0u;
        rank->open_streams = (uint8_t)(rank->open_streams + (program->first[s] != OP_END));
    }
    worker->open_streams += rank->open_streams;
    worker->op_count += program->op_count;
    watch(worker, rank_class);
}

/* The times of all ranks are one block, in the order of ranks: neighbours run together. */
static void create_ranks(struct worker *worker, struct arena *arena)
{
    const struct symmetry *symmetry = worker->symmetry;
    const uint32_t count = symmetry->rank_class_count;
    size_t time_count = 0;
    for (uint32_t r = 0; r < count; r++) {
        const struct played_program *program = &worker->programs[symmetry->ranks[r].program];
        time_count += (size_t)program->op_count + 1;
    }
    double *times = ARENA_ARRAY(arena, double, time_count);
    worker->ranks = ARENA_ARRAY(arena, struct rank_state, count);
    worker->sensitive = ARENA_ARRAY(arena, struct sensitive, count);
    worker->stack = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t r = 0; r < count; r++) {
        const struct played_program *program = &worker->programs[symmetry->ranks[r].program];
        worker->ranks[r].finish_s = times;
        times += (size_t)program->op_count + 1;
        create_rank(worker, r);
    }
}

static void find_spans(struct worker *worker, struct arena *arena)
{
    const struct symmetry *symmetry = worker->symmetry;
    worker->spans_stages = ARENA_ARRAY(arena, bool, symmetry->group_class_count);
    for (uint32_t g = 0; g < symmetry->group_class_count; g++) {
        const struct group_class *group = &symmetry->groups[g];
        const struct party *parties = &symmetry->parties[group->party_first];
        const uint32_t first = symmetry->ranks[parties[0].rank_class].program;
        worker->spans_stages[g] = parties[0].stream != parties[group->party_count - 1].stream;
        for (uint32_t i = 1; i < group->party_count; i++) {
            const uint32_t program = symmetry->ranks[parties[i].rank_class].program;
            worker->spans_stages[g] |=
                worker->programs[program].source->stage != worker->programs[first].source->stage;
        }
    }
}

/* One stream of draws for each rank and compute stream, in program order: folding and other ranks
 * change nobody's draws. */
static void create_jitter(struct worker *worker, struct arena *arena)
{
    const uint32_t count = worker->symmetry->rank_class_count;
    if (worker->options.jitter_sigma <= 0.0)
        return;
    worker->jitter = ARENA_ARRAY(arena, struct random_stream *, (size_t)count * STREAM_COUNT);
    for (uint32_t r = 0; r < count; r++) {
        const uint64_t rank = worker->symmetry->ranks[r].representative;
        for (unsigned s = 0; s < STREAM_COUNT; s++) {
            if (s == STREAM_COMPUTE || s == STREAM_COPY) {
                worker->jitter[(size_t)r * STREAM_COUNT + s] =
                    random_create(arena, worker->options.seed, rank * JITTER_STREAMS + s, "jitter");
            }
        }
    }
}

/* Ops remain and nothing more will happen: the programs wait for each other. Asked before the first
 * event, too. */
static void settle(struct sim *sim, void *player)
{
    struct worker *worker = player;
    struct calendar_event next;
    const bool stuck = worker->open_streams > 0 && !network_parted(worker->network) &&
                       !calendar_peek(sim_calendar(sim), &next);
    if (stuck)
        worker_explain(worker);
    CHECK(!stuck && "no rank waits for ever");
}

struct worker *worker_create(struct sim *sim, const struct symmetry *symmetry,
                             const struct lowered *lowered, const struct layout *layout,
                             const struct worker_options *options)
{
    struct arena *arena = sim_arena(sim);
    struct worker *worker = ARENA_NEW(arena, struct worker);
    *worker = (struct worker){.sim = sim,
                              .symmetry = symmetry,
                              .lowered = lowered,
                              .layout = layout,
                              .options = *options};
    worker->network = network_create(sim, symmetry, worker_done, worker_active, worker);
    worker->programs = ARENA_ARRAY(arena, struct played_program, lowered->program_count);
    for (uint32_t p = 0; p < lowered->program_count; p++)
        worker_prepare(arena, lowered->programs[p], &worker->programs[p]);
    create_ranks(worker, arena);
    find_spans(worker, arena);
    worker_create_names(worker, arena);
    create_jitter(worker, arena);
    sim_handle(sim, EVENT_COMPUTE, handle_compute, worker);
    sim_settle(sim, EVENT_SETTLE_WORKER, settle, worker);
    return worker;
}

void worker_start(struct worker *worker)
{
    for (uint32_t r = worker->symmetry->rank_class_count; r-- > 0;)
        push(worker, r);
    drain(worker);
}

struct network *worker_network(struct worker *worker)
{
    return worker->network;
}

struct op_times worker_times(const struct worker *worker, uint32_t rank_class, uint32_t op)
{
    CHECK(rank_class < worker->symmetry->rank_class_count && worker->open_streams == 0);
    CHECK(op < worker->ranks[rank_class].program->op_count);
    return worker_times_of(&worker->ranks[rank_class], op + 1);
}

void worker_read(const struct worker *worker, uint32_t rank_class, struct op_times *out)
{
    CHECK(rank_class < worker->symmetry->rank_class_count && worker->open_streams == 0);
    const struct rank_state *rank = &worker->ranks[rank_class];
    for (uint32_t i = 1; i <= rank->program->op_count; i++)
        out[i - 1] = worker_times_of(rank, i);
}

/* Begins of compute follow from finishes; those of a stream stand in one row. */
bool worker_alike(const struct worker *worker, uint32_t a, uint32_t b)
{
    CHECK(a < worker->symmetry->rank_class_count && b < worker->symmetry->rank_class_count);
    const struct rank_state *x = &worker->ranks[a], *y = &worker->ranks[b];
    const struct played_program *program = x->program;
    bool alike =
        program == y->program && memcmp(x->finish_s, y->finish_s,
                                        (program->op_count + (size_t)1) * sizeof *x->finish_s) == 0;
    for (unsigned s = 0; s < STREAM_COUNT && alike; s++) {
        const size_t count = program->meeting_first[s + 1] - program->meeting_first[s];
        const uint32_t of_a = x->streams[s].met_first, of_b = y->streams[s].met_first;
        alike = of_a == of_b ||
                memcmp(x->begin_s + of_a, y->begin_s + of_b, count * sizeof *x->begin_s) == 0;
    }
    return alike;
}

double worker_finish_s(const struct worker *worker, uint32_t rank_class)
{
    CHECK(rank_class < worker->symmetry->rank_class_count && worker->open_streams == 0);
    return worker_rank_finish_s(&worker->ranks[rank_class]);
}

uint64_t worker_op_count(const struct worker *worker)
{
    return worker->op_count;
}
