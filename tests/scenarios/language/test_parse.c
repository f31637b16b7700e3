/* The parser: trees with places, and the exact words and place of every refusal. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios/language/names.h"
#include "scenarios/language/parse.h"
#include "tests/child.h"
#include "tests/test.h"

struct parsed {
    struct arena *arena;
    struct source source;
    struct problems *problems;
    struct value *root;
};

static struct parsed parse(const char *text, size_t bytes)
{
    struct parsed p = {.arena = arena_create()};
    char *copy = arena_alloc(p.arena, bytes + 1, 1);
    memcpy(copy, text, bytes);
    p.source = (struct source){.name = "t.yaml", .text = copy, .bytes = bytes};
    p.problems = ARENA_NEW(p.arena, struct problems);
    p.problems->arena = p.arena;
    p.root = parse_source(p.arena, &p.source, 0, p.problems);
    return p;
}

static void test_tree(void **state)
{
    const char *text = "a: 1\nb: {c: \"x y\", d: [1, 2]}\n\xC3\xA9t\xC3\xA9: {z: 5}\r\nlast: q\n";
    struct parsed p = parse(text, strlen(text));
    assert_non_null(p.root);
    assert_int_equal(p.root->count, 4);
    const struct value *c = value_deepest(p.root, "b.c");
    assert_string_equal(c->text, "x y");
    assert_true(c->quoted);
    assert_int_equal(c->mark.line, 2);
    assert_int_equal(c->mark.column, 8);
    assert_int_equal(c->mark.width, 5);
    const struct value *item = value_deepest(p.root, "b.d[1]");
    assert_string_equal(item->text, "2");
    /* columns count characters, not bytes */
    assert_int_equal(value_deepest(p.root, "\xC3\xA9t\xC3\xA9.z")->mark.column, 10);
    assert_int_equal(value_find(p.root, "last")->key_mark.line, 4);
    assert_int_equal(p.problems->error_count, 0);
    arena_destroy(p.arena);
}

/* A path may name keys of up to 63 bytes; a longer one leads no further. */
static void test_long_keys_of_a_path(void **state)
{
    for (size_t length = 62; length <= 66; length++) {
        char text[128], path[128], key[80] = "";
        memset(key, 'k', length);
        snprintf(text, sizeof text, "%s: {z: 5}\n", key);
        snprintf(path, sizeof path, "%s.z", key);
        struct parsed p = parse(text, strlen(text));
        assert_non_null(p.root);
        const struct value *found = value_deepest(p.root, path);
        if (length < 64)
            assert_string_equal(found->text, "5");
        else
            assert_ptr_equal(found, p.root);
        arena_destroy(p.arena);
    }
}

static void test_json_is_accepted(void **state)
{
    const char *text = "{\n\t\"a\": {\"b\": [1, true, \"400Gb\\/s\"]}\n}\n";
    struct parsed p = parse(text, strlen(text));
    assert_non_null(p.root);
    assert_string_equal(value_deepest(p.root, "a.b[2]")->text, "400Gb/s");
    arena_destroy(p.arena);
}

struct refusal {
    const char *text;
    unsigned line, column;
    const char *words;
};
static const struct refusal refusals[] = {
    {"a: 1\nb: 2\na: 3\n", 3, 1, "duplicate key 'a'; it stands on line 1 already"},
    {"a: &x 1\n", 1, 4, "anchors and aliases are refused; write the value where it is meant"},
    {"a: *x\n", 1, 4, "anchors and aliases are refused; write the value where it is meant"},
    {"a: !!int 1\n", 1, 4, "tags ('!') are refused; remove it"},
    {"a: !x 1\n", 1, 4, "tags ('!') are refused; remove it"},
    {"? [a, b]\n: c\n", 1, 3, "a key must be a word"},
    {"a: 1\n---\nb: 2\n", 2, 1, "a second document; a scenario is one"},
    {"a: 1\nb: [1, 2\nc: 3\n", 3, 2, "',' or ']' was expected here"},
    {"a: {b: 1\nc: 3\n", 2, 2, "',' or '}' was expected here"},
    {"a: \"never closed\nb: 1\n", 1, 4, "the text ends inside quotes"},
    {"a: 1\n\tb: 2\n", 2, 1, "a tab character indents this line; indent with blanks"},
    {"a: b: c\n", 1, 5,
     "a ':' does not fit here; check the indentation, or put the value in quotes"},
    {"a: 1\nword\n", 2, 1, "a key needs a ':' and a blank after it"},
    {"a:\n  b: 1\n c: 2\n", 3, 2,
     "a key was expected here; check the indentation, and quotes and brackets before it"},
    {"a: @x\n", 1, 4,
     "this character cannot start a value; indent with blanks, and put it in quotes if it is "
     "meant"},
    {"a: \xFF\n", 1, 4, "a byte that is not UTF-8; save the file as UTF-8"},
    {"\xC3\xA9: \xC0\x80\n", 1, 4, "a byte that is not UTF-8; save the file as UTF-8"},
    {"a: \xED\xA0\x80\n", 1, 4, "a byte that is not UTF-8; save the file as UTF-8"},
    {"a: 1\nb: \x01\n", 2, 4, "a control character; a scenario is plain text"},
    {"a: 1\r\nb: \x1B[31m\r\n", 2, 4, "a control character; a scenario is plain text"},
    {"a: \xE2\x80\xA8\n", 1, 4,
     "an exotic line break (U+0085, U+2028 or U+2029); end lines with a newline"},
    {"a: \"x\\0y\"\n", 1, 4, "a NUL character in a value"},
    {"a: \"\\q\"\n", 1, 5, "unknown escape after '\\' in double quotes"},
};

static void test_refusals(void **state)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const struct refusal *r = &refusals[i];
        struct parsed p = parse(r->text, strlen(r->text));
        const struct problem *problem = &p.problems->kept[0];
        if (p.problems->error_count == 0)
            fail_msg("taken: %s", r->text);
        assert_string_equal(problem->text, r->words);
        if (problem->line != r->line || problem->column != r->column)
            fail_msg("%s: at %u:%u", r->text, problem->line, problem->column);
        arena_destroy(p.arena);
    }
}

static void test_nul_byte(void **state)
{
    struct parsed p = parse("a: 1\nb\0: 2\n", 11);
    assert_null(p.root);
    assert_string_equal(p.problems->kept[0].text, "a NUL byte; a scenario is plain UTF-8 text");
    assert_int_equal(p.problems->kept[0].line, 2);
    assert_int_equal(p.problems->kept[0].column, 2);
    arena_destroy(p.arena);
}

static void fill(char *text, size_t count, const char *piece)
{
    size_t length = strlen(piece);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * length, piece, length);
}

/* 100,000 brackets must neither hang nor exhaust the stack, whatever kind they are. */
static void test_depth(void **state)
{
    static const char *const pieces[] = {"[", "{a: ", "- ", "? ", "[{a: "};
    static char text[600000];
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        fill(text, 100000, pieces[i]);
        struct parsed p = parse(text, 100000 * strlen(pieces[i]));
        assert_null(p.root);
        assert_true(p.problems->error_count > 0);
        arena_destroy(p.arena);
    }
    fill(text, PARSE_DEPTH_MAX, "[");
    fill(text + PARSE_DEPTH_MAX, PARSE_DEPTH_MAX, "]");
    struct parsed good = parse(text, (size_t)2 * PARSE_DEPTH_MAX);
    assert_non_null(good.root);
    arena_destroy(good.arena);
    fill(text, PARSE_DEPTH_MAX + 1, "[");
    struct parsed bad = parse(text, PARSE_DEPTH_MAX + 1);
    assert_string_equal(bad.problems->kept[0].text, "nested deeper than 64 levels");
    assert_int_equal(bad.problems->kept[0].column, PARSE_DEPTH_MAX + 1);
    arena_destroy(bad.arena);
}

static void test_size_and_keys(void **state)
{
    static char text[SOURCE_BYTES_MAX + 1];
    fill(text, SOURCE_BYTES_MAX + 1, "#");
    struct parsed p = parse(text, SOURCE_BYTES_MAX + 1);
    assert_string_equal(p.problems->kept[0].text,
                        "larger than 1 MiB; a scenario is a few kB of text");
    arena_destroy(p.arena);
    size_t at = 0;
    for (int i = 0; i <= PARSE_KEYS_MAX; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "k%d: 1\n", i);
    p = parse(text, at);
    assert_string_equal(p.problems->kept[0].text, "more than 512 keys in one mapping");
    assert_int_equal(p.problems->kept[0].line, PARSE_KEYS_MAX + 1);
    arena_destroy(p.arena);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifndef SANITIZED
#define SANITIZED 0
#endif

static size_t address_space_bytes(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%zu", &pages) != 1)
        _exit(77);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static size_t room_bytes;

/* One value of a mebibyte: the reader of YAML gathers it before anything is made of it. */
static void parse_without_room(void)
{
    static char text[SOURCE_BYTES_MAX];
    struct parsed p = parse("a: 1\n", 5);
    memset(text, 'x', sizeof text);
    p.source = (struct source){.name = "t.yaml", .text = text, .bytes = sizeof text};
    size_t all = address_space_bytes() + room_bytes;
    struct rlimit limit = {all, all};
    setrlimit(RLIMIT_AS, &limit);
    parse_source(p.arena, &p.source, 0, p.problems);
    _exit(p.problems->error_count > 0 ? 78 : 79);
}

/* A host that has no memory is to blame, not the file: no room to begin, or none to go on. */
static void test_memory_that_is_refused(void **state)
{
    if (SANITIZED)
        skip(); /* sanitizers take their memory at once */
    for (room_bytes = 0; room_bytes < SOURCE_BYTES_MAX; room_bytes += SOURCE_BYTES_MAX / 4) {
        char said[200];
        int status = child_output(parse_without_room, said, sizeof said);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 1);
        assert_non_null(strstr(said, "out of memory; allow it more"));
    }
}

static void test_empty_texts(void **state)
{
    static const char *const texts[] = {"", "# only a comment\n", "---\n", "\n\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct parsed p = parse(texts[i], strlen(texts[i]));
        assert_non_null(p.root);
        assert_true(value_is_empty(p.root));
        arena_destroy(p.arena);
    }
}

/* Messages about a hostile text carry nothing that a terminal would obey. */
static void test_quotes_are_clean(void **state)
{
    struct arena *arena = arena_create();
    assert_string_equal(source_quote(arena, "a\x1b[31mb\nc\xFF"), "a?[31mb?c?");
    const char *cut = source_quote(arena, "0123456789012345678901234567890123456789tail");
    assert_string_equal(cut, "0123456789012345678901234567890123456789...");
    arena_destroy(arena);
}

static void test_names(void **state)
{
    static const char *const names[] = {"tp",       "pp",           "dp", "sequence_parallel",
                                        "schedule", "h100-80gb-sxm"};
    struct name_list list = {names, 6};
    struct arena *arena = arena_create();
    assert_int_equal(names_distance("kitten", "sitting"), 3);
    assert_int_equal(names_distance("ab", "ba"), 1);
    assert_int_equal(names_distance("Zero_1", "zero-1"), 0);
    assert_int_equal(names_distance("", "abc"), 3);
    assert_string_equal(names_nearest("tpp", list), "tp");
    assert_string_equal(names_nearest("seqeunce-parallel", list), "sequence_parallel");
    assert_string_equal(names_nearest("h100", list), "h100-80gb-sxm");
    assert_string_equal(names_nearest("H100", list), "h100-80gb-sxm");
    assert_string_equal(names_nearest("80GB_SXM", list), "h100-80gb-sxm");
    assert_string_equal(names_nearest("SEQ", list), "sequence_parallel");
    assert_null(names_nearest("xyz", list));
    assert_null(names_nearest("h1", list));
    assert_true(names_equal("Zero_1", "zero-1"));
    assert_false(names_equal("zero-1", "zero-10"));
    assert_false(names_equal("zero-10", "zero-1"));
    static const char *const alike[] = {"ab-4",  "abc-1", "ABC-2", "abc-3",
                                        "x-abc", "abc.4", "abc-5"};
    assert_string_equal(names_advice(arena, "abc", (struct name_list){alike, 4}),
                        "; did you mean 'abc-1', 'ABC-2' or 'abc-3'?");
    assert_string_equal(names_advice(arena, "abc", (struct name_list){alike, 6}),
                        "; did you mean 'abc-1', 'ABC-2', 'abc-3' or 'abc.4'?");
    assert_string_equal(names_advice(arena, "abc", (struct name_list){alike, 7}),
                        "; did you mean 'abc-1', 'ABC-2', 'abc-3', 'abc.4', ...?");
    assert_string_equal(names_advice(arena, "Abc_1", (struct name_list){alike, 7}),
                        "; did you mean 'abc-1'?");
    assert_string_equal(names_advice(arena, "tpp", list), "; did you mean 'tp'?");
    assert_string_equal(names_advice(arena, "xyz", (struct name_list){names, 2}),
                        "; known: tp, pp");
    /* Of equals the one that begins alike; without a near one those of the first word. */
    static const char *const models[] = {"llama2-7b", "llama3-8b", "qwen3-7b"};
    assert_string_equal(names_nearest("llama3-7b", (struct name_list){models, 3}), "llama3-8b");
    static const char *const cards[] = {"h100-80gb-sxm", "gb200-186gb", "gb2-32gb",
                                        "xgb200-1gb",    "gb200",       "h20-141gb"};
    const struct name_list all = {cards, 6};
    assert_string_equal(names_advice(arena, "gb200-nvl72", all),
                        "; did you mean 'gb200-186gb', 'gb200' or 'xgb200-1gb'?");
    assert_string_equal(names_advice(arena, "GB200_rack_of_72", all),
                        "; did you mean 'gb200-186gb', 'gb200' or 'xgb200-1gb'?");
    assert_string_equal(names_advice(arena, "h1000", all), "; did you mean 'h100-80gb-sxm'?");
    assert_string_equal(names_advice(arena, "xx-nvl72", (struct name_list){cards, 2}),
                        "; known: h100-80gb-sxm, gb200-186gb");
    arena_destroy(arena);
}

/* A list that is too long to be shown: its sixteen nearest names, the nearest first. xbbb is a swap
 * and a change away, the next three are three changes, the rest four. */
static void test_nearest_of_many(void **state)
{
    static const char *const names[] = {"aaaa", "baaa", "bbaa", "bbba", "cccc", "cccd",
                                        "ccce", "cccf", "cccg", "ccch", "ccci", "cccj",
                                        "ccck", "cccl", "cccm", "cccn", "xbbb"};
    struct arena *arena = arena_create();
    assert_string_equal(names_advice(arena, "bxxb", (struct name_list){names, 17}),
                        "; known, the nearest first: xbbb, baaa, bbaa, bbba, aaaa, cccc, cccd, "
                        "ccce, cccf, cccg, ccch, ccci, cccj, ccck, cccl, cccm, ...");
    assert_string_equal(names_advice(arena, "bxxb", (struct name_list){names, 2}),
                        "; known: aaaa, baaa");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_that_is_refused), /* first: no free memory is at hand */
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_long_keys_of_a_path),
        cmocka_unit_test(test_json_is_accepted),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_nul_byte),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_size_and_keys),
        cmocka_unit_test(test_empty_texts),
        cmocka_unit_test(test_quotes_are_clean),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_nearest_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
