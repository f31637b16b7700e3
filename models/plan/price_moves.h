/* price_moves.h - the neighbours of a layout to which price.h compares what is stated: each differs
 * in what its key names and in what follows from it, is legal, and could win as much of the step as
 * is asked for. The bounds are of the parts of the step that was played. */
#ifndef ORRERY_MODELS_PLAN_PRICE_MOVES_H
#define ORRERY_MODELS_PLAN_PRICE_MOVES_H

#include "models/step/simulate/step.h"

/* A step further the same way; false: there is none. */
typedef bool (*price_further_fn)(struct configuration *c);

struct price_move {
    const char *key; /* one pointer for a key */
    struct configuration c;
    price_further_fn further; /* NULL: one step is all */
    double gpu_s_per_token;   /* for whoever tries it; INFINITY until then */
};
enum {
    PRICE_MOVES_MAX = 48
};
/* Of `c`, whose step is played, those that could win more than `win_ratio` of it and whose key is
 * stated: not one of `open` (bits of enum choice_key), CHOICE_DISPATCH aside. Writes at most
 * PRICE_MOVES_MAX and returns how many. */
unsigned price_moves(const struct configuration *c, unsigned open, const struct step *step,
                     double win_ratio, struct price_move *out);

#endif
