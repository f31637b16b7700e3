/* job_state.h - what the files of the player `job` share: one replication while it is played.
 *
 * Only job*.c include it. Progress is counted in replica-steps (each step adds the replicas that
 * took part), so that it is exact; `target` is the work of the whole run in the same unit. */
#ifndef ORRERY_MODELS_JOB_JOB_STATE_H
#define ORRERY_MODELS_JOB_JOB_STATE_H

#include "models/job/job_account.h"
#include "models/job/job_clock.h"
#include "models/job/job_ledger.h"
#include "models/job/job_outside.h"
#include "models/job/job_plans.h"
#include "models/job/job_steps.h"
#include "models/step/condition.h"
#include "sim/check.h"

enum {
    NO_NODE = -1
};
/* Why PHASE_DURABLE waits. */
enum durable_for {
    FOR_NEXT_SAVE, /* which needs the same level */
    FOR_LAST_SAVE, /* which needs all levels: before a planned stop, or the end */
    FOR_REST       /* that save itself */
};
struct node {
    int32_t position; /* in the job, or NO_NODE */
    uint32_t next;    /* in the queue for a crew */
    uint64_t failures;
    double repair_s; /* of the repair at hand */
    bool mended;     /* it finds the fault */
};
struct replica {
    uint32_t missing; /* positions without a node */
    bool out;         /* of the job: something is missing, or it is on its way back */
    bool alone;       /* it comes back by itself, not by a restart of the job */
    bool ready;       /* ... with the next step */
    uint64_t version; /* of its way back */
    uint64_t stamp;
};
/* A slow unit, or one that corrupts silently, until it is found, well, or out of the job. */
struct fault {
    struct fleet_event event;
    double onset_s;
    uint64_t version;
    bool alive, corrupts, found;
    bool gone; /* its node left the job, what it corrupted did not */
    struct condition_slow slow;
};
/* Purposes of draws that belong to a chain; those below are its links. */
enum draw {
    DRAW_CORRUPT = RESTART_LINK_COUNT,
    DRAW_BLAME,
    DRAW_BLAMED
};

/* Places of the chain that are no links. */
enum {
    PLACE_WAIT = RESTART_LINK_COUNT,
    PLACE_LOAD,
    PLACE_COUNT
};
extern const int job_places[PLACE_COUNT]; /* links and places in their order */

struct job {
    struct check_context context; /* for a failing CHECK: where the play stands */
    const struct job_spec *spec;
    struct condition_table *conditions;
    struct fleet *fleet;
    struct arena *arena;
    uint64_t seed;
    bool step_by_step, may_leap;
    const struct job_observer *observer;

    struct job_clock clock;
    struct job_plans plans;
    struct job_outside outside;
    struct job_account account;

    struct job_segments segments;
    struct job_copies copies;
    struct job_steps steps;

    uint64_t kept_most;  /* progress that stood after a stop, at most */
    uint64_t vain_stops; /* since it grew */
    bool unplayable;     /* the condition of the moment has no step time */
    uint64_t turns;      /* of the player, for whoever watches */
    enum durable_for durable_for;
    bool stopping, last_save; /* the save at hand is for a planned stop, for the end */
    /* Recovery. */
    uint32_t cause; /* of the failure that began the chain at hand */
    bool links[RESTART_LINK_COUNT];
    bool all_exposed;                        /* all of the chain, or nothing of it */
    double grown_s[RESTART_LINK_COUNT];      /* with the ranks */
    double fixed_link_s[RESTART_LINK_COUNT]; /* < 0: drawn */
    unsigned place;                          /* in the chain, of job_places */
    bool chain_over;    /* it was walked to its end; job.c goes on from there */
    uint64_t chains;    /* begun so far: key of their draws */
    uint64_t loads;     /* tried in this chain */
    bool waits;         /* for nodes */
    bool alone;         /* the last decision: replicas come back by themselves */
    bool strikes_again; /* the wrong node was blamed: the fault is still there */
    struct fleet_event again;

    /* Nodes. */
    struct node *nodes; /* of the job, then spares; physical numbers */
    uint32_t node_count;
    uint32_t *vacant, nodes_short;     /* positions without a node */
    uint32_t *free_spares, free_count; /* stack */
    uint32_t queue_first, queue_last, repairs_busy;
    uint32_t *struck, struck_count; /* scratch: nodes of the failure at hand */
    struct replica *replica;
    uint32_t *out_list, out_count, replicas_up;
    uint64_t stamps;

    struct fault *faults;
    uint32_t fault_count, fault_size;
};

/* Functions by file, in layers: a file calls those above it here, never those below; what those
 * have to do then is returned, or left in `chain_over`, and job.c does it. */

/* job_links.c: the links of the restart chain. */
void job_links_create(struct job *job);
double job_link_s(const struct job *job, unsigned link);
bool job_chain_exposed(const struct job *job, enum phase phase);
double job_replica_chain_s(struct job *job);
double job_uniform(const struct job *job, enum draw draw, uint64_t number);

/* job_phase.c: entering a phase, and what the time of one is spent on. */
void job_enter(struct job *job, enum phase phase, double until_s);
void job_pass(struct job *job, double to_s); /* any but steps */
void job_end(struct job *job, enum job_end why);

/* job_nodes.c: who stands in the job, who stands by, who is repaired. */
void job_nodes_create(struct job *job);
uint32_t job_first_replica(const struct job_spec *spec, uint32_t position);
uint32_t job_last_replica(const struct job_spec *spec, uint32_t position);
void job_node_leave(struct job *job, uint32_t node, const struct fleet_event *event, double at_s);
void job_take_spares(struct job *job, uint32_t count, double at_s);
void job_node_repaired(struct job *job, uint32_t node, double at_s);
bool job_repairs_pending(const struct job *job);
double job_repair_s(const struct job *job, const struct fleet_event *event);

void job_replica_out(struct job *job, uint32_t replica, bool alone);
void job_replica_whole(struct job *job, uint32_t replica, double at_s);
void job_replicas_join(struct job *job);
void job_replicas_return(struct job *job);

/* job_faults.c: slow units and silent corruption. */
void job_fault_begin(struct job *job, const struct fleet_event *event, double at_s);
void job_faults_of_node_end(struct job *job, uint32_t node);
/* The corrupt one that was found now, for which the job has to stop; NULL: it goes on. */
const struct fault *job_fault_event(struct job *job, const struct outside_event *event);
void job_faults_forgotten(struct job *job);
double job_condition_step_s(const struct job *job);

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

/* job_chain.c: from there to running. */
void job_chain_begin(struct job *job);
void job_chain_go_on(struct job *job);

/* job_recover.c: from a failure to a decision. */
void job_strike(struct job *job, double at_s);
void job_stop_for(struct job *job, const struct fleet_event *event, double at_s, double taint_s);
void job_strike_again(struct job *job);
bool job_mitigate(struct job *job);

#endif
