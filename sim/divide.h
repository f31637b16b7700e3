/* divide.h - many 32-bit divisions by one number, without the division instruction.
 *
 * Tables are numbered by division (the node of a link, the replica of a rank), millions of times by
 * the same few numbers. The quotient by a multiplication with the reciprocal, rounded up to 64 bits
 * behind the point, is exact for every dividend and divisor of 32 bits (Lemire, Kaser, Kurz, Faster
 * remainder by direct computation, Software: Practice and Experience 49, 2019, theorem 1). */
#ifndef ORRERY_SIM_DIVIDE_H
#define ORRERY_SIM_DIVIDE_H

#include <stdint.h>

#include "sim/check.h"

struct divisor {
    uint64_t reciprocal; /* 2^64 / by, rounded up; 0 for 1 */
    uint32_t by;
};

static inline struct divisor divisor_of(uint32_t by)
{
    CHECK(by > 0);
    return (struct divisor){.reciprocal = UINT64_MAX / by + 1, .by = by};
}

static inline uint32_t divisor_quotient(const struct divisor *divisor, uint32_t dividend)
{
    __extension__ typedef unsigned __int128 wide;
    if (divisor->reciprocal == 0)
        return dividend;
    return (uint32_t)((wide)divisor->reciprocal * dividend >> 64);
}

static inline uint32_t divisor_remainder(const struct divisor *divisor, uint32_t dividend)
{
    return dividend - divisor_quotient(divisor, dividend) * divisor->by;
}

#endif
