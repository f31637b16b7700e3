/* Timeline rows into SQLite, as `orrery run` writes them: ops of a stream, names repeated. The file
 * is finished (synced, renamed) inside the timed part. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/record/database/store.h"
#include "bench.h"
#include "sim/check.h"

enum {
    OPS_ON_A_TRACK = 5000
};
struct rows {
    double count;
    char path[96];
};

static void *prepare_store(double size)
{
    struct rows *rows = calloc(1, sizeof *rows);
    CHECK(rows != NULL);
    rows->count = size;
    snprintf(rows->path, sizeof rows->path, "/tmp/orrery-bench-%ld.db", (long)getpid());
    return rows;
}

static double run_store(void *state)
{
    static const char *const names[] = {"attention", "mlp", "all_gather", "reduce_scatter"};
    struct rows *rows = state;
    struct store *store;
    struct error error;
    CHECK(store_open(rows->path, 0.0, &store, &error) == STORE_GOOD);
    int64_t count = (int64_t)rows->count;
    for (int64_t i = 0; i < count; i++) {
        int64_t op = i % OPS_ON_A_TRACK;
        struct store_value row[] = {
            store_null(),
            store_integer(op * 812345),
            store_integer(798765),
            store_integer(0),
            store_integer(1 + i / OPS_ON_A_TRACK),
            store_integer(store_string(store, names[op % 4])),
            store_integer(store_string(store, op % 2 == 0 ? "forward" : "backward")),
            store_integer(op / 80),
            store_integer(op % 80),
            store_integer(0),
            store_integer(0),
        };
        store_row(store, STORE_slice_raw, row, sizeof row / sizeof row[0]);
    }
    CHECK(store_finish(store, &error) == STORE_GOOD);
    return rows->count;
}

static void release_store(void *state)
{
    struct rows *rows = state;
    unlink(rows->path);
    free(rows);
}

const struct bench bench_store = {prepare_store, run_store, release_store};
