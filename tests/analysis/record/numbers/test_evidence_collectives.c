/* Collectives of a step as a profile is told of them: which lines of nccl-tests measure them, which
 * points nothing asks for, what is lacking. On uses that are written here. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/evidence/evidence_collectives.h"
#include "scenarios/assemble/scenario.h"
#include "sim/units.h"
#include "tests/test.h"

enum {
    TEXT_MAX = 4096
};

static struct collective_use use(enum comm_op op, uint32_t ranks, uint32_t nodes, double bytes,
                                 double gpu_s)
{
    return (struct collective_use){op,    ranks, nodes,      ranks / nodes,
                                   bytes, gpu_s, "bfloat16", COLLECTIVE_MODELLED};
}

static void print(const struct collective_use *uses, uint32_t count, double ranks, char *out)
{
    struct arena *arena = arena_create();
    FILE *file = tmpfile();
    evidence_print_collectives(file, arena, uses, count, ranks);
    rewind(file);
    out[fread(out, 1, TEXT_MAX - 1, file)] = '\0';
    fclose(file);
    arena_destroy(arena);
}

static void shows(const char *text, const char *words)
{
    if (strstr(text, words) == NULL)
        fail_msg("'%s' is not in\n%s", words, text);
}

/* Sizes from the power of two at or below the least to that at or above the most; within a node one
 * process with all cards, across nodes one card a process and so many processes a node; seconds of
 * the mean of four ranks. */
static void test_lines_of_nccl_tests(void **state)
{
    char text[TEXT_MAX];
    const struct collective_use uses[] = {
        use(COMM_ALL_REDUCE, 8, 1, 48 * MIB, 2.0), use(COMM_ALL_REDUCE, 8, 1, 3 * MIB, 1.0),
        use(COMM_ALL_REDUCE, 8, 1, 48 * MIB, 1.0), /* the same again */
        use(COMM_ALL_GATHER, 16, 2, 2 * GIB, 6.0), use(COMM_EXPERT_EXCHANGE, 8, 1, MIB, 1.0),
    };
    print(uses, 5, 4.0, text);
    shows(text, "# 0.75 all_reduce ranks=8 nodes=1 bytes=50331648 bfloat16\n");
    shows(text, "# 0.25 all_reduce ranks=8 nodes=1 bytes=3145728 bfloat16\n");
    shows(text, "#   all_reduce_perf -b 2M -e 64M -f 2 -g 8 -d bfloat16   # 1 s of a step\n");
    shows(text, "#   mpirun -np 16 -N 8 all_gather_perf -b 2G -e 2G -f 2 -g 1 -d bfloat16   # "
                "1.50 s of a step\n");
    shows(text, "#   no program of nccl-tests measures expert_exchange\n");
    /* As many ranks in other nodes are another group, whatever stands between them. */
    const struct collective_use apart[] = {use(COMM_ALL_REDUCE, 8, 2, MIB, 1.0),
                                           use(COMM_ALL_REDUCE, 8, 1, 2 * MIB, 1.0),
                                           use(COMM_ALL_REDUCE, 8, 2, MIB, 1.0)};
    print(apart, 3, 1.0, text);
    shows(text, "# 2 all_reduce ranks=8 nodes=2 bytes=1048576 bfloat16\n");
    shows(text, "# 1 all_reduce ranks=8 nodes=1 bytes=2097152 bfloat16\n");
    shows(text, "#   mpirun -np 8 -N 4 all_reduce_perf -b 1M -e 1M -f 2 -g 1 -d bfloat16   # 2 s");
    print(uses, 0, 4.0, text);
    assert_string_equal(text, "");
}

static const char *message(const struct record *record, size_t index)
{
    size_t count;
    const struct message_row *rows = record_message(record, &count);
    return index < count ? rows[index].text : "";
}

static size_t message_count(const struct record *record)
{
    size_t count;
    record_message(record, &count);
    return count;
}

/* Points of two groups, of which a step asks for one. Its time comes from the model: both are
 * unused; from the points: one is. */
static void test_points_that_nothing_asks_for(void **state)
{
    static const struct collective_point points[] = {{COMM_ALL_REDUCE, 8, 1, MIB, 1e-3},
                                                     {COMM_ALL_REDUCE, 8, 1, 2 * MIB, 2e-3},
                                                     {COMM_ALL_GATHER, 8, 1, MIB, 1e-3}};
    struct arena *arena = arena_create();
    struct configuration *c = ARENA_NEW(arena, struct configuration);
    c->collectives = (struct collective_points){points, 3};
    struct collective_use asked = use(COMM_ALL_REDUCE, 8, 1, GIB, 8.0);
    struct record far = {.arena = arena}, near = {.arena = arena}, none = {.arena = arena};
    evidence_tell_points(c, &asked, 1, 8.0, &far);
    assert_int_equal(message_count(&far), 3);
    shows(message(&far, 0), "2 points of all_reduce among 8 ranks of 1 node unused");
    shows(message(&far, 1), "1 point of all_gather among 8 ranks of 1 node unused");
    shows(message(&far, 2), "it lacks all_reduce among 8 ranks of 1 node, 1.00 GiB: 1 s of the");
    asked.basis = COLLECTIVE_EXTRAPOLATED;
    evidence_tell_points(c, &asked, 1, 8.0, &near);
    assert_int_equal(message_count(&near), 1);
    shows(message(&near, 0), "1 point of all_gather");
    c->collectives.count = 0; /* a profile without any is told nothing */
    evidence_tell_points(c, &asked, 1, 8.0, &none);
    assert_int_equal(message_count(&none), 0);
    arena_destroy(arena);
}

/* The longest first, with the range of their sizes; six are shown, and what is more is counted. */
static void test_what_is_lacking(void **state)
{
    static const struct collective_point point = {COMM_SEND, 2, 1, MIB, 1e-3};
    struct arena *arena = arena_create();
    struct configuration *c = ARENA_NEW(arena, struct configuration);
    c->collectives = (struct collective_points){&point, 1};
    struct collective_use uses[9];
    for (unsigned i = 0; i < 8; i++)
        uses[i] = use(COMM_ALL_REDUCE, 2 + i, 1, MIB, 1.0 + i);
    uses[8] = use(COMM_ALL_REDUCE, 9, 1, 4 * MIB, 1.0); /* of the longest group */
    struct record six = {.arena = arena}, eight = {.arena = arena};
    evidence_tell_points(c, uses, 6, 1.0, &six);
    assert_int_equal(message_count(&six), 1 + 6);
    shows(message(&six, 1), "among 7 ranks of 1 node, 1.00 MiB: 6 s");
    evidence_tell_points(c, uses, 9, 1.0, &eight);
    assert_int_equal(message_count(&eight), 1 + 6 + 1);
    shows(message(&eight, 1), "among 9 ranks of 1 node, 1.00 MiB to 4.00 MiB: 9 s");
    shows(message(&eight, 6), "among 4 ranks");
    shows(message(&eight, 7), "and 2 more");
    arena_destroy(arena);
}

/* A small dense model on one node: what its step asks for. */
static struct step *play(const char *layout, const char *gpus, const char *software,
                         struct scenario **scenario)
{
    char text[768];
    struct error error = {""};
    const struct step_options options = {.ignore_memory = true, .threads = 1};
    struct step *step = NULL;
    snprintf(
        text, sizeof text,
        "cluster: {gpu: h100-80gb-sxm, gpus: %s}\n"
        "model: {layers: 4, hidden: 2048, heads: 16, vocabulary: 32000}\n"
        "training: {sequence: 2048, global_batch: 8, precision: bf16, gradient_bytes: 4}\n"
        "layout: {pp: 1, microbatch: 1, recompute: none, %s}\nsoftware: {profile: unnamed%s}\n",
        gpus, layout, software);
    *scenario = scenario_read("t", text, strlen(text), NULL, &error);
    assert_non_null(*scenario);
    if ((*scenario)->diagnostics.error_count > 0)
        fail_msg("%s", (*scenario)->diagnostics.problems[0].text);
    assert_true(step_run(&(*scenario)->configuration, &options, &step, &error));
    return step;
}

/* Where nothing runs beside tensor ranks' all-reduces, the mean rank waits for them as long as they
 * take with their wires alone. Of activations, 2048 x 2048 elements of two bytes, they are. */
static void test_uses_are_what_ranks_wait_for(void **state)
{
    struct scenario *s;
    struct step *step =
        play("tp: 4, dp: 1, sharding: zero-0, sequence_parallel: false", "4", "", &s);
    struct arena *arena = arena_create();
    uint32_t count;
    const struct collective_use *uses =
        evidence_collective_uses(arena, &s->configuration, step, &count);
    double activations_s = 0.0, all_s = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        assert_true(uses[i].ranks == 4 && uses[i].nodes == 1 && uses[i].ranks_per_node == 4);
        all_s += uses[i].gpu_s;
        activations_s += uses[i].bytes == 2048.0 * 2048.0 * 2.0 ? uses[i].gpu_s : 0.0;
        if (uses[i].bytes == 2048.0 * 2048.0 * 2.0)
            assert_string_equal(uses[i].type, "bfloat16");
    }
    const double exposed_s = step->parts.breakdown_s[PART_EXPOSED_TP];
    assert_true(activations_s > 0.9 * all_s && exposed_s > 0.0);
    assert_true(all_s / 4.0 >= exposed_s * (1.0 - 1e-9));
    assert_true(activations_s / 4.0 <= exposed_s * (1.0 + 1e-9));
    arena_destroy(arena);
    step_destroy(step);
    scenario_destroy(s);
}

/* Gradients are reduced in fp32, or in two bytes where the software says so; what tensor ranks sum
 * has two. Twice the replicas: each tensor group has half of the microbatches, so all of them wait
 * as long together. */
static void test_types_of_what_is_sent(void **state)
{
    static const struct {
        const char *layout, *gpus, *software, *gradients;
    } cases[] = {{"tp: 2, dp: 2, sharding: zero-0", "4", "", "float"},
                 {"tp: 2, dp: 2, sharding: zero-0", "4", ", gradient_reduce_bytes: 2", "bfloat16"},
                 {"tp: 2, dp: 4, sharding: zero-0", "8", "", "float"},
                 {"tp: 2, dp: 2, sharding: zero-1", "4", "", "float"}};
    double tensor_s[sizeof cases / sizeof cases[0]] = {0.0};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct scenario *s;
        struct step *step = play(cases[i].layout, cases[i].gpus, cases[i].software, &s);
        struct arena *arena = arena_create();
        uint32_t count;
        const struct collective_use *uses =
            evidence_collective_uses(arena, &s->configuration, step, &count);
        unsigned gradients = 0;
        for (uint32_t k = 0; k < count; k++) {
            if (uses[k].bytes == 2048.0 * 2048.0 * 2.0) {
                assert_int_equal(uses[k].ranks, 2);
                assert_string_equal(uses[k].type, "bfloat16");
                tensor_s[i] += uses[k].gpu_s;
            } else if (uses[k].bytes > 1e7) {
                assert_int_equal(uses[k].ranks, i == 2 ? 4 : 2);
                /* of sharded state weights come back, in two bytes */
                assert_string_equal(
                    uses[k].type, uses[k].op == COMM_ALL_GATHER ? "bfloat16" : cases[i].gradients);
                gradients += uses[k].op != COMM_ALL_GATHER;
            }
        }
        assert_true(gradients > 0 && tensor_s[i] > 0.0);
        arena_destroy(arena);
        step_destroy(step);
        scenario_destroy(s);
    }
    assert_true(fabs(tensor_s[2] / tensor_s[0] - 1.0) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_nccl_tests),
        cmocka_unit_test(test_points_that_nothing_asks_for),
        cmocka_unit_test(test_what_is_lacking),
        cmocka_unit_test(test_uses_are_what_ranks_wait_for),
        cmocka_unit_test(test_types_of_what_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
