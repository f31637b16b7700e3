/* Law: the threads that read a step change no byte of its report, its JSON or its database. Each
 * rank is a class of its own, so that seven threads have something to share. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/database/store_step.h"
#include "analysis/record/evidence/record_run.h"
#include "analysis/tell/document/document_json.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report.h"
#include "scenarios/assemble/scenario.h"
#include "sim/check.h"
#include "sim/pool.h"
#include "tests/analysis/record/database/sample.h"
#include "tests/test.h"

#define COUNT(values) (sizeof(values) / sizeof(values)[0])

static const char *const texts[] = {
    /* sixteen ranks that draw their own times, on two stages */
    "model: {layers: 4, hidden: 1024, heads: 8, vocabulary: 8000}\n"
    "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 2, "
    "fabric: ib-ndr-8x400}\n"
    "training: {sequence: 512, global_batch: 16}\n"
    "layout: {tp: 2, pp: 2, sharding: zero-1}\n"
    "perturbations: {jitter: 0.05}\n",
    /* eight of them with nothing between them, the fourth slow */
    "model: {layers: 3, hidden: 512, heads: 8, vocabulary: 8000}\n"
    "cluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
    "training: {sequence: 512, global_batch: 16}\n"
    "layout: {sharding: fsdp}\n"
    "perturbations: {stragglers: [{gpu: 3, speed: 70%}]}\n",
};

struct bytes {
    char *data;
    size_t size;
};
/* All that a run leaves behind. */
struct answer {
    struct bytes report, json, database;
    unsigned threads;
};

static struct bytes read_file(const char *path)
{
    struct bytes out = {NULL, 0};
    char block[4096];
    FILE *file = fopen(path, "rb"), *memory = open_memstream(&out.data, &out.size);
    CHECK(file != NULL && memory != NULL);
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;)
        CHECK(fwrite(block, 1, got, memory) == got);
    CHECK(fclose(memory) == 0 && fclose(file) == 0);
    return out;
}

static struct bytes report_of(const struct record *record)
{
    struct bytes out = {NULL, 0};
    struct session session = {.out = open_memstream(&out.data, &out.size), .notes = stderr};
    CHECK(session.out != NULL);
    document_print(report_run(record, &(struct run_told){.all = true}), report_run_lines, false,
                   &session);
    CHECK(fclose(session.out) == 0);
    return out;
}

static struct bytes json_of(const struct result *result, const struct record *record)
{
    struct bytes out = {NULL, 0};
    FILE *stream = open_memstream(&out.data, &out.size);
    CHECK(stream != NULL);
    document_json(report_run(record, &(struct run_told){.result = result}), stream);
    CHECK(fclose(stream) == 0);
    return out;
}

static struct bytes database_of(const struct result *result, const struct record *record,
                                const char *folder)
{
    char path[256];
    struct store *store;
    struct error error = {""};
    snprintf(path, sizeof path, "%s/threads.db", folder);
    CHECK(store_open(path, 0.0, &store, &error) == STORE_GOOD);
    store_step(store, result, record, DETAIL_OP);
    CHECK(store_finish(store, &error) == STORE_GOOD);
    struct bytes out = read_file(path);
    CHECK(remove(path) == 0);
    return out;
}

static void play(const char *text, unsigned threads, const char *folder, struct answer *out)
{
    struct error error = {""};
    struct scenario *s = scenario_read("threads.yaml", text, strlen(text), NULL, &error);
    struct step_options options = {.unfold = true, .ledger_points = true, .threads = threads};
    struct step *step;
    struct result result;
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    assert_true(step_run(&s->configuration, &options, &step, &error));
    assert_int_equal(step->counts.classes, step->counts.ranks);
    result_gather(s, step, &result);
    struct record record;
    struct arena *arena = arena_create();
    record_of_run(arena, &result, true, &record);
    *out = (struct answer){report_of(&record), json_of(&result, &record),
                           database_of(&result, &record, folder), step_threads(step)};
    arena_destroy(arena);
    step_destroy(step);
    scenario_destroy(s);
}

static void same(const struct bytes *a, const struct bytes *b)
{
    assert_true(a->size > 1000);
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static void answer_free(struct answer *answer)
{
    free(answer->report.data);
    free(answer->json.data);
    free(answer->database.data);
}

static void threads_change_no_byte(void **state)
{
    static const unsigned threads[] = {2, 7, 7, 0};
    char folder[128];
    sample_folder(folder, sizeof folder);
    for (unsigned i = 0; i < COUNT(texts); i++) {
        struct answer one, many;
        play(texts[i], 1, folder, &one);
        for (unsigned t = 0; t < COUNT(threads); t++) {
            play(texts[i], threads[t], folder, &many);
            assert_int_equal(many.threads, threads[t] > 0 ? threads[t] : 1);
            same(&one.report, &many.report);
            same(&one.json, &many.json);
            same(&one.database, &many.database);
            answer_free(&many);
        }
        answer_free(&one);
    }
    sample_remove(folder);
}

/* Left to itself a step takes all processors when it is large, and one when it is not. */
static void large_steps_take_all_processors(void **state)
{
    struct step step = {.counts.ops = 4194304};
    assert_int_equal(step_threads(&step), 1);
    step.counts.ops++;
    assert_int_equal(step_threads(&step), pool_threads_available());
    step.threads = 3;
    assert_int_equal(step_threads(&step), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_no_byte),
        cmocka_unit_test(large_steps_take_all_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
