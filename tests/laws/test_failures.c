/* Laws that every failure law must pass, as a row of failure_list.h and as a cause in the fleet:
 * the rate that it promises, draws that are its own, time without a unit, looks that settle
 * nothing, ages that stand still with their nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/random.h"
#include "tests/kind_defaults.h"
#include "tests/models/fleet/fleet_case.h"
#include "tests/test.h"

enum {
    NODES = 24,
    SPARES = 8,
    ALL = NODES + SPARES,
    DOMAIN = 4, /* divides both */
    GPUS = 8,
    ROOM = 4096,
    UNIT_ROOM = 64
};
static const double end_s = 3000.0; /* of a walk; units fail after some 500 */

static double written(const char *number)
{
    char *end;
    double value = strtod(number, &end);
    return *end == '%' ? value / 100.0 : value;
}

/* One cause of the kind with its defaults. */
static struct failure_cause *add(struct fleet_case *c, const struct failure_kind *kind,
                                 const char *name, int unit, double mtbf_s)
{
    struct failure_cause *cause = fleet_case_add(c, name, kind->head.name, 0.0, unit, mtbf_s);
    static struct trace_event incidents[5] = {
        {0, 3, -1, ""}, {0, 1, 5, ""}, {0, 0, -1, ""}, {0, 4, -1, ""}, {0, 5, -1, ""}};
    cause->options = kind_defaults(&kind->head);
    cause->domain_nodes = DOMAIN;
    for (unsigned i = 0; kind->replays && i < 5; i++)
        incidents[i].at_s = mtbf_s * (i + 1.0) / 2.0;
    cause->trace = kind->replays ? incidents : NULL;
    cause->trace_count = kind->replays ? 5 : 0;
    return cause;
}

/* Every kind with every unit that means something for it. */
static void each(void (*law)(const struct failure_kind *kind, int unit))
{
    static const int units[] = {UNIT_GPU, UNIT_NODE, UNIT_DOMAIN, UNIT_JOB};
    for (unsigned k = 0; k < failure_kind_count; k++) {
        for (unsigned i = 0; i < 4; i++) {
            bool lone = failure_kinds[k]->replays && units[i] == UNIT_JOB; /* its units are 0 */
            if (!lone && !(failure_kinds[k]->hit_ratio && units[i] != UNIT_DOMAIN))
                law(failure_kinds[k], units[i]);
        }
    }
}

static void test_rows(void **state)
{
    for (unsigned k = 0; k < failure_kind_count; k++) {
        const struct failure_kind *kind = failure_kinds[k];
        bool ages = kind->life != NULL;
        assert_ptr_equal(failure_find(kind->head.name), kind);
        assert_null(strchr(kind->head.name, '_'));
        assert_true(strlen(kind->head.doc) > 20 &&
                    kind->head.doc[strlen(kind->head.doc) - 1] == '.');
        assert_int_equal(kind->memoryless + kind->replays + ages, 1);
        if (kind->lemons || kind->hit_ratio)
            assert_true(kind->memoryless);
        assert_true(kind->head.options.count <= KIND_OPTION_MAX);
        for (unsigned i = 0; i < kind->head.options.count; i++) {
            const struct param *option = &kind->head.options.rows[i];
            assert_int_equal(option->offset, i);
            assert_true(option->type != PARAM_TEXT && option->type != PARAM_CHOICE);
            assert_true(written(option->fallback) >= option->minimum);
            assert_true(written(option->fallback) <= option->maximum);
        }
    }
    assert_null(failure_find("exponentia"));
}

/* Lives and what is left of them: rising in u, in proportion to the mean, over the whole range of
 * each option. */
static void test_lives(void **state)
{
    for (unsigned k = 0; k < failure_kind_count; k++) {
        const struct failure_kind *kind = failure_kinds[k];
        for (unsigned edge = 0; kind->life && edge < 3; edge++) {
            const struct param *shape = &kind->head.options.rows[0];
            struct kind_options given = {{edge == 0   ? shape->minimum
                                          : edge == 1 ? shape->maximum
                                                      : written(shape->fallback)}};
            struct duration law = kind->life(&given, 5.0), doubled = kind->life(&given, 10.0);
            double life = 0.0, left = 0.0, mean = 0.0;
            for (double u = 1e-6; u < 1.0; u += 1e-3) {
                double next = duration_quantile_s(&law, u);
                double next_left = duration_residual_s(&law, u);
                assert_true((next > life || u < 0.1) && next >= life && next_left > left);
                assert_true(duration_quantile_s(&doubled, u) == 2.0 * next);
                assert_true(duration_residual_s(&doubled, u) == 2.0 * next_left);
                life = next;
                left = next_left;
                mean += 1e-3 * life;
            }
            assert_true(mean < 5.05); /* the law test of durations has the equality */
        }
    }
}

static uint32_t units(int unit)
{
    static const uint32_t counts[] = {[UNIT_GPU] = GPUS * NODES,
                                      [UNIT_NODE] = NODES,
                                      [UNIT_DOMAIN] = NODES / DOMAIN,
                                      [UNIT_JOB] = 1};
    return counts[unit];
}

/* Failures of 200 replications, all nodes in place, against fleet_job_mtbf_s; where lemons are
 * drawn for each replication, they add to the variance. */
static void check_rate(const struct failure_kind *kind, int unit)
{
    struct fleet_case c;
    struct arena *arena = arena_create();
    double count = 0.0, squares = 0.0, limit_s = 50.0;
    fleet_case_create(NODES, SPARES, &c);
    add(&c, kind, "cause", unit, kind->replays ? 15.0 : units(unit) * 5.0);
    for (uint64_t seed = 0; seed < 400; seed++) {
        double once =
            fleet_case_play(fleet_create(arena, job_fleet(&c.spec), seed), limit_s, NULL, 0);
        count += once;
        squares += once * once;
    }
    double mean = count / 400.0, deviation = sqrt((squares / 400.0 - mean * mean) / 400.0);
    if (kind->replays)
        c.spec.duration_s = limit_s;
    assert_true(fabs(mean - limit_s / fleet_job_mtbf_s(job_fleet(&c.spec))) <= 4.5 * deviation);
    assert_true(mean > 1.5);
    arena_destroy(arena);
}

static void test_rates(void **state)
{
    each(check_rate);
}

static int same(const struct fleet_event *a, const struct fleet_event *b, double scale)
{
    return a->at_s * scale == b->at_s && a->unit == b->unit && a->node == b->node &&
           a->node_count == b->node_count && a->number == b->number;
}

/* All times twice as long: the same failures, twice as late, to the bit. */
static void check_scale(const struct failure_kind *kind, int unit)
{
    static struct fleet_event plain[ROOM], twice[ROOM];
    struct arena *arena = arena_create();
    struct fleet_case c;
    fleet_case_create(NODES, SPARES, &c);
    add(&c, kind, "cause", unit, 500.0);
    uint32_t count =
        fleet_case_play(fleet_create(arena, job_fleet(&c.spec), 7), end_s, plain, ROOM);
    c.spec.cause_count = 0;
    add(&c, kind, "cause", unit, 1000.0);
    assert_int_equal(count, fleet_case_play(fleet_create(arena, job_fleet(&c.spec), 7), 2.0 * end_s,
                                            twice, ROOM));
    for (uint32_t i = 0; i < count && i < ROOM; i++)
        assert_true(same(&plain[i], &twice[i], 2.0));
    assert_true(count > 2);
    arena_destroy(arena);
}

static void test_scale(void **state)
{
    each(check_scale);
}

/* Other causes around it, of its own law or another, and more spares: the same draws. Another seed
 * or another name: others. */
static void check_own_draws(const struct failure_kind *kind, int unit)
{
    static struct fleet_event alone[ROOM], among[ROOM];
    struct arena *arena = arena_create();
    struct fleet_case c;
    fleet_case_create(NODES, 0, &c);
    add(&c, kind, "cause", unit, 500.0);
    uint32_t count =
        fleet_case_play(fleet_create(arena, job_fleet(&c.spec), 7), end_s, alone, ROOM);
    fleet_case_create(NODES, 5 * SPARES, &c);
    add(&c, &failure_weibull, "before", UNIT_GPU, 2000.0);
    add(&c, kind, "other", unit, 700.0);
    add(&c, kind, "cause", unit, 500.0);
    add(&c, &failure_exponential, "after", UNIT_DOMAIN, 500.0);
    uint32_t all = fleet_case_play(fleet_create(arena, job_fleet(&c.spec), 7), end_s, among, ROOM),
             found = 0;
    for (uint32_t i = 0; i < all; i++)
        if (among[i].cause == 2)
            assert_true(same(&alone[found++], &among[i], 1.0));
    assert_int_equal(found, count);
    assert_true(all > count && all < ROOM);
    fleet_case_play(fleet_create(arena, job_fleet(&c.spec), 8), end_s, among, ROOM);
    assert_true(kind->replays || among[0].at_s != alone[0].at_s);
    fleet_case_create(NODES, 0, &c);
    add(&c, kind, "cause", unit, 500.0);
    add(&c, kind, "cause", unit, 500.0); /* twice by one name: not twice the same failures */
    fleet_case_play(fleet_create(arena, job_fleet(&c.spec), 7), end_s, among, ROOM);
    assert_true(kind->replays || among[0].at_s != among[1].at_s);
    arena_destroy(arena);
}

static void test_own_draws(void **state)
{
    each(check_own_draws);
}

/* A walk: nodes leave and join at random moments; failures are taken as they come. */
struct walk {
    struct fleet_case c;
    struct fleet *fleet;
    bool inside[ALL];
    uint32_t nodes_each, inside_of[ALL]; /* of a carrier: a node, a domain */
    double left_s[ALL], still_s[ALL];
    struct fleet_event events[ROOM];
    double own_s[ROOM]; /* on the clock of its carrier */
    uint32_t count, missing;
    double moved_s; /* of the last node that left or joined */
};
static struct walk one, two;

static void walk_create(struct walk *w, struct arena *arena, const struct failure_kind *kind,
                        int unit)
{
    *w = (struct walk){.nodes_each = unit == UNIT_JOB ? ALL : unit == UNIT_DOMAIN ? DOMAIN : 1};
    fleet_case_create(NODES, SPARES, &w->c);
    add(&w->c, kind, "cause", unit, 500.0);
    w->fleet = fleet_create(arena, job_fleet(&w->c.spec), 11);
    for (uint32_t node = 0; node < NODES; node++) {
        w->inside[node] = true;
        w->inside_of[node / w->nodes_each]++;
    }
}

static void walk_leave(struct walk *w, uint32_t node, double at_s)
{
    fleet_leave(w->fleet, node, at_s);
    w->moved_s = at_s;
    w->inside[node] = false;
    w->missing++;
    if (--w->inside_of[node / w->nodes_each] == 0)
        w->left_s[node / w->nodes_each] = at_s;
}

static void walk_join(struct walk *w, uint32_t node, double at_s)
{
    fleet_join(w->fleet, node, at_s);
    w->moved_s = at_s;
    w->inside[node] = true;
    w->missing--;
    uint32_t carrier = node / w->nodes_each;
    if (w->inside_of[carrier]++ == 0)
        w->still_s[carrier] += at_s - w->left_s[carrier];
}

static void walk_strike(struct walk *w, const struct fleet_event *event, uint32_t unit)
{
    uint32_t struck = 0;
    for (uint32_t node = event->node; node < event->node + event->node_count; node++)
        struck += w->inside[node] && fleet_hit(w->fleet, event, node);
    assert_true(struck > 0 || unit == UNIT_JOB);
    assert_true(w->count < ROOM);
    assert_true(event->at_s > w->moved_s); /* what was missed while outside does not come late */
    uint32_t carrier = unit == UNIT_JOB ? 0 : event->node / w->nodes_each;
    w->own_s[w->count] = event->at_s - w->still_s[carrier];
    w->events[w->count++] = *event;
    fleet_take(w->fleet, event);
}

static void walk_until(struct walk *w, int unit, double limit_s, bool looks)
{
    struct fleet_event event, again;
    while (fleet_next(w->fleet, limit_s, &event)) {
        assert_true(event.at_s < limit_s);
        if (looks) {
            assert_true(fleet_next(w->fleet, INFINITY, &again) && same(&event, &again, 1.0));
            assert_false(fleet_next(w->fleet, event.at_s, &again));
        }
        walk_strike(w, &event, (uint32_t)unit);
    }
    if (looks)
        fleet_next(w->fleet, INFINITY, &event);
}

/* One in two moves replaces a node, the others leave a gap or fill one; at times half is gone. */
static void walk(struct walk *w, int unit, uint64_t seed, bool looks)
{
    struct arena *arena = arena_create();
    struct random_stream *stream = random_create(arena, seed, 0, "walk");
    for (double now_s = 0.0; now_s < end_s; now_s -= 20.0 * log(random_uniform(stream))) {
        walk_until(w, unit, now_s, looks);
        uint32_t node = (uint32_t)(random_uniform(stream) * ALL);
        if (w->inside[node] && NODES - w->missing > 3)
            walk_leave(w, node, now_s);
        else if (!w->inside[node] && w->missing > 0)
            walk_join(w, node, now_s);
    }
    walk_until(w, unit, end_s, looks);
    arena_destroy(arena);
}

/* Looking far ahead before each move changes nothing; who is struck stands in the job. */
static void check_looks(const struct failure_kind *kind, int unit)
{
    struct arena *arena = arena_create();
    for (uint64_t seed = 0; seed < 20; seed++) {
        walk_create(&one, arena, kind, unit);
        walk_create(&two, arena, kind, unit);
        walk(&one, unit, seed, false);
        walk(&two, unit, seed, true);
        assert_int_equal(one.count, two.count);
        for (uint32_t i = 0; i < one.count; i++)
            assert_true(same(&one.events[i], &two.events[i], 1.0));
    }
    arena_destroy(arena);
}

static void test_looks(void **state)
{
    each(check_looks);
}

/* A unit fails when its own clock says so, whatever its node went through: the n-th failure of each
 * unit comes at the same own time in every walk as in a job that nobody leaves, or that consists
 * of the spares. */
static void check_ages(const struct failure_kind *kind, int unit)
{
    static double lives[GPUS * ALL][UNIT_ROOM];
    static uint32_t known[GPUS * ALL], met[GPUS * ALL];
    if (!kind->life)
        return;
    struct arena *arena = arena_create();
    memset(known, 0, sizeof known);
    for (unsigned spares = 0; spares < 2; spares++) {
        walk_create(&one, arena, kind, unit);
        for (uint32_t node = 0; spares && node < NODES; node++)
            walk_leave(&one, node, 0.0);
        for (uint32_t node = NODES; spares && node < ALL; node++)
            walk_join(&one, node, 0.0);
        walk_until(&one, unit, end_s, false);
        for (uint32_t i = 0; i < one.count && !(spares && unit == UNIT_JOB); i++) {
            assert_true(known[one.events[i].unit] < UNIT_ROOM);
            lives[one.events[i].unit][known[one.events[i].unit]++] = one.own_s[i];
        }
    }
    for (uint64_t seed = 0; seed < 20; seed++) {
        walk_create(&one, arena, kind, unit);
        walk(&one, unit, seed, false);
        memset(met, 0, sizeof met);
        for (uint32_t i = 0; i < one.count; i++) {
            uint32_t at = one.events[i].unit;
            assert_true(met[at] < known[at]);
            assert_true(fabs(lives[at][met[at]++] - one.own_s[i]) < 1e-9 * end_s);
        }
        assert_true(one.count > 0);
    }
    arena_destroy(arena);
}

static void test_ages(void **state)
{
    each(check_ages);
}

/* A law without memory strikes the same slots at the same moments whoever stands in them, as long
 * as the job is full: policies with other spares see the same failures. */
static void check_slots(const struct failure_kind *kind, int unit)
{
    struct fleet_event event;
    if (!kind->memoryless || kind->lemons || unit == UNIT_DOMAIN)
        return;
    struct arena *arena = arena_create();
    walk_create(&one, arena, kind, unit);
    walk_create(&two, arena, kind, unit);
    walk_until(&one, unit, end_s, false);
    for (uint32_t spare = NODES; fleet_next(two.fleet, end_s, &event);) {
        walk_strike(&two, &event, (uint32_t)unit);
        if (event.node == UINT32_MAX)
            continue;
        walk_leave(&two, event.node, event.at_s);
        walk_join(&two, spare, event.at_s); /* the broken node is the next spare */
        spare = event.node;
    }
    assert_int_equal(one.count, two.count);
    for (uint32_t i = 0; i < one.count; i++)
        assert_true(one.events[i].at_s == two.events[i].at_s);
    assert_true(one.count > 0);
    arena_destroy(arena);
}

static void test_slots(void **state)
{
    each(check_slots);
}

/* Half of the nodes gone from the start: half as many failures of units; a spare domain counts once
 * it is in. */
static void check_half(const struct failure_kind *kind, int unit)
{
    double half = 0.0, full = 0.0;
    struct arena *arena = arena_create();
    for (uint64_t seed = 0; seed < 150; seed++) {
        struct fleet_case c;
        fleet_case_create(NODES, SPARES, &c);
        add(&c, kind, "cause", unit, 500.0);
        full += fleet_case_play(fleet_create(arena, job_fleet(&c.spec), seed), end_s, NULL, 0);
        struct fleet *fleet = fleet_create(arena, job_fleet(&c.spec), seed + 1000);
        for (uint32_t node = 0; node < NODES / 2 + SPARES; node++)
            fleet_leave(fleet, node, 0.0);
        for (uint32_t node = NODES; node < ALL; node++)
            fleet_join(fleet, node, 0.0);
        half += fleet_case_play(fleet, end_s, NULL, 0);
    }
    assert_true(kind->replays || unit == UNIT_JOB ||
                fabs(2.0 * half - full) < 4.5 * sqrt((4.0 * half + full) * 2.0));
    arena_destroy(arena);
}

static void test_half(void **state)
{
    each(check_half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),      cmocka_unit_test(test_lives),
        cmocka_unit_test(test_rates),     cmocka_unit_test(test_scale),
        cmocka_unit_test(test_own_draws), cmocka_unit_test(test_looks),
        cmocka_unit_test(test_ages),      cmocka_unit_test(test_slots),
        cmocka_unit_test(test_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
