/* The parts of a stage that is lowered, each alone: groups of units, numbers of tensors, buckets
 * and the history of gathers. */
#include "models/lower/stage/lower_traffic.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

/* Four layers in two chunks of one stage, in FSDP units of so many layers: embedding and head are
 * groups of their own, and none reaches into the next chunk. */
static void test_groups(void **state)
{
    static const struct {
        uint64_t size;
        uint32_t count, members[6], chunk_1; /* groups; their units; first group of chunk 1 */
    } rows[] = {
        {1, 6, {1, 1, 1, 1, 1, 1}, 3},
        {2, 4, {1, 2, 2, 1}, 2},
        {9, 4, {1, 2, 2, 1}, 2},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena *arena = arena_create();
        struct configuration c = lower_case();
        c.layout.pipeline.vpp = 2;
        c.layout.data.fsdp_unit_layers = rows[i].size;
        c.layout.data.sharding = sharding_find("fsdp");
        struct lowering *l = lower_plan_lowering(arena, &c);
        struct units units;
        lower_units_build(&units, l, 0);
        assert_int_equal(units.count, 6);
        assert_int_equal(units.chunk_first[1], 3);
        assert_int_equal(units.group_count, rows[i].count);
        assert_int_equal(units.chunk_group[1], rows[i].chunk_1);
        for (uint32_t g = 0; g < units.group_count; g++) {
            uint32_t first = units.groups[g].first, end = first + units.groups[g].count;
            assert_int_equal(units.groups[g].count, rows[i].members[g]);
            for (uint32_t u = first; u < end; u++) {
                assert_true(lower_units_at_edge(&units, u, true, true) == (u == first));
                assert_true(lower_units_at_edge(&units, u, false, true) == (u + 1 == end));
                assert_true(lower_units_at_edge(&units, u, true, false) == (u + 1 == end));
            }
        }
        arena_destroy(arena);
    }
}

/* Ranges of numbers do not overlap while they are held, and are used again by the same block. */
static void test_numbers_are_used_again(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = lower_case();
    lower_case_size(&c, 1, 1, 1, 1, 2);
    struct lowering *l = lower_plan_lowering(arena, &c);
    struct labels labels;
    struct units units;
    struct tensors tensors;
    lower_labels_none(&labels);
    lower_units_build(&units, l, 0);
    lower_tensors_begin(&tensors, l, program_begin(arena, 0), &labels, &units);
    const struct lowered_unit *first = &units.rows[1], *second = &units.rows[2];
    const uint32_t each = l->blocks[BLOCK_LAYER].tensor_count;
    lower_labels_pass(&labels, &(struct pass){.kind = PASS_FORWARD, .microbatch = 0});
    lower_tensors_take(&tensors, first);
    lower_tensors_take(&tensors, second);
    const uint32_t a = lower_tensors_input(&tensors, first),
                   b = lower_tensors_input(&tensors, second);
    assert_int_equal(a, TENSOR_FIRST);
    assert_int_equal(b, TENSOR_FIRST + each);
    assert_int_equal(lower_tensors_segment(&tensors, first, 0), a + 1);
    assert_int_equal(lower_tensors_number(&tensors), TENSOR_FIRST + 2 * each);
    lower_tensors_give(&tensors, first);
    lower_labels_pass(&labels, &(struct pass){.kind = PASS_FORWARD, .microbatch = 1});
    lower_tensors_take(&tensors, second);
    assert_int_equal(lower_tensors_input(&tensors, second), a);
    arena_destroy(arena);
}

/* Buckets of 100 elements: sixteen leave as they are, 32 as sixteen of twice the size. */
static void test_buckets(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = lower_case();
    struct lowering *l = lower_plan_lowering(arena, &c);
    c.software.data.bucket_bytes = 100.0 * l->data.kept_bytes;
    struct data_traffic t;
    double elements = 0.0;
    lower_traffic_begin(&t, l);
    assert_int_equal(lower_traffic_fill(&t, DATA_ALL, 60.0, &elements), 0);
    assert_int_equal(lower_traffic_fill(&t, DATA_ALL, 60.0, &elements), 1);
    assert_true(elements == 100.0 && lower_traffic_rest(&t, DATA_ALL) == 20.0 &&
                lower_traffic_rest(&t, DATA_ALL) == 0.0);
    assert_int_equal(lower_traffic_fill(&t, DATA_ALL, 1600.0, &elements), 16);
    assert_true(elements == 100.0);
    assert_int_equal(lower_traffic_fill(&t, DATA_ALL, 3205.0, &elements), 16);
    assert_true(elements == 200.0 && lower_traffic_rest(&t, DATA_ALL) == 5.0);
    c.software.data.bucket_bytes = 0.0; /* all of a unit */
    lower_traffic_begin(&t, l);
    assert_int_equal(lower_traffic_fill(&t, DATA_ALL, 7.0, &elements), 1);
    assert_true(elements == 7.0 && lower_traffic_rest(&t, DATA_ALL) == 0.0);
    assert_int_equal(lower_traffic_fill(&t, DATA_ALL, 0.0, &elements), 0);
    arena_destroy(arena);
}

/* With one group fetched ahead, the k-th gather waits for the compute of group k - 2. */
static void test_gathers_wait_for_compute(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = lower_case();
    c.software.shards.prefetch = 1;
    struct lowering *l = lower_plan_lowering(arena, &c);
    struct data_traffic t;
    lower_traffic_begin(&t, l);
    for (uint32_t k = 0; k < 9; k++) { /* group k is computed by op 100 + k */
        assert_int_equal(lower_traffic_gather_after(&t, 0), k >= 2 ? 100 + k - 2 : OP_NONE);
        assert_int_equal(lower_traffic_gather_after(&t, 1), k >= 1 ? 100 + k - 1 : OP_NONE);
        lower_traffic_computed(&t, 100 + k);
    }
    assert_true(lower_traffic_first_forward(&t, 0));
    lower_traffic_pass_end(&t, &(struct pass){.kind = PASS_FORWARD});
    assert_false(lower_traffic_first_forward(&t, 0));
    for (uint32_t m = l->shape.microbatches; m > 0; m--) {
        assert_true(lower_traffic_last_backward(&t, 0) == (m == 1));
        lower_traffic_pass_end(&t, &(struct pass){.kind = PASS_BACKWARD});
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_numbers_are_used_again),
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_gathers_wait_for_compute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
