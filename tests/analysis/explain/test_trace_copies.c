/* What copies or sets memory is no work of a layer: in an alignment of traces it pairs with its
 * like alone, in either list, though it took as long as the other. */
#include "analysis/explain/trace_align.h"
#include "tests/test.h"

static void test_copies_pair_with_copies(void **state)
{
    struct arena *arena = arena_create();
    for (unsigned kind = 0; kind < 2 * SPAN_KIND_COUNT; kind++) {
        const struct trace_span spans[] = {
            {.kind = SPAN_COPY, .busy_s = 1e-5},
            {.kind = (enum span_kind)(kind / 2), .name = "gradient", .busy_s = 1e-5}};
        const struct trace_span *rows[] = {&spans[kind % 2], &spans[1 - kind % 2]};
        uint32_t partner;
        trace_align(arena, (struct trace_list){&rows[0], 1}, (struct trace_list){&rows[1], 1},
                    &partner);
        assert_int_equal(partner, kind / 2 == SPAN_COPY ? 0 : TRACE_NONE);
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies_pair_with_copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
