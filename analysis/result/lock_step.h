/* lock_step.h - what a user reads of a step that rests on lock-step (models/step/stagger.h). */
#ifndef ORRERY_ANALYSIS_RESULT_LOCK_STEP_H
#define ORRERY_ANALYSIS_RESULT_LOCK_STEP_H

#include "models/step/stagger.h"

struct lock_step_text {
    char s[480];
};
/* One line, without its end. `stagger` matters. */
struct lock_step_text lock_step_warning(const struct stagger *stagger);

#endif
