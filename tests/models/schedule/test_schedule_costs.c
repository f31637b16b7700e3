/* Orders that are made of times (zb-1p, zb-2p), against every order that two ranks could take, the
 * hand-made ones of zb-h1 and zb-h2, and the memory that is asked for. */
#include <math.h>
#include <string.h>

#include "models/schedule/schedule_kind.h"
#include "tests/test.h"

enum {
    STAGES_MAX = 6,
    MICROBATCHES_MAX = 3,
    PASSES_MAX = 3 * 18,
    ORDERS_MAX = 64, /* of nine passes there are 42 */
    KINDS = 3
};

struct order {
    struct pass passes[PASSES_MAX];
    uint32_t count;
};

static unsigned kind_of(const struct pass *p)
{
    return p->kind == PASS_FORWARD ? 0 : p->kind == PASS_BACKWARD_INPUT ? 1 : 2;
}

/* The longest time between a rank's first pass and its last, each pass as soon as it can be;
 * INFINITY where ranks wait for each other for ever. */
static double span_of(const struct order *orders, uint32_t stages, const double cost_s[KINDS],
                      double transfer_s)
{
    double end_s[STAGES_MAX][2][PASSES_MAX], now_s[STAGES_MAX] = {0}, begin_s[STAGES_MAX] = {0};
    uint32_t next[STAGES_MAX] = {0}, left = 0;
    for (uint32_t s = 0; s < stages; s++)
        left += orders[s].count;
    for (unsigned i = 0; i < STAGES_MAX * 2 * PASSES_MAX; i++)
        (&end_s[0][0][0])[i] = INFINITY;
    for (bool moved = true; moved && left > 0;) {
        moved = false;
        for (uint32_t s = 0; s < stages; s++) {
            if (next[s] == orders[s].count)
                continue;
            const struct pass *p = &orders[s].passes[next[s]];
            const unsigned kind = kind_of(p);
            double there_s = 0.0;
            if (kind == 0 && s > 0)
                there_s = end_s[s - 1][0][p->microbatch] + transfer_s;
            if (kind == 1 && s + 1 < stages)
                there_s = end_s[s + 1][1][p->microbatch] + transfer_s;
            if (isinf(there_s))
                continue;
            const double at_s = fmax(now_s[s], there_s);
            if (next[s] == 0)
                begin_s[s] = at_s;
            now_s[s] = at_s + cost_s[kind];
            if (kind < 2)
                end_s[s][kind][p->microbatch] = now_s[s];
            next[s]++;
            left--;
            moved = true;
        }
    }
    double span_s = left > 0 ? INFINITY : 0.0;
    for (uint32_t s = 0; s < stages; s++)
        span_s = fmax(span_s, now_s[s] - begin_s[s]);
    return span_s;
}

/* Most that a rank keeps: `kept` from a forward on, of which `late` stays from the input pass to
 * that of the weights. */
static double most_kept(const struct order *o, double kept, double late)
{
    double now = 0.0, most = 0.0;
    for (uint32_t i = 0; i < o->count; i++) {
        const unsigned kind = kind_of(&o->passes[i]);
        now += kind == 0 ? kept : kind == 1 ? late - kept : -late;
        most = fmax(most, now);
    }
    return most;
}

static struct pass_costs even_costs(const double cost_s[KINDS], double transfer_s,
                                    double rows[5][STAGES_MAX])
{
    for (unsigned s = 0; s < STAGES_MAX; s++) {
        for (unsigned k = 0; k < KINDS; k++)
            rows[k][s] = cost_s[k];
        rows[3][s] = rows[4][s] = 1.0;
    }
    return (struct pass_costs){rows[0], rows[1], rows[2], rows[3], rows[4], transfer_s};
}

static void write_orders(const struct schedule_kind *kind, const struct schedule_shape *shape,
                         const struct pass_costs *costs, struct order out[STAGES_MAX])
{
    for (uint32_t s = 0; s < shape->stages; s++)
        out[s].count = costs != NULL ? kind->write_timed(shape, costs, s, out[s].passes)
                                     : kind->write(shape, s, out[s].passes);
}

/* Every order of a rank's passes, of which each kind follows the microbatches. */
static void enumerate(struct order *now, uint32_t done[KINDS], uint32_t m, struct order *all,
                      unsigned *count)
{
    static const uint8_t kinds[KINDS] = {PASS_FORWARD, PASS_BACKWARD_INPUT, PASS_WEIGHTS};
    if (now->count == KINDS * m) {
        assert_true(*count < ORDERS_MAX);
        all[(*count)++] = *now;
        return;
    }
    for (unsigned k = 0; k < KINDS; k++) {
        if (done[k] == m || (k > 0 && done[k] == done[k - 1]))
            continue;
        now->passes[now->count++] = (struct pass){kinds[k], 0, (uint16_t)done[k]};
        done[k]++;
        enumerate(now, done, m, all, count);
        done[k]--;
        now->count--;
    }
}

static double best_of_all(const struct order *all, unsigned count, double limit,
                          const double cost_s[KINDS], double transfer_s)
{
    double best_s = INFINITY;
    for (unsigned a = 0; a < count; a++) {
        if (most_kept(&all[a], 1.0, 1.0) > limit)
            continue;
        for (unsigned b = 0; b < count; b++) {
            struct order both[2];
            if (most_kept(&all[b], 1.0, 1.0) > limit)
                continue;
            both[0] = all[a];
            both[1] = all[b];
            best_s = fmin(best_s, span_of(both, 2, cost_s, transfer_s));
        }
    }
    return best_s;
}

static const double grid[][4] = {
    /* forward, input, weights, message */
    {1.0, 1.0, 1.0, 0.0}, {1.0, 1.4, 0.6, 0.0}, {1.0, 0.6, 1.4, 0.0}, {1.0, 2.0, 1.0, 0.1},
    {1.0, 1.0, 2.0, 0.1}, {1.0, 1.2, 0.9, 0.3}, {1.0, 1.0, 1.0, 0.5}, {1.0, 2.1, 0.4, 0.2},
};

static void two_ranks_do_their_best(void **state)
{
    for (uint32_t m = 2; m <= MICROBATCHES_MAX; m++) {
        static struct order all[ORDERS_MAX];
        struct order now = {.count = 0};
        uint32_t done[KINDS] = {0};
        unsigned count = 0;
        enumerate(&now, done, m, all, &count);
        for (unsigned i = 0; i < sizeof grid / sizeof grid[0]; i++) {
            const struct schedule_kind *const kinds[] = {schedule_find("zb-1p"),
                                                         schedule_find("zb-2p")};
            for (unsigned k = 0; k < 2; k++) {
                struct order own[STAGES_MAX];
                double rows[5][STAGES_MAX];
                const struct schedule_shape shape = {2, 1, m, NULL};
                const struct pass_costs costs = even_costs(grid[i], grid[i][3], rows);
                write_orders(kinds[k], &shape, &costs, own);
                const double own_s = span_of(own, 2, grid[i], grid[i][3]);
                const double best_s = best_of_all(all, count, 2.0 * (k + 1), grid[i], grid[i][3]);
                assert_true(fabs(own_s - best_s) <= 1e-9 * best_s);
            }
        }
    }
}

static void never_behind_the_hand_made(void **state)
{
    static const char *const pairs[][2] = {{"zb-1p", "zb-h1"}, {"zb-2p", "zb-h2"}};
    for (unsigned k = 0; k < 2; k++)
        for (uint32_t p = 2; p <= STAGES_MAX; p++)
            for (unsigned i = 0; i < sizeof grid / sizeof grid[0]; i++) {
                struct order own[STAGES_MAX], other[STAGES_MAX];
                double rows[5][STAGES_MAX];
                const struct schedule_shape shape = {p, 1, 3 * p, NULL};
                const struct pass_costs costs = even_costs(grid[i], grid[i][3], rows);
                write_orders(schedule_find(pairs[k][0]), &shape, &costs, own);
                write_orders(schedule_find(pairs[k][1]), &shape, NULL, other);
                const double own_s = span_of(own, p, grid[i], grid[i][3]);
                const double other_s = span_of(other, p, grid[i], grid[i][3]);
                assert_true(own_s <= other_s * (1.0 + 1e-9));
            }
}

/* Messages much longer than passes, and stages that keep more or less than others: no rank takes
 * a forward that the one before it has not sent, and all ends. */
static void messages_longer_than_passes_end(void **state)
{
    static const double kept[][STAGES_MAX] = {
        {1, 1, 1, 1, 1, 1}, {1, 1, .1, .1, .1, .1}, {.1, 1, .1, 1, .1, 1}, {1, .5, .3, .2, .1, .1}};
    static const char *const names[] = {"zb-1p", "zb-2p"};
    for (unsigned k = 0; k < 2; k++)
        for (uint32_t p = 2; p <= STAGES_MAX; p++)
            for (uint32_t m = 1; m <= 3 * p; m++)
                for (unsigned i = 0; i < 4 * sizeof kept / sizeof kept[0]; i++) {
                    static const double cost_s[KINDS] = {1.0, 1.3, 0.7};
                    const double transfer_s = 0.5 * (double)(1 << 2 * (i / 4)); /* to 32 */
                    struct order own[STAGES_MAX];
                    double rows[5][STAGES_MAX];
                    const struct schedule_shape shape = {p, 1, m, NULL};
                    const struct pass_costs costs = even_costs(cost_s, transfer_s, rows);
                    memcpy(rows[3], kept[i % 4], sizeof kept[0]);
                    memcpy(rows[4], kept[i % 4], sizeof kept[0]);
                    write_orders(schedule_find(names[k]), &shape, &costs, own);
                    assert_true(span_of(own, p, cost_s, transfer_s) < INFINITY);
                }
}

static bool same_orders(const struct order *a, const struct order *b, uint32_t stages)
{
    bool same = true;
    for (uint32_t s = 0; s < stages; s++)
        same = same && a[s].count == b[s].count &&
               memcmp(a[s].passes, b[s].passes, a[s].count * sizeof *a[s].passes) == 0;
    return same;
}

/* A stage of embedding or head is not what the others are ordered by: all are taken to be as fast
 * as the middle one. And no unit of time or of memory is. */
static void the_middle_stage_decides(void **state)
{
    for (unsigned i = 0; i < sizeof grid / sizeof grid[0]; i++) {
        struct order even[STAGES_MAX], odd[STAGES_MAX], doubled[STAGES_MAX];
        double rows[5][STAGES_MAX];
        const struct schedule_shape shape = {5, 1, 12, NULL};
        const struct schedule_kind *kind = schedule_find("zb-1p");
        struct pass_costs costs = even_costs(grid[i], grid[i][3], rows);
        write_orders(kind, &shape, &costs, even);
        for (unsigned k = 0; k < KINDS; k++) {
            rows[k][0] *= 3.0;
            rows[k][4] *= 0.2;
        }
        write_orders(kind, &shape, &costs, odd);
        assert_true(same_orders(even, odd, shape.stages));
        for (unsigned s = 0; s < STAGES_MAX; s++)
            for (unsigned k = 0; k < 5; k++)
                rows[k][s] *= k < KINDS ? 2.0 : 1e9;
        costs.transfer_s *= 2.0;
        write_orders(kind, &shape, &costs, doubled);
        assert_true(same_orders(even, doubled, shape.stages));
    }
}

/* What a rank may keep is p (or 2 p) times what a forward of the first or the second stage keeps,
 * the larger: where it recomputes, what its weights will need is more than what a forward keeps,
 * and room for that is made with the forward. With so much memory it is used. */
static void memory_is_what_was_allowed(void **state)
{
    static const double bytes[][4] = {/* kept and late, of the first stage and of the others */
                                      {1.0, 1.0, 1.0, 1.0},
                                      {2.0, 1.0, 1.0, 0.5},
                                      {1.0, 0.5, 2.0, 1.0},
                                      {1.0, 3.0, 1.0, 2.0}};
    static const char *const names[] = {"zb-1p", "zb-2p"};
    for (unsigned k = 0; k < 2; k++)
        for (unsigned b = 0; b < sizeof bytes / sizeof bytes[0]; b++)
            for (unsigned i = 0; i < sizeof grid / sizeof grid[0]; i++) {
                struct order own[STAGES_MAX];
                double rows[5][STAGES_MAX], most = 0.0;
                const struct schedule_shape shape = {4, 1, 16, NULL};
                const struct pass_costs costs = even_costs(grid[i], grid[i][3], rows);
                for (unsigned s = 0; s < STAGES_MAX; s++) {
                    rows[3][s] = bytes[b][s > 0 ? 2 : 0];
                    rows[4][s] = bytes[b][s > 0 ? 3 : 1];
                }
                const double room =
                    fmax(fmax(rows[3][0], rows[4][0]), fmax(rows[3][1], rows[4][1]));
                write_orders(schedule_find(names[k]), &shape, &costs, own);
                for (uint32_t s = 0; s < 4; s++)
                    most = fmax(most, most_kept(&own[s], fmax(rows[3][s], rows[4][s]), rows[4][s]));
                assert_true(most <= 4.0 * (k + 1) * room * (1.0 + 1e-9));
                assert_true(most > (4.0 * (k + 1) - 1.0) * room);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_ranks_do_their_best),
        cmocka_unit_test(never_behind_the_hand_made),
        cmocka_unit_test(messages_longer_than_passes_end),
        cmocka_unit_test(the_middle_stage_decides),
        cmocka_unit_test(memory_is_what_was_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
