/* Messages of Chakra traces: rings that send before they receive, two senders of one receiver, and
 * dependencies on nodes that are not there. */
#include <math.h>
#include <string.h>

#include "models/step/simulate/collective_run.h"
#include "tests/scenarios/import/chakra_bench.h"
#include "tests/test.h"

static void expect_near(double value, double wanted, double slack)
{
    if (!(fabs(value - wanted) <= slack))
        fail_msg("%.17g is not %.17g", value, wanted);
}

static double message_s(struct chakra_bench *b, double bytes)
{
    struct collective_result alone;
    assert_true(collective_run(&b->tasks.c, COMM_SEND, 2, bytes, &alone, &b->error));
    return alone.time_s;
}

/* As ASTRA-sim's custom ring all-reduce: in each of `steps` steps a rank sends to the next, then
 * receives from the one before, then goes on. */
static void write_ring(struct chakra_bench *b, uint32_t ranks, unsigned steps, int64_t bytes)
{
    for (uint32_t r = 0; r < ranks; r++)
        for (unsigned s = 0; s < steps; s++) {
            chakra_case_message(&b->files[r], 2 * s + 1, CHAKRA_SEND, (r + 1) % ranks, bytes);
            if (s > 0)
                chakra_case_wait(&b->files[r], 2 * s);
            chakra_case_message(&b->files[r], 2 * s + 2, CHAKRA_RECV, (r + ranks - 1) % ranks,
                                bytes);
            chakra_case_wait(&b->files[r], 2 * s + 1);
        }
}

/* All ranks send at once, over a port each: as many messages as steps, one after the other. */
static void test_a_ring_that_sends_first(void **state)
{
    for (uint32_t ranks = 2; ranks <= 8; ranks++) {
        struct chakra_bench b;
        const unsigned steps = 2 * (ranks - 1);
        chakra_bench_begin(&b, ranks);
        b.eager_bytes = 1 << 17;
        write_ring(&b, ranks, steps, 1 << 17);
        const struct task_played *played = chakra_bench_play(&b);
        const double one_s = message_s(&b, 0x1p17);
        expect_near(played->step_s, steps * one_s, 1e-9 * steps * one_s);
        for (uint32_t r = 0; r < ranks; r++)
            expect_near(played->parts_s[r][TASK_PART_COMMUNICATION], played->step_s, 1e-12);
        chakra_bench_end(&b);
    }
}

static void test_above_the_limit_it_waits_for_ever(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 4);
    b.eager_bytes = (1 << 17) - 1;
    write_ring(&b, 4, 1, 1 << 17);
    assert_true(chakra_bench_join(&b));
    const char *why = task_case_refused(&b.tasks);
    assert_non_null(strstr(why, "the ranks wait for each other and never end: rank "));
    assert_non_null(strstr(why, "a send of more bytes than the eager limit waits for its receiver "
                                "(--eager)"));
    chakra_bench_end(&b);
    /* Where all receive first, no limit helps, and none is named. */
    chakra_bench_begin(&b, 2);
    b.eager_bytes = 1e9;
    for (uint32_t r = 0; r < 2; r++) {
        chakra_case_message(&b.files[r], 1, CHAKRA_RECV, 1 - r, 8);
        chakra_case_message(&b.files[r], 2, CHAKRA_SEND, 1 - r, 8);
        chakra_case_wait(&b.files[r], 1);
    }
    assert_true(chakra_bench_join(&b));
    why = task_case_refused(&b.tasks);
    assert_non_null(strstr(why, "never end: rank "));
    assert_null(strstr(why, "eager"));
    chakra_bench_end(&b);
}

/* Each pair is a group of its own: messages of two senders are under way together and share the
 * receiver's port, so that both end at the same instant; of one sender they follow each other. */
static void test_two_senders_to_one_receiver(void **state)
{
    for (unsigned eager = 0; eager < 2; eager++) {
        struct chakra_bench b;
        chakra_bench_begin(&b, 3);
        b.eager_bytes = eager ? 1e9 : 0.0;
        for (uint32_t r = 1; r < 3; r++) {
            chakra_case_message(&b.files[r], 1, CHAKRA_SEND, 0, 1 << 26);
            chakra_case_message(&b.files[0], r, CHAKRA_RECV, r, 1 << 26);
        }
        const struct task_played *played = chakra_bench_play(&b);
        assert_int_equal(b.tasks.graph.group_count, 2);
        expect_near(played->times[0].finish_s, played->times[1].finish_s, 0.0);
        assert_true(played->step_s > 1.5 * message_s(&b, 0x1p26));
        chakra_bench_end(&b);
        chakra_bench_begin(&b, 2);
        b.eager_bytes = eager ? 1e9 : 0.0;
        for (unsigned i = 1; i < 3; i++) {
            chakra_case_message(&b.files[1], i, CHAKRA_SEND, 0, 1 << 26);
            chakra_case_message(&b.files[0], i, CHAKRA_RECV, 1, 1 << 26);
        }
        played = chakra_bench_play(&b);
        assert_int_equal(b.tasks.graph.group_count, 1);
        expect_near(played->times[0].finish_s, message_s(&b, 0x1p26), 1e-9);
        expect_near(played->times[1].finish_s, 2.0 * message_s(&b, 0x1p26), 1e-9);
        chakra_bench_end(&b);
    }
}

/* The end of one message frees nobody of the next: rank 2 sends after what rank 0 does with it. */
static void test_a_message_frees_its_own_ranks(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 3);
    chakra_case_message(&b.files[0], 1, CHAKRA_RECV, 1, 8);
    chakra_case_message(&b.files[0], 2, CHAKRA_RECV, 2, 8);
    chakra_case_message(&b.files[0], 3, CHAKRA_SEND, 2, 8);
    chakra_case_wait(&b.files[0], 2);
    chakra_case_message(&b.files[1], 1, CHAKRA_SEND, 0, 8);
    chakra_case_message(&b.files[2], 1, CHAKRA_RECV, 0, 8);
    chakra_case_message(&b.files[2], 2, CHAKRA_SEND, 0, 8);
    chakra_case_wait(&b.files[2], 1);
    assert_true(chakra_bench_join(&b));
    assert_non_null(strstr(task_case_refused(&b.tasks), "never end: rank "));
    chakra_bench_end(&b);
}

static void write_holes(struct chakra_bench *b)
{
    chakra_case_node(&b->files[0], 1, CHAKRA_COMP, 10);
    chakra_case_wait(&b->files[0], 77);
    chakra_case_node(&b->files[0], 2, CHAKRA_COMP, 10);
    chakra_case_wait(&b->files[0], 78);
    chakra_case_wait(&b->files[0], 1);
    chakra_case_wait(&b->files[0], 79);
    chakra_case_flag(&b->files[0], "is_cpu_op", true);
}

static void test_holes_are_dropped_and_counted(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 1);
    write_holes(&b);
    chakra_bench_refused(&b, "t.0.et: node 1 (node): ",
                         "waits for node 77, which is not in the file; take the whole trace, or "
                         "drop such dependencies (--drop-missing)");
    chakra_bench_begin(&b, 1);
    b.drop_missing = true;
    write_holes(&b);
    const struct task_played *played = chakra_bench_play(&b);
    expect_near(played->step_s, 20e-6, 1e-15); /* what is there is still waited for */
    assert_int_equal(b.counts.dropped, 3);
    assert_int_equal(b.traces[0].wait_count, 1);
    chakra_bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_ring_that_sends_first),
        cmocka_unit_test(test_above_the_limit_it_waits_for_ever),
        cmocka_unit_test(test_two_senders_to_one_receiver),
        cmocka_unit_test(test_a_message_frees_its_own_ranks),
        cmocka_unit_test(test_holes_are_dropped_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
