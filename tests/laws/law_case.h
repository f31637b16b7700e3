/* law_case.h - small configurations over every table: topologies, schedules, shardings, layouts.
 *
 * A case is one level for each factor. law_configure turns it into a checked configuration whose
 * model is made to fit the layout (heads, sequence and layers divide), or refuses it. Tables are
 * read by their length, so that a new kind is met without touching a test. law_cover writes few
 * cases in which every legal pair of levels occurs. */
#ifndef ORRERY_TESTS_LAW_CASE_H
#define ORRERY_TESTS_LAW_CASE_H

#include "models/layout/configuration.h"

enum law_factor {
    LAW_NODE,    /* node kind */
    LAW_FABRIC,  /* fabric kind */
    LAW_OPTIONS, /* enum law_variant */
    LAW_GPUS,    /* of a node */
    LAW_TP,
    LAW_PP,
    LAW_DP,
    LAW_CP,
    LAW_VPP,
    LAW_SCHEDULE,
    LAW_SHARDING,
    LAW_RECOMPUTE,
    LAW_CP_METHOD,
    LAW_SEQUENCE_PARALLEL,
    LAW_PLACEMENT,
    LAW_ORDER,
    LAW_SOFTWARE, /* fused and bare; overlapping and interfering; unfused and synchronous */
    LAW_TROUBLE,  /* enum law_trouble */
    LAW_FACTOR_COUNT
};
enum law_trouble {
    LAW_CALM,
    LAW_STRAGGLER, /* one slow GPU */
    LAW_LINK,      /* one degraded link */
    LAW_BOTH,
    LAW_JITTER, /* each compute op, on top of both */
    LAW_TROUBLE_COUNT
};
enum {
    LAW_SIZE_COUNT = 8 /* degrees of parallelism: see law_sizes */
};
/* 1, 2, 4, 3, 8, 16, 32, 64: levels of LAW_TP, LAW_PP, LAW_DP, LAW_CP. */
extern const unsigned law_sizes[LAW_SIZE_COUNT];

struct law_case {
    uint8_t level[LAW_FACTOR_COUNT];
};
struct law_setup {
    struct configuration c;
    struct perturbation perturbations[2]; /* c points here: a setup stays where it was made */
};
/* Levels of a factor; degrees of parallelism up to `rank_max`. */
unsigned law_level_count(enum law_factor factor, unsigned rank_max);
/* False when the case is illegal, has more ranks than rank_max, or repeats another case (chunks
 * for a schedule without them, an option without effect). */
bool law_configure(const struct law_case *k, unsigned rank_max, struct law_setup *out);
/* "nvlink_island fat_tree(tight) 2 gpus, tp 2 pp 2 ...": for messages. */
void law_describe(const struct law_case *k, char *text, unsigned size);

struct law_cover {
    struct law_case *cases;
    unsigned count;
    unsigned pairs, impossible; /* pairs of levels covered, and those that no case was found for */
};
/* Deterministic, greedy; `cases` is owned by the arena. */
void law_cover(struct arena *arena, unsigned rank_max, struct law_cover *out);

#endif
