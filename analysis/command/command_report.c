#include <string.h>

#include "analysis/command/plan_join.h"
#include "analysis/line/command.h"
#include "analysis/report/report_database.h"

static const struct option options[] = {OPTION_VERBOSE_ROW, OPTION_END};

static int trouble(const struct session *session, const char *text)
{
    fprintf(session->notes, "orrery report: %s\n", text);
    return EXIT_TROUBLE;
}

static int run(const struct arguments *arguments, struct session *session)
{
    const char *path = arguments->positional[0];
    struct query *query;
    struct error error = {""};
    if (strcmp(path, "-") == 0)
        return trouble(session, "a database cannot be read from a stream; name its file");
    if (!query_open(path, &query, &error))
        return trouble(session, error.text);
    if (plan_join_holds(path)) {
        query_close(query);
        return plan_join_report(path, session);
    }
    if (!query_complete(query))
        fprintf(session->notes, "note: %s is incomplete: its writer did not finish\n", path);
    bool good = report_database(session, query, arguments->verbose, &error);
    query_close(query);
    return good ? EXIT_OK : trouble(session, error.text);
}

const struct command command_report = {
    .head = {.name = "report",
             .doc =
                 "prints what `run`, `study` or `plan` printed, from the database that it wrote"},
    .positional = "DB",
    .options = options,
    .example = "orrery report llama3-70b-64xh100.db",
    .run = run,
};
