/* share: against the conditions of max-min fairness, over all small cases and over random programs
 * of starts, ends and capacity changes; the region's solution against one from nothing, bit for
 * bit. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "sim/random.h"
#include "sim/share.h"
#include "tests/test.h"

enum {
    LINKS = 12,
    ACTIVITIES = 40,
    USES = 4
};

struct activity {
    bool alive;
    uint32_t id, use_count;
    double work, cap, fairness;
    struct share_use uses[USES];
};

/* What the caller of share knows: enough to judge its rates. */
struct world {
    uint32_t link_count, activity_count;
    double capacity[LINKS];
    struct activity activities[ACTIVITIES];
};

static double load_of(const struct world *w, const double *rates, uint32_t link)
{
    double load = 0.0;
    for (uint32_t a = 0; a < w->activity_count; a++)
        for (uint32_t u = 0; w->activities[a].alive && u < w->activities[a].use_count; u++)
            if (w->activities[a].uses[u].link == link)
                load += rates[a] * w->activities[a].uses[u].weight;
    return load;
}

static double highest_level(const struct world *w, const double *rates, uint32_t link)
{
    double highest = 0.0;
    for (uint32_t a = 0; a < w->activity_count; a++)
        for (uint32_t u = 0; w->activities[a].alive && u < w->activities[a].use_count; u++)
            if (w->activities[a].uses[u].link == link)
                highest = fmax(highest, rates[a] / w->activities[a].fairness);
    return highest;
}

static bool is_held(const struct world *w, const double *rates, const struct activity *activity,
                    double rate)
{
    if (rate >= activity->cap * (1.0 - 1e-12))
        return true;
    for (uint32_t u = 0; u < activity->use_count; u++) {
        uint32_t link = activity->uses[u].link;
        bool full = load_of(w, rates, link) >= w->capacity[link] * (1.0 - 1e-12);
        bool highest = rate / activity->fairness >= highest_level(w, rates, link) * (1.0 - 1e-12);
        if (full && highest)
            return true;
    }
    return false;
}

/* The conditions of Bertsekas & Gallager 6.5.2: feasible, and each activity is at its cap or has a
 * full link on which nobody's level is higher. They hold for the max-min fair rates only. */
static bool is_max_min_fair(const struct world *w, const double *rates)
{
    for (uint32_t l = 0; l < w->link_count; l++)
        if (load_of(w, rates, l) > w->capacity[l] * (1.0 + 1e-12))
            return false;
    for (uint32_t a = 0; a < w->activity_count; a++) {
        const struct activity *activity = &w->activities[a];
        if (activity->alive && (!(rates[a] <= activity->cap * (1.0 + 1e-12)) ||
                                !is_held(w, rates, activity, rates[a])))
            return false;
    }
    return true;
}

static void start(struct share *share, struct world *w, uint32_t a, double now_s)
{
    struct activity *activity = &w->activities[a];
    activity->alive = true;
    activity->id = share_start(
        share, now_s, (struct share_demand){activity->work, activity->cap, activity->fairness},
        activity->uses, activity->use_count);
}

static void read_rates(const struct share *share, const struct world *w, double *rates)
{
    for (uint32_t a = 0; a < w->activity_count; a++)
        rates[a] = w->activities[a].alive ? share_rate(share, w->activities[a].id) : 0.0;
}

/* The rates of the same activities, all started at once in a new share. */
static void rates_from_nothing(const struct world *w, double *rates)
{
    struct arena *arena = arena_create();
    struct share *share = share_create(arena, w->link_count, w->capacity);
    struct world copy = *w;
    const uint32_t *changed;
    for (uint32_t a = w->activity_count; a-- > 0;)
        if (w->activities[a].alive)
            start(share, &copy, a, 0.0);
    share_solve(share, 0.0, &changed);
    read_rates(share, &copy, rates);
    arena_destroy(arena);
}

static void test_all_small_cases(void **state)
{
    enum {
        CAPACITIES = 3,
        SETS = 7
    };
    struct world w = {.link_count = 3, .activity_count = 4};
    double rates[ACTIVITIES];
    for (uint32_t code = 0; code < 27 * SETS * SETS * SETS * SETS; code += 5) {
        uint32_t rest = code;
        for (uint32_t l = 0; l < 3; l++, rest /= CAPACITIES)
            w.capacity[l] = 1.0 + rest % CAPACITIES;
        for (uint32_t a = 0; a < 4; a++, rest /= SETS) {
            uint32_t set = rest % SETS + 1;
            w.activities[a] =
                (struct activity){.alive = true, .work = 1.0, .cap = INFINITY, .fairness = 1.0};
            for (uint32_t l = 0; l < 3; l++)
                if (set & 1u << l)
                    w.activities[a].uses[w.activities[a].use_count++] =
                        (struct share_use){.link = l, .weight = 1.0};
        }
        rates_from_nothing(&w, rates);
        assert_true(is_max_min_fair(&w, rates));
    }
}

enum values {
    VALUES_MANY,
    VALUES_FEW, /* few capacities and weights: many exact ties */
    VALUES_ONE  /* cables of a fabric, flows without ceilings: many ties but for rounding */
};
#define CABLE 11.875 /* GB/s of a 100 Gb/s port: its thirds and fifths are rounded */
struct swarm {
    struct world world;
    struct share *share;
    struct arena *arena;
    double rates[ACTIVITIES], finish_s[ACTIVITIES];
    double now_s;
    uint64_t seed, draws;
    enum values values;
};

static uint64_t draw(struct swarm *s, uint64_t below)
{
    return random_hash(s->seed, s->draws++) % below;
}

static double draw_value(struct swarm *s)
{
    if (s->values == VALUES_ONE)
        return CABLE;
    if (s->values == VALUES_FEW)
        return (double)(1 + draw(s, 3));
    return 0.1 + (double)draw(s, 1000000) * 1e-6;
}

static void swarm_start(struct swarm *s, uint32_t a)
{
    struct activity *activity = &s->world.activities[a];
    *activity = (struct activity){.work = 1.0 + draw_value(s), .cap = INFINITY, .fairness = 1.0};
    const bool plain = s->values == VALUES_ONE;
    activity->use_count = (uint32_t)draw(s, USES + 1);
    if (activity->use_count == 0 || (!plain && draw(s, 4) == 0))
        activity->cap = draw_value(s) / (double)(1 + draw(s, 6)); /* often where links bind */
    if (!plain && draw(s, 4) == 0)
        activity->fairness = (double)(1 + draw(s, 4));
    uint32_t first = (uint32_t)draw(s, s->world.link_count);
    for (uint32_t u = 0; u < activity->use_count; u++) {
        uint32_t link = (first + u * (1 + (uint32_t)draw(s, 2))) % s->world.link_count;
        const double weight = plain ? 1.0 : draw_value(s);
        activity->uses[u] = (struct share_use){.link = link, .weight = share_weight(weight)};
    }
    start(s->share, &s->world, a, s->now_s);
}

static void swarm_step(struct swarm *s)
{
    s->now_s += 1e-3 * (double)draw(s, 100);
    for (uint64_t batch = 1 + draw(s, 3); batch > 0; batch--) {
        uint32_t a = (uint32_t)draw(s, s->world.activity_count);
        struct activity *activity = &s->world.activities[a];
        if (activity->alive) {
            activity->alive = false;
            share_finish(s->share, s->now_s, activity->id);
        } else {
            swarm_start(s, a);
        }
    }
}

static bool contains(const uint32_t *ids, size_t count, uint32_t id)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

/* Who has another rate is in `changed`; who is not keeps its finish time, to the bit. */
static void check_changed(struct swarm *s, const double *former, const bool *was_alive,
                          const uint32_t *changed, size_t count)
{
    for (size_t i = 1; i < count; i++)
        assert_true(changed[i - 1] < changed[i]);
    for (uint32_t a = 0; a < s->world.activity_count; a++) {
        const struct activity *activity = &s->world.activities[a];
        if (!activity->alive)
            continue;
        bool listed = contains(changed, count, activity->id);
        if (!listed) {
            assert_true(was_alive[a]);
            assert_true(former[a] == s->rates[a]);
            assert_true(s->finish_s[a] == share_finish_s(s->share, activity->id));
        }
        s->finish_s[a] = share_finish_s(s->share, activity->id);
    }
}

static void swarm_solve_and_judge(struct swarm *s)
{
    double former[ACTIVITIES], fresh[ACTIVITIES];
    static bool was_alive[ACTIVITIES];
    const uint32_t *changed;
    memcpy(former, s->rates, sizeof former);
    size_t count = share_solve(s->share, s->now_s, &changed);
    read_rates(s->share, &s->world, s->rates);
    assert_true(is_max_min_fair(&s->world, s->rates));
    rates_from_nothing(&s->world, fresh);
    assert_memory_equal(s->rates, fresh, s->world.activity_count * sizeof *fresh);
    for (uint32_t a = 0; a < ACTIVITIES; a++)
        was_alive[a] = former[a] > 0.0 || contains(changed, count, s->world.activities[a].id) ||
                       s->rates[a] == 0.0;
    check_changed(s, former, was_alive, changed, count);
}

static void swarm_run(uint64_t seed, uint32_t links, uint32_t activities, enum values values)
{
    struct swarm s = {.seed = seed, .values = values, .arena = arena_create()};
    s.world.link_count = links;
    s.world.activity_count = activities;
    for (uint32_t l = 0; l < links; l++)
        s.world.capacity[l] = draw_value(&s);
    s.share = share_create(s.arena, links, s.world.capacity);
    for (uint32_t step = 0; step < 60; step++) {
        swarm_step(&s);
        swarm_solve_and_judge(&s);
    }
    arena_destroy(s.arena);
}

static void test_swarm(void **state)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        swarm_run(seed, 3, 8, seed % 2 == 0 ? VALUES_FEW : VALUES_MANY);
        swarm_run(seed, LINKS, ACTIVITIES, seed % 2 == 0 ? VALUES_FEW : VALUES_MANY);
        swarm_run(seed, LINKS, ACTIVITIES, VALUES_ONE);
    }
}

/* A link waits because it is tied to the level of a user that another link then lowers. It binds
 * higher now, tied to somebody else: what may happen between the two levels comes first. */
static void test_a_tie_that_rises(void **state)
{
    static const struct {
        uint32_t use_count, links[3];
    } flows[] = {
        {1, {3}}, {2, {10, 0}}, {2, {3, 3}},  {1, {2}},    {2, {0, 2}}, {2, {0, 2}},     {1, {2}},
        {1, {0}}, {1, {9}},     {2, {9, 10}}, {2, {2, 3}}, {2, {2, 3}}, {3, {9, 10, 3}},
    };
    enum {
        FLOWS = sizeof flows / sizeof flows[0]
    };
    struct world w = {.link_count = LINKS, .activity_count = FLOWS};
    for (uint32_t l = 0; l < LINKS; l++)
        w.capacity[l] = CABLE;
    struct arena *arena = arena_create();
    struct share *share = share_create(arena, LINKS, w.capacity);
    double rates[ACTIVITIES], fresh[ACTIVITIES];
    const uint32_t *changed;
    for (uint32_t a = 0; a < FLOWS; a++) {
        w.activities[a] = (struct activity){
            .work = 1e9, .cap = INFINITY, .fairness = 1.0, .use_count = flows[a].use_count};
        for (uint32_t u = 0; u < flows[a].use_count; u++)
            w.activities[a].uses[u] = (struct share_use){flows[a].links[u], 1.0};
        if (a + 1 == FLOWS)
            share_solve(share, 0.0, &changed);
        start(share, &w, a, 0.0);
    }
    share_solve(share, 0.0, &changed);
    read_rates(share, &w, rates);
    rates_from_nothing(&w, fresh);
    assert_true(is_max_min_fair(&w, rates));
    assert_memory_equal(rates, fresh, sizeof *rates * FLOWS);
    arena_destroy(arena);
}

/* Five on some links of 48: one with a ceiling of 9.6, which is also where all links bind. When one
 * leaves, the links bind higher and the ceiling stays, in whatever order they are looked at. */
static void test_a_ceiling_where_links_bind(void **state)
{
    enum {
        SAME_LINKS = 8,
        SAME = 5
    };
    double capacity[SAME_LINKS];
    struct share_use uses[SAME_LINKS];
    for (uint32_t i = 0; i < SAME_LINKS; i++) {
        capacity[i] = 48.0;
        uses[i] = (struct share_use){i, 1.0};
    }
    for (size_t links = 1; links <= SAME_LINKS; links++) {
        struct arena *arena = arena_create();
        struct share *share = share_create(arena, SAME_LINKS, capacity);
        uint32_t id[SAME];
        const uint32_t *changed;
        for (unsigned i = 0; i < SAME; i++) {
            id[i] = share_start(
                share, 0.0, (struct share_demand){1e9, i == 0 ? 9.6 : INFINITY, 1.0}, uses, links);
            share_solve(share, 0.0, &changed);
        }
        for (unsigned i = 0; i < SAME; i++)
            assert_true(share_rate(share, id[i]) == 48.0 / SAME);
        share_finish(share, 1.0, id[SAME - 1]);
        share_solve(share, 1.0, &changed);
        assert_true(share_rate(share, id[0]) == 9.6);
        for (unsigned i = 1; i < SAME - 1; i++)
            assert_true(share_rate(share, id[i]) == (48.0 - 9.6) / 3.0);
        arena_destroy(arena);
    }
}

/* Of two links that would give an activity levels apart by rounding one holds it, to the bit. */
static void test_who_holds_an_activity(void **state)
{
    const double capacity[] = {2.0, nextafter(2.0, 3.0), 100.0};
    const struct share_use both[] = {{0, 1.0}, {1, 1.0}, {2, 1.0}};
    struct arena *arena = arena_create();
    struct share *share = share_create(arena, 3, capacity);
    const struct share_demand open = {1e9, INFINITY, 1.0}, slow = {1e9, 0.25, 1.0};
    const uint32_t *changed;
    const uint32_t held = share_start(share, 0.0, open, both, 3);
    const uint32_t first = share_start(share, 0.0, open, &both[0], 1);
    const uint32_t second = share_start(share, 0.0, open, &both[1], 1);
    const uint32_t capped = share_start(share, 0.0, slow, &both[2], 1);
    share_solve(share, 0.0, &changed);
    assert_true(share_rate(share, held) == 1.0 && share_rate(share, first) == 1.0);
    assert_true(share_held_by(share, held, 0) && share_held_by(share, first, 0));
    assert_false(share_held_by(share, held, 1));
    assert_false(share_held_by(share, held, 2) || share_held_by(share, capped, 2));
    assert_true(share_at_cap(share, capped));
    assert_false(share_at_cap(share, held) || share_at_cap(share, second));
    share_finish(share, 1.0, first);
    share_solve(share, 1.0, &changed);
    assert_true(share_held_by(share, held, 1) && share_held_by(share, second, 1));
    assert_false(share_held_by(share, held, 0));
    arena_destroy(arena);
}

static void test_judge_sees_a_planted_fault(void **state)
{
    struct world w = {.link_count = 2, .activity_count = 3, .capacity = {1.0, 2.0}};
    for (uint32_t a = 0; a < 3; a++)
        w.activities[a] = (struct activity){
            .alive = true, .work = 1.0, .cap = INFINITY, .fairness = 1.0, .use_count = 1};
    for (uint32_t a = 0; a < 3; a++)
        w.activities[a].uses[0] = (struct share_use){.link = a / 2, .weight = 1.0};
    double rates[ACTIVITIES];
    rates_from_nothing(&w, rates);
    assert_true(is_max_min_fair(&w, rates));
    rates[0] *= 1.0 + 1e-9; /* over capacity */
    assert_false(is_max_min_fair(&w, rates));
    rates[0] *= 1.0 - 1e-6; /* not full */
    assert_false(is_max_min_fair(&w, rates));
    rates[0] = 0.4, rates[1] = 0.6; /* full, but not fair */
    assert_false(is_max_min_fair(&w, rates));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_small_cases),
        cmocka_unit_test(test_swarm),
        cmocka_unit_test(test_a_tie_that_rises),
        cmocka_unit_test(test_a_ceiling_where_links_bind),
        cmocka_unit_test(test_who_holds_an_activity),
        cmocka_unit_test(test_judge_sees_a_planted_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
