/* replay_plan.h - the document of a plan for the page: each search of it as it ended, and what
 * `orrery plan --json` prints.
 *
 * The plan is told from its database as by `orrery report`, so the counts, leaders and numbers of
 * the page are those of the report. Layouts beyond PLAN_ROWS are left out evenly, and the document
 * says of each group how many it holds of how many there are. */
#ifndef ORRERY_ANALYSIS_COMMAND_HOUSE_REPLAY_PLAN_H
#define ORRERY_ANALYSIS_COMMAND_HOUSE_REPLAY_PLAN_H

#include "analysis/command/line/command.h"
#include "analysis/record/database/query.h"

enum {
    PLAN_ROWS_TIMED = 16000, /* layouts with a step time that a document holds, of all machines */
    PLAN_ROWS_REST = 4000    /* likewise without */
};
/* A database, open; what it is called on the page. */
struct replay_source {
    struct query *query;
    const char *path, *name;
};
/* Writes it to `out`. The exit code; what went wrong is told. */
int replay_plan_write(const struct arguments *line, const struct replay_source *source,
                      struct session *session, FILE *out);

#endif
