/* release.h - a software profile by the month: what its recipes set since when, of which runs.
 *
 * An entry of software.yaml may have `history`, a list of dated facts:
 *   - {since: 2026-04, what: "...", source: "...", when: {experts: true, cards: gb200+gb300},
 *      sets: {dispatch: hybridep, cuda_graphs: moe_router+moe_preprocess}}
 * `sets` has keys of software and of layout, which a scenario that does not say them gets from that
 * month on, where `when` holds; of several facts the latest, of one month the later row. `untaken`
 * names what the recipes set and no key of a scenario can say, or is chosen by trial. `brings` has
 * keys with the value (any: whatever is no default) that no software before that month takes.
 * `until` is the last month in which the fact held. `size` is what a source says of the effect. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_RELEASE_H
#define ORRERY_SCENARIOS_CATALOGUE_RELEASE_H

#include "scenarios/language/problems.h"
#include "scenarios/language/value.h"

enum {
    RELEASE_NEWEST = 1 << 20, /* a month after all others */
    RELEASE_FACTS_MAX = 64    /* of a profile: they are skipped by bits */
};
/* Months since year 0 of a release: "2025-11", "2025.11"; "2025", its December; a container's
 * "25.11", also as "ngc25.11". A later patch of one ("25.11.01") is of the month after, as those of
 * NeMo 26.02, 26.04 and 26.06 were. 0: it is none of these. */
unsigned release_month(const char *text);
/* "ngc24.04": an image whose owner brings scripts of his own, as those of MLPerf do, and no release
 * of the software with its recipes. */
bool release_is_image(const char *text);
const char *release_month_text(struct arena *arena, unsigned month); /* "2025-11" */

struct release_fact {
    unsigned month, until;                              /* RELEASE_NEWEST: it still holds */
    const char *since, *what, *source, *size, *untaken; /* the last two: "" where there is none */
    const struct value *sets, *when, *brings;           /* mappings of words; NULL: none */
};
struct release_history {
    const struct release_fact *facts; /* in the entry's order */
    unsigned count;                   /* 0: the entry has none */
};
/* The facts of an entry. Reports what is no fact, once for each call. */
struct release_history release_history(struct arena *arena, struct problems *problems,
                                       const struct value *entry);
/* The last month of which there is a fact, the last before `month`; 0: none. */
unsigned release_newest(struct release_history history);
unsigned release_before(struct release_history history, unsigned month);

/* Does any fact set a key? */
bool release_sets_any(struct release_history history);

/* What conditions ask of a run. */
struct release_run {
    bool experts, latent, recurrent; /* its model has experts, latent attention, such layers */
    bool image;                      /* its release is one (release_is_image) */
    const char *card;                /* of the catalogue: "gb200-186gb"; conditions say gb200 */
    const char *precision;           /* of its linear layers: bf16, fp8, nvfp4 */
    const char *scaling;             /* of eight bits: mxfp8, current, ...; "": no eight bits */
    const char *dispatch;            /* "hybridep" */
    uint64_t gpus;
};
/* Does the fact hold in that month, of such a run? `precision` is met by that of the run or its
 * scaling. */
bool release_holds(const struct release_fact *fact, unsigned month, const struct release_run *run);
/* The fact that says what the recipes of that month set this key to, of such a run; NULL: none.
 * `skip`: facts that are not asked, a bit for each. */
const struct release_fact *release_setter(struct release_history history, unsigned month,
                                          const char *key, const struct release_run *run,
                                          uint64_t skip);
/* The first fact that brings this value of the key; NULL: nobody says when it came. */
const struct release_fact *release_bringer(struct release_history history, const char *key,
                                           const char *value);

#endif
