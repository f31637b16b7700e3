/* A results database that somebody changed, under libFuzzer: every export and report of it, every
 * document of its page (what is given is JSON, and holds no markup), the launch scripts of the
 * scenario that it restores, merging it as a shard of a study, alone and twice, and a search that
 * stands on the plan in it, either works or says a sentence. No crash, no hang.
 *
 * An input changes a small sound database (database/sample.h): up to the first zero
 * byte it is SQL that is run on the file; after that come patches of the file itself, each of four
 * bytes of place, one of length, and that many bytes. `base.db` and `changed.db` lie in the working
 * folder.
 */
#include <jansson.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command/plan/plan_diary.h"
#include "analysis/exchange/export/export.h"
#include "analysis/exchange/export/picture.h"
#include "analysis/exchange/launch/launch.h"
#include "analysis/page/document.h"
#include "analysis/plan/search/search_store.h"
#include "analysis/record/database/record_file.h"
#include "analysis/record/database/restore.h"
#include "analysis/study/study_merge.h"
#include "analysis/tell/report/report_database.h"
#include "sim/check.h"
#include "tests/analysis/record/database/sample.h"

enum {
    SQL_MAX = 4096,
    FILE_MAX = 1 << 21,
    STEPS_BETWEEN_CHECKS = 1000,
    PATCH_HEAD = 5
};
static const char base_path[] = "base.db", changed_path[] = "changed.db";

static int give_up(void *checks)
{
    return ++*(int *)checks > 100;
}

/* The SQL may fail, or take long and be stopped; what it did until then stays. */
static void change_rows(const char *sql)
{
    sqlite3 *database;
    int checks = 0;
    CHECK(sqlite3_open(changed_path, &database) == SQLITE_OK);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 1 << 16);
    sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_exec(database,
                 "pragma synchronous = off; pragma journal_mode = memory;"
                 "pragma max_page_count = 256; pragma writable_schema = on",
                 NULL, NULL, NULL);
    sqlite3_progress_handler(database, STEPS_BETWEEN_CHECKS, give_up, &checks);
    sqlite3_exec(database, sql, NULL, NULL, NULL);
    sqlite3_close(database);
}

static size_t read_all(const char *path, unsigned char *bytes)
{
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    size_t size = fread(bytes, 1, FILE_MAX, file);
    fclose(file);
    return size;
}

static void write_all(const char *path, const unsigned char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, size, file) == size);
    fclose(file);
}

static void patch(unsigned char *bytes, size_t size, const uint8_t *data, size_t left)
{
    while (left >= PATCH_HEAD) {
        uint32_t place = (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 |
                         (uint32_t)data[2] << 8 | (uint32_t)data[3];
        size_t length = data[4], at = place % size;
        data += PATCH_HEAD;
        left -= PATCH_HEAD;
        length = length < left ? length : left;
        memcpy(bytes + at, data, length < size - at ? length : size - at);
        data += length;
        left -= length;
    }
}

static void draw_record(struct query *query, FILE *nowhere)
{
    struct arena *arena = arena_create();
    struct error error = {{0}};
    struct record record;
    const bool good = record_read(query, arena, &record, &error);
    CHECK(good || error.text[0] != '\0');
    CHECK(!good || picture_memory(&record, nowhere, &error) || error.text[0] != '\0');
    CHECK(!good || picture_map(query, &record, nowhere, &error) || error.text[0] != '\0');
    arena_destroy(arena);
}

static void export_all(struct query *query)
{
    struct error error = {{0}};
    FILE *nowhere = fopen("/dev/null", "w");
    CHECK(nowhere != NULL);
    CHECK(export_chrome(query, -1, nowhere, &error) || error.text[0] != '\0');
    CHECK(export_chrome(query, 1, nowhere, &error) || error.text[0] != '\0');
    CHECK(picture_gantt(query, nowhere, &error) || error.text[0] != '\0');
    draw_record(query, nowhere);
    struct name_list objects = query_objects(query);
    for (unsigned i = 0; i < objects.count; i++)
        CHECK(export_csv(query, objects.names[i], nowhere, &error) || error.text[0] != '\0');
    struct session session = {.out = nowhere, .notes = nowhere, .utf8 = true};
    bool fits;
    CHECK(report_database(&session, query, (struct report_how){.all = true}, &fits, &error) ||
          error.text[0] != '\0');
    fclose(nowhere);
}

static void take_document(bool good, const char *text, size_t bytes, const struct error *error)
{
    json_error_t where;
    if (!good) {
        CHECK(error->text[0] != '\0');
        return;
    }
    json_t *document = json_loadb(text, bytes, JSON_ALLOW_NUL, &where);
    CHECK(document != NULL && memchr(text, '<', bytes) == NULL);
    json_decref(document);
}

static void replay_all(struct query *query)
{
    for (unsigned kind = 0; kind <= DOCUMENT_KIND_COUNT; kind++) { /* the last: all in one */
        const struct document_ask ask = {
            .kind = (enum document_kind)kind,
            .slices = {SLICES_OPS, 0, INT64_MAX / 4, SLICES_ALL, SLICES_ROOM}};
        struct error error = {{0}};
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);
        CHECK(out != NULL);
        const bool good = kind < DOCUMENT_KIND_COUNT
                              ? document_write(query, "changed.db", &ask, out, &error)
                              : document_write_whole(query, "changed.db", out, &error);
        CHECK(fclose(out) == 0);
        take_document(good, text, bytes, &error);
        free(text);
    }
}

static void launch_all(struct query *query)
{
    struct error error = {{0}};
    struct scenario *scenario = restore_scenario(query, changed_path, NULL, &error);
    CHECK(scenario != NULL || error.text[0] != '\0');
    for (unsigned i = 0; scenario != NULL && i < launch_kind_count; i++) {
        struct launch_text text;
        launch_write(launch_kinds[i], &scenario->configuration, NULL, scenario->arena, &text);
        CHECK(text.refused == (text.line_count == 0));
    }
    scenario_destroy(scenario);
}

static void merge_all(void)
{
    static const char *const twice[] = {changed_path, changed_path};
    for (unsigned count = 1; count <= 2; count++) {
        struct arena *arena = arena_create();
        struct error error = {{0}};
        struct study study;
        const bool good = study_merge(arena, twice, count, &study, &error);
        CHECK(good ? count == 1 : error.text[0] != '\0');
        for (size_t p = 0; good && p < study.point_count; p++)
            CHECK(study.points[p].refusal != NULL || study.points[p].replications > 0);
        arena_destroy(arena);
    }
}

/* A search of few layouts, which the corpus holds findings of. */
static const char plan_text[] = "model: {layers: 2, hidden: 256, heads: 4, vocabulary: 1000}\n"
                                "cluster: {gpu: a100-40gb-sxm, gpus: 1}\n"
                                "training: {sequence: 256, global_batch: 2}\n";

static bool recall_plan(void *context, const struct search_question *question,
                        struct search_book *book, struct error *error)
{
    (void)question;
    return search_store_recall(context, 0, false, book, error);
}

static void keep_nothing(void *context, struct search_book *book)
{
    (void)context;
    (void)book;
}

static bool count_plans(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    *(bool *)context = query_integer(row, 0) > 0;
    return true;
}

static void search_on(struct query *query, const struct scenario *scenario)
{
    const struct search_diary diary = {recall_plan, keep_nothing, query};
    const struct search_question question = {
        .base = &scenario->configuration, .leaders = 2, .threads = 1, .diary = &diary};
    struct search *s = NULL;
    struct error error = {{0}};
    uint32_t sum = 0;
    if (!search_run(&question, &s, &error)) {
        CHECK(error.text[0] != '\0');
        return;
    }
    for (unsigned f = 0; f < FATE_COUNT; f++)
        sum += s->counts.fates[f];
    CHECK(sum == s->row_count);
    search_destroy(s);
}

static void plan_all(struct query *query)
{
    const struct scenario_options how = {.layout_open = true};
    struct error error = {{0}};
    struct arena *arena = arena_create();
    struct plan_held held;
    bool plans = false;
    CHECK(plan_diary_read(changed_path, arena, &held, &error) || error.text[0] != '\0');
    query_run(query, "select count(*) from plan", NULL, count_plans, &plans, &error);
    if (plans) {
        struct scenario *scenario =
            scenario_read("text", plan_text, strlen(plan_text), &how, &error);
        CHECK(scenario != NULL && scenario->diagnostics.error_count == 0);
        search_on(query, scenario);
        scenario_destroy(scenario);
    }
    arena_destroy(arena);
}

static void make_base(unsigned char *bytes)
{
    FILE *there = fopen(base_path, "rb");
    if (there == NULL)
        sample_database(base_path);
    else
        fclose(there);
    write_all(changed_path, bytes, read_all(base_path, bytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char sql[SQL_MAX + 1];
    size_t length = strnlen((const char *)data, size < SQL_MAX ? size : SQL_MAX);
    unsigned char *bytes = malloc(FILE_MAX);
    CHECK(bytes != NULL);
    make_base(bytes);
    memcpy(sql, data, length);
    sql[length] = '\0';
    if (length > 0)
        change_rows(sql);
    if (length < size) {
        size_t file_size = read_all(changed_path, bytes);
        patch(bytes, file_size, data + length + 1, size - length - 1);
        write_all(changed_path, bytes, file_size);
    }
    free(bytes);
    struct query *query;
    struct error error = {{0}};
    if (query_open(changed_path, &query, &error)) {
        export_all(query);
        replay_all(query);
        launch_all(query);
        plan_all(query);
        query_close(query);
    } else {
        CHECK(error.text[0] != '\0');
    }
    merge_all();
    return 0;
}
