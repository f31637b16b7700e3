/* search_found.h - what is asked of a search, what becomes of its layouts, and what it finds. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_FOUND_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_FOUND_H

#include "analysis/record/evidence/model_error.h"
#include "models/plan/plan_layout.h"
#include "models/step/simulate/step.h"

enum search_fate {
    FATE_OPEN,     /* judged, not timed */
    FATE_RULE,     /* breaks a rule */
    FATE_MEMORY,   /* its state and activations exceed the card, recomputed as far as they can be */
    FATE_HEADROOM, /* they may fit the card, and leave less free than asked */
    FATE_DEADLINE, /* timed, or by its kernels alone: the tokens take longer than allowed */
    FATE_BUDGET,   /* likewise: they cost more than allowed */
    FATE_POWER,    /* timed: it draws more at the wall than allowed */
    FATE_BOUND,    /* its kernels alone take longer than the slowest leader */
    FATE_TIMED,    /* timed at pass detail, slower than the leaders */
    FATE_LEDGER,   /* as fast as a leader, but its ledger does not fit */
    FATE_LEADER,
    FATE_COUNT
};
extern const char *const search_fate_names[FATE_COUNT]; /* as documents name them */

struct search_turn;
struct search_row {
    struct plan_layout layout;
    enum search_fate fate;
    const char *rule;            /* FATE_RULE: the key; else NULL */
    double least_bytes, least_s; /* bounds; 0: not asked */
    bool bound;                  /* least_s is that of its order of passes (pass_bound.h) */
    double pass_s;               /* at pass detail; 0: not timed */
    double apart_s;              /* search_unit_apart_s, a bound of op detail; 0: not asked */
    double apart_least_s;        /* pass_apart_s is no less */
    double pass_w, least_w;   /* W at the wall at pass detail; at least, op by op; 0: not asked */
    double keeps_s;           /* no step of it that keeps the limit of power is shorter */
    bool drawn;               /* least_w is that of its step op by op */
    bool fits;                /* its ledger was played and fits */
    uint32_t tried;           /* layouts with less recomputation that did not fit */
    struct search_turn *turn; /* where its findings are written down; NULL: nowhere */
};
struct search_weeks_wish {
    const struct scenario *scenario; /* with `run:`; its seed is the first one */
    uint32_t seeds;
    bool (*stop)(void *context); /* ends the weeks that go on, on any thread; NULL: never */
    void *context;
};
enum {
    WEEKS_NAME = 48
};
struct search_weeks {
    uint32_t seeds, asked; /* that were played; fewer than asked for where failures are many */
    double *rates;         /* tokens a second that were kept, by seed */
    double tokens_per_s;   /* over all seeds: kept tokens by wall time */
    double goodput_ratio, low_ratio, high_ratio; /* of the tokens without failures and saves; mean,
                                                    and its 95 % interval */
    double usd_per_1e9_tokens;                   /* that were kept; NAN: no price */
    double interval_s, stall_s;                  /* of saves; NAN: nothing is saved */
    const char *interval_why;                    /* "the optimum", ...; NULL: it was given */
    double mtbf_s;                               /* of the job, by the rates; INFINITY: none */
    double failures;                             /* of a run, in the mean */
    const char *checkpoint, *recovery;           /* policies */
    uint64_t spares, spare_gpus;                 /* nodes; their GPUs that are paid for */
    bool limited;                                /* a limit of the player ended a run */
    /* What leaves no kept checkpoint that is good, so that the job starts anew: the cause of a
     * silent corruption, or the key of unreadable copies; "": none. And how many to keep. */
    char tainted_by[WEEKS_NAME];
    double keep_needed;
};
struct search_fit { /* in draws of the figures of memory, as `run --uncertainty` draws them */
    bool known;
    uint32_t draws; /* 0: none of them is uncertain */
    double ratio;   /* of them that it fits */
};
struct search_leader {
    const struct search_row *row;
    bool played; /* at op detail; else what follows is of pass detail, or not known (NAN) */
    double step_s, tokens_per_s, mfu_ratio;
    double peak_reserved_bytes, peak_allocated_bytes;
    struct search_fit fit;
    double breakdown_s[PART_COUNT];
    /* With the model's own error; plan_figures.h adds the figures'. Of the forecast when there is
     * one, around it and not around step_s. */
    double p10_s, p90_s;
    double forecast_s;          /* with steps that the user measured; 0: there are none */
    double as_fast_probability; /* that it is faster than the first one; of the first, 1 */
    double usd_per_1e9_tokens;
    double training_s, training_usd; /* of training.tokens in such steps; NAN: not said */
    enum nearness nearness;          /* of what was measured */
    /* At the wall, of a step without failures; NAN: not asked (search_terms_draws) or not known. */
    double energy_j_per_token, wall_w;
    /* With failures; NULL: not played. Then price and length of the training are with them. */
    const struct search_weeks *weeks;
};

enum search_best {
    BEST_STEP,
    BEST_TOKENS,
    BEST_COST,
    BEST_DAYS,
    BEST_GOODPUT, /* most tokens a day that are kept */
    BEST_ENERGY,  /* least energy a token at the wall, without failures */
    SEARCH_BEST_COUNT
};
extern const char *const search_best_names[]; /* NULL-ended; as --best takes them */
extern const char *const search_best_docs[SEARCH_BEST_COUNT];

struct search_terms {
    enum search_best best;
    double deadline_s, budget_usd; /* of training.tokens; 0: none */
    double power_w; /* mean at the wall of a step; 0: none, INFINITY: any, and it is told */
};

/* Where a search writes down what it finds out, and what it takes from there. */
struct search_book;
struct search_question;
struct search_diary {
    /* Takes in what is known already, when the search begins; false with a sentence: it ends. */
    bool (*recall)(void *context, const struct search_question *question, struct search_book *book,
                   struct error *error);
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
    const char *files; /* what those of its scenario hold (inputs.h), for the diary; NULL: none */
    unsigned held;     /* of enum plan_axis */
    double headroom_ratio;     /* of usable memory, to be left free */
    uint32_t leaders;          /* wanted */
    struct search_terms terms; /* that hold for this cluster (search_terms_check) */
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
/* At the wall, W; NAN: not so, or not asked for. */
struct search_watts {
    double needed_w;   /* below which a layout that is not listed would take less energy than the
                        * first, where not all are listed */
    double smallest_w; /* the least that a layout draws which power alone keeps out, where nothing
                        * keeps the limit: with it as the limit something would */
    bool of_played;    /* others may draw less: there were too many to play op by op */
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
    struct search_watts watts;
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
struct search_more {             /* power (search_power.h) */
    bool known;                  /* a limit keeps something out, and with more power one leads */
    double power_w;              /* the raised limit */
    struct search_leader leader; /* the best by the objective under it */
};
struct search_front {
    struct search_leader *leaders; /* fastest first */
    double *asked_ratio;           /* of the card, that each had to leave free */
    uint32_t count;
    bool stopped;
};

#endif
