#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/plan/plan_join.h"
#include "analysis/tell/report/report_database.h"

struct report_arguments {
    struct arguments line;
    bool verbose, json;
};
#define ARGUMENTS struct report_arguments
static const struct option options[] = {OPTION_VERBOSE_ROW(verbose), OPTION_JSON_ROW(json),
                                        OPTION_END};

static int trouble(const struct session *session, const char *text)
{
    fprintf(session->notes, "orrery report: %s\n", text);
    return EXIT_TROUBLE;
}

static int run(const void *line, struct session *session)
{
    const struct report_arguments *a = line;
    const char *path = a->line.positional[0];
    const struct report_how how = {a->verbose, a->json};
    struct query *query;
    struct error error = {""};
    if (strcmp(path, "-") == 0)
        return trouble(session, "a database cannot be read from a stream; name its file");
    if (!query_open(path, &query, &error))
        return trouble(session, error.text);
    if (plan_join_holds(path)) {
        query_close(query);
        return plan_join_report(&a->line, path, a->json, session);
    }
    if (!query_complete(query))
        fprintf(session->notes, "note: %s is incomplete: its writer did not finish\n", path);
    bool fits;
    const bool good = report_database(session, query, how, &fits, &error);
    query_close(query);
    if (!good)
        return trouble(session, error.text);
    return fits ? EXIT_OK : EXIT_NOTHING_FITS;
}

const struct command command_report = {
    .head = {.name = "report",
             .doc =
                 "prints what `run`, `study` or `plan` printed, from the database that it wrote"},
    .positional = "DB",
    .options = options,
    .bytes = sizeof(struct report_arguments),
    .details =
        "exit code: 0 done, 1 no such database, or a damaged one, 3 a file that a plan names is "
        "rejected,\n"
        "4 the run, every point of the study or every layout of the plan does not fit in "
        "memory. What\n"
        "`run` says of `expect:` is not in the database, nor is exit code 6.",
    .example = "orrery report llama3-70b-64xh100.db",
    .run = run,
};
