/* search_row.h - what becomes of a layout in a search, and what is known of one that leads. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_ROW_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_ROW_H

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
    double pass_s;               /* at pass detail; 0: not timed */
    double apart_s;              /* pass_apart_s, a bound of op detail; 0: not asked */
    bool fits;                   /* its ledger was played and fits */
    uint32_t tried;              /* layouts with less recomputation that did not fit */
    struct search_turn *turn;    /* where its findings are written down; NULL: nowhere */
};
struct search_weeks; /* search_weeks.h */
struct search_leader {
    const struct search_row *row;
    bool played; /* at op detail; else what follows is of pass detail, or not known (NAN) */
    double step_s, tokens_per_s, mfu_ratio;
    double peak_reserved_bytes, peak_allocated_bytes;
    double breakdown_s[PART_COUNT];
    double p10_s, p90_s;        /* with the model's own error */
    double forecast_s;          /* with steps that the user measured; 0: there are none */
    double as_fast_probability; /* that it is faster than the first one; of the first, 1 */
    double step_usd, usd_per_1e9_tokens;
    double training_s, training_usd; /* of training.tokens in such steps; NAN: not said */
    enum nearness nearness;          /* of what was measured */
    /* With failures; NULL: not played. Then price and length of the training are with them. */
    const struct search_weeks *weeks;
};

#endif
