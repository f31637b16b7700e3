/* comparison.h - where the difference between two runs comes from, term by term.
 *
 * Known from two records: the parts of the step of the mean rank (of weeks, where both have them,
 * also what each class of lost time adds to a kept step), the memory of the fullest stage by
 * tenant, the price, and the settings, keys of the scenario and figures that differ. Differences
 * of terms add up to the difference of the totals. Where the runs train another number of tokens a
 * step, or on other numbers of GPUs, seconds of a step compare badly: GPU time of 10^6 tokens
 * stands beside them, and adds up too. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_COMPARISON_H
#define ORRERY_ANALYSIS_EXPLAIN_COMPARISON_H

#include "analysis/explain/stands_on.h"
#include "analysis/explain/waterfall.h"
#include "models/program/ledger_entry.h"
#include "models/step/simulate/breakdown.h"
#include "scenarios/language/value.h"

struct compared_side {
    const char *path;
    struct record record;
    struct kept_constants constants;
    struct stated_words stated; /* keys of its scenario */
    bool told;                  /* whether they are known */
};
struct compared_term {
    const char *key, *what;
    double seconds[2]; /* of a kept step: of A, of B */
    double gpu_s[2];   /* GPU time of 10^6 tokens */
    bool part;         /* of the term before it: does not count in the sum */
};
struct compared_bytes {
    const char *key;
    double bytes[2];
};
struct compared_setting {
    const char *name, *text[2];
    bool figure; /* of the catalogue, not of the choice */
    bool key;    /* as a scenario states it, "recovery.spares" */
};
enum {
    COMPARED_COMPUTE_PARTS = 3, /* of the term compute */
    COMPARED_TERMS_MAX = WATERFALL_COUNT + 1
};
struct comparison {
    bool fits[2];      /* in memory, A and B */
    bool timed, weeks; /* of both; times of what does not fit are of no card that there is */
    struct compared_term terms[COMPARED_TERMS_MAX], total;
    unsigned term_count;
    struct compared_bytes memory[TENANT_COUNT], peak; /* of the fullest stage of each */
    bool told;                                        /* keys of both are known */
    bool same_work;                                   /* as many tokens a step, on as many GPUs */
    double tokens[2];                                 /* of a step */
    const struct compared_setting *settings;
    unsigned setting_count;
};
/* A record that does not say whether it fits was timed if it does. */
bool comparison_fits(const struct record *record);
/* Texts live in the arena and the sides. False with a sentence where a record is damaged; that one
 * does not fit in memory, or was not timed, is no failure. */
bool comparison_of(struct arena *arena, const struct compared_side sides[2], struct comparison *out,
                   struct error *error);

#endif
