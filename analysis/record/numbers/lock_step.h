/* lock_step.h - what a user reads of a step that rests on lock-step (step/simulate/stagger.h). */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_LOCK_STEP_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_LOCK_STEP_H

#include "models/step/simulate/stagger.h"

struct lock_step_text {
    char s[480];
};
/* One line, without its end. `stagger` matters. */
struct lock_step_text lock_step_warning(const struct stagger *stagger);

#endif
