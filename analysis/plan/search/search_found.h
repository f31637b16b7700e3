/* search_found.h - what is asked of a search, and what it finds. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_FOUND_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_FOUND_H

#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_weeks.h"
#include "analysis/record/evidence/model_error.h"
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
    unsigned held;                    /* of enum plan_axis */
    double headroom_ratio;            /* of usable memory, to be left free */
    uint32_t leaders;                 /* wanted */
    struct search_terms terms;        /* that hold for this cluster (search_terms_check) */
    /* Weeks with failures of each leader that is played op by op; NULL: none. */
    const struct search_weeks_wish *weeks;
    uint32_t dp; /* this one alone; 0: any */
    struct search_part part;
    const struct search_diary *diary; /* NULL: none */
    unsigned threads;
    /* Asked now and then; true ends the search with what was found. NULL: never. */
    bool (*stop)(void *context);
    void (*told)(void *context, double done_ratio); /* NULL */
    void *context;
};
struct search_counts {
    uint64_t considered, timed, ledgers, played; /* layouts; at pass detail; ...; at op detail */
    /* Timed, and not played op by op though they may lead: that would have taken too long. */
    uint64_t unplayed;
    uint32_t fates[FATE_COUNT];
};
struct search {
    struct arena *arena;
    struct search_question question;
    const struct configuration *base; /* of a cluster as it should be */
    struct search_book *book;         /* NULL: nothing is written down */
    struct search_row *rows;
    uint32_t row_count;
    struct search_leader *leaders; /* fastest first */
    uint32_t leader_count;
    struct error weeks_error; /* why the weeks of a leader cannot be played; "": they can */
    /* The goodput that a layout would need to lead that fits and is not listed, by its step, which
     * is no shorter than the last leader's; NAN: there is none, or no weeks were played. */
    double needed_goodput_ratio;
    uint32_t *pareto; /* leaders that no other beats in both time and free memory */
    uint32_t pareto_count;
    struct model_error own;    /* of the first leader */
    bool has_safe;             /* no leader is of a kind that was measured: */
    struct search_leader safe; /* the fastest that is */
    bool has_near;             /* nothing that fits keeps the terms: */
    struct search_leader near; /* the fastest that fits */
    bool stopped;
    struct search_counts counts;
};

#endif
