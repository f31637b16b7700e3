/* sim: order of events, when settle handlers run, stopping; and what a failing CHECK prints. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/check.h"
#include "sim/sim.h"
#include "tests/child.h"
#include "tests/test.h"

enum {
    EARLY,
    LATE
};

struct player {
    struct sim *sim;
    char log[256];
    uint32_t slots[4];
    int again; /* how often settling sets an event at the same instant */
};

static void note(struct player *player, const char *word)
{
    strcat(player->log, word);
}

static void early(struct sim *sim, void *context, uint32_t slot)
{
    struct player *player = context;
    note(player, "e");
    if (slot == player->slots[0] && sim_now_s(sim) < 2.0) /* another event at this instant */
        calendar_set(sim_calendar(sim), player->slots[1], sim_now_s(sim), EARLY);
}

static void late(struct sim *sim, void *context, uint32_t slot)
{
    (void)sim;
    (void)slot;
    note(context, "l");
}

static void settle_first(struct sim *sim, void *context)
{
    struct player *player = context;
    note(player, "[");
    if (player->again > 0 && sim_now_s(sim) > 0.0) {
        player->again--;
        calendar_set(sim_calendar(sim), player->slots[2], sim_now_s(sim), LATE);
    }
}

static void settle_second(struct sim *sim, void *context)
{
    (void)sim;
    note(context, "] ");
}

static struct player player_of(struct sim *sim)
{
    struct player player = {.sim = sim};
    for (int i = 0; i < 4; i++)
        player.slots[i] = calendar_slot(sim_calendar(sim));
    return player;
}

static void register_player(struct player *player)
{
    sim_handle(player->sim, EARLY, early, player);
    sim_handle(player->sim, LATE, late, player);
    sim_settle(player->sim, LATE, settle_second, player);
    sim_settle(player->sim, EARLY, settle_first, player);
}

static void test_instants_and_settling(void **state)
{
    struct sim *sim = sim_create(1);
    struct player player = player_of(sim);
    register_player(&player);
    player.again = 1;
    calendar_set(sim_calendar(sim), player.slots[3], 1.0, LATE);
    calendar_set(sim_calendar(sim), player.slots[0], 1.0, EARLY);
    sim_run(sim);
    /* once before the first event; then both early ones before the late one; the event that
     * settling set continues the instant, and settling follows again */
    assert_string_equal(player.log, "[] eel[] l[] ");
    assert_int_equal(sim_event_count(sim), 4);
    assert_true(sim_now_s(sim) == 1.0);
    sim_destroy(sim);
}

/* What lay there before is kept, what the simulation took is not, and the next one finds zeros. */
static void test_lent_memory(void **state)
{
    struct arena *arena = arena_create();
    char *before = arena_text(arena, "before");
    struct arena_mark mark = arena_mark(arena);
    for (unsigned i = 0; i < 3; i++) {
        struct sim *sim = sim_create_in(arena, i);
        assert_true(sim_event_count(sim) == 0);
        struct player player = player_of(sim);
        register_player(&player);
        uint64_t *taken = ARENA_ARRAY(sim_arena(sim), uint64_t, 100);
        for (unsigned k = 0; k < 100; k++) {
            assert_true(taken[k] == 0);
            taken[k] = UINT64_MAX;
        }
        calendar_set(sim_calendar(sim), player.slots[0], 1.0, EARLY);
        sim_run(sim);
        assert_true(sim_now_s(sim) == 1.0);
        sim_destroy(sim);
        struct arena_mark after = arena_mark(arena);
        assert_true(after.block == mark.block && after.used == mark.used);
    }
    assert_string_equal(before, "before");
    arena_destroy(arena);
}

static void test_arena(void **state)
{
    struct sim *sim = sim_create(77);
    assert_non_null(sim_arena(sim));
    sim_run(sim);
    assert_true(sim_now_s(sim) == 0.0);
    sim_destroy(sim);
    sim_destroy(NULL);
}

static void failing(struct sim *sim, void *context, uint32_t slot)
{
    (void)sim;
    (void)context;
    CHECK(slot > 1000000);
}

static struct sim *one_event(sim_handler_fn *handler)
{
    struct sim *sim = sim_create(42);
    sim_handle(sim, EARLY, handler, NULL);
    calendar_set(sim_calendar(sim), calendar_slot(sim_calendar(sim)), 2.5, EARLY);
    return sim;
}

static void fail_within(void)
{
    check_replay("orrery run x.yaml --seed 42");
    sim_run(one_event(failing));
}

static void nothing(struct sim *sim, void *context, uint32_t slot)
{
    (void)sim;
    (void)context;
    (void)slot;
}

static void fail_after(void)
{
    struct sim *sim = one_event(nothing);
    sim_run(sim);
    CHECK(sim == NULL);
}

/* A simulation within another, as a step within a job: the outer one goes on. */
static void run_another(struct sim *sim, void *context, uint32_t slot)
{
    sim_run(one_event(nothing));
    sim_now_s(sim);
    failing(sim, context, slot);
}

static void fail_around(void)
{
    struct sim *sim = sim_create(7);
    sim_handle(sim, LATE, run_another, NULL);
    calendar_set(sim_calendar(sim), calendar_slot(sim_calendar(sim)), 8.5, LATE);
    sim_run(sim);
}

/* While it is set up, before it runs. */
static void fail_before(void)
{
    struct sim *sim = sim_create(7);
    const struct check_context *former = sim_enter(sim);
    CHECK(former != NULL);
}

static void fail_left(void)
{
    struct sim *sim = sim_create(7);
    check_enter(sim_enter(sim));
    CHECK(sim == NULL);
}

static void handle_twice(void)
{
    sim_handle(one_event(nothing), EARLY, nothing, NULL);
}

static void handle_beyond(void)
{
    sim_handle(sim_create(1), SIM_RANK_MAX, nothing, NULL);
}

static void settle_twice(void)
{
    struct sim *sim = sim_create(1);
    sim_settle(sim, LATE, settle_first, NULL);
    sim_settle(sim, LATE, settle_first, NULL);
}

static void settle_beyond(void)
{
    sim_settle(sim_create(1), SIM_RANK_MAX, settle_first, NULL);
}

static void handled_by_nobody(void)
{
    struct sim *sim = one_event(nothing);
    calendar_set(sim_calendar(sim), calendar_slot(sim_calendar(sim)), 2.5, LATE);
    sim_run(sim);
}

static void test_failing_check_names_the_simulation(void **state)
{
    char text[2048];
    int status = child_output(fail_within, text, sizeof text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    const char *parts[] = {"slot > 1000000", "test_sim.c:", "simulated time 2.5 s",
                           "event 1",        "seed 42",     "replay: orrery run x.yaml --seed 42"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_non_null(strstr(text, parts[i]));
}

/* After a simulation, none is named; after one within another, the outer one is. */
static void test_which_simulation_is_named(void **state)
{
    char text[2048];
    int status = child_output(fail_after, text, sizeof text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "claim does not hold: sim == NULL"));
    assert_null(strstr(text, "simulated time"));
    assert_null(strstr(text, "replay"));
    status = child_output(fail_around, text, sizeof text);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "simulated time 8.5 s, event 1, seed 7\n"));
    assert_null(strstr(text, "replay"));
    child_output(fail_before, text, sizeof text);
    assert_non_null(strstr(text, "simulated time 0 s, event 0, seed 7\n"));
    child_output(fail_left, text, sizeof text);
    assert_null(strstr(text, "simulated time"));
}

static void test_misuse_is_caught(void **state)
{
    void (*const acts[])(void) = {handle_twice, handle_beyond, settle_twice, settle_beyond,
                                  handled_by_nobody};
    char text[2048];
    for (unsigned i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        int status = child_output(acts[i], text, sizeof text);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        assert_non_null(strstr(text, "claim does not hold"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_instants_and_settling),
        cmocka_unit_test(test_lent_memory),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_failing_check_names_the_simulation),
        cmocka_unit_test(test_which_simulation_is_named),
        cmocka_unit_test(test_misuse_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
