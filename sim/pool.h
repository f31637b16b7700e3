/* pool.h - the same work for many indices, on some threads (libuv).
 *
 * Each index is handled exactly once, by one thread; indices are handed out in ascending order.
 * Results must go to places indexed by `index`, so that the outcome is the same for any number of
 * threads. libuv is met in pool.c alone. */
#ifndef ORRERY_SIM_POOL_H
#define ORRERY_SIM_POOL_H

#include <stddef.h>

typedef void pool_work_fn(void *context, size_t index);
unsigned pool_threads_available(void); /* processors this process may use */
void pool_run(unsigned threads, size_t count, pool_work_fn *work, void *context);

#endif
