/* The calendar against a reference that looks at every slot, over random programs of set, move,
 * peek and pop; ties; growth. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/calendar.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    SLOTS = 300
};

struct reference {
    bool taken[SLOTS], set[SLOTS];
    double time_s[SLOTS];
    uint32_t rank[SLOTS];
    uint64_t sequence[SLOTS], next_sequence;
    bool ignore_rank; /* the planted fault */
};

static bool earlier(const struct reference *r, uint32_t a, uint32_t b)
{
    if (r->time_s[a] != r->time_s[b])
        return r->time_s[a] < r->time_s[b];
    if (r->rank[a] != r->rank[b] && !r->ignore_rank)
        return r->rank[a] < r->rank[b];
    return r->sequence[a] < r->sequence[b];
}

static uint32_t reference_least(const struct reference *r)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t slot = 0; slot < SLOTS; slot++)
        if (r->set[slot] && (least == UINT32_MAX || earlier(r, slot, least)))
            least = slot;
    return least;
}

struct play {
    struct reference reference;
    struct calendar *calendar;
    uint64_t seed, step;
    double now_s;
};

static uint64_t draw(struct play *p, uint64_t below)
{
    return random_hash(p->seed, p->step++) % below;
}

static void play_set(struct play *p, uint32_t slot)
{
    struct reference *r = &p->reference;
    if (!r->taken[slot])
        return;
    r->time_s[slot] = p->now_s + (double)draw(p, 6) * 0.25; /* few values: many ties */
    r->rank[slot] = (uint32_t)draw(p, 3);
    r->sequence[slot] = r->next_sequence++;
    r->set[slot] = true;
    calendar_set(p->calendar, slot, r->time_s[slot], r->rank[slot]);
}

static void play_take(struct play *p)
{
    uint32_t slot = calendar_slot(p->calendar);
    if (slot >= SLOTS)
        return;
    assert_false(p->reference.taken[slot]);
    p->reference.taken[slot] = true;
}

static bool play_pop(struct play *p, bool remove)
{
    struct reference *r = &p->reference;
    struct calendar_event event = {0};
    uint32_t least = reference_least(r);
    bool some = remove ? calendar_pop(p->calendar, &event) : calendar_peek(p->calendar, &event);
    if (some != (least != UINT32_MAX))
        return false;
    if (!some)
        return true;
    if (event.slot != least || event.time_s != r->time_s[least] || event.rank != r->rank[least])
        return false;
    p->now_s = event.time_s;
    r->set[least] = r->set[least] && !remove;
    return true;
}

static bool play_step(struct play *p)
{
    uint32_t slot = (uint32_t)draw(p, SLOTS);
    switch (draw(p, 6)) {
    case 0:
        play_take(p);
        return true;
    case 1:
        return play_pop(p, false);
    case 2:
    case 3:
        return play_pop(p, true);
    default:
        play_set(p, slot);
        return true;
    }
}

static bool play_program(uint64_t seed, uint32_t steps, bool fault)
{
    struct arena *arena = arena_create();
    struct play p = {.seed = seed, .calendar = calendar_create(arena, 0)};
    p.reference.ignore_rank = fault;
    bool agree = true;
    for (uint32_t i = 0; i < steps && agree; i++)
        agree = play_step(&p);
    while (agree && reference_least(&p.reference) != UINT32_MAX)
        agree = play_pop(&p, true);
    arena_destroy(arena);
    return agree;
}

static void test_random_programs_agree(void **state)
{
    for (uint64_t seed = 0; seed < 60; seed++)
        assert_true(play_program(seed, 2000, false));
}

static void test_planted_fault_is_seen(void **state)
{
    uint32_t seen = 0;
    for (uint64_t seed = 0; seed < 10; seed++)
        seen += !play_program(seed, 2000, true);
    assert_int_equal(seen, 10);
}

static void test_ties_by_rank_then_sequence(void **state)
{
    struct arena *arena = arena_create();
    struct calendar *calendar = calendar_create(arena, 4);
    uint32_t slots[4];
    for (int i = 0; i < 4; i++)
        slots[i] = calendar_slot(calendar);
    calendar_set(calendar, slots[3], 1.0, 1);
    calendar_set(calendar, slots[1], 1.0, 0);
    calendar_set(calendar, slots[0], 1.0, 1);
    calendar_set(calendar, slots[2], -0.0, CALENDAR_RANK_MAX - 1);
    calendar_set(calendar, slots[3], 1.0, 1); /* moved: now after slots[0] */
    const uint32_t order[4] = {2, 1, 0, 3};
    struct calendar_event event;
    for (int i = 0; i < 4; i++) {
        assert_true(calendar_pop(calendar, &event));
        assert_int_equal(event.slot, slots[order[i]]);
    }
    assert_false(calendar_pop(calendar, &event));
    arena_destroy(arena);
}

static void test_growth_keeps_events_sorted(void **state)
{
    enum {
        COUNT = 5000
    };
    struct arena *arena = arena_create();
    struct calendar *calendar = calendar_create(arena, 0);
    for (uint32_t i = 0; i < COUNT; i++)
        calendar_set(calendar, calendar_slot(calendar), (double)(random_hash(7, i) % 1000), 0);
    struct calendar_event event;
    double last_s = 0.0;
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_true(calendar_pop(calendar, &event));
        assert_true(event.time_s >= last_s);
        last_s = event.time_s;
    }
    assert_false(calendar_pop(calendar, &event));
    arena_destroy(arena);
}

enum misuse {
    SET_NEGATIVE,
    SET_INFINITE,
    SET_NAN,
    SET_RANK,
    SET_UNKNOWN,
    HINT,
    NO_MISUSE
};

static void misuse(enum misuse what)
{
    struct calendar *calendar =
        calendar_create(arena_create(), what == HINT ? (UINT32_C(1) << 31) + 1 : 4);
    uint32_t slot = calendar_slot(calendar);
    double time_s = what == SET_NEGATIVE ? -1e-300 : what == SET_INFINITE ? INFINITY : 1.0;
    calendar_set(calendar, slot + (what == SET_UNKNOWN), what == SET_NAN ? NAN : time_s,
                 CALENDAR_RANK_MAX - (what == SET_RANK ? 0 : 1));
}

/* Each CHECK at its limit, in a child, since a broken one does not return. */
static void test_misuse_is_caught(void **state)
{
    for (int what = SET_NEGATIVE; what <= NO_MISUSE; what++) {
        int status;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            signal(SIGABRT, SIG_DFL);
            if (freopen("/dev/null", "w", stderr) == NULL)
                _exit(2);
            misuse((enum misuse)what);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, what != NO_MISUSE);
        assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs_agree),
        cmocka_unit_test(test_planted_fault_is_seen),
        cmocka_unit_test(test_ties_by_rank_then_sequence),
        cmocka_unit_test(test_growth_keeps_events_sorted),
        cmocka_unit_test(test_misuse_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
