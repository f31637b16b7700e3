/* search_why.h - why a layout does not lead: what `plan --why tp=4,pp=4` asks.
 *
 * It is a search of its own, in which the keys that are named keep their values: the best layout
 * with them, or what rejects each. */
#ifndef ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_WHY_H
#define ORRERY_ANALYSIS_PLAN_SEARCH_SEARCH_WHY_H

#include "analysis/plan/search/search.h"

/* Values of keys of the section `layout`, and dp. */
struct search_wish {
    unsigned held; /* a bit each of enum plan_axis */
    struct plan_layout layout;
};
/* "tp=4,pp=4,recompute=full" (mb, sp and shards stand for microbatch, sequence_parallel and
 * sharding, as tables head them). False with a sentence about the first word that is no key, or has
 * no such value. */
bool search_wish_read(const char *text, struct search_wish *out, struct error *error);

struct search_verdict {
    struct search *found;         /* with the keys held; owned, see search_why_end */
    const struct search_row *row; /* the best of it, or the one that came furthest; NULL: none */
    struct configuration c;       /* its */
    char rule[320];               /* FATE_RULE: the sentence; else "" */
    char warning[320];            /* of a key that was named, such as that it changes nothing */
    /* Of what does not fit: what it would need, and where memory ends first. */
    struct search_overflow {
        bool known, on_host; /* not of a card: of its node's CPUs */
        uint32_t stage, rank;
        const char *tensor, *tenant, *call_site; /* live in `found` */
        double bytes, short_bytes, allocated_bytes, needed_bytes, usable_bytes;
    } overflow;
    bool played; /* it fits, and was played op by op: */
    struct search_leader leader;
    double lost_s[PART_COUNT]; /* its parts less the first leader's; sums to the difference */
    enum search_fate missed;   /* the term that it misses; FATE_OPEN: none */
};
/* Of a search that is over. False with a sentence when the cluster cannot be built. */
bool search_why(const struct search *search, const struct search_wish *wish,
                struct search_verdict *out, struct error *error);
void search_why_end(struct search_verdict *verdict);

#endif
