#include "sim/pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <uv.h>

#include "sim/check.h"

enum {
    THREAD_LARGEST = 256
};

struct work {
    pool_work_fn *call;
    void *context;
    size_t count;
    atomic_size_t next; /* the index to hand out next */
};

unsigned pool_threads_available(void)
{
    return uv_available_parallelism();
}

static void work_through(void *argument)
{
    struct work *work = argument;
    for (;;) {
        size_t index = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);
        if (index >= work->count)
            return;
        work->call(work->context, index);
    }
}

/* The calling thread works too. A thread that the host refuses is done without: the result does not
 * depend on the number of threads. Joining orders all work before the return. */
void pool_run(unsigned threads, size_t count, pool_work_fn *call, void *context)
{
    struct work work = {.call = call, .context = context, .count = count};
    uv_thread_t helpers[THREAD_LARGEST];
    unsigned helper_count = 0;
    CHECK(threads >= 1);
    while (helper_count + 1 < threads && helper_count + 1 < count &&
           helper_count < THREAD_LARGEST &&
           uv_thread_create(&helpers[helper_count], work_through, &work) == 0)
        helper_count++;
    work_through(&work);
    for (unsigned i = 0; i < helper_count; i++)
        CHECK(uv_thread_join(&helpers[i]) == 0);
}

struct pool_lock {
    uv_mutex_t mutex;
};

struct pool_lock *pool_lock_create(void)
{
    struct pool_lock *lock = malloc(sizeof *lock);
    CHECK(lock != NULL && uv_mutex_init(&lock->mutex) == 0);
    return lock;
}

void pool_lock_destroy(struct pool_lock *lock)
{
    if (lock == NULL)
        return;
    uv_mutex_destroy(&lock->mutex);
    free(lock);
}

void pool_lock_take(struct pool_lock *lock)
{
    uv_mutex_lock(&lock->mutex);
}

void pool_lock_give(struct pool_lock *lock)
{
    uv_mutex_unlock(&lock->mutex);
}
