/* choice_attention.h - the attention kernel of a scenario that names none: the software's, or the
 * newest one that the card has; never an unfused one on a card with FP8 units, but in a precision
 * that no fused one takes. */
#ifndef ORRERY_MODELS_PLAN_CHOICE_ATTENTION_H
#define ORRERY_MODELS_PLAN_CHOICE_ATTENTION_H

#include "models/layout/configuration.h"
#include "sim/arena.h"

enum attention_kernel choice_attention(const struct configuration *c);
/* Why `c`, which has it, has it; lives in `arena` or for ever. */
const char *choice_attention_why(struct arena *arena, const struct configuration *c);

#endif
