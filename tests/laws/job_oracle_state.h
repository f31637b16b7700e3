/* job_oracle_state.h - what the files of the naive player share; see job_oracle.h.
 *
 * Invariants
 * 1. All that ends at a moment has ended before a failure of that moment: steps, saves, links,
 *    copies on their way, repairs.
 * 2. A failure waits on the clock of exposed time until that reaches it. */
#ifndef ORRERY_TESTS_JOB_ORACLE_STATE_H
#define ORRERY_TESTS_JOB_ORACLE_STATE_H

#include "job_oracle.h"

enum outcome {
    PASSED,
    STRUCK, /* oracle.struck says by what */
    OVER    /* the time is up */
};
struct copy {
    unsigned level;
    uint64_t steps; /* done when the save began */
    double durable_s, stall_s;
};
struct write {
    struct copy copy;
    double begin_s; /* of its slowdown */
};
enum place {
    INSIDE,
    SPARE,
    BROKEN
};
struct node {
    enum place place;
    double joined_s;        /* exposed time */
    double begun_s, back_s; /* BROKEN: its repair, wall clock */
    int64_t order;          /* BROKEN: of being sent there; SPARE: the highest goes first */
};
struct oracle {
    const struct job_spec *spec;
    struct told *told;
    double step_s, now_s, exposed_s, planned_s;
    uint64_t steps, since_save, saves;
    double useful_s[ORACLE_STEPS], degraded_s[ORACLE_STEPS];
    struct copy copies[ORACLE_COPIES];
    uint32_t copy_count;
    struct write writes[ORACLE_COPIES];
    uint32_t write_count;
    struct node nodes[ORACLE_NODES];
    uint32_t missing;
    int64_t orders;
    double crew_free_s[ORACLE_NODES];
    uint32_t passed[ORACLE_CAUSES]; /* incidents of each cause that are over, in its order */
    struct {
        uint32_t cause, index;
    } struck;
    struct interruption *open; /* the recovery at hand */
    bool links[RESTART_LINK_COUNT];
    double detect_s;
    unsigned loaded_level;
};

/* job_oracle_time.c: what happens while time goes by. */
struct job_result *oracle_result(struct oracle *o);
/* What became durable until now, in order of time, then of level. */
void oracle_settle(struct oracle *o);
/* Repaired nodes fill what is missing, or stand by. */
void oracle_mend(struct oracle *o, double begin_s, double begin_exposed_s, bool exposed);
double oracle_next_repair_s(const struct oracle *o);
void oracle_join(struct oracle *o, uint32_t node, double exposed_s);
/* Nodes that stand behind a unit: how many, from `first` on. */
uint32_t oracle_nodes_of(const struct oracle *o, const struct failure_cause *cause, uint32_t unit,
                         uint32_t *first);
/* Stands in one class for so long, or until something comes between. */
enum outcome oracle_stay(struct oracle *o, double until_s, bool exposed, double *passed_s);

#endif
