/* replay_study.h - the document of a study for the page: what was varied, what the results are
 * called and in which unit, what `orrery study` printed, and the document of `orrery study --json`
 * over every point, up to STUDY_POINTS of them. */
#ifndef ORRERY_ANALYSIS_COMMAND_HOUSE_REPLAY_STUDY_H
#define ORRERY_ANALYSIS_COMMAND_HOUSE_REPLAY_STUDY_H

#include "analysis/command/house/replay_plan.h"

enum {
    STUDY_POINTS = 1000 /* that a document holds: 6 KiB each before they are packed */
};
/* False with a sentence: the database holds no study, or a damaged one. */
bool replay_study_write(const struct replay_source *source, const struct session *session,
                        FILE *out, struct error *error);

#endif
