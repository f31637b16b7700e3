/* --set on a tree: what is changed stands in the old one's place, and nothing else moves; what is
 * made on the way; the words and the column of every refusal. */
#include <stdio.h>
#include <string.h>

#include "scenarios/language/parse.h"
#include "scenarios/schema/set.h"
#include "tests/test.h"

struct text {
    char s[1024];
    size_t used;
};

static void put(struct text *text, const char *piece)
{
    text->used += (size_t)snprintf(text->s + text->used, sizeof text->s - text->used, "%s", piece);
    assert_true(text->used < sizeof text->s);
}

/* In the order of the tree; counted, so that counts and chains must agree. */
static void write(struct text *text, const struct value *value)
{
    unsigned count = 0;
    if (value->kind == VALUE_WORD) {
        put(text, value->text);
        return;
    }
    put(text, value->kind == VALUE_LIST ? "[" : "{");
    for (const struct value *v = value->first; v; v = v->next, count++) {
        put(text, count ? " " : "");
        if (value->kind == VALUE_MAPPING) {
            put(text, v->key);
            put(text, ":");
        }
        write(text, v);
        assert_true(v->next != NULL || value->last == v);
    }
    assert_int_equal(count, value->count);
    put(text, value->kind == VALUE_LIST ? "]" : "}");
}

static const char before[] = "a: 1\n"
                             "list: [x, {p: 1, q: 2}, z]\n"
                             "map: {one: 1, two: {deep: 2}, three: 3}\n"
                             "run: 5\n"
                             "empty:\n"
                             "last: 9\n";
#define A "{a:1 "
#define LIST "list:[x {p:1 q:2} z] "
#define MAP "map:{one:1 two:{deep:2} three:3} "
#define REST "run:5 empty: last:9}"

static void set_is(const char *set, const char *after, const char *problem)
{
    struct arena *arena = arena_create();
    struct source source = {.name = "t", .text = before, .bytes = strlen(before)};
    struct problems *problems = ARENA_NEW(arena, struct problems);
    struct text is = {"", 0}, said = {"", 0};
    problems->arena = arena;
    struct value *root = parse_source(arena, &source, 0, problems);
    assert_non_null(root);
    set_apply(arena, root, set, 7, problems);
    if (problems->error_count > 0) {
        const struct problem *p = &problems->kept[0];
        char place[64];
        snprintf(place, sizeof place, "%s:%u:%u:%u ", p->file, p->line, p->column, p->width);
        put(&said, place);
        put(&said, p->text);
    }
    write(&is, root);
    if (strcmp(said.s, problem) != 0)
        fail_msg("%s: %s", set, said.s);
    if (after != NULL && strcmp(is.s, after) != 0)
        fail_msg("%s: %s", set, is.s);
    arena_destroy(arena);
}

static void test_in_place(void **state)
{
    set_is("a=2", "{a:2 " LIST MAP REST, "");
    set_is("last=8", A LIST MAP "run:5 empty: last:8}", "");
    set_is("map.one=7", A LIST "map:{one:7 two:{deep:2} three:3} " REST, "");
    set_is("map.two=7", A LIST "map:{one:1 two:7 three:3} " REST, "");
    set_is("map.two.deep=7", A LIST "map:{one:1 two:{deep:7} three:3} " REST, "");
    set_is("map.three=7", A LIST "map:{one:1 two:{deep:2} three:7} " REST, "");
    set_is("map={four: 4}", A LIST "map:{four:4} " REST, "");
    set_is("map=[4, 5]", A LIST "map:[4 5] " REST, "");
    set_is("list=w", A "list:w " MAP REST, "");
    set_is("list[0]=w", A "list:[w {p:1 q:2} z] " MAP REST, "");
    set_is("list[1]=w", A "list:[x w z] " MAP REST, "");
    set_is("list[2]=w", A "list:[x {p:1 q:2} w] " MAP REST, "");
    set_is("list[1].p=w", A "list:[x {p:w q:2} z] " MAP REST, "");
    set_is("list[1].q={r: 1}", A "list:[x {p:1 q:{r:1}} z] " MAP REST, "");
    set_is("a=b=c", "{a:b=c " LIST MAP REST, "");
    set_is("a=", "{a: " LIST MAP REST, "");
}

static void test_what_is_made(void **state)
{
    set_is("list[3]=w", A "list:[x {p:1 q:2} z w] " MAP REST, "");
    set_is("list[000003]=w", A "list:[x {p:1 q:2} z w] " MAP REST, "");
    set_is("list[3].k=w", A "list:[x {p:1 q:2} z {k:w}] " MAP REST, "");
    set_is("list[1].r.s=w", A "list:[x {p:1 q:2 r:{s:w}} z] " MAP REST, "");
    set_is("map.four=4", A LIST "map:{one:1 two:{deep:2} three:3 four:4} " REST, "");
    set_is("new=1", A LIST MAP "run:5 empty: last:9 new:1}", "");
    set_is("new.x[0].y=1", A LIST MAP "run:5 empty: last:9 new:{x:[{y:1}]}}", "");
    set_is("empty.x=1", A LIST MAP "run:5 empty:{x:1} last:9}", "");
    set_is("empty[0]=1", A LIST MAP "run:5 empty:[1] last:9}", "");
    set_is("empty[0][0]=1", A LIST MAP "run:5 empty:[[1]] last:9}", "");
}

#define KEYS "--set takes KEY=VALUE with keys like layout.tp or notes[0].say"
#define PAIR "--set takes KEY=VALUE, like layout.tp=4"
#define ITEM "an item of a list is written [0], [1], ..."
#define TEN "0123456789"

static void test_refusals(void **state)
{
    static const char *const cases[][2] = {
        {"a", "--set:7:1:1 " PAIR},
        {"", "--set:7:1:1 " PAIR},
        {"=1", "--set:7:1:1 " PAIR},
        {".a=1", "--set:7:1:1 " KEYS},
        {"[0]=1", "--set:7:1:1 " KEYS},
        {"map..one=1", "--set:7:5:1 " KEYS},
        {"map.[0]=1", "--set:7:5:1 " KEYS},
        {"list[4]=w", "--set:7:5:1 there is no item [4]; the list has 3"},
        {"list[]=w", "--set:7:5:1 " ITEM},
        {"list[1=w", "--set:7:5:1 " ITEM},
        {"list[-1]=w", "--set:7:5:1 " ITEM},
        {"list[000001]=w", ""},
        {"list[0000001]=w", "--set:7:5:1 " ITEM},
        {"a.b=1", "--set:7:3:1 'a' is a word, so nothing can be set inside it"},
        {"a[0]=1", "--set:7:2:1 'a' is a word, so nothing can be set inside it"},
        {"list.k=1", "--set:7:6:1 'list' is a list, so nothing can be set inside it"},
        {"map[0]=1", "--set:7:4:1 'map' is a mapping, so nothing can be set inside it"},
        {"map.one.x=1", "--set:7:9:1 'map.one' is a word, so nothing can be set inside it"},
        {"map.two.deep[0]=1", "--set:7:13:1 'map.two.deep' is a word, so nothing can be set "
                              "inside it"},
        /* keys of up to 63 characters */
        {TEN TEN TEN TEN TEN TEN "012=1", ""},
        {TEN TEN TEN TEN TEN TEN "0123=1", "--set:7:1:1 " KEYS},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++)
        set_is(cases[i][0], cases[i][1][0] ? A LIST MAP REST : NULL, cases[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_what_is_made),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
