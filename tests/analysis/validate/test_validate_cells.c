/* Cells of a published row that contradict each other, words and keys that do not exist, and names
 * that stand twice. */
#include <string.h>

#include "analysis/validate/rows/validate.h"
#include "analysis/validate/table/validate_score.h"
#include "tests/test.h"

enum {
    ROWS_MAX = 6
};
struct world {
    struct arena *arena;
    struct validation v;
    struct scores scores;
};
/* Small enough to be run hundreds of times. */
static const char *const cells[][2] = {
    {"row_id", "r"},
    {"source", "s"},
    {"outcome", "ok"},
    {"quality", "clean"},
    {"step_time_s", ".1"},
    {"tokens_per_s_per_gpu", ""},
    {"peak_alloc_gib", ""},
    {"peak_reserved_gib", ""},
    {"stated", ""},
    {"layers", "4"},
    {"hidden", "256"},
    {"heads", "4"},
    {"ffn_hidden", "1024"},
    {"ffn", "gelu"},
    {"vocab", "1024"},
    {"positions", "learned"},
    {"seq_len", "128"},
    {"gpu", "a100-80gb-sxm"},
    {"gpus", "16"},
    {"gpus_per_node", "8"},
    {"fabric", "ib-hdr-8x200"},
    {"tp", "2"},
    {"pp", "2"},
    {"dp", "4"},
    {"zero", "1"},
    {"microbatch", "1"},
    {"global_batch", "16"},
    {"recompute", "none"},
    {"attention", "math"},
    {"precision", "bf16"},
    {"schedule", "1f1b"},
    {"software", "megatron"},
};

/* The row with these cells, names and values in turn; one for each of `ids`, if there are any. */
static struct world validated(const char *const *changes, const char *const *ids, unsigned count)
{
    struct world w = {.arena = arena_create()};
    const struct validate_options how = {.threads = 1};
    struct csv csv;
    struct error error = {""};
    const char *head = "", *rows = "";
    for (unsigned row = 0; row < count; row++) {
        rows = arena_format(w.arena, "%s\n", rows);
        for (unsigned i = 0; i < sizeof cells / sizeof cells[0]; i++) {
            const char *value = i == 0 && ids != NULL ? ids[row] : cells[i][1];
            for (unsigned k = 0; changes[k] != NULL; k += 2)
                value = strcmp(changes[k], cells[i][0]) == 0 ? changes[k + 1] : value;
            rows = arena_format(w.arena, "%s%s%s", rows, i > 0 ? "," : "", value);
            if (row == 0)
                head = arena_format(w.arena, "%s%s%s", head, i > 0 ? "," : "", cells[i][0]);
        }
    }
    char *text = arena_text(w.arena, arena_format(w.arena, "%s%s\n", head, rows));
    if (!csv_parse(w.arena, "test.csv", text, strlen(text), &csv, &error) ||
        !validate_file(w.arena, &csv, &how, &w.v, &error))
        fail_msg("%s", error.text);
    assert_int_equal(w.v.row_count, count);
    validate_score_rows(w.arena, &w.v, &w.scores);
    return w;
}

/* Cells that contradict each other, and words that do not exist: refused, and in no other figure.
 * 16 sequences of 128 tokens in .1 s on 16 GPUs are 1280 tokens/s of each; the card has 80 GiB. */
static void test_cells_that_contradict(void **state)
{
    static const struct {
        const char *changes[10], *note;
        bool refused;
    } rows[] = {
        {{NULL}, "", false},
        {{"quality", ""}, "", false},
        {{"quality", "degraded"}, "", false},
        {{"quality", "superb"}, "column quality: no 'superb'; known: clean, noisy, degraded", true},
        {{"quality", "degradd"}, "column quality: no 'degradd'; did you mean 'degraded'?", true},
        {{"outcome", ""}, "", false},
        {{"outcome", "maybe"}, "column outcome: no 'maybe'; known: ok, oom", true},
        {{"outcome", "oom-ish"}, "column outcome: no 'oom-ish'", true},
        {{"outcome", "oom", "step_time_s", ""}, "reserves ", false},
        {{"outcome", "oom"}, "column outcome: oom, and step_time_s has a value", true},
        {{"outcome", "oom", "step_time_s", "", "tokens_per_s_per_gpu", "1280"},
         "column outcome: oom, and tokens_per_s_per_gpu has a value",
         true},
        {{"tokens_per_s_per_gpu", "1280"}, "", false},
        {{"tokens_per_s_per_gpu", "1304"}, "", false},
        {{"tokens_per_s_per_gpu", "1256"}, "", false},
        {{"tokens_per_s_per_gpu", "1310"},
         "tokens_per_s_per_gpu is 1310, and 1280 by step_time_s, which is taken",
         false},
        {{"tokens_per_s_per_gpu", "910"}, "tokens_per_s_per_gpu is 910", false},
        {{"tokens_per_s_per_gpu", "1808"}, "tokens_per_s_per_gpu is 1808", false},
        {{"tokens_per_s_per_gpu", "1812"}, "column tokens_per_s_per_gpu: 1812, and 1280 by", true},
        {{"tokens_per_s_per_gpu", "904"}, "column tokens_per_s_per_gpu: 904, and 1280 by", true},
        {{"peak_reserved_gib", "79"}, "", false},
        {{"peak_reserved_gib", "80.1"},
         "column peak_reserved_gib: 80.1 is more than the 80 GiB of a100-80gb-sxm",
         true},
        {{"peak_alloc_gib", "80.1"}, "column peak_alloc_gib: 80.1 is more than the 80 GiB", true},
        {{"peak_alloc_gib", "41", "peak_reserved_gib", "41"}, "", false},
        {{"peak_alloc_gib", "41", "peak_reserved_gib", "40"},
         "column peak_alloc_gib: 41 is more than peak_reserved_gib, 40",
         true},
        {{"stated", "software.cuda_graph=full"},
         "column stated: software.cuda_graph: no key 'cuda_graph'; did you mean 'cuda_graphs'?",
         true},
        {{"stated", "layout.recompute=none;software.foo=1"}, "software.foo: no key 'foo'", true},
        {{"stated", "layuot.tp=2"},
         "column stated: layuot.tp: no section 'layuot'; did you mean 'layout'?",
         true},
        {{"stated", "model.experts_nowhere.x=1"}, "no section 'model.experts_nowhere'", true},
        {{"stated", "run.duration=1d"}, "run.duration is of a section that rows do not have", true},
        {{"stated", "cluster.fabric.nic=400Gb/s", "gpus", "8", "dp", "2", "fabric", "none"},
         "",
         false},
        {{"stated", "software.megatron_core=0.8;layout.recompute=full"}, "", false},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world w = validated(rows[i].changes, NULL, 1);
        const struct validate_row *row = &w.v.rows[0];
        if ((row->refused != REFUSAL_NONE) != rows[i].refused ||
            (*rows[i].note == '\0' ? strstr(row->note, "tokens_per_s") != NULL
                                   : strstr(row->note, rows[i].note) == NULL))
            fail_msg("row %u: '%s' is not '%s'", i, row->note, rows[i].note);
        assert_int_equal(w.scores.all.refusals[REFUSAL_CELLS], rows[i].refused);
        if (rows[i].refused)
            assert_true(w.scores.all.metrics[0][0].count + w.scores.all.metrics[0][1].count == 0.0);
        arena_destroy(w.arena);
    }
}

/* The first row of a name counts, each further one is refused; rows without one are no pair. */
static void test_names_of_rows(void **state)
{
    static const char *const cells_end = NULL;
    static const char *const ids[ROWS_MAX] = {"b", "a", "b", "", "", "b"};
    static const bool refused[ROWS_MAX] = {false, false, true, false, false, true};
    struct world w = validated(&cells_end, ids, ROWS_MAX);
    for (unsigned i = 0; i < ROWS_MAX; i++) {
        assert_string_equal(w.v.rows[i].id, ids[i]);
        assert_int_equal(w.v.rows[i].refused != REFUSAL_NONE, refused[i]);
        if (refused[i])
            assert_string_equal(w.v.rows[i].note,
                                "column row_id: that of row 1, too; name each row once");
    }
    assert_int_equal(w.scores.all.refused, 2);
    arena_destroy(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_that_contradict),
        cmocka_unit_test(test_names_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
