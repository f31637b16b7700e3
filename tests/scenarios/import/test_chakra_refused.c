/* Chakra traces that are damaged, impossible, or do not fit each other: each is refused with file,
 * byte or node, and what to do. */
#include <stdio.h>
#include <string.h>

#include "tests/scenarios/import/chakra_bench.h"
#include "tests/test.h"

static struct chakra_case *one(struct chakra_bench *b)
{
    chakra_bench_begin(b, 1);
    chakra_case_node(&b->files[0], 1, CHAKRA_COMP, 1);
    return &b->files[0];
}

static void test_damaged_files_are_refused(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 1);
    chakra_bench_refused(&b, "t.0.et: ", "is empty");
    chakra_bench_begin(&b, 1);
    memcpy(b.files[0].bytes, "\x1f\x8b\x08", 3);
    b.files[0].count = 3;
    chakra_bench_refused(&b, "t.0.et: ", "gunzip it first");
    chakra_bench_begin(&b, 1);
    chakra_case_metadata(&b.files[0], "0.0.4");
    chakra_bench_refused(&b, "t.0.et: ", "has no nodes");
    chakra_bench_begin(&b, 1);
    chakra_case_metadata(&b.files[0], "0.0.1");
    chakra_bench_refused(&b, "t.0.et: ", "version 0.0.1");
    chakra_bench_begin(&b, 1);
    chakra_case_number(&b.files[0], 1, 1);
    chakra_case_write(&b.files[0]);
    chakra_bench_refused(&b, "t.0.et: ", "the first message is a node");
    /* Every cut of a trace but those between messages. */
    struct chakra_case whole = *one(&b);
    chakra_case_node(&whole, 2, CHAKRA_COMP, 300);
    const size_t between = whole.count;
    chakra_case_wait(&whole, 1);
    chakra_case_word(&whole, "pg_name", "a");
    chakra_case_write(&whole);
    chakra_bench_end(&b);
    for (size_t cut = 9; cut < whole.count; cut++) {
        chakra_bench_begin(&b, 1);
        b.files[0] = whole;
        b.files[0].count = cut;
        if (cut == between) {
            assert_true(chakra_bench_join(&b));
            chakra_bench_end(&b);
        } else {
            chakra_bench_refused(&b, "t.0.et: byte ", "no whole Chakra trace");
        }
    }
    /* A length of all ones, a message of no bytes in the middle, a group, a field without number.
     */
    struct chakra_case *c = one(&b);
    chakra_case_write(c);
    memset(c->bytes + c->count, 0xff, 11);
    c->count += 11;
    chakra_bench_refused(&b, "t.0.et: byte 21: ", "more than 64 bits");
    c = one(&b);
    chakra_case_write(c);
    memcpy(c->bytes + c->count, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
    c->count += 10;
    chakra_bench_refused(&b, "t.0.et: byte 21: ", "more than 64 bits");
    c = one(&b);
    chakra_case_write(c);
    chakra_case_write(c);
    chakra_case_node(c, 2, CHAKRA_COMP, 1);
    chakra_bench_refused(&b, "t.0.et: byte ", "an empty message ends the trace, and more follows");
    c = one(&b);
    chakra_case_varint(c, 9 << 3 | 3);
    chakra_bench_refused(&b, "t.0.et: byte ", "no kind that is in use");
    c = one(&b);
    chakra_case_varint(c, 0);
    chakra_bench_refused(&b, "t.0.et: byte ", "number of a field is out of range");
}

static void test_nodes_that_cannot_be_are_refused(void **state)
{
    struct chakra_bench b;
    struct chakra_case *c = one(&b);
    chakra_case_node(c, 1, CHAKRA_COMP, 1);
    chakra_bench_refused(&b,
                         "t.0.et: node 1 (node): ", "its id is also that of the node at byte 9");
    c = one(&b);
    chakra_case_number(c, 1, UINT64_C(1) << 63);
    chakra_bench_refused(&b, "t.0.et: node 9223372036854775808 ", "its id is above 2^63 - 1");
    c = one(&b);
    chakra_case_wait(c, 99);
    chakra_bench_refused(&b,
                         "t.0.et: node 1 (node): ", "waits for node 99, which is not in the file");
    c = one(&b);
    chakra_case_wait(c, 1);
    chakra_bench_refused(&b, "t.0.et: node 1 (node) ", "waits for it");
    c = one(&b);
    chakra_case_node(c, 2, CHAKRA_COMP, 1);
    chakra_case_wait(c, 3);
    chakra_case_node(c, 3, CHAKRA_COMP, 1);
    chakra_case_wait(c, 2);
    chakra_bench_refused(&b, "t.0.et: node ", "no order plays them");
    c = one(&b);
    chakra_case_number(c, 3, 11);
    chakra_bench_refused(&b, "t.0.et: node 1 (node): ", "type 11 is none of Chakra's");
    c = one(&b);
    chakra_case_count(c, "num_ops", -1);
    chakra_bench_refused(&b, "t.0.et: node 1 (node): ", "num_ops is below zero");
    c = one(&b);
    chakra_case_word(c, "comm_size", "12");
    chakra_bench_refused(&b, "t.0.et: node 1 (node): ", "comm_size is no integer");
    c = one(&b);
    chakra_case_count(c, "is_cpu_op", 1);
    chakra_bench_refused(&b, "t.0.et: node 1 (node): ", "is_cpu_op is no bool");
    c = one(&b);
    chakra_case_count(c, "pg_name", 1);
    chakra_bench_refused(&b, "t.0.et: node 1 (node): ", "pg_name is no text");
    c = one(&b);
    chakra_case_text(c, 7, "long");
    chakra_bench_refused(&b, "t.0.et: node 1 (node): ", "its duration is no number");
    c = one(&b);
    chakra_case_node(c, 2, CHAKRA_MEM_STORE, 0);
    chakra_bench_refused(&b, "t.0.et: node 2 (node): ", "MEM_STORE without a duration");
    c = one(&b);
    chakra_case_node(c, 2, CHAKRA_CHECKPOINT, 5);
    chakra_bench_refused(&b, "t.0.et: node 2 (node): ", "storage is not played");
}

static void test_ranks_that_do_not_fit_are_refused(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 2);
    chakra_case_collective(&b.files[0], 1, 0, 8, NULL);
    chakra_case_node(&b.files[1], 1, CHAKRA_COMP, 1);
    chakra_bench_refused(&b, "1 of 2 ranks call collectives", "name the groups");
    chakra_bench_begin(&b, 2);
    chakra_case_collective(&b.files[0], 1, 0, 8, "a");
    chakra_case_collective(&b.files[1], 2, 2, 8, "a");
    chakra_bench_refused(
        &b, "t.1.et: node 2 (node): ", "ALL_GATHER of 8 bytes, but on rank 0 (node 1)");
    chakra_bench_begin(&b, 2);
    chakra_case_collective(&b.files[0], 1, 0, 8, "a");
    chakra_case_collective(&b.files[1], 2, 0, 9, "a");
    chakra_bench_refused(&b, "t.1.et: node 2 (node): ", "ALL_REDUCE of 9 bytes");
    for (unsigned more = 0; more < 2; more++) {
        chakra_bench_begin(&b, 2);
        for (uint32_t r = 0; r < 2; r++)
            chakra_case_collective(&b.files[r], 1, 0, 8, "a");
        chakra_case_collective(&b.files[more], 2, 0, 8, "a");
        chakra_bench_refused(&b,
                             "t.1.et: ", more ? "collective 2 of group 'a'" : "the trace is cut");
    }
    for (int64_t type = 0; type < 12; type++) {
        const bool played = type != 1 && type != 3 && type != 4 && type < 10;
        chakra_bench_begin(&b, 1);
        chakra_case_collective(&b.files[0], 1, type, 8, NULL);
        if (played) {
            assert_true(chakra_bench_join(&b));
            chakra_bench_end(&b);
        } else {
            chakra_bench_refused(&b, "t.0.et: node 1 ",
                                 type < 10 ? "played by no step" : "comm_type");
        }
    }
    chakra_bench_begin(&b, 1);
    chakra_case_node(&b.files[0], 1, CHAKRA_COLL, 0);
    chakra_case_count(&b.files[0], "comm_type", 0);
    chakra_bench_refused(&b, "t.0.et: node 1 ", "comm_size is not told");
}

static void test_messages_without_partner_are_refused(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 2);
    chakra_case_message(&b.files[0], 1, CHAKRA_SEND, 1, 8);
    chakra_case_node(&b.files[1], 1, CHAKRA_COMP, 1);
    chakra_bench_refused(&b, "t.0.et: node 1 ",
                         "send to rank 1 with tag 0 that rank 1 never receives");
    chakra_bench_begin(&b, 2);
    chakra_case_node(&b.files[0], 1, CHAKRA_COMP, 1);
    chakra_case_message(&b.files[1], 4, CHAKRA_RECV, 0, 8);
    chakra_bench_refused(&b, "t.1.et: node 4 ",
                         "receive from rank 0 with tag 0 that rank 0 never sends");
    chakra_bench_begin(&b, 2);
    chakra_case_message(&b.files[0], 1, CHAKRA_SEND, 1, 8);
    chakra_case_message(&b.files[1], 4, CHAKRA_RECV, 0, 9);
    chakra_bench_refused(&b, "t.1.et: node 4 ", "receives 9 bytes, but node 1 of rank 0 sends 8");
    chakra_bench_begin(&b, 2);
    chakra_case_message(&b.files[0], 1, CHAKRA_SEND, 0, 8);
    chakra_bench_refused(&b, "t.1.et", "is empty");
    for (unsigned wrong = 0; wrong < 4; wrong++) {
        static const char *const whys[] = {"comm_dst is 0: another rank of 0 to 1 is expected",
                                           "comm_dst is 2: another rank of 0 to 1 is expected",
                                           "comm_src is 1, but the trace is rank 0's",
                                           "comm_dst is not told"};
        chakra_bench_begin(&b, 2);
        chakra_case_node(&b.files[1], 1, CHAKRA_COMP, 1);
        if (wrong < 3)
            chakra_case_message(&b.files[0], 1, CHAKRA_SEND, wrong < 2 ? 2 * wrong : 1, 8);
        else
            chakra_case_node(&b.files[0], 1, CHAKRA_SEND, 0);
        if (wrong == 2)
            chakra_case_count(&b.files[0], "comm_src", 1);
        chakra_bench_refused(&b, "t.0.et: node 1 ", whys[wrong]);
    }
}

/* A receive that the send waits for, by way of the other rank: named, and no hang. */
static void test_ranks_that_wait_for_each_other_are_named(void **state)
{
    struct chakra_bench b;
    chakra_bench_begin(&b, 2);
    for (uint32_t r = 0; r < 2; r++) {
        chakra_case_message(&b.files[r], 1, CHAKRA_RECV, 1 - r, 8);
        chakra_case_message(&b.files[r], 2, CHAKRA_SEND, 1 - r, 8);
        chakra_case_wait(&b.files[r], 1);
    }
    assert_true(chakra_bench_join(&b));
    const char *why = task_case_refused(&b.tasks);
    assert_non_null(strstr(why, "wait for each other"));
    assert_non_null(strstr(why, "rank 0 node 2"));
    assert_non_null(strstr(why, "rank 1 node 2"));
    chakra_bench_end(&b);
}

/* A METADATA node that tells of groups, as PyTorch records it, and a collective of group 1. */
static void tell_groups(struct chakra_case *c, const char *groups)
{
    char inputs[128];
    CHECK(strlen(groups) < 100);
    snprintf(inputs, sizeof inputs, "\x0a%c%s", (char)strlen(groups), groups);
    chakra_case_node(c, 1, CHAKRA_METADATA, 0);
    chakra_case_text(c, 2, "## process_group:init ##");
    chakra_case_text(c, 8, inputs);
    chakra_case_collective(c, 2, 0, 8, "1");
}

static void begin_groups(struct chakra_bench *b, const char *first, const char *others)
{
    chakra_bench_begin(b, 3);
    for (uint32_t r = 0; r < 3; r++)
        tell_groups(&b->files[r], r == 0 ? first : others);
}

static void test_groups_that_traces_tell_of_are_whole(void **state)
{
    static const char whole[] = "['[{\"pg_name\": \"1\", \"ranks\": [0, 1, 2]}]']";
    static const char other_order[] = "['[{\"ranks\": [2, 0,1], \"pg_name\": \"1\"}]']";
    static const char *const untold[] = {
        "['[{\"pg_name\": \"1\", \"ranks\": []}]']",     /* PyTorch's of all ranks */
        "['[{\"pg_name\": \"2\", \"ranks\": [0, 7]}]']", /* nobody calls it */
        "['[{\"pg_name\": \"1\", \"ranks\": [0, -1]}]']",
        "['[{\"pg_name\": \"1\", \"ranks\": [0, 7",
        "[[}{]]",
        "none",
    };
    struct chakra_bench b;
    begin_groups(&b, whole, other_order);
    assert_true(chakra_bench_join(&b));
    chakra_bench_end(&b);
    for (unsigned i = 0; i < sizeof untold / sizeof *untold; i++) {
        begin_groups(&b, untold[i], i % 2 == 0 ? untold[i] : whole);
        assert_true(chakra_bench_join(&b));
        chakra_bench_end(&b);
    }
    begin_groups(&b, untold[0], "['[{\"pg_name\": \"1\", \"ranks\": [0, 1, 2, 3]}]']");
    chakra_bench_refused(&b, "t.1.et: ", "group '1' names rank 3, of which there is no trace");
    begin_groups(&b, whole, "['[{\"pg_name\": \"1\", \"ranks\": [1, 2]}]']");
    chakra_bench_refused(&b, "t.1.et: ", "group '1' has other ranks than t.0.et says");
    begin_groups(&b, whole, "['[{\"pg_name\": \"1\", \"ranks\": [0, 2, 2]}]']");
    chakra_bench_refused(&b, "t.1.et: ", "group '1' has other ranks than t.0.et says");
    static const char two[] = "['[{\"pg_name\": \"1\", \"ranks\": [0, 2]}]']";
    begin_groups(&b, two, two);
    chakra_bench_refused(&b, "t.0.et: ", "group '1' has 2 ranks, but 3 traces call");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_damaged_files_are_refused),
        cmocka_unit_test(test_nodes_that_cannot_be_are_refused),
        cmocka_unit_test(test_ranks_that_do_not_fit_are_refused),
        cmocka_unit_test(test_messages_without_partner_are_refused),
        cmocka_unit_test(test_ranks_that_wait_for_each_other_are_named),
        cmocka_unit_test(test_groups_that_traces_tell_of_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
