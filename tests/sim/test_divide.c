/* Division by a reciprocal against the processor's own, where it is most likely to err: beside the
 * multiples of the divisor, at the ends of 32 bits, at powers of two and their neighbours. */
#include <stdbool.h>

#include "sim/divide.h"
#include "sim/random.h"
#include "tests/test.h"

static void try_dividend(const struct divisor *divisor, uint32_t dividend)
{
    assert_int_equal(divisor_quotient(divisor, dividend), dividend / divisor->by);
    assert_int_equal(divisor_remainder(divisor, dividend), dividend % divisor->by);
}

static void try_divisor(uint32_t by, uint64_t key)
{
    const struct divisor divisor = divisor_of(by);
    assert_int_equal(divisor.by, by);
    const uint32_t last = UINT32_MAX / by;
    for (uint64_t i = 0; i < 40; i++) {
        const uint32_t near_end = i % 2 == 0 && i <= last ? last - (uint32_t)i : 0;
        const uint32_t times = i < 6 ? near_end : (uint32_t)(random_hash(key, i) % last);
        const uint32_t multiple = times * by;
        try_dividend(&divisor, multiple);
        try_dividend(&divisor, multiple - 1); /* below 0: the largest */
        try_dividend(&divisor, multiple + 1);
        try_dividend(&divisor, multiple + by - 1);
        try_dividend(&divisor, (uint32_t)random_hash(key, i + 1000));
    }
}

static void test_the_same_as_division(void **state)
{
    for (uint32_t by = 1; by <= 5000; by++)
        try_divisor(by, by);
    for (unsigned bit = 2; bit < 32; bit++) {
        try_divisor((1u << bit) - 1, bit);
        try_divisor(1u << bit, bit);
        try_divisor((1u << bit) + 1, bit);
    }
    for (uint64_t i = 0; i < 5000; i++)
        try_divisor((uint32_t)(random_hash(1, i) % UINT32_MAX) + 1, i);
    try_divisor(UINT32_MAX, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_the_same_as_division)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
