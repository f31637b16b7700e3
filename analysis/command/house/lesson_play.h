/* lesson_play.h - plays the runs of a lesson: the scenario's own, which stays in memory to be
 * stored, and the others for what they answer. */
#ifndef ORRERY_ANALYSIS_COMMAND_HOUSE_LESSON_PLAY_H
#define ORRERY_ANALYSIS_COMMAND_HOUSE_LESSON_PLAY_H

#include "analysis/record/evidence/formula.h"
#include "analysis/record/numbers/result.h"

struct lesson_play {
    struct arena *arena;
    struct result result; /* of the scenario itself */
    struct step *step;
    struct job_record *job;
    struct record record; /* with every answer */
};
/* The scenario has a lesson and no errors. `every_link`: for a database. False with a sentence;
 * what was made is to be ended all the same. */
bool lesson_play_begin(const struct scenario *scenario, bool every_link, struct lesson_play *out,
                       struct error *error);
/* Another run of the lesson alone, to be stored: `index` of its runs. The scenario that it is of is
 * to be destroyed after lesson_play_end; NULL: it cannot be read. */
bool lesson_play_other(const struct scenario *scenario, unsigned index, struct scenario **other,
                       struct lesson_play *out, struct error *error);
void lesson_play_end(struct lesson_play *play);

#endif
