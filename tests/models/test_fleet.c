/* The fleet: rates as counted, draws that belong to their cause alone, looks that settle nothing,
 * nodes that leave and join. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet_case.h"
#include "sim/random.h"
#include "sim/units.h"

enum {
    ROOM = 40000
};
static struct fleet_event first_events[ROOM], second_events[ROOM];

static int same_event(const struct fleet_event *a, const struct fleet_event *b)
{
    return a->at_s == b->at_s && a->unit == b->unit && a->node == b->node &&
           a->node_count == b->node_count && a->number == b->number && a->repair_s == b->repair_s;
}

/* Llama 3: 419 in 54 days on 2,048 nodes are 3.79 for 1000 node-days, one each 3.093 h. RSC-1: 6.50
 */
static void test_job_mtbf(void **state)
{
    (void)state;
    struct fleet_case c;
    fleet_case_create(2048, 0, &c);
    assert_true(isinf(fleet_job_mtbf_s(&c.spec)));
    fleet_case_add(&c, "all", "exponential", 0, UNIT_NODE, 2048.0 * 54.0 * DAY / 419.0);
    assert_true(fabs(fleet_job_mtbf_s(&c.spec) / HOUR - 3.0931) < 5e-5);
    c.causes[0].effect = EFFECT_SLOW;
    assert_true(isinf(fleet_job_mtbf_s(&c.spec)));
    fleet_case_create(2048, 16, &c);
    fleet_case_add(&c, "node", "exponential", 0, UNIT_NODE, 1000.0 * DAY / 6.50);
    assert_true(fabs(fleet_job_mtbf_s(&c.spec) / HOUR - 1.803) < 5e-4);
    c.spec.nodes = 16384;
    assert_true(fabs(fleet_job_mtbf_s(&c.spec) / HOUR - 0.2254) < 5e-5);
}

static void test_poisson(void **state)
{
    (void)state;
    struct fleet_case c;
    struct arena *arena = arena_create();
    fleet_case_create(64, 4, &c);
    fleet_case_add(&c, "gpu", "exponential", 0, UNIT_GPU, 512.0);
    struct fleet *fleet = fleet_create(arena, &c.spec, 3);
    uint32_t count = fleet_case_play(fleet, 2e4, first_events, ROOM);
    assert_true(fabs(count - 2e4) < 4.0 * sqrt(2e4));
    double squares = 0.0, hits[64] = {0}, last = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(first_events[i].at_s > last && first_events[i].unit < 512);
        assert_int_equal(first_events[i].node, first_events[i].unit / 8);
        squares += pow(first_events[i].at_s - last, 2.0);
        last = first_events[i].at_s;
        hits[first_events[i].node]++;
    }
    assert_true(fabs(squares / count - 2.0) < 4.0 * sqrt(20.0 / count)); /* E X^2 = 2, E X^4 = 24 */
    double chi = 0.0;
    for (uint32_t i = 0; i < 64; i++)
        chi += pow(hits[i] - count / 64.0, 2.0) / (count / 64.0);
    assert_true(chi > 63.0 - 4.0 * sqrt(126.0) && chi < 63.0 + 4.0 * sqrt(126.0));
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_mtbf),
        cmocka_unit_test(test_poisson),
    };
    (void)second_events;
    (void)same_event;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
