/* failure_log_state.h - what the readers of failure logs share: a list of what they saw. */
#ifndef ORRERY_SCENARIOS_IMPORT_FAILURES_FAILURE_LOG_STATE_H
#define ORRERY_SCENARIOS_IMPORT_FAILURES_FAILURE_LOG_STATE_H

#include "scenarios/import/failures/failure_log.h"
#include "sim/table.h"

enum {
    FAILURE_XID_MAX = 1023
};
struct failure_sight {
    double at_s; /* since 1970; of a CSV file without dates since its start */
    int unit_kind;
    const char *host, *part; /* names; host NULL: `unit` is its number; part NULL: the node; of a
                              * job: where it was logged */
    uint64_t unit;
    uint64_t place; /* number of the GPU or node of these names */
    bool folded;    /* a repeat, or what follows another one */
    const char *cause;
    const char *apart; /* what tells two of a unit and a cause apart: a job's nodes; or NULL */
    bool among;        /* of one node of several: `host` is the first of them */
    double repair_s;
    unsigned line;
};
struct failure_node {
    const char *host;
    double latest_s; /* the latest moment of its lines; -INFINITY: none yet */
};
struct failure_nodes {
    struct table names;
    struct failure_node *rows;
    uint32_t room;
};
struct failure_reading {
    struct import_text text;
    struct import_file file;
    struct arena *arena;
    const struct failure_rules *rules;
    struct failure_sight *sights;
    uint32_t count, room;
    bool relative; /* times since the start */
    double last_s; /* the latest moment of any line; -INFINITY: none yet */
    struct failure_nodes nodes;
    struct failure_log *out;
};
/* Adds one; false: there are too many. */
bool failure_log_see(struct failure_reading *r, const struct failure_sight *sight);
/* A moment of the calendar that some line names. */
void failure_log_moment(struct failure_reading *r, double at_s);

/* The moment of "Nov", "03", "04:05:06" on a node, in a log that names no year (failure_year.c).
 * False with a sentence. */
bool failure_year_find(struct failure_reading *r, char *const *words, const char *host,
                       double *at_s);
/* A moment of the calendar that a line of a node has; those behind --end tell nothing. */
void failure_year_note(struct failure_reading *r, const char *host, double at_s);

/* What a number of NVIDIA's driver stands for. False: no failure by itself. */
bool failure_xid_cause(struct failure_reading *r, unsigned xid, const char **cause, int *unit_kind);

#endif
