#include <stdlib.h>
#include <string.h>

#include "analysis/command/house/replay_arguments.h"
#include "analysis/command/house/replay_plan.h"
#include "analysis/command/house/replay_study.h"
#include "analysis/command/line/command.h"
#include "analysis/output/terminal/output.h"
#include "analysis/page/page.h"
#include "analysis/page/server.h"
#include "sim/memory.h"

enum {
    RUNS_MAX = 2
};

#define ARGUMENTS struct replay_arguments
static const struct option options[] = {
    {"--html", OPTION_PAGE, FIELD(html), "FILE", NULL,
     "write the page with its data inside: one file that needs no server and no network"},
    {"--port", OPTION_SOME, FIELD(port), "N", NULL,
     "the port on 127.0.0.1 (one that is free); without --html the page is served there"},
    OPTION_END};

static int trouble(const struct session *session, const char *text)
{
    fprintf(session->notes, "orrery replay: %s\n", text);
    return EXIT_TROUBLE;
}

struct replayed {
    struct page_run runs[RUNS_MAX];
    char *many; /* of a search or a study: the document; NULL: runs */
    unsigned count;
};

static void close_runs(struct replayed *r)
{
    for (unsigned i = 0; i < r->count; i++)
        query_close(r->runs[i].query);
    free(r->many);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool take_count(void *context, const struct query_row *row, struct error *error)
{
    (void)error;
    *(int64_t *)context = query_integer(row, 0);
    return true;
}

struct replay_held {
    int64_t runs, studies, plans, traces;
};

static bool look_inside(struct query *query, struct replay_held *held, struct error *error)
{
    return query_run(query, "select count(*) from run", NULL, take_count, &held->runs, error) &&
           query_run(query, "select count(*) from study", NULL, take_count, &held->studies,
                     error) &&
           query_run(query, "select count(*) from plan", NULL, take_count, &held->plans, error) &&
           query_run(query, "select count(*) from task_step", NULL, take_count, &held->traces,
                     error);
}

/* A study or a search has a page of its own; false where nothing can be shown. */
static bool fit_to_show(const struct replay_held *held, const char *path, unsigned count,
                        struct error *error)
{
    const bool many = held->studies > 0 || held->plans > 0;
    if (many && count > 1)
        return error_set(error, "%s holds a %s, which has a page of its own: name it alone", path,
                         held->studies > 0 ? "study" : "search");
    return many || held->runs > 0 ||
           error_set(error,
                     "%s holds %s, no run to play: %sorrery run SCENARIO --db FILE writes a run",
                     path, held->traces > 0 ? "execution traces that were played" : "nothing",
                     held->traces > 0 ? "orrery export FILE writes their timeline; " : "");
}

/* The document of a search or a study. The exit code. */
static int tell_many(const struct replay_arguments *a, struct session *session,
                     const struct replay_held *held, struct replayed *r)
{
    struct page_run *run = &r->runs[0];
    const struct replay_source source = {run->query, run->path, run->name};
    struct error error = {""};
    size_t bytes = 0;
    FILE *out = open_memstream(&r->many, &bytes);
    int code = EXIT_OK;
    if (out == NULL)
        memory_refused(0);
    if (held->studies == 0)
        code = replay_plan_write(&a->line, &source, session, out);
    else if (!replay_study_write(&source, session, out, &error))
        code = trouble(session, error.text);
    if (fclose(out) != 0)
        memory_refused(0);
    run->many = r->many;
    return code;
}

static int open_runs(const struct replay_arguments *a, struct session *session, struct replayed *r)
{
    struct error error = {""};
    for (unsigned i = 0; i < a->line.positional_count; i++) {
        const char *path = a->line.positional[i];
        struct page_run *run = &r->runs[i];
        struct replay_held held = {0};
        if (strcmp(path, "-") == 0)
            return trouble(session, "a database cannot be read from a stream; name its file");
        if (!query_open(path, &run->query, &error))
            return trouble(session, error.text);
        run->path = path;
        run->name = file_name(path);
        r->count++;
        if (!look_inside(run->query, &held, &error) ||
            !fit_to_show(&held, path, a->line.positional_count, &error))
            return trouble(session, error.text);
        if (!query_complete(run->query))
            fprintf(session->notes, "note: %s is incomplete: its writer did not finish\n", path);
        if (held.studies > 0 || held.plans > 0)
            return page_missing() != NULL ? EXIT_OK : tell_many(a, session, &held, r);
    }
    return EXIT_OK;
}

static int write_file(const struct replay_arguments *a, struct session *session,
                      const struct replayed *r)
{
    struct output output;
    struct error error = {""}, closing = {""};
    if (!output_begin(&output, session, a->html, OUTPUT_PAGE, &error))
        return trouble(session, error.text);
    const bool good = page_write_whole(r->runs, r->count, output.out, &error);
    if (!output_end(&output, session, good, &closing))
        return trouble(session, closing.text);
    return good ? EXIT_OK : trouble(session, error.text);
}

/* Returns only when it cannot serve: Ctrl-C ends the process. */
static int serve(const struct replay_arguments *a, struct session *session,
                 const struct replayed *r)
{
    struct error error = {""};
    const struct server_ask ask = {
        .runs = r->runs, .count = r->count, .port = (unsigned)a->port, .told = session->out};
    session_name(session, NULL); /* it waits for its reader */
    server_run(&ask, &error);
    return trouble(session, error.text);
}

static int run(const void *line, struct session *session)
{
    const struct replay_arguments *a = line;
    struct replayed replayed = {.count = 0};
    if (a->line.positional_count > RUNS_MAX || a->port > UINT16_MAX) {
        fputs(a->port > UINT16_MAX ? "orrery replay: --port takes a number up to 65535\n"
                                   : "orrery replay: one database, or two to compare\n",
              session->notes);
        return EXIT_USAGE;
    }
    int code = open_runs(a, session, &replayed);
    if (code == EXIT_OK && page_missing() != NULL)
        code = trouble(session, page_missing());
    else if (code == EXIT_OK && a->html != NULL)
        code = write_file(a, session, &replayed);
    else if (code == EXIT_OK)
        code = serve(a, session, &replayed);
    close_runs(&replayed);
    return code;
}

const struct command command_replay = {
    .head = {.name = "replay",
             .doc = "opens a page: a run played back, two runs on one clock, the layouts of a "
                    "search, or the curves of a study"},
    .positional = "DB...",
    .options = options,
    .bytes = sizeof(struct replay_arguments),
    .details =
        "DB is a database of `run`; a second one is shown next to it. Of a database of `plan` the\n"
        "page shows what became of every layout, step time against memory, and the leaders; of "
        "one\n"
        "of `study` each result over the varied key, with its interval. Open the address that is\n"
        "printed in a browser; Ctrl-C ends the server. --html writes a file instead.\n"
        "exit code: 0 done, 1 no such database, a damaged one, or no page in this build",
    .example = "orrery replay llama3-70b-64xh100.db",
    .run = run,
};
