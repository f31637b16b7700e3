/* rank_timeline.h - what one rank of a recorded step did, op by op, for writers of traces.
 *
 * The database holds when each op of a rank class began and finished; its scenario is built again
 * for what each op is: the program of the rank with kernels and transfers, and its communicators.
 * Both must agree op by op, else the database is refused in words. Times are held for one rank at a
 * time, so memory grows with the ops of one program, not with ranks or kernels. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_TRACES_RANK_TIMELINE_H
#define ORRERY_ANALYSIS_EXCHANGE_TRACES_RANK_TIMELINE_H

#include "analysis/record/database/query.h"
#include "models/layout/layout.h"
#include "models/program/lowered.h"

struct scenario;
/* Nanoseconds since the step began. */
struct rank_op {
    int64_t begin_ns; /* of communication: when the rank was ready, and waited for its peers */
    int64_t start_ns; /* when it began to run: of communication, when all of its ranks had come */
    int64_t finish_ns;
    /* When the host launched it: no later than it began, nor before any op that the host issued
     * earlier. The database holds that moment for compute which waited for the host; of other ops
     * this is the last such moment before them, which is the earliest that is possible. */
    int64_t launch_ns;
};
/* A class of ranks: where its rows stand in the database. */
struct rank_rows {
    int64_t first_id, last_id; /* of slice_raw; last below first: none */
};
struct rank_timeline {
    struct query *query;
    struct scenario *scenario;
    struct arena *arena;
    struct lowered lowered;
    struct layout layout;
    uint32_t rank_count;
    uint32_t *class_of;     /* [rank_count]: row of rank_class, from 1 */
    uint32_t *by_class;     /* [rank_count]: ranks, those of a class together */
    struct rank_rows *rows; /* [rank_count + 1], by class */
    int64_t step_ns;
    uint32_t read_class; /* whose times `ops` holds; 0: none yet */
    /* Of the rank read last. */
    uint32_t rank;
    const struct program *program;
    struct rank_op *ops; /* [program->op_count] */
};
/* `query` stays open until rank_timeline_close; `path` and `catalogue` as restore_scenario takes
 * them. False with a sentence where it holds no step, or no timeline of ops. */
bool rank_timeline_open(struct query *query, const char *path, const char *catalogue,
                        struct rank_timeline *out, struct error *error);
void rank_timeline_close(struct rank_timeline *t);
/* The times of a rank, below rank_count. */
bool rank_timeline_read(struct rank_timeline *t, uint32_t rank, struct error *error);

#endif
