/* restore.h - the scenario of a run, built again from its database: the text that it holds, the
 * --set of its line, and the choices that were made for it, so that none is made again.
 *
 * What comes out is compared with the layout that the run wrote down: a database of an older
 * version, or one whose catalogue or other files have changed since, is refused in words. */
#ifndef ORRERY_ANALYSIS_RECORD_DATABASE_RESTORE_H
#define ORRERY_ANALYSIS_RECORD_DATABASE_RESTORE_H

#include "analysis/record/database/query.h"
#include "scenarios/assemble/scenario.h"

/* `path`: of the database, for messages. `catalogue`: folder that overrides the one of the run;
 * NULL. A scenario without errors, to be freed by scenario_destroy; NULL with a sentence. */
struct scenario *restore_scenario(struct query *query, const char *path, const char *catalogue,
                                  struct error *error);

/* The tree of that text with the --set of its line, and nothing that was chosen; NULL: it holds no
 * text. `files`: what other files held that it names (inputs.h), "" where that is not known. False
 * with a sentence where the text is damaged. */
bool restore_stated(struct query *query, const char *path, struct arena *arena,
                    const struct value **out, const char **files, struct error *error);

#endif
