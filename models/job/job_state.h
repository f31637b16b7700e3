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
/* A leap over many saves: what they reach follows from where it began, see job_segments.c. */
struct leap {
    const struct job *job;
    struct ledger_mark now; /* where it began, as all below */
    double at_s, segment_s;
    double first_s; /* end of the segment at hand */
    uint64_t saves, first_steps;
    uint32_t replicas_up;
};
struct series { /* copies of a level, one after the other: of one save, or of a leap */
    uint64_t count;
    struct copy newest; /* valid when known */
    bool known;
    uint64_t save; /* of the newest, counted from where the leap began */
    struct leap leap;
};
struct shelf {             /* the copies of one level */
    struct series *series; /* ring */
    uint64_t size, first, count;
    uint64_t kept;       /* copies of all series: at most job.keep */
    struct copy pending; /* being written */
    bool is_pending;
    /* In the background a save writes its levels one after the other: this one for write_s, which
     * takes this share of the speed of steps. */
    double write_s, loss_ratio;
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

    /* Running. Steps i = 1, 2, ... since `origin_s` end at after_work(origin_s, i * step_s). */
    double origin_s, step_s, ideal_step_s, noisy_step_s;
    uint64_t origin_steps; /* steps since the origin */
    uint64_t since;        /* steps since the last save began */
    uint64_t interval;     /* steps between two saves; STEPS_NEVER: none */
    uint64_t saves;        /* begun so far */
    struct ledger_mark now;
    uint64_t target;     /* STEPS_NEVER: none */
    uint64_t kept_most;  /* progress that stood after a stop, at most */
    uint64_t vain_stops; /* since it grew */
    bool unplayable;     /* the condition of the moment has no step time */
    uint64_t turns;      /* of the player, for whoever watches */
    enum durable_for durable_for;
    bool stopping, last_save; /* the save at hand is for a planned stop, for the end */
    struct random_stream *noise;
    struct shelf shelves[CHECKPOINT_LEVEL_MAX];
    double first_durable_s; /* of what is being written; INFINITY: nothing is */
    uint64_t keep;          /* copies of each level that can matter */
    bool slows;             /* some level slows steps */
    double stall_s;         /* of the save at hand */
    /* Segments without a failure, see job_segments.c. */
    double segment_s, all_stalls_s, all_slowed_s, longest_persist_s;
    bool same_each_time, nested; /* nested: a level is saved with those below it */

    /* Recovery. */
    uint32_t cause; /* of the failure that began the chain at hand */
    bool links[RESTART_LINK_COUNT];
    bool all_exposed;                        /* all of the chain, or nothing of it */
    double grown_s[RESTART_LINK_COUNT];      /* with the ranks */
    double fixed_link_s[RESTART_LINK_COUNT]; /* < 0: drawn */
    unsigned place;                          /* in the chain, of job_places */
    bool chain_over;       /* it was walked to its end; job.c goes on from there */
    uint64_t chains;       /* begun so far: key of their draws */
    uint64_t loads;        /* tried in this chain */
    unsigned load_level;   /* UINT_MAX: from the start */
    double loaded_began_s; /* when the save of that copy began */
    bool waits;            /* for nodes */
    bool alone;            /* the last decision: replicas come back by themselves */
    bool strikes_again;    /* the wrong node was blamed: the fault is still there */
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

static inline bool job_saves_exposed(const struct job_spec *spec)
{
    return spec->strike != STRIKE_WORKING;
}

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

/* job_segments.c: saves of an undisturbed stretch, counted from where a leap begins. */
void job_segments_create(struct job *job);
uint64_t job_segments_saves(const struct leap *leap, unsigned level, uint64_t saves);
double job_segments_run_s(const struct leap *leap, uint64_t saves);
double job_segments_stall_s(const struct leap *leap, uint64_t saves);
bool job_segments_fit(const struct leap *leap, uint64_t saves, double wall_s, double exposed_s);
uint64_t job_segments_by(const struct leap *leap, uint64_t limit, double wall_s, double exposed_s);
double job_segments_begin_s(const struct leap *leap, uint64_t save);
struct copy job_segments_copy(const struct leap *leap, unsigned level, uint64_t save);

/* job_copies.c: checkpoints kept. */
void job_shelves_create(struct job *job);
void job_shelf_write(struct job *job, unsigned level, const struct copy *copy);
void job_shelf_push(struct job *job, unsigned level, const struct leap *leap, uint64_t save,
                    uint64_t count);
bool job_saves_level(const struct job *job, unsigned level, uint64_t save);
void job_settle(struct job *job, double now_s);
double job_last_durable_s(const struct job *job);
void job_roll_back(struct job *job, double now_s, int scope, double taint_s);
void job_drop_loaded(struct job *job);
double job_load_s(const struct job *job);
bool job_is_saved(struct job *job);

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
double job_share(const struct job *job); /* of a full step's tokens in a step of today */
void job_spend_steps(struct job *job, double begin_s, double end_s, double steps);
double job_after_work(const struct job *job, double from_s, double work_s);
void job_new_origin(struct job *job);
/* Plays steps up to where something is to be decided, no further than `wall_stop_s` and the moment
 * of the next failure. */
enum boundary {
    BOUNDARY_AHEAD, /* a step is under way there, or it is left to a planned stop */
    BOUNDARY_PASSED,
    BOUNDARY_SAVE, /* is due */
    BOUNDARY_END_OF_WORK
};
enum boundary job_run_on(struct job *job, double wall_stop_s);
void job_begin_save(struct job *job, bool all_levels);
double job_part_of_step(const struct job *job, double at_s);

/* job_leap.c: many segments at once. */
void job_condition(struct job *job); /* of the moment: steps last what they last in it */
void job_leap(struct job *job, double wall_stop_s, double exposed_stop_s);

/* job_chain.c: from there to running. */
void job_chain_begin(struct job *job);
void job_chain_go_on(struct job *job);

/* job_recover.c: from a failure to a decision. */
void job_strike(struct job *job, double at_s);
void job_stop_for(struct job *job, const struct fleet_event *event, double at_s, double taint_s);
void job_strike_again(struct job *job);
bool job_mitigate(struct job *job);

#endif
