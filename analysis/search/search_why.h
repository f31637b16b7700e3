/* search_why.h - why a layout does not lead: what `plan --why tp=4,pp=4` asks. */
#ifndef ORRERY_ANALYSIS_SEARCH_SEARCH_WHY_H
#define ORRERY_ANALYSIS_SEARCH_SEARCH_WHY_H

#include "analysis/search/search.h"

enum {
    WHY_KEY_MAX = 12
};
/* Layouts that have these values; keys as in the section `layout` of a scenario, and dp. */
struct search_filter {
    struct search_wanted {
        const char *key, *value; /* live in the arena of the reading */
    } wanted[WHY_KEY_MAX];
    unsigned count;
};
/* "tp=4,pp=4,recompute=full". False with a sentence about the first word that is none. */
bool search_filter_read(struct arena *arena, const char *text, struct search_filter *out,
                        struct error *error);

struct search_verdict {
    uint32_t count, fates[FATE_COUNT]; /* of the layouts that match */
    const struct search_row *row;      /* the one that came furthest; NULL: none matches */
    struct configuration c;            /* its */
    char rule[320];                    /* FATE_RULE: the sentence; else "" */
    /* Of what does not fit: where memory ends first. */
    struct search_overflow {
        bool known;
        uint32_t stage, rank;
        const char *tensor, *tenant, *call_site;
        double bytes, short_bytes, allocated_bytes;
    } overflow;
    uint32_t too_large; /* that came further, and turned out not to fit */
    /* Of what fits: its step op by op, beside that of the first leader. */
    bool played;
    struct search_leader leader;
    double lost_s[PART_COUNT]; /* its part less the leader's; sums to the difference of the steps */
};
/* Texts live in the search. A search without leaders explains what fails, and compares nothing. */
void search_why(const struct search *search, const struct search_filter *filter,
                struct search_verdict *out);

#endif
