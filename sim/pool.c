#include "sim/pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <uv.h>

#include "sim/arena.h"
#include "sim/check.h"
#include "sim/memory.h"

enum {
    THREAD_LARGEST = 256
};

struct work {
    pool_work_fn *call;
    pool_scratch_fn *call_with_scratch; /* one of the two */
    void *context;
    size_t count;
    atomic_size_t next; /* the index to hand out next */
};

unsigned pool_threads_available(void)
{
    return uv_available_parallelism();
}

/* The next index, or one that is not below the count when all are handed out. */
static size_t next_index(struct work *work)
{
    return atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);
}

static void work_through(void *argument)
{
    struct work *work = argument;
    for (size_t i = next_index(work); i < work->count; i = next_index(work))
        work->call(work->context, i);
}

static void work_through_with_scratch(void *argument)
{
    struct work *work = argument;
    struct arena *scratch = arena_create();
    struct arena_mark empty = arena_mark(scratch);
    for (size_t i = next_index(work); i < work->count; i = next_index(work)) {
        work->call_with_scratch(work->context, i, scratch);
        arena_rewind(scratch, empty);
    }
    arena_destroy(scratch);
}

/* The calling thread works too. A thread that the host refuses is done without: the result does not
 * depend on the number of threads. Joining orders all work before the return. */
static void share_out(unsigned threads, struct work *work, uv_thread_cb through)
{
    uv_thread_t helpers[THREAD_LARGEST];
    unsigned helper_count = 0;
    CHECK(threads >= 1);
    while (helper_count + 1 < threads && helper_count + 1 < work->count &&
           helper_count < THREAD_LARGEST &&
           uv_thread_create(&helpers[helper_count], through, work) == 0)
        helper_count++;
    through(work);
    for (unsigned i = 0; i < helper_count; i++)
        CHECK(uv_thread_join(&helpers[i]) == 0);
}

void pool_run(unsigned threads, size_t count, pool_work_fn *call, void *context)
{
    struct work work = {.call = call, .context = context, .count = count};
    share_out(threads, &work, work_through);
}

void pool_run_scratch(unsigned threads, size_t count, pool_scratch_fn *call, void *context)
{
    struct work work = {.call_with_scratch = call, .context = context, .count = count};
    share_out(threads, &work, work_through_with_scratch);
}

struct pool_lock {
    uv_mutex_t mutex;
};

struct pool_lock *pool_lock_create(void)
{
    struct pool_lock *lock = memory_take(sizeof *lock);
    CHECK(uv_mutex_init(&lock->mutex) == 0);
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
