/* validate_choice.h - would the predictions have chosen the right layout? Groups of rows that
 * differ in their layout alone. */
#ifndef ORRERY_ANALYSIS_VALIDATE_CHOICE_H
#define ORRERY_ANALYSIS_VALIDATE_CHOICE_H

#include "analysis/validate_score.h"

struct choice choice_of(struct arena *arena, const struct validation *v, const char *source);

#endif
