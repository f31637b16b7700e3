/* What each recovery policy decides of one failure, by table: spares taken, waiting, shrinking,
 * going on, at the limits of each; and what its spares cost. */
#include <string.h>

#include "models/recovery/recovery_kind.h"
#include "tests/test.h"

static void test_traits(void **state)
{
    static const struct {
        const char *name;
        bool has_spares, spares_idle;
    } rows[] = {
        {"restart-in-place", false, false}, {"wait-for-repair", false, false},
        {"hot-spare", true, true},          {"warm-spare", true, true},
        {"cold-spare", true, false},        {"elastic-shrink", true, true},
        {"replica-level", true, true},
    };
    assert_int_equal(recovery_kind_count, sizeof rows / sizeof rows[0]);
    for (unsigned i = 0; i < recovery_kind_count; i++) {
        const struct recovery_kind *kind = recovery_find(rows[i].name);
        assert_non_null(kind);
        assert_int_equal(kind->has_spares, rows[i].has_spares);
        assert_int_equal(kind->spares_idle, rows[i].spares_idle);
    }
    assert_null(recovery_find("hot_spare"));
}

/* Of nodes short, and nodes that stand by: who is taken, whether the rest is waited for. */
static void test_spares_and_waits(void **state)
{
    static const struct {
        uint32_t nodes_short, free, taken;
    } rows[] = {{0, 0, 0}, {0, 3, 0}, {1, 0, 0}, {1, 1, 1}, {1, 2, 1},
                {3, 2, 2}, {3, 3, 3}, {3, 4, 3}, {2, 1, 1}};
    static const char *const takers[] = {"hot-spare", "warm-spare", "cold-spare", "elastic-shrink",
                                         "replica-level"};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct recovery_situation situation = {.hardware = true,
                                                     .nodes_short = rows[i].nodes_short,
                                                     .spares_free = rows[i].free,
                                                     .replicas = 4,
                                                     .replicas_min = 1};
        struct recovery_decision out;
        for (unsigned k = 0; k < sizeof takers / sizeof takers[0]; k++) {
            out = (struct recovery_decision){0};
            recovery_find(takers[k])->decide(&situation, &out);
            assert_int_equal(out.nodes_taken, rows[i].taken);
            assert_int_equal(out.wait, rows[i].taken < rows[i].nodes_short);
            assert_false(out.shrink || out.others_go_on); /* no replica is up */
            /* only a cold spare boots, where one is taken at all */
            assert_int_equal(out.links[LINK_PROVISION], k == 2 && rows[i].taken > 0);
            assert_int_equal(out.links[LINK_SCHEDULE], k == 1 || k == 2);
        }
        out = (struct recovery_decision){0};
        recovery_find("wait-for-repair")->decide(&situation, &out);
        assert_true(out.nodes_taken == 0 && out.wait == (rows[i].nodes_short > 0));
        out = (struct recovery_decision){0};
        recovery_find("restart-in-place")->decide(&situation, &out);
        assert_true(out.nodes_taken == 0 && !out.wait);
    }
}

/* Elastic: with nodes still short the job shrinks to the replicas that are up, if they are enough;
 * nothing is allocated where nothing was taken. */
static void test_shrinking(void **state)
{
    static const struct {
        uint32_t nodes_short, free, up, least;
        bool shrink, wait;
    } rows[] = {
        {1, 0, 3, 1, true, false},  {1, 0, 3, 2, true, false},  {1, 0, 3, 3, true, false},
        {1, 0, 3, 4, false, true},  {1, 0, 1, 1, true, false},  {1, 0, 0, 1, false, true},
        {1, 0, 0, 0, false, true},  {2, 1, 2, 2, true, false},  {2, 1, 1, 2, false, true},
        {1, 1, 3, 1, false, false}, {2, 3, 3, 1, false, false}, {0, 0, 3, 1, false, false},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct recovery_situation situation = {.hardware = true,
                                                     .nodes_short = rows[i].nodes_short,
                                                     .spares_free = rows[i].free,
                                                     .replicas_up = rows[i].up,
                                                     .replicas_untouched = rows[i].up,
                                                     .replicas = 4,
                                                     .replicas_min = rows[i].least};
        struct recovery_decision out = {0};
        recovery_find("elastic-shrink")->decide(&situation, &out);
        assert_int_equal(out.shrink, rows[i].shrink);
        assert_int_equal(out.wait, rows[i].wait);
        assert_false(out.others_go_on);
        assert_int_equal(out.links[LINK_ALLOCATE], rows[i].nodes_short > 0 && rows[i].free > 0);
    }
}

/* Replica-level: the replicas that nothing touched go on if they are enough, and then nobody waits;
 * replicas that are up but were touched do not count. */
static void test_going_on(void **state)
{
    static const struct {
        uint32_t nodes_short, free, untouched, least;
        bool go_on, wait;
    } rows[] = {
        {1, 0, 3, 1, true, false},  {1, 0, 3, 3, true, false}, {1, 0, 3, 4, false, true},
        {1, 0, 1, 1, true, false},  {1, 0, 0, 1, false, true}, {1, 0, 0, 0, false, true},
        {1, 1, 0, 1, false, false}, {2, 1, 0, 1, false, true}, {1, 1, 2, 2, true, false},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct recovery_situation situation = {.hardware = true,
                                                     .nodes_short = rows[i].nodes_short,
                                                     .spares_free = rows[i].free,
                                                     .replicas_up = 4,
                                                     .replicas_untouched = rows[i].untouched,
                                                     .replicas = 4,
                                                     .replicas_min = rows[i].least};
        struct recovery_decision out = {0};
        recovery_find("replica-level")->decide(&situation, &out);
        assert_int_equal(out.others_go_on, rows[i].go_on);
        assert_int_equal(out.wait, rows[i].wait);
        assert_false(out.shrink);
        assert_int_equal(out.links[LINK_ALLOCATE], rows[i].free > 0);
    }
}

/* By the words of each policy: who boots a node, who asks the scheduler, who counts replicas. */
static void test_what_each_policy_heeds(void **state)
{
    static const struct {
        const char *name;
        bool cordons, allocates, schedules, provisions, counts, shrinks;
    } rows[] = {{"restart-in-place", false, false, false, false, false, false},
                {"wait-for-repair", true, false, true, false, false, false},
                {"hot-spare", true, true, false, false, false, false},
                {"warm-spare", true, true, true, false, false, false},
                {"cold-spare", true, true, true, true, false, false},
                {"elastic-shrink", true, true, false, false, true, true},
                {"replica-level", true, true, false, false, true, false}};
    const struct kind_options none = {0};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct recovery_heeds heeds = recovery_heeds(recovery_find(rows[i].name), &none);
        assert_int_equal(heeds.links[LINK_CORDON], rows[i].cordons);
        assert_int_equal(heeds.links[LINK_ALLOCATE], rows[i].allocates);
        assert_int_equal(heeds.links[LINK_SCHEDULE], rows[i].schedules);
        assert_int_equal(heeds.links[LINK_PROVISION], rows[i].provisions);
        assert_int_equal(heeds.replicas_min, rows[i].counts);
        assert_int_equal(heeds.shrinks, rows[i].shrinks);
        assert_true(heeds.links[LINK_DETECT] && heeds.links[LINK_DIAGNOSE]);
        assert_true(heeds.links[LINK_START] && heeds.links[LINK_WARMUP]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_traits),
        cmocka_unit_test(test_spares_and_waits),
        cmocka_unit_test(test_shrinking),
        cmocka_unit_test(test_going_on),
        cmocka_unit_test(test_what_each_policy_heeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
