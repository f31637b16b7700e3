/* job_state.h - one replication of the player `job` while it is played: its parts, and the
 * functions of the files that compose them.
 *
 * A part is a struct with a header and a file of its own, which alone writes it and never sees the
 * whole; it may use parts that stand above it here:
 *
 *     clock plans outside      the two clocks, what is due at a boundary, what comes from outside
 *     account <- window        the classes of time
 *     steps <- speed <- copies <- segments     progress, and the checkpoints of it
 *     chain nodes replicas faults              what a failure does, and what is done about it
 *
 * What concerns several parts is decided in job.c, job_recover.c, job_restart.c, job_progress.c,
 * job_cluster.c, job_phase.c and job_create.c, which alone include this. */
#ifndef ORRERY_MODELS_JOB_PLAYER_JOB_STATE_H
#define ORRERY_MODELS_JOB_PLAYER_JOB_STATE_H

#include "models/job/parts/job_account.h"
#include "models/job/parts/job_chain.h"
#include "models/job/parts/job_clock.h"
#include "models/job/parts/job_faults.h"
#include "models/job/parts/job_nodes.h"
#include "models/job/parts/job_outside.h"
#include "models/job/parts/job_plans.h"
#include "models/job/parts/job_replicas.h"
#include "models/job/parts/job_steps.h"

/* Why PHASE_DURABLE waits. */
enum durable_for {
    FOR_NEXT_SAVE, /* which needs the same level */
    FOR_LAST_SAVE, /* which needs all levels: before a planned stop, or the end */
    FOR_REST       /* that save itself */
};
/* What the save at hand is for. */
enum save_for {
    SAVE_IS_DUE,      /* steps go on behind it */
    SAVE_BEFORE_STOP, /* a planned one */
    SAVE_AT_END
};
struct job {
    struct check_context context; /* for a failing CHECK: where the play stands */
    const struct job_spec *spec;
    struct fleet *fleet;
    struct arena *arena;
    struct {
        struct condition_table *table;
        bool unplayable; /* that of the moment has no step time */
    } condition;
    struct {
        const struct job_observer *observer;
        bool may_leap;  /* nobody asks for single steps or saves */
        uint64_t turns; /* of the player, for whoever watches */
    } observing;

    struct job_clock clock;
    struct job_plans plans;
    struct job_outside outside;
    struct job_account account;

    struct job_segments segments;
    struct job_copies copies;
    struct job_steps steps;
    struct job_chain chain;
    struct job_nodes nodes;
    struct job_replicas replicas;
    struct job_faults faults;

    struct {
        enum save_for is_for;
        enum durable_for durable_for;
    } save; /* at hand */
    struct {
        uint64_t kept_most; /* progress that stood after a stop, at most */
        uint64_t stops;     /* since it grew */
    } vain;
    struct {
        uint32_t *nodes, count; /* scratch: of the failure at hand */
        bool strikes_again;     /* the wrong node was blamed: the fault is still there */
        struct fleet_event again;
    } struck;
};

/* Functions of the files that compose the parts, in layers: a file calls those above it here, never
 * those below; what those have to do then is returned, or left in chain.over, and job.c does it. */

/* job_create.c: the parts at the beginning, and what they tell at the end. */
void job_create(struct job *job, struct job_result *out);
void job_wind_up(struct job *job);

/* job_phase.c: entering a phase, and what the time of one is spent on. */
void job_enter(struct job *job, enum job_phase phase, double until_s);
void job_pass(struct job *job, double to_s); /* any but steps */
void job_end(struct job *job, enum job_end why);

/* job_cluster.c: nodes, replicas and faults. */
void job_node_leave(struct job *job, uint32_t node, const struct fleet_event *event, double at_s,
                    bool alone); /* for repair or for good; `alone`: its replicas come back so */
void job_take_spares(struct job *job, uint32_t count, double at_s);
void job_node_repaired(struct job *job, uint32_t node, double at_s);
/* A failure's whole repair, by its law or the trace. */
double job_repair_s(const struct job *job, const struct fleet_event *event);
/* A replica that is out has all its nodes again. While the job restarts it comes along. */
void job_replica_whole(struct job *job, uint32_t replica, double at_s);
void job_fault_begin(struct job *job, const struct fleet_event *event, double at_s);
double job_condition_step_s(const struct job *job); /* of the moment */

/* job_progress.c: steps and saves. */
/* Plays steps up to where something is to be decided, no further than `wall_stop_s` and the moment
 * of the next failure. */
enum boundary {
    BOUNDARY_AHEAD, /* a step is under way there, or it is left to a planned stop */
    BOUNDARY_PASSED,
    BOUNDARY_SAVE, /* is due */
    BOUNDARY_END_OF_WORK
};
enum boundary job_run_on(struct job *job, double wall_stop_s);
void job_leap(struct job *job, double wall_stop_s);
void job_begin_save(struct job *job, bool all_levels);
bool job_is_saved(struct job *job);  /* all that was reached stands on the safest level */
void job_condition(struct job *job); /* of the moment: steps last what they last in it */
/* A failure of this scope (job_copies_lose); the copy at hand could not be read. */
void job_roll_back(struct job *job, double now_s, int scope, double taint_s);
void job_drop_loaded(struct job *job);

/* job_restart.c: the restart chain, from there to running. */
void job_restart(struct job *job);       /* a chain begins */
void job_restart_go_on(struct job *job); /* the place at hand is over */

/* job_recover.c: from a failure to a decision. */
void job_strike(struct job *job, double at_s);
void job_stop_for(struct job *job, const struct fleet_event *event, double at_s, double taint_s);
void job_strike_again(struct job *job);
bool job_mitigate(struct job *job);

#endif
