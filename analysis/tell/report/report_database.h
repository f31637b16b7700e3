/* report_database.h - what `run` or `study` printed, from the database that it wrote. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_DATABASE_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_DATABASE_H

#include "analysis/output/terminal/session.h"
#include "analysis/record/database/query.h"

struct report_how {
    bool all;  /* as with -v */
    bool json; /* the document of `--json` in place of text */
};
/* `fits`: the run does, or a point of the study; true where the file cannot tell (traces, a study
 * whose points were all refused). False with a sentence, when nothing has been printed, where the
 * file holds neither a run nor a study, or a damaged one; `fits` is then not set. */
bool report_database(const struct session *session, struct query *query, struct report_how how,
                     bool *fits, struct error *error);

#endif
