#include "scenarios/lessons/lesson.h"

#include <string.h>

#include "scenarios/assemble/build_parts.h"

static const char small_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

/* One line, with single blanks between its words. */
static const char *flow(struct arena *arena, const char *text)
{
    char *out = arena_array(arena, 1, strlen(text) + 1, 1), *end = out;
    for (const char *from = text; *from; from++) {
        const bool blank = strchr(" \t\r\n", *from) != NULL;
        if (!blank)
            *end++ = *from;
        else if (end > out && end[-1] != ' ')
            *end++ = ' ';
    }
    while (end > out && end[-1] == ' ')
        end--;
    *end = '\0';
    return out;
}

/* The words of `set`. */
static bool split(struct builder *b, const struct value *item, const char *path,
                  struct lesson_run *run)
{
    const char **sets = ARENA_ARRAY(b->arena, const char *, LESSON_RUN_SETS_MAX);
    unsigned count = 0;
    for (const char *at = run->set; *at;) {
        const size_t length = strcspn(at, " ");
        const char *word = arena_format(b->arena, "%.*s", (int)length, at);
        const bool room = count < LESSON_RUN_SETS_MAX;
        if (!room || strchr(word, '=') == NULL) {
            problems_error(b->problems, section_mark(item, "set"),
                           room ? "%s.set: '%s' is not of the form KEY=VALUE"
                                : "%s.set: too many changes, from '%s' on",
                           path, source_clean(b->arena, word));
            return false;
        }
        sets[count++] = word;
        at += length + (at[length] == ' ' ? 1 : 0);
    }
    run->sets = sets;
    run->set_count = count;
    return true;
}

static bool named_before(const struct lesson *lesson, const char *name)
{
    for (unsigned i = 0; i < lesson->run_count; i++)
        if (strcmp(lesson->runs[i].name, name) == 0)
            return true;
    return false;
}

static bool check_run(struct builder *b, const struct value *item, const char *path,
                      const struct lesson *lesson, struct lesson_run *run)
{
    const struct mark mark = section_mark(item, "name");
    if (*run->name == '\0' || run->name[strspn(run->name, small_letters)] != '\0') {
        problems_error(b->problems, mark, "%s.name: small letters, digits and _, as in zero_3",
                       path);
        return false;
    }
    if (named_before(lesson, run->name)) {
        problems_error(b->problems, mark, "%s.name: there is a run '%s' already", path, run->name);
        return false;
    }
    return split(b, item, path, run);
}

static void build_runs(struct builder *b, const struct value *mapping, struct lesson *lesson)
{
    const struct value *items = section_items(b, mapping, SECTION_LESSON_RUNS);
    struct lesson_run *runs = ARENA_ARRAY(b->arena, struct lesson_run, LESSON_RUN_MAX);
    lesson->runs = runs;
    unsigned index = 0;
    for (const struct value *item = items; item; item = item->next, index++) {
        const char *path = section_item_path(b, SECTION_LESSON_RUNS, index);
        struct lesson_run_keys keys = {"", "", ""};
        if (index == LESSON_RUN_MAX) {
            problems_error(b->problems, item->mark, "%s: a lesson has at most %d runs", path,
                           LESSON_RUN_MAX);
            return;
        }
        if (!section_item(b, SECTION_LESSON_RUNS, item, index, &keys))
            continue;
        struct lesson_run run = {.name = keys.name,
                                 .set = flow(b->arena, keys.set),
                                 .shows = flow(b->arena, keys.shows)};
        if (check_run(b, item, path, lesson, &run))
            runs[lesson->run_count++] = run;
    }
}

static void build_questions(struct builder *b, const struct value *mapping, struct lesson *lesson)
{
    const struct value *items = section_items(b, mapping, SECTION_LESSON_QUESTIONS);
    struct lesson_question *questions =
        ARENA_ARRAY(b->arena, struct lesson_question, section_item_count(items) + 1);
    lesson->questions = questions;
    unsigned index = 0;
    for (const struct value *item = items; item; item = item->next, index++) {
        struct lesson_question_keys keys = {"", "", ""};
        if (section_item(b, SECTION_LESSON_QUESTIONS, item, index, &keys))
            questions[lesson->question_count++] = (struct lesson_question){
                flow(b->arena, keys.ask), flow(b->arena, keys.answer), flow(b->arena, keys.why)};
    }
}

void build_lesson(struct builder *b)
{
    const struct schema_section *schema = schema_section(SECTION_LESSON);
    struct lesson_keys keys = {0, "", "", ""};
    if (value_find(b->root, schema->path) == NULL)
        return;
    const struct value *mapping = section_take(b, b->root, SECTION_LESSON);
    if (mapping == NULL)
        return;
    struct lesson *lesson = ARENA_NEW(b->arena, struct lesson);
    if (reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys)) {
        *lesson = (struct lesson){.order = keys.order,
                                  .shows = flow(b->arena, keys.shows),
                                  .look_for = flow(b->arena, keys.look_for),
                                  .next = flow(b->arena, keys.next)};
        b->scenario->lesson = lesson;
    }
    build_runs(b, mapping, lesson);
    build_questions(b, mapping, lesson);
    section_finish(b, SECTION_LESSON, mapping, (struct params){NULL, 0}, schema->path);
}
