/* change.h - a change of a layout as a user makes it: keys for --set, and the step of a run with
 * them.
 *
 * Whoever compares layouts tries one with all other keys held. Who states a key, though, has those
 * that the scenario leaves open chosen anew, and gets another layout, or none that fits. So the
 * scenario is read with the change: with the fewest keys; where that fits not, or is slower than
 * what was tried, with those beside it that were chosen otherwise; at last with all. What a change
 * tells was played of the configuration that was read: a run says the same. */
#ifndef ORRERY_MODELS_PLAN_CHANGE_H
#define ORRERY_MODELS_PLAN_CHANGE_H

#include "models/layout/configuration.h"
#include "sim/arena.h"

struct change_reader {
    /* The scenario with these keys stated too ("layout.tp=2", ...). False: it is refused, and `out`
     * is what was chosen of it, or as it was. What it points to lives until the next reading. */
    bool (*read)(void *context, const char *const *sets, unsigned count, struct configuration *out);
    void *context;
};
struct change_question {
    const struct configuration *from;
    unsigned open; /* bits of enum choice_key: chosen, not stated */
    /* NULL: nothing is chosen anew, and every key that differs is told. */
    const struct change_reader *reader;
};
struct change {
    const char *set;        /* "layout.tp=2 layout.dp=4" */
    struct configuration c; /* `from` with the layout that was played */
    bool timed;             /* not when that takes too many ops */
    double step_s, tokens_per_s, peak_reserved_bytes;
};
/* As a run plays it: the ledger, then the step; fills what was played. False: it does not fit, or
 * cannot be played. */
bool change_play(const struct configuration *c, struct change *out);
/* A way to the step of `to`, a layout of `from`, or to a faster one (1 % apart is the same). False:
 * there is none, or `to` does not fit. Texts live in `arena`. */
bool change_settle(struct arena *arena, const struct change_question *q,
                   const struct configuration *to, struct change *out);
/* The same with every open key stated: no reading makes trials. */
bool change_settle_whole(struct arena *arena, const struct change_question *q,
                         const struct configuration *to, struct change *out);
/* With the fewest keys alone, whatever it takes. False: it is refused, or does not fit. */
bool change_try(struct arena *arena, const struct change_question *q,
                const struct configuration *to, struct change *out);

#endif
