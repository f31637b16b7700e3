/* validate_kind.h - the contract of a kind of file of measurements: its columns, its metrics, and
 * how a row is predicted. Adding one: a file, a row in validate_list.h, a line in CMakeLists.txt.
 */
#ifndef ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_KIND_H
#define ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_KIND_H

#include <stdio.h>

#include "analysis/validate/table/validate_row.h"
#include "scenarios/language/csv.h"
#include "sim/kind.h"

struct validate_kind;
struct validate_text;
enum validate_detail { /* of what the time of a step is predicted by */
    VALIDATE_OP,       /* the engine, op by op */
    VALIDATE_PASS      /* models/step/estimate/pass.h */
};
extern const char *const validate_detail_names[]; /* NULL-ended */
struct validation {
    struct arena *arena;
    const struct csv *csv;
    const struct validate_kind *kind;
    const char *catalogue; /* folder, or NULL */
    enum validate_detail detail;
    const char *profile, *profile_gpu; /* a file, and its card; NULL: none */
    const struct validate_versions *versions;
    const struct validate_nodes *nodes;
    const struct validate_models *models;
    struct arena *scratch; /* of the thread that predicts; NULL: each step has memory of its own */
    struct validate_row *rows;
    size_t row_count;
};

struct validate_kind {
    struct kind head;
    const char *const *columns; /* needed; NULL-ended */
    const char *const *metrics; /* NULL-ended; the first is the main one */
    const char *const *group;   /* columns that name a group of layouts; NULL: no groups */
    const char *const *layout;  /* columns that tell layouts of a group apart; with `group` */
    /* Fills values, verdicts, refused and note of one row; called on any thread. */
    void (*predict)(const struct validation *v, struct validate_row *row);
    /* Writes the scenario that the row becomes; false with the row refused. NULL: rows become none.
     */
    bool (*write)(const struct validation *v, struct validate_row *row, struct validate_text *out);
    const char *explained; /* what of the scenario is predicted, or why there is none */
    bool has_details;      /* it plays whole steps: at any detail; others know VALIDATE_OP alone */
    /* What needs more than one row, once all are predicted; NULL: nothing. */
    void (*compare)(const struct validation *v);
    /* A table of its own below the others; NULL: none. */
    void (*report)(const struct validation *v, FILE *out);
};
#define X(name) extern const struct validate_kind validate_##name;
#include "analysis/validate/table/validate_list.h"
#undef X
KIND_FAMILY(validate)

/* How many metrics a kind has. */
unsigned validate_metric_count(const struct validate_kind *kind);
/* What of the hardware of the rows is announced, each sentence once; "": nothing is. */
const char *validate_announced(const struct validation *v);

#endif
