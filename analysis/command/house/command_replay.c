#include <string.h>

#include "analysis/command/house/replay_arguments.h"
#include "analysis/command/line/command.h"
#include "analysis/output/terminal/output.h"
#include "analysis/page/page.h"
#include "analysis/page/server.h"

enum {
    RUNS_MAX = 2
};

#define ARGUMENTS struct replay_arguments
static const struct option options[] = {
    {"--html", OPTION_PAGE, FIELD(html), "FILE", NULL,
     "write the page with the run inside: one file that needs no server and no network"},
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
    unsigned count;
};

static void close_runs(struct replayed *r)
{
    for (unsigned i = 0; i < r->count; i++)
        query_close(r->runs[i].query);
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

/* A study or a search has no run to play. */
static bool holds_run(struct query *query, const char *path, struct error *error)
{
    int64_t runs = 0, studies = 0, plans = 0, traces = 0;
    if (!query_run(query, "select count(*) from run", NULL, take_count, &runs, error) ||
        !query_run(query, "select count(*) from study", NULL, take_count, &studies, error) ||
        !query_run(query, "select count(*) from plan", NULL, take_count, &plans, error) ||
        !query_run(query, "select count(*) from task_step", NULL, take_count, &traces, error))
        return false;
    return (runs > 0 && studies == 0) ||
           error_set(error,
                     "%s holds %s, no run to play: %sorrery run SCENARIO --db FILE writes a run",
                     path,
                     studies > 0  ? "a study"
                     : plans > 0  ? "a search"
                     : traces > 0 ? "execution traces that were played"
                                  : "nothing",
                     studies > 0  ? "orrery export FILE --svg ucurve (or pareto) draws it; "
                     : plans > 0  ? "orrery export FILE --svg pareto draws it; "
                     : traces > 0 ? "orrery export FILE writes their timeline; "
                                  : "");
}

static bool open_runs(const struct replay_arguments *a, const struct session *session,
                      struct replayed *r, struct error *error)
{
    for (unsigned i = 0; i < a->line.positional_count; i++) {
        const char *path = a->line.positional[i];
        if (strcmp(path, "-") == 0)
            return error_set(error, "a database cannot be read from a stream; name its file");
        if (!query_open(path, &r->runs[i].query, error))
            return false;
        r->runs[i].path = path;
        r->runs[r->count++].name = file_name(path);
        if (!holds_run(r->runs[i].query, path, error))
            return false;
        if (!query_complete(r->runs[i].query))
            fprintf(session->notes, "note: %s is incomplete: its writer did not finish\n", path);
    }
    return true;
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
    struct error error = {""};
    if (a->line.positional_count > RUNS_MAX || a->port > UINT16_MAX) {
        fputs(a->port > UINT16_MAX ? "orrery replay: --port takes a number up to 65535\n"
                                   : "orrery replay: one database, or two to compare\n",
              session->notes);
        return EXIT_USAGE;
    }
    int code = EXIT_OK;
    if (!open_runs(a, session, &replayed, &error))
        code = trouble(session, error.text);
    else if (page_missing() != NULL)
        code = trouble(session, page_missing());
    else if (a->html != NULL)
        code = write_file(a, session, &replayed);
    else
        code = serve(a, session, &replayed);
    close_runs(&replayed);
    return code;
}

const struct command command_replay = {
    .head = {.name = "replay",
             .doc = "plays a run back on a page: the pipeline, memory, the cluster, weeks with "
                    "their failures; two runs on one clock"},
    .positional = "DB...",
    .options = options,
    .bytes = sizeof(struct replay_arguments),
    .details =
        "DB is a database of `run`; a second one is shown next to it. Open the address that is\n"
        "printed in a browser; Ctrl-C ends the server. --html writes a file instead.\n"
        "exit code: 0 done, 1 no such database, a damaged one, or no page in this build",
    .example = "orrery replay llama3-70b-64xh100.db",
    .run = run,
};
