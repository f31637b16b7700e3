/* bench.h - one benchmark: what is prepared, what is timed, what it counts.
 *
 * bench_list.h has a row for each line that is printed; bench_main.c times them. A run returns how
 * much work it did (events, completions, bytes); the figure is work for each second. Each row names
 * a yardstick, another benchmark that is timed in turn with it on the same machine, since a shared
 * machine is not the same machine a minute later. Nothing here is a test: figures pass or fail
 * nothing. */
#ifndef ORRERY_TESTS_BENCH_H
#define ORRERY_TESTS_BENCH_H

struct bench {
    void *(*prepare)(double size); /* what `size` is, the row says */
    double (*run)(void *state);    /* work done */
    void (*release)(void *state);
};

/* X(benchmark, size, yardstick, yardstick_size, name, unit, aim in units for each second) */
#include "bench_list.h"

#define X(benchmark, size, yardstick, yardstick_size, name, unit, aim)                             \
    extern const struct bench benchmark, yardstick;
BENCH_LIST
#undef X

#endif
