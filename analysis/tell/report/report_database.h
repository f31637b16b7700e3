/* report_database.h - what `run` or `study` printed, from the database that it wrote. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_DATABASE_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_DATABASE_H

#include "analysis/output/terminal/session.h"
#include "analysis/record/database/query.h"

/* `all`: as with -v. False with a sentence, when nothing has been printed, where the file holds
 * neither a run nor a study, or a damaged one. */
bool report_database(const struct session *session, struct query *query, bool all,
                     struct error *error);

#endif
