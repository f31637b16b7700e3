/* search_machine.h - several machines, each with its best layout, and which of them no other beats.
 */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_MACHINE_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_MACHINE_H

#include "analysis/plan/search/search_found.h"

struct search_machine {
    const char *label, *gpu; /* the values that were varied; kind of GPU */
    const char *announced;   /* announced_words of its hardware; NULL: it is sold */
    uint64_t gpus, searched;
    bool too_many;           /* GPUs: it was not searched */
    bool found;              /* a layout fits and keeps the terms: `leader` */
    bool near;               /* one fits, and none keeps the terms: `leader` is the fastest */
    enum search_fate missed; /* the term that `near` misses; FATE_OPEN: it was found */
    const char *rule;        /* the key that most layouts break, where each breaks a rule */
    bool stopped;
    bool unbeaten, first; /* no other is as fast and as cheap a token; the best by the objective */
    bool surer;           /* `leader` fits more surely than what the objective puts first, and the
                           * model's own error does not tell the two apart (search_prefer.h) */
    struct search_leader leader;
    double card_bytes;         /* usable memory of a GPU */
    struct search_front front; /* where it was asked for */
    bool refused;              /* some layout for its power */
    struct search_watts watts; /* struct search's */
    struct search_more more;   /* with more power, where that is limited */
};
/* A layout of a machine. */
struct search_point {
    const struct search_machine *machine;
    const struct search_leader *leader;
    double free_ratio; /* of its card */
};
struct search_machines {
    struct search_question question; /* what is common to them */
    struct search_machine *rows;
    size_t count, asked; /* that were searched; of so many, where none stopped it */
    bool has_front;
    const struct search_machine *more; /* whose `more` is the best with more power; NULL: that
                                        * buys nothing */
    struct search_point *front; /* that no other layout beats in time, cost and free memory */
    size_t front_count;
};
/* Takes over what a search of this machine found, into `arena`. */
void search_machine_keep(struct arena *arena, struct search_machine *machine,
                         const struct search *search);
/* "deadline", "budget", "gpus", "rule", "memory"; NULL: it was found. */
const char *search_machine_missed(const struct search_machine *machine);
/* Which are unbeaten, which is the first; and the front of all, where it was asked for. */
void search_machines_rank(struct arena *arena, struct search_machines *machines);

#endif
