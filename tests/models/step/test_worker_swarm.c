/* Random programs against a reference that shares no code with the worker: items are made in one
 * global order that respects every dependency, so that playing them one by one in that order gives
 * the answer by nothing but maxima and sums. */
#include <math.h>

#include "sim/random.h"
#include "tests/models/step/world.h"
#include "tests/test.h"

enum {
    RANKS = 6,
    ITEMS = 120,
    OPS = ITEMS + 8
};
enum fault {
    FAULT_NONE,
    FAULT_NO_HOST,
    FAULT_NO_SYNC,
    FAULT_NO_PEERS,
    FAULT_NO_WAITS,
    FAULT_COUNT
};

struct draw {
    uint64_t seed, count;
};
static uint32_t draw(struct draw *d, uint32_t below)
{
    return (uint32_t)(random_hash(d->seed, ++d->count) % below);
}

/* What the reference knows of a rank. */
struct lane {
    struct program_writer *program;
    double speed_ratio, host_s;
    double tail_s[STREAM_COUNT];
    struct op_times times[OPS];
    uint32_t op_count;
};
struct swarm {
    struct world world;
    struct draw draw;
    enum fault fault;
    struct lane lanes[RANKS];
};
struct member {
    struct lane *lane;
    struct op op;
    double host_s;
};

/* Makes an op with random waits, host time and sync, and says when it is posted. */
static double prepare(struct swarm *s, struct member *m)
{
    struct lane *lane = m->lane;
    m->host_s = draw(&s->draw, 3) == 0 ? (1.0 + draw(&s->draw, 8)) / 4.0 : 0.0;
    m->op.host = program_host(lane->program, m->host_s);
    m->op.flags = draw(&s->draw, 12) == 0 ? OP_HOST_SYNC : 0;
    if (s->fault != FAULT_NO_HOST)
        lane->host_s += m->host_s;
    double post_s = fmax(lane->tail_s[m->op.stream], lane->host_s);
    for (unsigned i = 0; i < 2; i++) {
        if (lane->op_count > 0 && draw(&s->draw, 3) == 0) {
            const uint32_t near_ops = lane->op_count < 10 ? lane->op_count : 10;
            m->op.wait[i] = lane->op_count - draw(&s->draw, near_ops);
            if (s->fault != FAULT_NO_WAITS)
                post_s = fmax(post_s, lane->times[m->op.wait[i] - 1].finish_s);
        }
    }
    return post_s;
}

static void settle_member(struct swarm *s, const struct member *m, double post_s, double begin_s,
                          double finish_s)
{
    struct lane *lane = m->lane;
    lane->times[lane->op_count++] = (struct op_times){post_s, begin_s, finish_s};
    lane->tail_s[m->op.stream] = finish_s;
    if ((m->op.flags & OP_HOST_SYNC) != 0 && s->fault != FAULT_NO_SYNC)
        lane->host_s = finish_s;
    program_op(lane->program, m->op);
}

static void make_compute(struct swarm *s)
{
    struct member m = {.lane = &s->lanes[draw(&s->draw, RANKS)]};
    const double gpu_s = draw(&s->draw, 16) / 8.0;
    m.op = world_compute(m.lane->program, gpu_s, OP_NONE);
    m.op.stream = draw(&s->draw, 6) == 0 ? STREAM_COPY : STREAM_COMPUTE;
    m.op.phase = (uint8_t)draw(&s->draw, PHASE_COUNT);
    const double post_s = prepare(s, &m);
    settle_member(s, &m, post_s, post_s, post_s + gpu_s / m.lane->speed_ratio);
}

static double latency_of(uint32_t transfer)
{
    return transfer / 4.0;
}
static double bytes_of(uint32_t transfer)
{
    return transfer == 0 ? 0.0 : 2.0 * transfer + 1.0;
}
enum {
    CAP = 4
};

/* TP: ranks (0 1 2) (3 4 5). DP: (0 3) (1 4) (2 5). World: all. Pairs: r -> r + 1 and back. */
static void make_meeting(struct swarm *s)
{
    struct member m[RANKS];
    double post_s[RANKS], begin_s = 0.0;
    uint32_t ranks[RANKS], count = 0;
    enum stream streams[RANKS];
    const uint32_t first = draw(&s->draw, RANKS), kind = draw(&s->draw, 5);
    for (uint32_t r = 0; r < RANKS; r++) {
        const bool in = kind == 0   ? r / 3 == first / 3
                        : kind == 1 ? r % 3 == first % 3
                        : kind == 2 ? true
                                    : r == first || r == (first + 1) % RANKS;
        if (in) {
            streams[count] = kind == 0 ? STREAM_TP : kind == 1 ? STREAM_DP : STREAM_WORLD;
            if (kind >= 3) {
                const bool lower = r == first;
                streams[count] = kind == 3 ? (lower ? STREAM_SEND_NEXT : STREAM_RECV_PREV)
                                           : (lower ? STREAM_RECV_NEXT : STREAM_SEND_PREV);
            }
            ranks[count++] = r;
        }
    }
    const uint32_t transfer = draw(&s->draw, 3);
    for (uint32_t i = 0; i < count; i++) {
        m[i] = (struct member){.lane = &s->lanes[ranks[i]]};
        m[i].op = world_comm(m[i].lane->program, OP_COLLECTIVE, streams[i], transfer, OP_NONE);
        if (kind >= 3) {
            const bool sends = streams[i] == STREAM_SEND_NEXT || streams[i] == STREAM_SEND_PREV;
            m[i].op.kind = sends ? OP_SEND : OP_RECV;
        }
        post_s[i] = prepare(s, &m[i]);
        begin_s = fmax(begin_s, post_s[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        const double start_s = s->fault == FAULT_NO_PEERS ? post_s[i] : begin_s;
        settle_member(s, &m[i], post_s[i], start_s,
                      start_s + bytes_of(transfer) / CAP + latency_of(transfer));
    }
}

static void make_group(struct swarm *s, enum stream kind, const uint32_t *ranks, uint32_t count,
                       const struct wire *wire)
{
    const uint32_t group = world_group(&s->world, kind, 1, ranks, count);
    for (uint32_t t = 0; t < 3; t++) {
        world_plan(&s->world, group, t, bytes_of(t), latency_of(t), CAP, 1.0, wire,
                   wire == NULL ? 0 : 1);
    }
}

static void make_groups(struct swarm *s, const struct wire *wire)
{
    const uint32_t tp[][3] = {{0, 1, 2}, {3, 4, 5}}, dp[][2] = {{0, 3}, {1, 4}, {2, 5}};
    const uint32_t all[] = {0, 1, 2, 3, 4, 5};
    for (unsigned i = 0; i < 2; i++)
        make_group(s, STREAM_TP, tp[i], 3, wire);
    for (unsigned i = 0; i < 3; i++)
        make_group(s, STREAM_DP, dp[i], 2, wire);
    make_group(s, STREAM_WORLD, all, RANKS, wire);
    for (uint32_t r = 0; r < RANKS; r++) {
        const uint32_t on[] = {r, (r + 1) % RANKS}, back[] = {(r + 1) % RANKS, r};
        make_group(s, STREAM_SEND_NEXT, on, 2, wire);
        make_group(s, STREAM_SEND_PREV, back, 2, wire);
    }
}

/* Plays one random case; with `shared`, all traffic goes through the shares of one wide link that
 * never binds. Returns the largest difference of any time from the reference's. */
static double worst_difference(uint64_t seed, bool shared, enum fault fault)
{
    static struct swarm s; /* large; filled anew each time */
    s = (struct swarm){.draw = {.seed = seed}, .fault = fault};
    world_begin(&s.world);
    for (uint32_t r = 0; r < RANKS; r++) {
        s.lanes[r].program = program_begin(s.world.arena, r / 3);
        s.lanes[r].speed_ratio = r == 2 ? 0.5 : 1.0;
        world_transfers(s.lanes[r].program, 3);
    }
    for (unsigned i = 0; i < ITEMS; i++)
        if (draw(&s.draw, 2) == 0)
            make_compute(&s);
        else
            make_meeting(&s);
    for (uint32_t r = 0; r < RANKS; r++) {
        world_rank(&s.world, world_program(&s.world, program_end(s.lanes[r].program)),
                   s.lanes[r].speed_ratio);
    }
    const struct wire wire = {world_link(&s.world, 1024.0), 1.0};
    make_groups(&s, shared ? &wire : NULL);
    world_play(&s.world);
    double worst = 0.0;
    for (uint32_t r = 0; r < RANKS; r++) {
        for (uint32_t i = 0; i < s.lanes[r].op_count; i++) {
            const struct op_times *expected = &s.lanes[r].times[i];
            const struct op_times times = worker_times(s.world.worker, r, i);
            worst = fmax(worst, fabs(times.post_s - expected->post_s));
            worst = fmax(worst, fabs(times.begin_s - expected->begin_s));
            worst = fmax(worst, fabs(times.finish_s - expected->finish_s));
        }
    }
    const double step_s = world_step_s(&s.world);
    for (uint32_t r = 0; r < RANKS; r++) {
        double parts[PART_COUNT], sum = 0.0;
        worker_breakdown(s.world.worker, r, parts);
        for (unsigned p = 0; p < PART_COUNT; p++) {
            assert_true(parts[p] >= 0.0);
            sum += parts[p];
        }
        assert_true(fabs(sum - step_s) <= 1e-12 * step_s);
    }
    struct network *network = worker_network(s.world.worker);
    assert_true(network_posted_bytes(network) == network_moved_bytes(network));
    assert_true((sim_event_count(s.world.sim) > 0) == shared);
    world_end(&s.world);
    return worst;
}

static void random_programs_equal_the_reference(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        assert_true(worst_difference(seed, false, FAULT_NONE) == 0.0);
        assert_true(worst_difference(seed, true, FAULT_NONE) < 1e-9);
    }
}

/* Each planted fault in the reference is seen by most cases: the comparison can fail. */
static void planted_faults_are_seen(void **state)
{
    for (int fault = FAULT_NO_HOST; fault < FAULT_COUNT; fault++) {
        unsigned seen = 0;
        for (uint64_t seed = 1; seed <= 8; seed++)
            seen += worst_difference(seed, false, (enum fault)fault) > 0.1;
        assert_true(seen >= 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs_equal_the_reference),
        cmocka_unit_test(planted_faults_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
