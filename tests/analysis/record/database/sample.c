#include "tests/analysis/record/database/sample.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/database/record_file.h"
#include "sim/check.h"

#define COUNT(values) (sizeof(values) / sizeof(values)[0])

void sample_folder(char *folder, unsigned size)
{
    const char *base = getenv("TMPDIR");
    int length = snprintf(folder, size, "%s/orrery-test-", base != NULL ? base : "/tmp");
    CHECK(length > 0 && (unsigned)length + 7 <= size);
    memset(folder + length, 'X', 6); /* six X, as mkdtemp wants them */
    folder[length + 6] = '\0';
    CHECK(mkdtemp(folder) != NULL);
}

void sample_remove(const char *folder)
{
    char command[512];
    snprintf(command, sizeof command, "rm -rf -- '%s'", folder);
    CHECK(system(command) == 0);
}

void sample_long_path(const char *folder, char *path, unsigned length)
{
    memset(path, '/', length);
    memcpy(path, folder, strlen(folder));
    path[length - 1] = 'x';
    path[length] = '\0';
}

static const struct run_row sample_run = {
    .seed = 7,
    .scenario = "sample",
    .title = "sample",
    .kind = "step",
    .fits = 1,
    .step_s = 1e-3,
    .tokens_per_s = 4096e3,
    .tokens_per_s_per_gpu = 1024e3,
    .mfu_ratio = 0.4,
    .causal_mfu_ratio = 0.3,
    .mfu_formula = "6N + 12Lhs",
    .causal_mfu_formula = "6N + 6Lhs",
    .mfu_letters = "N = 1 parameters",
    .announced_words = "",
    .hfu_ratio = 0.5,
    .bubble_ratio = 0.25,
    .model_flops = 1e15,
    .peak_allocated_bytes = 60e9,
    .peak_reserved_bytes = 64e9,
    .class_count = 2,
    .op_count = 3,
    .event_count = 5,
    .digest = "00000000deadbeef",
    .compute_s = 7.5e-4,
    .bubble_s = 2.5e-4,
    .gpu = "h100",
    .rank_count = 4,
    .peak_flops_per_s = 1e15,
    .usable_hbm_bytes = 80e9,
    .nodes = 1,
    .node = "node",
    .fabric = "none",
    .model = "tiny",
    .parameters = 1e9,
    .software = "megatron",
    .precision = "bf16",
    .optimizer = "adamw",
    .adapter = "none",
    .attention = "flash2",
    .tp = 1,
    .pp = 2,
    .dp = 2,
    .cp = 1,
    .cp_method = "ring",
    .vpp = 1,
    .microbatch = 1,
    .microbatches = 4,
    .global_batch = 8,
    .sequence = 1024,
    .schedule = "1f1b",
    .sharding = "zero-1",
    .recompute = "none",
    .gpu_hour_usd = NAN,
    .cost_usd_per_step = NAN,
    .cost_usd_per_1e9_tokens = NAN,
    .cost_usd_for_budget = NAN,
    .cost_storage_usd = NAN,
    .card_w = NAN,
    .node_w = NAN,
    .energy_j_per_step = NAN,
    .energy_j_per_token = NAN,
    .energy_compute_j = NAN,
    .energy_optimizer_j = NAN,
    .energy_communication_j = NAN,
    .energy_waiting_j = NAN,
    .budget_tokens = NAN,
    .wall_s = NAN,
};

/* One row of each table that reports read, all of whose cells say something. */
static void fill(const struct row_table *table, char *row)
{
    for (unsigned i = 0; i < table->column_count; i++) {
        void *cell = row + table->columns[i].offset;
        switch (table->columns[i].type) {
        case ROW_INTEGER:
            *(int64_t *)cell = 1;
            break;
        case ROW_REAL:
            *(double *)cell = 0.5;
            break;
        case ROW_TEXT:
            *(const char **)cell = table->columns[i].name;
            break;
        }
    }
}

static void write_record(struct store *store)
{
    struct record record = {.arena = arena_create()};
    struct run_row *run = record_add(&record, ROW_run, 1);
    *run = sample_run;
    for (unsigned table = ROW_run + 1; table < ROW_TABLE_COUNT; table++)
        if (table != ROW_message && table != ROW_interruption && table != ROW_badput)
            fill(&row_tables[table], record_add(&record, (enum row_table_index)table, 1));
    record_store(store, &record);
    arena_destroy(record.arena);
}

static void write_class(struct store *store, int64_t id)
{
    struct store_value row[32];
    unsigned n = 0;
    int64_t head[] = {id, 1, (id - 1) * 2, 2, id - 1, 16};
    for (unsigned i = 0; i < COUNT(head); i++)
        row[n++] = store_integer(head[i]);
    /* speed, finish, then twelve parts that sum to 1 ms: compute and bubble. */
    double bubble_s = id == 1 ? 1e-4 : 4e-4;
    double figures[] = {1.0, 1e-3, 1e-3 - bubble_s, 0, 0, 0, 0, bubble_s, 0, 0, 0, 0, 0, 0};
    for (unsigned i = 0; i < COUNT(figures); i++)
        row[n++] = store_real(figures[i]);
    double memory[] = {60e9, 64e9, 10e9, 10e9, 10e9, 10e9, 20e9, 0, 0, 0, 4e9};
    for (unsigned i = 0; i < COUNT(memory); i++)
        row[n++] = store_real(memory[i]);
    row[n++] = store_integer(1);
    store_row(store, STORE_rank_class, row, n);
}

static void write_track(struct store *store, int64_t id, int64_t rank_class, const char *kind,
                        const char *name)
{
    struct store_value row[] = {
        store_integer(id), store_integer(1), store_integer(rank_class),
        store_text(kind),  store_text(name), store_integer(2),
        store_real(1e-3),  store_real(0.0),  store_real(0.0),
    };
    store_row(store, STORE_track, row, COUNT(row));
}

static void write_slice(struct store *store, int64_t track, int64_t ts, int64_t dur,
                        const char *name, int64_t depth)
{
    struct store_value row[] = {
        store_null(),
        store_integer(ts),
        store_integer(dur),
        store_integer(0),
        store_integer(track),
        store_integer(store_string(store, name)),
        store_integer(store_string(store, "forward")),
        store_integer(3),
        store_null(),
        store_integer(0),
        store_integer(depth),
    };
    store_row(store, STORE_slice_raw, row, COUNT(row));
}

void sample_rows(struct store *store)
{
    write_record(store);
    for (int64_t id = 1; id <= 2; id++)
        write_class(store, id);
    for (int64_t rank = 0; rank < 4; rank++) {
        struct store_value row[] = {
            store_integer(1),        store_integer(rank),    store_integer(rank / 2 + 1),
            store_integer(rank),     store_integer(0),       store_integer(0),
            store_integer(rank % 2), store_integer(rank / 2)};
        store_row(store, STORE_rank, row, COUNT(row));
    }
    write_track(store, 1, 1, "stream", "compute");
    write_track(store, 2, 2, "stream", "compute");
    write_track(store, 3, 1, "ledger", "allocated");
    write_slice(store, 1, 0, 1000, "layer \"0\"", 0);
    write_slice(store, 1, 0, 400, "qkv, gemm", 1);
    write_slice(store, 1, 400, 600, "attention", 1);
    write_slice(store, 1, 1000, 500, "layer", 0);
    write_slice(store, 2, 1500, 500, "layer", 0);
    struct store_value point[] = {store_integer(3), store_integer(250), store_real(60e9)};
    store_row(store, STORE_counter_raw, point, COUNT(point));
}

void sample_database(const char *path)
{
    struct store *store;
    struct error error = {""};
    CHECK(store_open(path, 0.0, &store, &error) == STORE_GOOD);
    sample_rows(store);
    CHECK(store_finish(store, &error) == STORE_GOOD);
}

void sample_tamper(const char *path, const char *sql)
{
    sqlite3 *database;
    CHECK(sqlite3_open(path, &database) == SQLITE_OK);
    sqlite3_exec(database, "pragma writable_schema = on", NULL, NULL, NULL);
    CHECK(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(database);
}

void sample_ask(const char *path, const char *sql, char *answer, unsigned size)
{
    sqlite3 *database;
    sqlite3_stmt *statement;
    CHECK(sqlite3_open(path, &database) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK);
    answer[0] = '\0';
    if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != NULL)
        snprintf(answer, size, "%s", (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(database);
}

int sample_set_up(void **state)
{
    struct sample_place *p = calloc(1, sizeof *p);
    CHECK(p != NULL);
    sample_folder(p->folder, sizeof p->folder);
    snprintf(p->path, sizeof p->path, "%s/x.db", p->folder);
    sample_database(p->path);
    *state = p;
    return 0;
}

int sample_tear_down(void **state)
{
    struct sample_place *p = *state;
    sample_remove(p->folder);
    free(p);
    return 0;
}
