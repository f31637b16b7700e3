#include <stdlib.h>
#include <string.h>

#include "analysis/command/house/lesson_play.h"
#include "analysis/command/house/replay_arguments.h"
#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/command/line/outputs.h"
#include "analysis/output/terminal/output.h"
#include "analysis/output/text/format.h"
#include "analysis/record/database/store_step.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/json/json.h"
#include "analysis/tell/report/report_lesson.h"
#include "scenarios/language/names.h"
#include "scenarios/lessons/lesson.h"
#include "scenarios/lessons/lessons.h"

enum {
    COURSE_MAX = 64
};
struct lesson_arguments {
    struct arguments line;
    struct scenario_arguments scenario;
    struct database_arguments database;
    const char *html, *beside; /* NULL: not said */
    uint64_t port;
    bool no_answers, replay, markdown, json;
};
#define ARGUMENTS struct lesson_arguments
static const struct option options[] = {
    OPTION_SCENARIO_ROWS(scenario),
    {"--no-answers", OPTION_FLAG, FIELD(no_answers), NULL, NULL,
     "print the questions without answers, for a class"},
    {"--db", OPTION_DATABASE, FIELD(database), "FILE", NULL,
     "write the run, its lesson and the answers to a database"},
    {"--replay", OPTION_FLAG, FIELD(replay), NULL, NULL,
     "open the run on the page of `orrery replay`, with its questions (writes NAME.db here)"},
    {"--html", OPTION_PAGE, FIELD(html), "FILE", NULL,
     "write that page as one file that needs no server and no network (likewise)"},
    {"--beside", OPTION_TEXT, FIELD(beside), "RUN", NULL,
     "with --replay or --html: show this run of the lesson next to its main run, on one clock "
     "(writes NAME-RUN.db)"},
    {"--port", OPTION_SOME, FIELD(port), "N", NULL, "with --replay: the port on 127.0.0.1"},
    {"--markdown", OPTION_FLAG, FIELD(markdown), NULL, NULL, "print a page as in docs/lessons.md"},
    OPTION_JSON_ROW(json),
    OPTION_END};

static const struct lesson_file *find_shipped(const char *name)
{
    for (const struct lesson_file *file = lessons_shipped; file->name != NULL; file++)
        if (strcmp(file->name, name) == 0)
            return file;
    return NULL;
}

/* One lesson of the course, for the list. */
struct listed_lesson {
    struct scenario *scenario;
    const char *name;
};

static int by_order(const void *a, const void *b)
{
    const struct listed_lesson *x = a, *y = b;
    const uint64_t left = x->scenario->lesson->order, right = y->scenario->lesson->order;
    return left != right ? (left < right ? -1 : 1) : strcmp(x->name, y->name);
}

/* The lessons shipped, in the order in which they are taught; the scenarios are the caller's. */
static unsigned read_course(struct listed_lesson course[COURSE_MAX])
{
    struct error error = {""};
    unsigned count = 0;
    for (const struct lesson_file *file = lessons_shipped; file->name != NULL; file++) {
        struct scenario *s = scenario_read(file->name, file->text, file->bytes, NULL, &error);
        if (s != NULL && s->lesson != NULL && count < COURSE_MAX)
            course[count++] = (struct listed_lesson){s, file->name};
        else
            scenario_destroy(s);
    }
    qsort(course, count, sizeof *course, by_order);
    return count;
}

static void destroy_course(const struct listed_lesson *course, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        scenario_destroy(course[i].scenario);
}

static int list(struct session *session, bool json)
{
    struct listed_lesson course[COURSE_MAX];
    struct json_list_entry entries[COURSE_MAX];
    const unsigned count = read_course(course);
    for (unsigned i = 0; i < count; i++) {
        entries[i] = (struct json_list_entry){
            .family = "lessons", .name = course[i].name, .doc = course[i].scenario->name};
        if (!json)
            fprintf(session->out, "%2llu. %-18s %s\n",
                    (unsigned long long)course[i].scenario->lesson->order, course[i].name,
                    course[i].scenario->name);
    }
    if (json)
        json_list(entries, count, session->out);
    destroy_course(course, count);
    return EXIT_OK;
}

/* The name of the lesson of that number in the list; any other word as it is. */
static const char *name_of(const char *word)
{
    struct listed_lesson course[COURSE_MAX];
    const char *name = word;
    if (word[0] == '\0' || strspn(word, "0123456789") != strlen(word))
        return word;
    const unsigned count = read_course(course);
    for (unsigned i = 0; i < count; i++)
        if (course[i].scenario->lesson->order == strtoull(word, NULL, 10))
            name = course[i].name;
    destroy_course(course, count);
    return name;
}

/* A lesson of the course by its name, or a file. */
static int load(const struct lesson_arguments *a, struct session *session,
                struct scenario **scenario)
{
    const char *word = a->line.positional[0];
    const struct lesson_file *file = find_shipped(word);
    if (file != NULL)
        return load_text(&a->line, &(struct load_source){word, file->text, file->bytes},
                         &a->scenario, session, scenario);
    if (strchr(word, '.') == NULL) {
        const char *known[COURSE_MAX];
        unsigned count = 0;
        for (file = lessons_shipped; file->name != NULL && count < COURSE_MAX; file++)
            known[count++] = file->name;
        const char *nearest = names_nearest(word, (struct name_list){known, count});
        fprintf(session->notes,
                "orrery lesson: there is no lesson '%s'%s%s%s; `orrery lesson` "
                "lists the course, and a file of your own ends in .yaml\n",
                format_shown(word).s, nearest ? "; did you mean '" : "", nearest ? nearest : "",
                nearest ? "'?" : "");
        *scenario = NULL;
        return EXIT_USAGE;
    }
    return load_scenario(&a->line, word, &a->scenario, session, false, scenario);
}

static int write_database(const char *path, struct session *session, const struct lesson_play *play)
{
    struct error error = {""};
    struct store *store;
    session_hold(session);
    bool good = store_open(path, 0.0, &store, &error) == STORE_GOOD;
    session_keep(session, good ? store_partial_path(store) : NULL);
    if (good) {
        store_step(store, &play->result, &play->record, DETAIL_OP);
        good = store_finish(store, &error) == STORE_GOOD;
        session_keep(session, NULL);
    }
    if (!good)
        fprintf(session->notes, "orrery lesson: %s\n", error.text);
    return good ? EXIT_OK : EXIT_TROUBLE;
}

static int tell(const struct lesson_arguments *a, struct session *session,
                const struct scenario *scenario)
{
    struct lesson_play play;
    struct error error = {""};
    int code = EXIT_OK;
    if (!lesson_play_begin(scenario, a->database.path != NULL, &play, &error)) {
        fprintf(session->notes, "orrery lesson: %s\n", error.text);
        code = EXIT_REJECTED;
    } else if (a->replay || a->html != NULL) {
        fprintf(session->notes, "%s: run, questions and answers\n", a->database.path);
    } else {
        document_print(report_lesson(&play.record, scenario, a->line.positional[0], !a->no_answers),
                       a->markdown ? report_lesson_markdown : report_lesson_lines, a->json,
                       session);
    }
    if (code == EXIT_OK && a->database.path != NULL)
        code = write_database(a->database.path, session, &play);
    lesson_play_end(&play);
    return code;
}

/* Which of the lesson's runs is named; run_count: none. */
static unsigned find_run(const struct lesson *lesson, const char *name)
{
    unsigned i = 0;
    while (i < lesson->run_count && strcmp(lesson->runs[i].name, name) != 0)
        i++;
    return i;
}

/* NAME.db of the lesson, NAME-RUN.db of another run of it. */
static const char *path_beside(const struct lesson_arguments *a, char *out, size_t size)
{
    const size_t bytes = strlen(a->database.path);
    const size_t stem =
        bytes > 3 && strcmp(a->database.path + bytes - 3, ".db") == 0 ? bytes - 3 : bytes;
    snprintf(out, size, "%.*s-%s.db", (int)stem, a->database.path, a->beside);
    return out;
}

static int tell_beside(const struct lesson_arguments *a, struct session *session,
                       const struct scenario *scenario)
{
    const struct lesson *lesson = scenario->lesson;
    struct lesson_play play;
    struct scenario *other;
    struct error error = {""};
    char path[OUTPUT_PATH_MAX];
    int code = EXIT_REJECTED;
    if (lesson_play_other(scenario, find_run(lesson, a->beside), &other, &play, &error))
        code = write_database(path_beside(a, path, sizeof path), session, &play);
    else
        fprintf(session->notes, "orrery lesson: %s\n", error.text);
    lesson_play_end(&play);
    scenario_destroy(other);
    return code;
}

static int refuse_beside(const struct lesson_arguments *a, struct session *session,
                         const struct lesson *lesson)
{
    fprintf(session->notes, "orrery lesson: this lesson has no run '%s'; it has",
            format_shown(a->beside).s);
    for (unsigned i = 0; i < lesson->run_count; i++)
        fprintf(session->notes, "%s %s", i > 0 ? "," : "", lesson->runs[i].name);
    fputs(lesson->run_count > 0 ? "\n" : " none\n", session->notes);
    return EXIT_USAGE;
}

/* The page of the database, or the two, just written. */
static int show(const struct lesson_arguments *a, struct session *session)
{
    char path[OUTPUT_PATH_MAX];
    struct replay_arguments shown = {.html = a->html, .port = a->port};
    shown.line.positional[shown.line.positional_count++] = a->database.path;
    if (a->beside != NULL)
        shown.line.positional[shown.line.positional_count++] = path_beside(a, path, sizeof path);
    return command_replay.run(&shown, session);
}

/* A lesson by its number gets its name. What is to be shown needs a database: NAME.db in this
 * folder, where none is named. */
static void name_lesson(struct lesson_arguments *a)
{
    if (a->line.positional_count == 0)
        return;
    a->line.positional[0] = name_of(a->line.positional[0]);
    if (a->replay || a->html != NULL)
        outputs_name_database(&a->database, a->line.positional[0], ".db");
}

static const char *unfitting(const struct lesson_arguments *a)
{
    if (a->line.positional_count == 0 && (a->replay || a->html != NULL || a->database.path != NULL))
        return "which lesson? `orrery lesson` lists them";
    if (a->replay && a->html != NULL)
        return "--replay serves the page, --html writes it: give one of them";
    if (a->port > 0 && !a->replay)
        return "--port goes with --replay";
    if (a->beside != NULL && !a->replay && a->html == NULL)
        return "--beside goes with --replay or --html";
    if (a->no_answers && (a->replay || a->html != NULL || a->database.path != NULL))
        return "--no-answers is for what is printed";
    return NULL;
}

static int run(const void *line, struct session *session)
{
    struct scenario *scenario;
    struct lesson_arguments named = *(const struct lesson_arguments *)line;
    const struct lesson_arguments *a = &named;
    const char *wrong = unfitting(a);
    if (wrong != NULL) {
        fprintf(session->notes, "orrery lesson: %s\n", wrong);
        return EXIT_USAGE;
    }
    name_lesson(&named);
    if (a->line.positional_count == 0)
        return list(session, a->json);
    int code = load(a, session, &scenario);
    if (code != EXIT_OK)
        return code;
    if (scenario->lesson == NULL) {
        fprintf(session->notes, "orrery lesson: %s has no `lesson:`; `orrery run` plays it\n",
                format_shown(a->line.positional[0]).s);
        code = EXIT_USAGE;
    } else if (a->beside != NULL &&
               find_run(scenario->lesson, a->beside) == scenario->lesson->run_count) {
        code = refuse_beside(a, session, scenario->lesson);
    } else {
        code = tell(a, session, scenario);
        if (code == EXIT_OK && a->beside != NULL)
            code = tell_beside(a, session, scenario);
    }
    scenario_destroy(scenario);
    return code == EXIT_OK && (a->replay || a->html != NULL) ? show(a, session) : code;
}

const struct command command_lesson = {
    .head = {.name = "lesson",
             .doc = "the course: lists its lessons, or runs one with questions and answers"},
    .positional = "[FILE]",
    .options = options,
    .bytes = sizeof(struct lesson_arguments),
    .details = "FILE: a lesson of the course by its name or number, or a scenario with `lesson:`. "
               "All its\n"
               "runs are simulated, and the answers are computed from them.",
    .example = "orrery lesson bubble",
    .run = run,
};
