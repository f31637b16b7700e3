/* search.h - the planner: of all layouts of a model on a machine, the fastest that fit, and why
 * each other one lost.
 *
 * What rejects a layout gets dearer from one to the next: the rules (configuration_check); a bound
 * of memory, its state and kept activations (pass_least_bytes), at the least recomputation that
 * meets it; a bound of time, its kernels (pass_least_s); a step at pass detail; the ledger of its
 * first microbatches; a step at op detail with its whole ledger. Bounds are sound, and those few
 * are played op by op that pass detail may have put in the wrong order, so the first one is that of
 * an exhaustive search (tests/analysis/search). The result does not depend on the number of
 * threads.
 *
 * With a diary nothing is found out that is known already, and what is found out is kept: a search
 * goes on where it was stopped, and one of all layouts stands on those of their parts. Its result
 * is the same, as findings depend on the layout alone. */
#ifndef ORRERY_ANALYSIS_SEARCH_SEARCH_H
#define ORRERY_ANALYSIS_SEARCH_SEARCH_H

#include "analysis/search/search_row.h"
#include "analysis/uncertainty/model_error.h"
#include "sim/error.h"

/* Where a search writes down what it finds out, and what it takes from there. */
struct search_book;
struct search_diary {
    /* Takes in what is known already, when the search begins; false with a sentence: it ends. */
    bool (*recall)(void *context, struct search_book *book, struct error *error);
    /* Keeps what the book has more than before; called now and then, and at the end. */
    void (*keep)(void *context, struct search_book *book);
    void *context;
};
/* Of the layouts every count-th, from index on: what one of many processes searches. */
struct search_part {
    uint32_t index, count; /* 1 to count; count 0: all */
};
struct search_question {
    const struct configuration *base; /* model, machine, batch; layout where keys are held */
    unsigned held;                    /* of enum search_key */
    double headroom_ratio;            /* of usable memory, to be left free */
    uint32_t leaders;                 /* wanted */
    uint32_t dp;                      /* this one alone; 0: any */
    struct search_part part;
    const struct search_diary *diary; /* NULL: none */
    unsigned threads;
    /* Asked now and then; true ends the search with what was found. NULL: never. */
    bool (*stop)(void *context);
    void (*told)(void *context, double done_ratio); /* NULL */
    void *context;
};
struct search {
    struct arena *arena;
    struct search_question question;
    const struct configuration *base; /* of a cluster as it should be */
    struct search_book *book;         /* NULL: nothing is written down */
    struct search_row *rows;
    uint32_t row_count;
    uint64_t considered, timed, ledgers, played; /* layouts; at pass detail; ...; at op detail */
    uint32_t fates[FATE_COUNT];
    struct search_leader *leaders; /* fastest first */
    uint32_t leader_count;
    uint32_t *pareto; /* leaders that no other beats in both time and free memory */
    uint32_t pareto_count;
    struct model_error own;    /* of the first leader */
    bool has_safe;             /* no leader is of a kind that was measured: */
    struct search_leader safe; /* the fastest that is */
    bool stopped;
};
/* Everything lives in the search, freed whole by search_destroy. False with a sentence when the
 * cluster cannot be built, or the diary cannot be read. */
bool search_run(const struct search_question *question, struct search **out, struct error *error);
void search_destroy(struct search *search);

#endif
