/* orrery validate below the command line: statistics computed by hand, the reader of CSV against
 * hostile files. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/validate/rows/validate.h"
#include "analysis/validate/table/validate_scale.h"
#include "analysis/validate/table/validate_score.h"
#include "analysis/validate/table/validate_svg.h"
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

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12))
        fail_msg("%.17g is not %.17g", a, b);
}

/* Without sharding a parameter costs 16 bytes, so that the errors of source s are -.2, .25, 0, .6
 * and 1: sorted sizes 0 .2 .25 .6 1, 90 % of the way at .6 + .6 x .4. */
#define HEAD "row_id,source,quality,params,dp,zero,bytes_per_gpu\n"
#define ROW(id, source, quality, measured) id "," source "," quality ",1e9,1,0," measured "\n"
#define FIVE                                                                                       \
    ROW("a", "s", "clean", "20e9")                                                                 \
    ROW("b", "s", "clean", "12.8e9")                                                               \
    ROW("c", "s", "clean", "16e9") ROW("d", "s", "clean", "10e9") ROW("e", "s", "clean", "8e9")

static bool five_hold(const struct score *s)
{
    return s->count == 5.0 && fabs(s->median_ape - 0.25) < 1e-12 &&
           fabs(s->mean_ape - 0.41) < 1e-12 && fabs(s->p90_ape - 0.84) < 1e-12 &&
           fabs(s->bias - 0.33) < 1e-12 && fabs(s->within_10 - 0.2) < 1e-12;
}

/* What a kind cannot give is refused before a row of it is read, let alone predicted. */
static void test_intervals_of_no_steps(void **state)
{
    struct world w = begin();
    struct validate_options how = {.threads = 1, .intervals = true, .profile = "/no/such/file"};
    assert_true(parse(&w, HEAD FIVE));
    assert_false(validate_file(w.arena, &w.csv, &how, &w.v, &w.error));
    assert_string_equal(w.error.text, "test.csv: intervals are of training steps, not of memory");
    assert_null(w.v.rows);
    how = (struct validate_options){.threads = 1, .detail = VALIDATE_PASS};
    assert_false(validate_file(w.arena, &w.csv, &how, &w.v, &w.error));
    assert_non_null(strstr(w.error.text, "--detail pass is of whole steps"));
    assert_null(w.v.rows);
    arena_destroy(w.arena);
}

static void test_statistics_by_hand(void **state)
{
    struct world w = begin();
    assert_true(validate(&w, HEAD FIVE, 1));
    assert_true(five_hold(&w.scores.all.metrics[0][0]));
    near(w.scores.macro_clean.count, 1.0);
    near(w.scores.macro_clean.p90_ape, 0.84);
    assert_true(isnan(w.scores.all.oom.accuracy));
    /* One value changed is noticed. */
    assert_true(validate(&w, HEAD FIVE ROW("f", "s", "clean", "16e9"), 1));
    assert_false(five_hold(&w.scores.all.metrics[0][0]));
    arena_destroy(w.arena);
}

/* Predicted is 16 GB: errors 0, .25, .6 and 1 on 8, 9, 64 and 4096 GPUs; a noisy one and one
 * without GPUs are left out. */
#define MACHINES                                                                                   \
    "row_id,source,quality,params,dp,zero,bytes_per_gpu,gpus\n"                                    \
    "a,s,clean,1e9,1,0,16e9,8\nb,s,clean,1e9,1,0,12.8e9,9\nc,t,clean,1e9,1,0,10e9,64\n"            \
    "d,s,clean,1e9,1,0,8e9,4096\ne,s,noisy,1e9,1,0,8e9,4096\nf,s,clean,1e9,1,0,8e9,\n"

static void test_errors_by_machine(void **state)
{
    struct world w = begin();
    struct scales s;
    assert_true(validate(&w, MACHINES, 1));
    validate_scale_rows(w.arena, &w.v, &w.scores, &s);
    assert_int_equal(s.all.count, 4);
    assert_int_equal(s.source_count, 2);
    near(s.all.bins[0].count, 1.0);
    near(s.all.bins[1].count, 2.0);
    near(s.all.bins[1].median_ape, (0.25 + 0.6) / 2.0);
    near(s.all.bins[3].count, 0.0);
    near(s.all.bins[4].bias, 1.0);
    near(s.all.small, 0.125); /* two of four: a third, rounded up */
    near(s.all.large, 0.8);
    near(s.all.spearman, 1.0);
    assert_int_equal(s.sources[0].count, 3);
    assert_true(isnan(s.sources[1].spearman));
    near(s.within, 1.0);
    arena_destroy(w.arena);
}

static size_t times(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word))
        count++;
    return count;
}

/* The picture: whole, a dot for each clean row in each of two panels, and one for each bin. */
static void picture_of(struct world *w, char **text)
{
    size_t size;
    FILE *out = open_memstream(text, &size);
    assert_non_null(out);
    validate_svg(w->arena, &w->v, &w->scores, out);
    assert_int_equal(fclose(out), 0);
    assert_true(strncmp(*text, "<svg", 4) == 0);
    assert_string_equal(*text + size - 7, "</svg>\n");
}

static void test_pictures(void **state)
{
    struct world w = begin();
    char *text = NULL;
    assert_true(validate(&w, MACHINES, 1));
    picture_of(&w, &text);
    assert_int_equal(times(text, "<title>a: +0.0 %"), 2);
    assert_int_equal(times(text, "<title>d: +100.0 %"), 2);
    assert_int_equal(times(text, "<title>e:"), 0); /* noisy */
    assert_int_equal(times(text, "<title>f:"), 1); /* no GPUs: only in the first panel */
    assert_int_equal(times(text, "nan"), 0);
    free(text);
    assert_true(validate(&w, HEAD FIVE, 1)); /* no column of GPUs */
    picture_of(&w, &text);
    assert_int_equal(times(text, "<circle"), 10);
    assert_int_equal(times(text, "correlation"), 0);
    free(text);
    arena_destroy(w.arena);
}

/* Rows that have no place in a panel stand first: those behind them are drawn all the same. */
static void test_rows_without_a_place(void **state)
{
    struct world w = begin();
    char *text = NULL;
    assert_true(validate(&w,
                         "row_id,source,quality,params,dp,zero,bytes_per_gpu,gpus\n"
                         "e,s,noisy,1e9,1,0,8e9,8\nf,s,clean,1e9,1,0,8e9,\n"
                         "g,s,clean,1e9,1,0,,8\na,s,clean,1e9,1,0,16e9,8\n"
                         "b,s,clean,1e9,1,0,12.8e9,64\nc,t,clean,1e9,1,0,10e9,4096\n",
                         1));
    picture_of(&w, &text);
    assert_int_equal(times(text, "<title>e:"), 0);
    assert_int_equal(times(text, "<title>f:"), 1);
    assert_int_equal(times(text, "<title>g:"), 0);
    assert_int_equal(times(text, "<title>a:"), 2);
    assert_int_equal(times(text, "<title>b:"), 2);
    assert_int_equal(times(text, "<title>c:"), 2);
    free(text);
    arena_destroy(w.arena);
}

static void test_qualities_and_sources_apart(void **state)
{
    struct world w = begin();
    assert_true(validate(&w,
                         HEAD FIVE ROW("g", "s", "degraded", "1") ROW("h", "s", "noisy", "32e9")
                             ROW("i", "t", "clean", "32e9") "j,t,clean,1e9,1,9,16e9\n",
                         2));
    assert_int_equal(w.scores.source_count, 2);
    assert_true(five_hold(&w.scores.sources[0].metrics[0][0]));
    near(w.scores.sources[0].metrics[0][1].median_ape, 0.5);
    /* Source t: an error of -.5, and a refused row, which is counted as that alone. */
    const struct score *t = &w.scores.sources[1].metrics[0][0];
    near(t->median_ape, 0.5);
    near(t->bias, -0.5);
    assert_int_equal(w.scores.sources[1].refused, 1);
    assert_int_equal(w.scores.sources[1].rows, 2);
    assert_int_equal(w.scores.sources[1].refusals[REFUSAL_CELLS], 1);
    assert_int_equal(w.scores.all.refused, 1);
    near(w.scores.all.metrics[0][0].count, 6.0);
    near(w.scores.macro_clean.median_ape, (0.25 + 0.5) / 2.0);
    near(w.scores.macro_clean.count, 2.0);
    arena_destroy(w.arena);
}

/* Rows of two groups with predictions put in by hand. */
static void judge(struct world *w, const double (*rows)[2], unsigned count)
{
    assert_true(parse(w, HEAD));
    w->v = (struct validation){.arena = w->arena, .csv = &w->csv, .kind = &validate_steps};
    w->v.rows = ARENA_ARRAY(w->arena, struct validate_row, count);
    w->v.row_count = count;
    for (unsigned i = 0; i < count; i++) {
        struct validate_row *row = &w->v.rows[i];
        *row = (struct validate_row){.id = "r", .source = "s", .group = i < 3 ? "g" : "h"};
        row->measured = VERDICT_FITS;
        row->predicted = VERDICT_FITS;
        row->refused = rows[i][1] < 0.0 ? REFUSAL_LAYOUT : REFUSAL_NONE;
        row->values[0] = (struct validate_value){true, true, rows[i][1], rows[i][0]};
    }
    validate_score_rows(w->arena, &w->v, &w->scores);
}

static void test_layouts_by_hand(void **state)
{
    struct world w = begin();
    /* g: the second best is taken, ranks 1 2 3 as 2 1 3. h: the best layout is refused. */
    const double rows[][2] = {{10.0, 11.0}, {12.0, 10.0}, {20.0, 30.0},
                              {10.0, -1.0}, {15.0, 14.0}, {30.0, 29.0}};
    judge(&w, rows, 6);
    const struct choice *c = &w.scores.sources[0].choice;
    near(c->groups, 2.0);
    near(c->median_regret, (0.2 + 0.5) / 2.0);
    near(c->p90_regret, 0.2 + 0.9 * 0.3);
    near(c->median_spearman, (0.5 - 0.5) / 2.0);
    near(c->top1, 0.0);
    near(w.scores.all.choice.median_regret, c->median_regret);
    const double right[][2] = {{10.0, 11.0}, {12.0, 12.0}, {20.0, 30.0}, {1.0, 1.0}};
    judge(&w, right, 4); /* one row is no group */
    near(w.scores.sources[0].choice.groups, 1.0);
    near(w.scores.sources[0].choice.top1, 1.0);
    near(w.scores.sources[0].choice.median_regret, 0.0);
    /* g is all refused: no group. Of h nothing has an order: no correlation, and no mean of it. */
    const double none[][2] = {{10.0, -1.0}, {12.0, -1.0}, {20.0, -1.0},
                              {10.0, 5.0},  {15.0, 5.0},  {30.0, 5.0}};
    judge(&w, none, 6);
    c = &w.scores.sources[0].choice;
    near(c->groups, 1.0);
    near(c->median_regret, 2.0);
    assert_true(isnan(c->median_spearman) && isnan(w.scores.all.choice.median_spearman));
    judge(&w, none, 3);
    near(w.scores.all.choice.groups, 0.0);
    assert_true(isnan(w.scores.all.choice.median_regret));
    arena_destroy(w.arena);
}

static void test_confusion_by_hand(void **state)
{
    struct world w = begin();
    const double rows[][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    judge(&w, rows, 6);
    struct validate_row *r = w.v.rows;
    r[0].measured = r[0].predicted = VERDICT_OOM; /* found */
    r[1].measured = VERDICT_OOM;                  /* missed */
    r[2].predicted = VERDICT_OOM;                 /* false alarm */
    r[3].refused = REFUSAL_EXPERTS;               /* not counted */
    r[4].quality = QUALITY_NOISY;                 /* not counted; r[5]: right */
    validate_score_rows(w.arena, &w.v, &w.scores);
    const struct confusion *c = &w.scores.all.oom;
    assert_int_equal(c->true_positive, 1);
    assert_int_equal(c->false_negative, 1);
    assert_int_equal(c->false_positive, 1);
    assert_int_equal(c->true_negative, 1);
    near(c->accuracy, 0.5);
    near(c->precision, 0.5);
    near(c->recall, 0.5);
    arena_destroy(w.arena);
}

static void refused(const char *text, const char *with)
{
    struct world w = begin();
    if (validate(&w, text, 1) || strstr(w.error.text, with) == NULL)
        fail_msg("'%.60s': said '%s', not '%s'", text, w.error.text, with);
    arena_destroy(w.arena);
}

static void test_hostile_files(void **state)
{
    refused("", "is empty");
    refused("\n\n", "would also need");
    refused("a,a\n", "stands twice");
    refused("row_id\x01\n", "control character (0x01)");
    refused(HEAD "x\x7f,1\n", "test.csv:2: a control character");
    refused(HEAD "a,s,clean,1,1,0\n", "test.csv:2: 6 fields");
    refused(HEAD "\"a,s\n\n\n", "test.csv:2: a quoted field does not end");
    refused(HEAD "a\"b,s,clean,1,1,0,1\n", "quote inside");
    refused(HEAD "\"a\"b,s,clean,1,1,0,1\n", "does not end");
    refused(HEAD, "no rows");
    struct world w = begin();
    assert_true(validate(&w,
                         "\xEF\xBB\xBFrow_id,zero,dp,params,more,bytes_per_gpu\r\n"
                         "\r\n\"q\"\"\n,\",0,1,1e9,unknown,16e9\r\n",
                         1));
    assert_int_equal(w.v.row_count, 1);
    assert_string_equal(w.v.rows[0].id, "q\"\n,");
    near(w.scores.all.metrics[0][0].bias, 0.0);
    arena_destroy(w.arena);
}

static void test_a_long_field_is_refused(void **state)
{
    struct world w = begin();
    size_t size = 10000000;
    char *text = malloc(size + 1);
    memset(text, 'a', size);
    text[size] = '\0';
    assert_false(validate(&w, text, 1));
    assert_non_null(strstr(w.error.text, "longer than"));
    memset(text, ',', size);
    assert_false(validate(&w, text, 1));
    assert_non_null(strstr(w.error.text, "columns"));
    free(text);
    arena_destroy(w.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intervals_of_no_steps),
        cmocka_unit_test(test_statistics_by_hand),
        cmocka_unit_test(test_errors_by_machine),
        cmocka_unit_test(test_pictures),
        cmocka_unit_test(test_rows_without_a_place),
        cmocka_unit_test(test_qualities_and_sources_apart),
        cmocka_unit_test(test_layouts_by_hand),
        cmocka_unit_test(test_confusion_by_hand),
        cmocka_unit_test(test_hostile_files),
        cmocka_unit_test(test_a_long_field_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
