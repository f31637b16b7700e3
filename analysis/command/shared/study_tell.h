/* study_tell.h - what `study` and `merge` print, and how their database ends. */
#ifndef ORRERY_ANALYSIS_COMMAND_SHARED_STUDY_TELL_H
#define ORRERY_ANALYSIS_COMMAND_SHARED_STUDY_TELL_H

#include "analysis/command/line/command.h"
#include "analysis/record/database/store.h"
#include "analysis/study/study.h"

/* Where a study goes. */
struct study_output {
    struct database_arguments database;
    const char *svg;
    bool csv, json;
    bool seeded; /* more than one seed was asked for */
};
/* "orrery study: TEXT" on notes; hands `code` on. */
int study_trouble(const struct arguments *line, const struct session *session, const char *text,
                  int code);
int study_outcome_code(enum store_outcome outcome);
/* The report, or CSV or JSON, with the figure and notes. An exit code: is there a point, does one
 * fit? `seconds`: what it took. */
int study_tell(const struct arguments *line, const struct study_output *to, struct session *session,
               const struct study *study, double seconds);
/* Finishes and frees the store of the database `db`; says what it replaced, and what to ask it.
 * `store` NULL: nothing. */
int study_keep(const struct arguments *line, const char *db, struct session *session,
               struct store *store);

#endif
