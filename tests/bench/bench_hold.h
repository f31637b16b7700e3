/* bench_hold.h - the times of the hold model (pop the next event, set it again an exponential time
 * later), drawn before the clock runs. Mean 1 s. */
#ifndef ORRERY_TESTS_BENCH_HOLD_H
#define ORRERY_TESTS_BENCH_HOLD_H

#include <stdint.h>

enum {
    HOLD_STEPS = 1021
}; /* a prime, and 8 kB of cache */

void hold_steps(double *steps_s);
double hold_first_s(const double *steps_s, uint32_t slot);

#endif
