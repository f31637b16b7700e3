/* A sweep of sizes against runs of each size alone. */
#include <string.h>

#include "models/step/simulate/collective_run.h"
#include "tests/models/step/task_case.h"
#include "tests/test.h"

/* Sizes that share a machine take what each takes alone, to the bit, in any order and where the
 * algorithm changes between them. */
static void test_a_sweep_is_each_size_alone(void **state)
{
    static const enum comm_op ops[] = {COMM_ALL_REDUCE, COMM_ALL_GATHER, COMM_ALL_TO_ALL,
                                       COMM_SEND};
    static const double bytes[] = {8.0, 0x1p30, 65536.0, 0x1p24, 4096.0};
    enum {
        SIZES = sizeof bytes / sizeof bytes[0]
    };
    unsigned changes = 0;
    for (unsigned i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct task_case t;
        struct collective_result rows[SIZES], alone;
        struct error error;
        task_case_begin(&t, 16);
        assert_true(collective_sweep(&t.c, &(struct collective_sizes){ops[i], bytes, SIZES}, 16,
                                     rows, &error));
        for (unsigned k = 0; k < SIZES; k++) {
            assert_true(collective_run(&t.c, ops[i], 16, bytes[k], &alone, &error));
            assert_true(rows[k].bytes == bytes[k] && rows[k].time_s == alone.time_s);
            assert_true(rows[k].algbw_bytes_per_s == alone.algbw_bytes_per_s);
            assert_true(rows[k].busbw_bytes_per_s == alone.busbw_bytes_per_s);
            assert_string_equal(rows[k].algorithm, alone.algorithm);
            assert_string_equal(rows[k].protocol, alone.protocol);
            changes += strcmp(rows[k].protocol, rows[0].protocol) != 0;
        }
        task_case_end(&t);
    }
    assert_true(changes > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_sweep_is_each_size_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
