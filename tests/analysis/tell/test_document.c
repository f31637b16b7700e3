/* A document: facts keep their order, JSON has those that are not aside, and lines show what the
 * names in braces say. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/tell/document/document_json.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report_layouts.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/child.h"
#include "tests/test.h"

/* A tree with each kind of fact. */
static struct fact *tree(struct arena *arena)
{
    struct fact *o = document_begin(arena, "orrery.test/1", NULL);
    document_real(o, "step_s", IN_SECONDS, 0.25);
    document_real(o, "whole_s", IN_SECONDS, 0.5);
    document_real(o, "bytes", IN_BYTES, 3221225472.0);
    document_real(o, "unknown", IN_SECONDS, NAN);
    document_count(o, "ranks", 16384);
    document_real(o, ".aside", IN_RATIO, 0.5);
    document_word(o, "word", "plain");
    document_word(o, "empty", "");
    document_word(o, "none", NULL);
    document_quote(o, "quote", "a\tb");
    document_flag(o, "yes", true);
    document_flag(o, "no", false);
    struct fact *inner = document_object(o, "inner");
    document_real(inner, "step_s", IN_SECONDS, 1.0);
    document_object_if(false, o, "nothing");
    struct fact *rows = document_array(o, "rows");
    for (unsigned i = 0; i < 3; i++) {
        struct fact *row = document_object(rows, NULL);
        document_count(row, "n", i + 1);
        document_word(row, "name", i == 0 ? "a" : i == 1 ? "longer" : "c");
    }
    document_array(o, "no_rows");
    return o;
}

static char *lines_of(const char *lines)
{
    struct arena *arena = arena_create();
    char *text = NULL;
    size_t size = 0;
    struct session session = {.out = open_memstream(&text, &size), .width = 40};
    assert_non_null(session.out);
    document_lines(tree(arena), lines, &session);
    fclose(session.out);
    arena_destroy(arena);
    return text;
}

static const struct shown_case {
    const char *lines, *text;
} cases[] = {
    {"a {step_s}, {bytes}, {ranks}\n", "a 250 ms, 3.00 GiB, 16,384\n"},
    {"{ranks:digits} {ranks:quantity} {.aside} {unknown} {none}", "16384 16.4 k 50.0 % - -"},
    {"{bytes:decimal} {step_s:.3f} {step_s:.2g} {step_s:+.1f} {.aside:+.1%}",
     "3.22 GB 0.250 0.25 +0.2 +50.0 %"},
    {"{step_s:+time} {step_s-whole_s:+time}", "+250 ms -250 ms"},
    {"{step_s/whole_s} {step_s/whole_s:.2f} {whole_s-step_s} {whole_s/ranks:time}",
     "50.0 % 0.50 250 ms 30.5 us"},
    {"[{word>8}] [{word<8}] [{word<3.3}] [{word<0.2}] [{word>2}]",
     "[   plain] [plain   ] [pla] [pl] [plain]"},
    {"{quote} {quote:clean} {inner.step_s} {rows.count} {no_rows.count}", "a?b a b 1 s 3 0"},
    {"{if yes}1{end}{if no}2{end}{if not no}3{end}{if unknown}4{end}{if none}5{end}{if "
     "empty}6{end}",
     "13"},
    {"{if step_s}1{end}{if rows}2{end}{if no_rows}3{end}{if inner}4{end}{if nothing}5{else}6{end}",
     "1246"},
    {"{if ranks > 16383}1{end}{if ranks > 16384}2{end}{if ranks < 16384}3{end}{if ranks = 16384}4"
     "{end}{if not ranks = 2}5{end}",
     "145"},
    {"{if word = plain}1{end}{if word = plainer}2{end}{if word = pla}3{end}{if none = plain}4{end}",
     "1"},
    {"{if unknown > 0}1{else}2{end}{if unknown < 1}3{end}", "2"},
    {"{if no}a{if yes}b{else}c{end}d{else}e{if yes}f{end}{end}g", "efg"},
    {"{each rows}{row}{name}{if row < 3}, {end}{end}", "1a, 2longer, 3c"},
    {"{each rows 2}{n}{step_s} {end}", "1250 ms 2250 ms "},
    {"{each inner}{step_s} {word}{end}{each nothing}{never}{end}{each no_rows}{never}{end}",
     "1 s plain"},
    {"{each rows}{each inner}{n}{end}{end}", "123"},
    {"ab{to 5}c{to 2}d\nx{to 3}y", "ab   c d\nx  y"},
    {"{bar .aside 4}|", "##..|"},
    {"ab {wrap word}next", "ab plain\nnext"},
    {"  {wrapped}one two three four five six seven eight nine ten{end}.",
     "  one two three four five six seven\n  eight nine ten\n."},
    {"{wrapped 4}one two three four five six seven eight nine{end}",
     "one two three four five six seven\n    eight nine\n"},
    {"{if no}{wrap word}{to 9}{bar .aside 3}{table}a\tb\n{end}{wrapped}x{end}{end}.", "."},
    {"{table}<name\tn\n{each rows}{name}\t{n}\n{end}{end}",
     "  name   n\n  a      1\n  longer 2\n  c      3\n"},
    {"{bold}{dim}{red}{plain}.", "."},
    {"{if nothing.at_all}1{end}{nothing.at_all}", "-"},
    {"{if not yes}1{end}{if not ranks = 16384}2{end}.", "."},
};

static void lines_show_what_their_names_say(void **state)
{
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = lines_of(cases[i].lines);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
}

static void colours_count_for_no_column(void **state)
{
    struct arena *arena = arena_create();
    char *text = NULL;
    size_t size = 0;
    struct session session = {.out = open_memstream(&text, &size), .colour = true};
    document_lines(tree(arena), "a{bold}b{plain}{to 4}c", &session);
    fclose(session.out);
    arena_destroy(arena);
    assert_string_equal(text, "a\033[1mb\033[0m  c");
    free(text);
}

static void json_has_what_is_not_aside(void **state)
{
    struct arena *arena = arena_create();
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct fact *o = document_begin(arena, "orrery.test/1", NULL);
    document_real(o, "third", IN_SECONDS, 1.0 / 3.0);
    document_count(o, "digest", 7); /* keeps its place */
    document_real(o, "unknown", IN_RATIO, INFINITY);
    document_real(o, ".aside", IN_RATIO, 1.0);
    document_quote(o, "broken", "\xff");
    document_flag(o, "flag", true);
    struct fact *names = document_names(o, "names");
    document_count(names, ".hidden", 1);
    document_count(names, "\xff", 2);
    document_word(document_array(o, "words"), NULL, "a");
    document_null(o, "null");
    document_json(o, out);
    fclose(out);
    arena_destroy(arena);
    const char *digest = strstr(text, "\"digest\": 7"), *third = strstr(text, "\"third\": ");
    assert_true(digest != NULL && third != NULL && digest < third);
    assert_non_null(strstr(text, "\"third\": 0.33333333333333331,"));
    assert_non_null(strstr(text, "\"seed\": null"));
    assert_non_null(strstr(text, "\"unknown\": null"));
    assert_non_null(strstr(text, "\"broken\": null"));
    assert_non_null(strstr(text, "\"flag\": true"));
    assert_non_null(strstr(text, "\".hidden\": 1"));
    assert_non_null(strstr(text, "\"(not UTF-8)\": null"));
    assert_non_null(strstr(text, "\"words\": [\n    \"a\"\n  ]"));
    assert_non_null(strstr(text, "\"null\": null"));
    assert_null(strstr(text, "aside"));
    free(text);
}

static void columns_of_a_row_come_in_the_order_of_the_keys(void **state)
{
    struct arena *arena = arena_create();
    struct fact *o = document_begin(arena, "orrery.test/1", NULL);
    const struct out_of_memory_row row = {
        .place = "card", .rank = ROW_NULL, .stage = 2, .bytes = 5.0, .at_s = NAN};
    document_columns(o, ROW_out_of_memory, &row, "here=stage place rank size=bytes");
    const char *const order[] = {"here", "place", "rank", "size", ".tensor"};
    const struct fact *fact = document_find(o, "here", 4);
    for (unsigned i = 0; i < 5; i++, fact = fact->next)
        assert_string_equal(fact->key, order[i]);
    assert_int_equal(document_find(o, "here", 4)->value.integer, 2);
    assert_int_equal(document_find(o, "rank", 4)->kind, FACT_NULL);
    assert_int_equal(document_find(o, "size", 4)->unit, IN_BYTES);
    assert_int_equal(document_find(o, ".at_s", 5)->unit, IN_SECONDS);
    assert_null(document_find(o, ".place", 6));
    assert_null(document_find(o, "stage", 5));
    arena_destroy(arena);
}

static const char *faulty;
static void print_faulty(void)
{
    free(lines_of(faulty));
}

/* A name that nothing has, wherever it stands; a block that is not closed; a comparison, a format
 * that is none. */
static void faults_in_lines_end_the_program(void **state)
{
    static const char *const lines[] = {
        "{never}",
        "{if no}{never}{end}",
        "{if never}{end}",
        "{each rows}{never}{end}",
        "{step_s/never}",
        "{if yes}",
        "{if yes}{else}",
        "{end}",
        "{step_s:nosuch}",
        "{if step_s ~ 1}{end}",
        "{step_s",
        "{yes}",
        "{wrapped}{if yes}",
        "{each rows}",
        "{if no}{rows.none}{end}",
    };
    char text[400];
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
        faulty = lines[i];
        assert_true(WIFSIGNALED(child_output(print_faulty, text, sizeof text)));
        assert_non_null(strstr(text, "claim does not hold"));
    }
}

/* Stages whose layers are given, the first, the last or both, are told as first+last. */
static void ends_of_a_layout_are_told(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 9; i++) {
        const struct plan_layout layout = {.schedule = &schedule_one_f_one_b,
                                           .sharding = &sharding_zero_1,
                                           .first_stage_layers = i / 3,
                                           .last_stage_layers = i % 3};
        struct arena *arena = arena_create();
        struct fact *o = document_begin(arena, "orrery.test/1", NULL);
        char *text = NULL, wanted[16] = "no";
        size_t size = 0;
        struct session session = {.out = open_memstream(&text, &size), .width = 40};
        report_layout_facts(o, &layout);
        document_lines(o, "{.ends}", &session);
        fclose(session.out);
        if (i > 0)
            snprintf(wanted, sizeof wanted, "%u+%u", i / 3, i % 3);
        assert_string_equal(text, wanted);
        free(text);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_show_what_their_names_say),
        cmocka_unit_test(colours_count_for_no_column),
        cmocka_unit_test(json_has_what_is_not_aside),
        cmocka_unit_test(columns_of_a_row_come_in_the_order_of_the_keys),
        cmocka_unit_test(ends_of_a_layout_are_told),
        cmocka_unit_test(faults_in_lines_end_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
