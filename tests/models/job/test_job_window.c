/* The worst hour against a run that is kept minute by minute, of which every hour is summed. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "models/job/parts/job_window.h"
#include "sim/random.h"
#include "sim/units.h"
#include "tests/test.h"

enum {
    MINUTES = 600,
    AN_HOUR = 60,
    SEEDS = 400
};

static void lose(bool *idle, uint32_t begin, uint32_t end)
{
    memset(idle + begin, true, end - begin);
}

static double worst_of(const bool *idle, uint32_t minutes)
{
    uint32_t worst = 0;
    for (uint32_t begin = 0; begin + AN_HOUR <= minutes; begin++) {
        uint32_t lost = 0;
        for (uint32_t i = begin; i < begin + AN_HOUR; i++)
            lost += idle[i];
        worst = lost > worst ? lost : worst;
    }
    return 1.0 - (double)worst / AN_HOUR;
}

/* Work, then a stretch of nothing; now and then all since some moment is lost with it. */
static void play(struct arena *arena, uint64_t seed)
{
    struct job_window *window = job_window_create(arena);
    bool idle[MINUTES + 64] = {false};
    uint32_t now = 0;
    for (uint64_t i = 0; now < MINUTES; i++) {
        uint32_t begin = now + (uint32_t)(20.0 * random_at(seed, 3 * i));
        now = begin + (uint32_t)(12.0 * random_at(seed, 3 * i + 1));
        job_window_idle(window, begin * MINUTE, now * MINUTE);
        lose(idle, begin, now);
        double back = random_at(seed, 3 * i + 2);
        if (back < 0.2) {
            uint32_t since = (uint32_t)(now * (1.0 - back));
            job_window_lost(window, since * MINUTE, now * MINUTE);
            lose(idle, since, now);
        }
    }
    assert_true(job_window_is_open(window));
    double worst = job_window_worst_hour(window, now * MINUTE);
    assert_true(fabs(worst - worst_of(idle, now)) < 1e-9);
}

static void test_every_hour(void **state)
{
    struct arena *arena = arena_create();
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        play(arena, seed);
    arena_destroy(arena);
}

static void test_not_known(void **state)
{
    struct arena *arena = arena_create();
    struct job_window *window = job_window_create(arena);
    assert_true(isnan(job_window_worst_hour(window, 59 * MINUTE)));
    assert_true(job_window_worst_hour(window, 60 * MINUTE) == 1.0);
    job_window_idle(NULL, 0.0, 1.0);
    job_window_lost(NULL, 0.0, 1.0);
    assert_false(job_window_is_open(NULL));
    assert_true(isnan(job_window_worst_hour(NULL, DAY)));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_hour),
                                       cmocka_unit_test(test_not_known)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
