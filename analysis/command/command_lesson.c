#include <stdlib.h>
#include <string.h>

#include "analysis/command/lesson_play.h"
#include "analysis/database/store_step.h"
#include "analysis/json/json.h"
#include "analysis/line/command.h"
#include "analysis/line/load.h"
#include "analysis/line/outputs.h"
#include "analysis/report/report_lesson.h"
#include "analysis/text/format.h"
#include "scenarios/build/lesson.h"
#include "scenarios/language/names.h"
#include "scenarios/lessons/lessons.h"

enum {
    COURSE_MAX = 64
};
static const struct option options[] = {
    OPTION_SCENARIO_ROWS,
    {"--no-answers", OPTION_FLAG, FIELD(no_answers), NULL, NULL, "questions alone, for a class"},
    {"--db", OPTION_DATABASE, FIELD(db), "FILE", NULL,
     "write the run, its lesson and the answers to a database"},
    {"--replay", OPTION_FLAG, FIELD(replay), NULL, NULL,
     "open the run on the page of `orrery replay`, with its questions (writes NAME.db here)"},
    {"--html", OPTION_FILE, FIELD(html), "FILE", NULL,
     "write that page as one file that needs no server and no network (likewise)"},
    {"--port", OPTION_SOME, FIELD(port), "N", NULL, "with --replay: the port on 127.0.0.1"},
    {"--markdown", OPTION_FLAG, FIELD(markdown), NULL, NULL, "as a page of docs/lessons.md"},
    OPTION_JSON_ROW,
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

static int list(struct session *session, bool json)
{
    struct listed_lesson course[COURSE_MAX];
    struct json_list_entry entries[COURSE_MAX];
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
    for (unsigned i = 0; i < count; i++) {
        entries[i] =
            (struct json_list_entry){"lessons", course[i].name, course[i].scenario->name, NULL, 0};
        if (!json)
            fprintf(session->out, "%2llu. %-18s %s\n",
                    (unsigned long long)course[i].scenario->lesson->order, course[i].name,
                    course[i].scenario->name);
    }
    if (json)
        json_list(entries, count, session->out);
    for (unsigned i = 0; i < count; i++)
        scenario_destroy(course[i].scenario);
    return EXIT_OK;
}

/* A lesson of the course by its name, or a file. */
static int load(const struct arguments *a, struct session *session, struct scenario **scenario)
{
    const char *word = a->positional[0];
    const struct lesson_file *file = find_shipped(word);
    if (file != NULL)
        return load_text(a, session, word, file->text, file->bytes, scenario);
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
    return load_scenario(a, session, false, scenario);
}

static int write_database(const struct arguments *a, struct session *session,
                          const struct lesson_play *play)
{
    struct error error = {""};
    struct store *store;
    session_hold(session);
    bool good = store_open(a->db, 0.0, &store, &error) == STORE_GOOD;
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

static int tell(const struct arguments *a, struct session *session, const struct scenario *scenario)
{
    struct lesson_play play;
    struct error error = {""};
    int code = EXIT_OK;
    if (!lesson_play_begin(scenario, a->db != NULL, &play, &error)) {
        fprintf(session->notes, "orrery lesson: %s\n", error.text);
        code = EXIT_REJECTED;
    } else if (a->replay || a->html != NULL) {
        fprintf(session->notes, "%s: run, questions and answers\n", a->db);
    } else if (a->json) {
        json_lesson(scenario, &play.record, session->out);
    } else if (a->markdown) {
        report_lesson_markdown(&play.record, a->positional[0], session->out);
    } else {
        report_lesson(session, &play.record, !a->no_answers);
    }
    if (code == EXIT_OK && a->db != NULL)
        code = write_database(a, session, &play);
    lesson_play_end(&play);
    return code;
}

/* The page of the database that was just written. */
static int show(const struct arguments *a, struct session *session)
{
    struct arguments shown = *a;
    shown.positional[0] = a->db;
    return command_replay.run(&shown, session);
}

/* What is to be shown needs a database: NAME.db in this folder, where none is named. */
static void name_database(const struct arguments *a, struct arguments *out)
{
    *out = *a;
    if (a->db == NULL && (a->replay || a->html != NULL)) {
        const struct command writes = {.database = ".db"};
        outputs_name_database(&writes, out);
    }
}

static const char *unfitting(const struct arguments *a)
{
    if (a->positional_count == 0 && (a->replay || a->html != NULL || a->db != NULL))
        return "which lesson? `orrery lesson` lists them";
    if (a->replay && a->html != NULL)
        return "--replay serves the page, --html writes it: give one of them";
    if (a->port > 0 && !a->replay)
        return "--port goes with --replay";
    if (a->no_answers && (a->replay || a->html != NULL || a->db != NULL))
        return "--no-answers is for what is printed";
    return NULL;
}

static int run(const struct arguments *line, struct session *session)
{
    struct scenario *scenario;
    struct arguments named;
    const struct arguments *a = &named;
    name_database(line, &named);
    if (unfitting(line) != NULL) {
        fprintf(session->notes, "orrery lesson: %s\n", unfitting(line));
        return EXIT_USAGE;
    }
    if (a->positional_count == 0)
        return list(session, a->json);
    int code = load(a, session, &scenario);
    if (code != EXIT_OK)
        return code;
    if (scenario->lesson == NULL) {
        fprintf(session->notes, "orrery lesson: %s has no `lesson:`; `orrery run` plays it\n",
                format_shown(a->positional[0]).s);
        code = EXIT_USAGE;
    } else {
        code = tell(a, session, scenario);
    }
    scenario_destroy(scenario);
    return code == EXIT_OK && (a->replay || a->html != NULL) ? show(a, session) : code;
}

const struct command command_lesson = {
    .head = {.name = "lesson",
             .doc = "the course: lists its lessons, or plays one with questions and answers"},
    .positional = "[FILE]",
    .options = options,
    .details = "FILE: a lesson of the course by its name, or a scenario with `lesson:`. All its\n"
               "runs are played, and its answers worked out from them.",
    .example = "orrery lesson bubble",
    .run = run,
};
