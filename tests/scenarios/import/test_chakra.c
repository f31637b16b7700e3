/* Chakra traces: written here, read, joined into a task graph and played. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "models/step/simulate/collective_run.h"
#include "sim/units.h"
#include "tests/scenarios/import/chakra_bench.h"
#include "tests/test.h"

static void expect_near(double value, double wanted, double slack)
{
    if (!(fabs(value - wanted) <= slack))
        fail_msg("%.17g is not %.17g", value, wanted);
}

static const uint8_t sample[] = {0x07, 0x0A, 0x05, 0x31, 0x2E, 0x30, 0x2E, 0x30, 0x09,
                                 0x08, 0x01, 0x12, 0x01, 0x61, 0x18, 0x04, 0x38, 0x0C};

static void test_the_published_sample_is_read(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 1);
    memcpy(b.files[0].bytes, sample, sizeof sample);
    b.files[0].count = sizeof sample;
    expect_near(chakra_bench_play(&b)->step_s, 12e-6, 1e-18);
    assert_string_equal(b.traces[0].version, "1.0.0");
    assert_int_equal(b.traces[0].nodes[0].id, 1);
    assert_string_equal(b.traces[0].nodes[0].name, "a");
    assert_int_equal(b.traces[0].nodes[0].type, CHAKRA_COMP);
    chakra_bench_end(&b);
}

/* Whatever stands for the "a" of the sample: characters of ASCII that print are kept. */
static void test_names_can_be_printed(void **state)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        struct chakra_bench b;
        chakra_bench_begin(&b, 1);
        memcpy(b.files[0].bytes, sample, sizeof sample);
        b.files[0].bytes[13] = (uint8_t)byte;
        b.files[0].count = sizeof sample;
        chakra_bench_play(&b);
        const char wanted[] = {byte < 128 && isprint((int)byte) ? (char)byte : '?', '\0'};
        assert_string_equal(b.traces[0].nodes[0].name, wanted);
        chakra_bench_end(&b);
    }
}

static void test_compute_takes_its_durations(void **state)
{
    for (unsigned chained = 0; chained < 2; chained++) {
        struct chakra_bench b;
        chakra_bench_begin(&b, 1);
        for (uint64_t id = 20; id > 0; id--) { /* ids need not come in order */
            chakra_case_node(&b.files[0], id, CHAKRA_COMP, id);
            if (chained && id > 1)
                chakra_case_wait(&b.files[0], id - 1);
        }
        const struct task_played *played = chakra_bench_play(&b);
        expect_near(played->step_s, 210e-6, 1e-15);
        assert_int_equal(b.counts.compute, 20);
        expect_near(b.counts.duration_s, 210e-6, 1e-15);
        chakra_bench_end(&b);
    }
}

/* Host, memory and compute lanes; packed and ctrl dependencies; a node that takes no time. */
static void test_nodes_find_their_lanes(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 1);
    struct chakra_case *c = &b.files[0];
    chakra_case_metadata(c, NULL); /* PyTorch's converter tells no version */
    chakra_case_node(c, 1, CHAKRA_COMP, 10);
    chakra_case_flag(c, "is_cpu_op", true);
    chakra_case_node(c, 2, CHAKRA_METADATA, 99);
    chakra_case_varint(c, 4 << 3 | 2); /* ctrl_deps [1], packed */
    chakra_case_varint(c, 1);
    chakra_case_varint(c, 1);
    chakra_case_node(c, 3, CHAKRA_COMP, 20);
    chakra_case_flag(c, "is_cpu_op", false);
    chakra_case_wait(c, 2);
    chakra_case_node(c, 4, CHAKRA_MEM_LOAD, 25);
    chakra_case_wait(c, 2);
    const struct task_played *played = chakra_bench_play(&b);
    expect_near(played->step_s, 35e-6, 1e-15);
    expect_near(played->parts_s[0][TASK_PART_HOST], 10e-6, 1e-15);
    expect_near(played->parts_s[0][TASK_PART_COMPUTE], 20e-6, 1e-15);
    expect_near(played->parts_s[0][TASK_PART_MEMORY], 5e-6, 1e-15);
    chakra_bench_end(&b);
}

static void test_compute_without_duration_takes_the_cards_rates(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 1);
    chakra_case_node(&b.files[0], 1, CHAKRA_COMP, 0);
    chakra_case_count(&b.files[0], "num_ops", 1000000000000);
    chakra_case_count(&b.files[0], "tensor_size", 1000);
    chakra_case_node(&b.files[0], 2, CHAKRA_COMP, 0);
    chakra_case_wait(&b.files[0], 1);
    chakra_case_count(&b.files[0], "tensor_size", 1000000000);
    chakra_case_node(&b.files[0], 3, CHAKRA_COMP, 0);
    chakra_case_wait(&b.files[0], 2);
    const struct task_played *played = chakra_bench_play(&b);
    const struct gpu_spec *gpu = &b.tasks.c.gpu;
    const double flops_s = 1e12 / (gpu->peak_flops_per_s[b.tasks.c.training.precision->gemm_peak] *
                                   gpu->gemm.efficiency_ratio);
    const struct kernel stream = gpu_kernel_memory("stream", 1e9, 1.0);
    expect_near(played->step_s,
                flops_s + gpu->kernel_start_s + gpu_kernel_time_s(gpu, NULL, &stream), 1e-12);
    assert_true(played->step_s > 0.0);
    assert_int_equal(b.counts.by_rates, 2);
    assert_int_equal(b.counts.untimed, 1);
    chakra_bench_end(&b);
}

/* Every collective type of the schema that is played, among all ranks, takes what collective_run
 * says of its full buffer. */
static void test_collectives_among_all_ranks(void **state)
{
    static const struct {
        int64_t type;
        enum comm_op op;
        double whole; /* buffer, of what a rank puts in */
    } cases[] = {{0, COMM_ALL_REDUCE, 1.0},     {2, COMM_ALL_GATHER, 8.0},
                 {5, COMM_BROADCAST, 1.0},      {6, COMM_ALL_TO_ALL, 1.0},
                 {7, COMM_REDUCE_SCATTER, 1.0}, {8, COMM_REDUCE_SCATTER, 1.0}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct chakra_bench b;
        chakra_bench_begin(&b, 8);
        for (uint32_t r = 0; r < 8; r++)
            chakra_case_collective(&b.files[r], 5, cases[i].type, 1 << 24, i % 2 ? "0" : NULL);
        const struct task_played *played = chakra_bench_play(&b);
        struct collective_result alone;
        assert_true(
            collective_run(&b.tasks.c, cases[i].op, 8, cases[i].whole * 0x1p24, &alone, &b.error));
        expect_near(played->step_s, alone.time_s, 1e-9 * alone.time_s);
        assert_int_equal(b.counts.collectives, 1);
        chakra_bench_end(&b);
    }
}

/* A count may be any integer of AttributeProto (et_def.proto): int, uint, sint (zigzag), fixed and
 * sfixed, of 32 and 64 bits; a value below zero is none. */
static void test_counts_of_every_integer_type(void **state)
{
    static const struct {
        unsigned field, fixed;
        uint64_t five, below;
    } types[] = {{7, 0, 5, UINT64_MAX},  {9, 0, 5, UINT64_MAX},  {11, 0, 5, 0},
                 {13, 0, 5, UINT64_MAX}, {15, 0, 10, 9},         {17, 0, 10, 9},
                 {19, 4, 5, 0},          {21, 8, 5, UINT64_MAX}, {23, 4, 5, UINT32_MAX},
                 {25, 8, 5, UINT64_MAX}};
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
        for (unsigned below = 0; below < 2; below++) {
            struct chakra_bench b;
            const uint64_t value = below ? types[i].below : types[i].five;
            if (below && value == 0)
                continue; /* no such value */
            chakra_bench_begin(&b, 1);
            chakra_case_node(&b.files[0], 1, CHAKRA_COMP, 7);
            if (types[i].fixed > 0)
                chakra_case_fixed(&b.files[0], "tensor_size", types[i].field, types[i].fixed,
                                  value);
            else
                chakra_case_integer(&b.files[0], "tensor_size", types[i].field, value);
            if (below) {
                chakra_bench_refused(&b, "t.0.et", "tensor_size is below zero");
                continue;
            }
            assert_true(chakra_bench_join(&b));
            assert_true(b.traces[0].nodes[0].tensor_size == 5);
            chakra_bench_end(&b);
        }
}

/* Groups by name: two of four ranks each, beside each other; a third of one rank. */
static void test_groups_are_who_names_them(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 8);
    for (uint32_t r = 0; r < 8; r++) {
        chakra_case_node(&b.files[r], 1, CHAKRA_COMP, r == 7 ? 100 : 10);
        chakra_case_collective(&b.files[r], 2, 0, 1 << 24, r % 2 ? "odd" : "even");
        chakra_case_wait(&b.files[r], 1);
    }
    chakra_case_collective(&b.files[3], 3, 0, 1 << 24, "self");
    const struct task_played *played = chakra_bench_play(&b);
    assert_int_equal(b.tasks.graph.group_count, 3);
    assert_int_equal(b.tasks.graph.groups[0].member_count, 4);
    assert_int_equal(b.tasks.graph.members[b.tasks.graph.groups[1].member_first + 3], 7);
    struct collective_result alone;
    assert_true(collective_run(&b.tasks.c, COMM_ALL_REDUCE, 4, 0x1p24, &alone, &b.error));
    expect_near(played->times[1].finish_s, 10e-6 + alone.time_s, 1e-12);
    expect_near(played->step_s, 100e-6 + alone.time_s, 1e-12);
    expect_near(played->parts_s[1][TASK_PART_WAIT], 90e-6, 1e-12);
    expect_near(played->parts_s[1][TASK_PART_COMMUNICATION], alone.time_s, 1e-12);
    chakra_bench_end(&b);
}

/* The k-th on one rank meets the k-th on the others, by dependencies first and ids then. */
static void test_collectives_meet_in_the_order_of_their_calls(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 2);
    chakra_case_collective(&b.files[0], 1, 0, 1 << 20, NULL);
    chakra_case_collective(&b.files[0], 2, 0, 1 << 24, NULL);
    chakra_case_collective(&b.files[1], 9, 0, 1 << 20, NULL); /* the larger id comes first: */
    chakra_case_collective(&b.files[1], 4, 0, 1 << 24, NULL);
    chakra_case_wait(&b.files[1], 9); /* 4 waits for 9 */
    const struct task_played *played = chakra_bench_play(&b);
    expect_near(played->times[0].finish_s, played->times[3].finish_s, 0.0);
    expect_near(played->times[1].finish_s, played->times[2].finish_s, 0.0);
    assert_true(played->times[0].finish_s < played->times[1].finish_s);
    chakra_bench_end(&b);
}

static void test_barriers_meet_and_uneven_exchanges_take_the_largest(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 2);
    for (uint32_t r = 0; r < 2; r++) {
        chakra_case_node(&b.files[r], 1, CHAKRA_COMP, 10 + r);
        chakra_case_node(&b.files[r], 2, CHAKRA_COLL, 0);
        chakra_case_count(&b.files[r], "comm_type", 9);
        chakra_case_wait(&b.files[r], 1);
        chakra_case_collective(&b.files[r], 3, 6, 1 << (20 + r), NULL);
        chakra_case_wait(&b.files[r], 2);
    }
    const struct task_played *played = chakra_bench_play(&b);
    struct collective_result alone;
    assert_true(collective_run(&b.tasks.c, COMM_ALL_TO_ALL, 2, 0x1p21, &alone, &b.error));
    expect_near(played->step_s, 11e-6 + alone.time_s, 1e-12);
    chakra_bench_end(&b);
}

/* A pipeline of three stages: messages by tag, and in the order of their sends. */
static void test_messages_meet(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 3);
    chakra_case_node(&b.files[0], 1, CHAKRA_COMP, 10);
    chakra_case_message(&b.files[0], 2, CHAKRA_SEND, 1, 1 << 20);
    chakra_case_wait(&b.files[0], 1);
    chakra_case_count(&b.files[0], "comm_tag", 7);
    chakra_case_message(&b.files[0], 3, CHAKRA_SEND, 1, 1 << 22);
    chakra_case_wait(&b.files[0], 1);
    chakra_case_count(&b.files[0], "comm_src", 0);
    chakra_case_message(&b.files[1], 1, CHAKRA_RECV, 0, 1 << 22);
    chakra_case_message(&b.files[1], 2, CHAKRA_RECV, 0, 1 << 20);
    chakra_case_count(&b.files[1], "comm_tag", 7);
    chakra_case_node(&b.files[1], 3, CHAKRA_COMP, 10);
    chakra_case_wait(&b.files[1], 1);
    chakra_case_wait(&b.files[1], 2);
    chakra_case_message(&b.files[1], 4, CHAKRA_SEND, 2, 1 << 20);
    chakra_case_wait(&b.files[1], 3);
    chakra_case_message(&b.files[2], 1, CHAKRA_RECV, 1, 1 << 20);
    chakra_case_count(&b.files[2], "comm_dst", 2);
    const struct task_played *played = chakra_bench_play(&b);
    double message_s[2];
    for (unsigned i = 0; i < 2; i++) {
        struct collective_result alone;
        assert_true(
            collective_run(&b.tasks.c, COMM_SEND, 2, i ? 0x1p22 : 0x1p20, &alone, &b.error));
        message_s[i] = alone.time_s;
    }
    assert_int_equal(b.counts.messages, 3);
    expect_near(played->step_s, 20e-6 + 2.0 * message_s[0] + message_s[1], 1e-12);
    chakra_bench_end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_published_sample_is_read),
        cmocka_unit_test(test_names_can_be_printed),
        cmocka_unit_test(test_compute_takes_its_durations),
        cmocka_unit_test(test_nodes_find_their_lanes),
        cmocka_unit_test(test_compute_without_duration_takes_the_cards_rates),
        cmocka_unit_test(test_collectives_among_all_ranks),
        cmocka_unit_test(test_counts_of_every_integer_type),
        cmocka_unit_test(test_groups_are_who_names_them),
        cmocka_unit_test(test_collectives_meet_in_the_order_of_their_calls),
        cmocka_unit_test(test_barriers_meet_and_uneven_exchanges_take_the_largest),
        cmocka_unit_test(test_messages_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
