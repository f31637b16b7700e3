/* Rows of orrery validate: one whose every cell is made hostile, the reasons of refusals, and the
 * same result for any number of threads. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/record/evidence/published_mfu.h"
#include "analysis/validate/rows/validate.h"
#include "analysis/validate/rows/validate_report.h"
#include "analysis/validate/rows/validate_run.h"
#include "analysis/validate/table/validate_score.h"
#include "tests/test.h"

struct world {
    struct arena *arena;
    struct csv csv;
    struct validation v;
    struct scores scores;
    struct error error;
};

static bool parse(struct world *w, const char *text)
{
    w->error.text[0] = '\0';
    return csv_parse(w->arena, "test.csv", arena_text(w->arena, text), strlen(text), &w->csv,
                     &w->error);
}

static bool validate(struct world *w, const char *text, unsigned threads)
{
    struct validate_options how = {.threads = threads};
    if (!parse(w, text) || !validate_file(w->arena, &w->csv, &how, &w->v, &w->error))
        return false;
    validate_score_rows(w->arena, &w->v, &w->scores);
    return true;
}

static struct world begin(void)
{
    return (struct world){.arena = arena_create()};
}

/* Small enough to be run hundreds of times. */
static const char *const names[] = {"row_id",
                                    "source",
                                    "outcome",
                                    "quality",
                                    "step_time_s",
                                    "layers",
                                    "hidden",
                                    "heads",
                                    "kv_heads",
                                    "head_dim",
                                    "ffn_hidden",
                                    "ffn",
                                    "vocab",
                                    "positions",
                                    "experts",
                                    "seq_len",
                                    "gpu",
                                    "gpus",
                                    "gpus_per_node",
                                    "fabric",
                                    "tp",
                                    "pp",
                                    "dp",
                                    "cp",
                                    "ep",
                                    "vpp",
                                    "zero",
                                    "microbatch",
                                    "global_batch",
                                    "sequence_parallel",
                                    "recompute",
                                    "attention",
                                    "precision",
                                    "grad_bytes",
                                    "schedule",
                                    "software"};
static const char *const good[] = {"r",
                                   "s",
                                   "ok",
                                   "clean",
                                   "0.1",
                                   "4",
                                   "256",
                                   "4",
                                   "4",
                                   "64",
                                   "1024",
                                   "gelu",
                                   "1024",
                                   "learned",
                                   "0",
                                   "128",
                                   "a100-80gb-sxm",
                                   "16",
                                   "8",
                                   "ib-hdr-8x200",
                                   "2",
                                   "2",
                                   "4",
                                   "1",
                                   "1",
                                   "1",
                                   "1",
                                   "1",
                                   "16",
                                   "0",
                                   "none",
                                   "math",
                                   "bf16",
                                   "4",
                                   "1f1b",
                                   "megatron"};
enum {
    CELLS = sizeof names / sizeof names[0]
};

/* The head, and one row for each value of this cell. */
static void write_rows(char *out, size_t size, unsigned cell, const char *const *values,
                       unsigned count)
{
    size_t length = 0;
    for (unsigned i = 0; i < CELLS; i++)
        length += (size_t)snprintf(out + length, size - length, "%s%s", i ? "," : "", names[i]);
    for (unsigned row = 0; row < count; row++)
        for (unsigned i = 0; i < CELLS; i++)
            length += i == 0 && row > 0 && cell != 0
                          ? (size_t)snprintf(out + length, size - length, "\nr%u", row)
                          : (size_t)snprintf(out + length, size - length, "%s%s", i ? "," : "\n",
                                             i == cell ? values[row] : good[i]);
    assert_true(length < size);
}

static void write_row(char *out, size_t size, unsigned cell, const char *value)
{
    write_rows(out, size, cell, &value, 1);
}

static void test_hostile_cells(void **state)
{
    static const char *const values[] = {"",    "0",       "-1",    "1e400",    "nan",  "3",
                                         "1.5", "4194305", "65536", "a: b}\\n", "0x10", "x"};
    const unsigned count = sizeof values / sizeof values[0];
    char text[8192];
    struct world w = begin();
    write_row(text, sizeof text, CELLS, "");
    assert_true(validate(&w, text, 1));
    assert_false(w.v.rows[0].refused);
    unsigned refused_count = 0;
    for (unsigned cell = 4; cell < CELLS; cell++) {
        struct arena_mark mark = arena_mark(w.arena);
        write_rows(text, sizeof text, cell, values, count);
        assert_true(validate(&w, text, 1));
        assert_int_equal(w.v.row_count, count);
        for (unsigned i = 0; i < count; i++) {
            refused_count += w.v.rows[i].refused != REFUSAL_NONE;
            assert_true(!w.v.rows[i].refused || w.v.rows[i].note[0] != '\0');
        }
        arena_rewind(w.arena, mark);
    }
    assert_true(refused_count > CELLS);
    arena_destroy(w.arena);
}

/* One cell changed: the word that the refusal is counted by. */
static void test_reasons_of_refusals(void **state)
{
    static const struct {
        const char *cell, *value;
        enum refusal why;
    } rows[] = {{"layers", "4x", REFUSAL_CELLS},
                {"gpus", "12", REFUSAL_HARDWARE},
                {"gpu", "abacus", REFUSAL_HARDWARE},
                {"fabric", "string", REFUSAL_HARDWARE},
                {"software", "nobody", REFUSAL_SOFTWARE},
                {"schedule", "lifo", REFUSAL_SCHEDULE},
                {"experts", "8", REFUSAL_LAYOUT},
                {"ep", "2", REFUSAL_LAYOUT},
                {"heads", "3", REFUSAL_LAYOUT},
                {"tp", "3", REFUSAL_LAYOUT},
                {"sequence_parallel", "2", REFUSAL_CELLS},
                {"global_batch", "17", REFUSAL_LAYOUT},
                {"gpu", "a100-80gb-sxm", REFUSAL_NONE}};
    char text[4096];
    struct world w = begin();
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned cell = 0;
        while (strcmp(names[cell], rows[i].cell) != 0)
            cell++;
        write_row(text, sizeof text, cell, rows[i].value);
        assert_true(validate(&w, text, 1));
        if (w.v.rows[0].refused != rows[i].why)
            fail_msg("%s %s: %s: %s", rows[i].cell, rows[i].value,
                     refusal_names[w.v.rows[0].refused], w.v.rows[0].note);
        assert_int_equal(w.scores.all.refusals[rows[i].why], rows[i].why != REFUSAL_NONE);
        assert_int_equal(w.scores.all.refused, rows[i].why != REFUSAL_NONE);
        assert_true((w.scores.all.metrics[0][0].count > 0.0) == (rows[i].why == REFUSAL_NONE));
    }
    arena_destroy(w.arena);
}

/* A name that is not known is told with the nearest of its kind, whatever the kind is. */
static void test_unknown_names_in_rows(void **state)
{
    static const struct {
        const char *cell, *value, *said;
    } rows[] = {{"software", "megatrn",
                 "software megatrn is not in the catalogue; did you mean "
                 "'megatron'?"},
                {"software", "zzz", "software zzz is not in the catalogue"},
                {"gpu", "gb300-nvl72", "unknown GPU 'gb300-nvl72'; did you mean 'gb300-288gb'"},
                {"fabric", "ib-ndr", "unknown fabric 'ib-ndr'; did you mean 'ib-ndr-8x400'?"}};
    char text[4096];
    struct world w = begin();
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned cell = 0;
        while (strcmp(names[cell], rows[i].cell) != 0)
            cell++;
        write_row(text, sizeof text, cell, rows[i].value);
        assert_true(validate(&w, text, 1));
        if (strstr(w.v.rows[0].note, rows[i].said) == NULL)
            fail_msg("%s: %s", rows[i].value, w.v.rows[0].note);
    }
    arena_destroy(w.arena);
}

/* The good row with these cells (names and values in turn), which may be of further columns. */
static void write_changed(char *out, size_t size, const char *const *changes)
{
    char cells[2048] = "";
    size_t head = 0, length = 0;
    for (unsigned i = 0; i < CELLS; i++) {
        const char *value = good[i];
        for (unsigned k = 0; changes[k] != NULL; k += 2)
            value = strcmp(changes[k], names[i]) == 0 ? changes[k + 1] : value;
        head += (size_t)snprintf(out + head, size - head, "%s,", names[i]);
        length += (size_t)snprintf(cells + length, sizeof cells - length, "%s,", value);
    }
    for (unsigned k = 0; changes[k] != NULL; k += 2) {
        bool known = false;
        for (unsigned i = 0; i < CELLS; i++)
            known = known || strcmp(changes[k], names[i]) == 0;
        if (known)
            continue;
        head += (size_t)snprintf(out + head, size - head, "%s,", changes[k]);
        length += (size_t)snprintf(cells + length, sizeof cells - length, "%s,", changes[k + 1]);
    }
    snprintf(out + head, size - head, "model\n%sm", cells);
}

#define DEEPSEEK                                                                                   \
    "hidden", "7168", "heads", "128", "kv_heads", "128", "experts", "256", "experts_per_token",    \
        "8", "moe_ffn_hidden", "2048", "ffn", "swiglu", "positions", "rope"

#define HOPPER                                                                                     \
    "gpu", "h100-80gb-sxm", "software", "nemo", "attention", "flash3", "fabric", "ib-ndr-8x400"

/* Embedding and head count as layers where that makes the stages even, as for any scenario (six
 * layers of four stages would be refused else); a cut model predicts one token. */
static void test_what_a_row_assumes(void **state)
{
    static const struct {
        const char *changes[28], *word;
        bool said;
    } rows[] = {
        {{"layers", "6", "pp", "4", "dp", "2"}, "even_stages", false},
        {{"layers", "7", "pp", "4", "dp", "2"}, "even_stages", true},
        {{"layers", "8", "pp", "4", "dp", "2"}, "even_stages", false},
        {{"layers", "6", "vpp", "4", "schedule", "interleaved"}, "even_stages", false},
        {{"layers", "8", "vpp", "3", "schedule", "interleaved"}, "even_stages", true},
        {{"layers", "60", DEEPSEEK}, "mtp_layers: 0", true},
        {{"layers", "61", DEEPSEEK}, "mtp_layers: 0", false},
        {{"sequence_parallel", ""}, "sequence_parallel: auto ", true},
        {{"sequence_parallel", "0"}, "sequence_parallel: false ", true},
        {{"sequence_parallel", "1"}, "sequence_parallel: true ", true},
        {{"tied_embeddings", ""}, "tied_embeddings: false ", true},
        {{"layers", "61", DEEPSEEK}, "tied_embeddings:", false},
        {{"layers", "61", "tied_embeddings", "1", DEEPSEEK}, "tied_embeddings: true", true},
        {{"layers", "61", "ep", "", DEEPSEEK}, "ep: best ", true},
        {{"layers", "61", "ep", "8", DEEPSEEK}, "ep: 8 ", true},
        {{"ep", ""}, "ep:", false},
        {{HOPPER, "assumed", "attention"}, "attention: auto ", true},
        {{HOPPER, "assumed", "heads"}, "attention: cudnn ", true},
        {{HOPPER, "attention", "flash2", "assumed", "attention"}, "attention: flash2 ", true}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct world w = begin();
        char text[8192], *told = NULL;
        size_t size = 0;
        write_changed(text, sizeof text, rows[i].changes);
        assert_true(validate(&w, text, 1));
        if (i < 5 && w.v.rows[0].refused != REFUSAL_NONE)
            fail_msg("row %u: %s", i, w.v.rows[0].note);
        FILE *out = open_memstream(&told, &size);
        assert_non_null(out);
        assert_true(validate_explain(&w.v, "r", out, &w.error));
        fclose(out);
        if ((strstr(told, rows[i].word) != NULL) != rows[i].said)
            fail_msg("row %u: %s\n%s", i, rows[i].word, told);
        free(told);
        arena_destroy(w.arena);
    }
}

/* No prediction is said to be beyond what was published whose MFU is not higher than the best of
 * its card, precision and kind of model. The batches of these rows fill ever more of a pipeline. */
static void test_beyond_what_was_published(void **state)
{
    char text[8192];
    write_row(text, sizeof text, 20, "4");
    struct world w = begin();
    unsigned timed = 0;
    size_t length = strlen(text);
    for (unsigned i = 0; i < 9; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "\nr%u,s,ok,clean,1,4,256,4,4,64,1024,gelu,1024,learned,0,128,"
                                   "a100-80gb-sxm,16,8,ib-hdr-8x200,2,2,4,1,1,1,1,1,%u,0,none,math,"
                                   "bf16,4,1f1b,megatron",
                                   i, 8u << i);
    assert_true(validate(&w, text, 1));
    for (size_t i = 0; i < w.v.row_count; i++) {
        const struct validate_row *row = &w.v.rows[i];
        timed += row->mfu_ratio > 0.0 ? 1 : 0;
        if (row->reached != NULL && row->mfu_ratio <= row->reached->mfu_ratio)
            fail_msg("%s: %g, published %g", row->id, row->mfu_ratio, row->reached->mfu_ratio);
    }
    assert_true(timed >= 5);
    arena_destroy(w.arena);
}

static void test_threads_change_nothing(void **state)
{
    char text[4096];
    write_row(text, sizeof text, 20, "4");
    struct world a = begin(), b = begin();
    size_t length = strlen(text);
    for (unsigned i = 0; i < 6; i++) /* the same row with other batches */
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "\nr%u,s,ok,clean,1,4,256,4,4,64,1024,gelu,1024,learned,0,128,"
                                   "a100-80gb-sxm,16,8,ib-hdr-8x200,2,2,4,1,1,1,1,1,%u,0,none,math,"
                                   "bf16,4,1f1b,megatron",
                                   i, 8 * (i + 1));
    assert_true(validate(&a, text, 1));
    assert_true(validate(&b, text, 5));
    assert_int_equal(a.v.row_count, 7);
    for (size_t i = 0; i < a.v.row_count; i++)
        assert_memory_equal(a.v.rows[i].values, b.v.rows[i].values, sizeof a.v.rows[i].values);
    arena_destroy(a.arena);
    arena_destroy(b.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_cells),
        cmocka_unit_test(test_reasons_of_refusals),
        cmocka_unit_test(test_unknown_names_in_rows),
        cmocka_unit_test(test_what_a_row_assumes),
        cmocka_unit_test(test_beyond_what_was_published),
        cmocka_unit_test(test_threads_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
