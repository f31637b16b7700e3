/* pool.h - the same work for many indices, on some threads (libuv).
 *
 * Each index is handled exactly once, by one thread; indices are handed out in ascending order.
 * Results must go to places indexed by `index`, so that the outcome is the same for any number of
 * threads. Work that needs room of its own gets an arena: one for each thread, empty at the start
 * of each index. libuv is met in pool.c alone.
 *
 * A lock guards what threads share beside that: a memory of results that do not depend on who asks
 * first. */
#ifndef ORRERY_SIM_POOL_H
#define ORRERY_SIM_POOL_H

#include <stddef.h>

struct arena;
typedef void pool_work_fn(void *context, size_t index);
unsigned pool_threads_available(void); /* processors this process may use */
void pool_run(unsigned threads, size_t count, pool_work_fn *work, void *context);
typedef void pool_scratch_fn(void *context, size_t index, struct arena *scratch);
void pool_run_scratch(unsigned threads, size_t count, pool_scratch_fn *work, void *context);

struct pool_lock;
struct pool_lock *pool_lock_create(void);       /* free; owned by the caller */
void pool_lock_destroy(struct pool_lock *lock); /* nobody holds it; NULL is allowed */
void pool_lock_take(struct pool_lock *lock);    /* waits; not by the thread that holds it */
void pool_lock_give(struct pool_lock *lock);

#endif
