/* job_spec.h - weeks of training: everything that the player `job` needs to know, in SI, checked.
 *
 * Beside struct configuration, which describes one step. scenarios/ fills it; after that nothing
 * returns an error. Plain data, borrowed by every replication, on any thread. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_SPEC_H
#define ORRERY_MODELS_JOB_PARTS_JOB_SPEC_H

#include "models/checkpoint/checkpoint_kind.h"
#include "models/fleet/fleet.h"
#include "models/layout/power_wall.h"
#include "models/layout/rental.h"
#include "models/recovery/recovery_kind.h"
#include "sim/units.h"

enum strike {
    STRIKE_ALWAYS,  /* failures strike work, checkpoints, restarts, waits */
    STRIKE_RUNNING, /* ... work and checkpoints */
    STRIKE_WORKING  /* ... work alone */
};
extern const char *const strike_names[];

struct restart_spec {
    struct duration links[RESTART_LINK_COUNT];
    bool sheltered[RESTART_LINK_COUNT]; /* failures cannot strike there (Daly's downtime D) */
    double communicators_per_rank_s;    /* grows with the ranks, on top of its link */
};
struct recovery_spec {
    const struct recovery_kind *kind;
    struct kind_options options;
    uint64_t spares;       /* nodes beside those of the job */
    uint64_t crews;        /* nodes repaired at a time; 0: all */
    uint64_t replicas_min; /* elastic: stop below */
    uint64_t retire_after; /* failures after which a node is taken out for good; 0: never */
    double repair_fails_ratio, wrong_blame_ratio;
    double manual_repair_fails_ratio; /* a failed repair leaves a lemon a lemon */
    double escalate_ratio;            /* repairs that go on to `manual_repair` after `repair` */
    struct duration repair, manual_repair;
    struct restart_spec restart;
};
/* What decides when a job saves. */
#define SAVE_RULES(X)                                                                              \
    X(nothing, "nothing is saved")                                                                 \
    X(every_step, "the policy saves at every step")                                                \
    X(steps, "interval_steps was given")                                                           \
    X(time, "interval was given")                                                                  \
    X(open, "an optimal interval is asked for, and not found yet")                                 \
    X(floor, "the shortest interval that spares the drives; the optimum is shorter")               \
    X(optimum, "the optimum, by the closed form of Daly")                                          \
    X(played, "the optimum, by playing the weeks with many intervals")
enum save_rule {
#define X(name, doc) SAVE_##name,
    SAVE_RULES(X)
#undef X
};
extern const char *const save_rule_names[];
enum interval_found {
    INTERVAL_GIVEN, /* or open: see save_rule */
    INTERVAL_BY_FORMULA,
    INTERVAL_BY_PLAYING
};
struct checkpoint_spec {
    const struct checkpoint_kind *kind;
    struct kind_options options;
    double interval_s;       /* of work; 0 with interval_steps 0: the optimal one, see save_rule */
    uint64_t interval_steps; /* 0: by time */
    enum interval_found found; /* who filled interval_s */
    double write_share_ratio;  /* an optimal interval writes to drives no longer; 0: as it likes */
    double floor_s;            /* what that asks for at least; 0: nothing */
    double bytes_per_parameter;
    uint64_t keep;               /* checkpoints kept of each level, at least 1 */
    double corrupt_ratio;        /* probability that one cannot be read back */
    bool final;                  /* the end of the work is saved too */
    struct checkpoint_plan plan; /* of the policy, the storage and the layout */
    double job_mtbf_s;           /* by the rates of all stopping causes; INFINITY: none */
    double run_s; /* the work, or the run where that has no end: of job_optimal_interval */
};
struct job_spec_cost {
    struct rental rental;                       /* NAN: not known */
    struct power_job power;                     /* likewise */
    double copy_hour_usd[CHECKPOINT_LEVEL_MAX]; /* of one checkpoint that a level keeps */
};
/* The longest run.duration, and the wall time at which a run without one is given up: its moments
 * then fit a signed count of nanoseconds (292 years), in which results hold them. */
#define JOB_WALL_MAX_S (100.0 * YEAR)
struct job_spec {
    double duration_s;       /* of wall clock; 0: until the work is done, or JOB_WALL_MAX_S */
    uint64_t steps;          /* of work; 0: until duration_s */
    double step_noise_sigma; /* log-normal, of each step */
    int strike;
    const struct failure_cause *causes;
    uint32_t cause_count;
    struct checkpoint_spec checkpoint;
    struct recovery_spec recovery;
    double maintenance_every_s, maintenance_s; /* 0: none; the job saves before it */
    uint32_t nodes, gpus_per_node, nics_per_node;
    uint32_t replicas; /* of the layout */
    /* The replicas with a rank on node n, in order: replicas_on[i] for i from replicas_begin[n] up
     * to replicas_begin[n + 1]. NULL: they fill one node after the other. */
    const uint32_t *replicas_on, *replicas_begin;
    const uint32_t *stage_of_gpu; /* pipeline stage, by number in the job; NULL: 0 */
    double tokens_per_step;
    uint64_t ranks;
    struct job_spec_cost cost;
};
/* Wall time after which the run ends, whatever it has done. */
double job_wall_limit_s(const struct job_spec *spec);
/* The one answer to "when does it save, and who says so". */
enum save_rule job_save_rule(const struct checkpoint_spec *spec);
/* A failure may have to go back further than to the newest copy that is left: that one may be
 * tainted, or cannot be read. */
bool job_falls_back(const struct job_spec *spec);
/* How often a run of `run_s` goes back to its very start because nothing that it kept is good. */
#define JOB_ANEW_TIMES 0.05 /* no more than one run in twenty: enough is kept */
struct job_anew {
    const struct failure_cause *cause; /* of silent corruption, the worst; NULL: others are worse */
    double ratio;                      /* of its cases (of other recoveries) leave no good copy */
    double times;                      /* expected in the run, of all causes */
    double keep;                       /* checkpoints that bring that down to JOB_ANEW_TIMES */
};
/* More than JOB_ANEW_TIMES? Good is a copy on a level that outlives the failure, which can be read
 * (checkpoint.corrupt) and was begun before a silent corruption that is found. `each_s`: between
 * two saves; stops in between are left out, so that in truth copies reach further back. False, too,
 * where the job fails before it makes up for what it loses to unreadable copies, however many it
 * keeps. Formulas: docs/models/checkpoints.md. */
bool job_starts_anew(const struct job_spec *spec, double each_s, double run_s,
                     struct job_anew *out);
/* When a cause is noticed: by its own law, or that of the restart. */
const struct duration *job_found_after(const struct job_spec *spec,
                                       const struct failure_cause *cause);
/* How long its work takes without anything else; of a run without an end of work, the run. */
double job_work_s(const struct job_spec *spec, double step_s);
/* Steps between two saves: an interval of time ends with the step in which it is over.
 * STEPS_NEVER (job_ledger.h): nothing is saved, or the interval is open. */
uint64_t job_between_saves(const struct checkpoint_spec *spec, double step_s);
/* The same as work, in seconds: 0 where nothing is saved or the interval is open. */
double job_between_saves_s(const struct checkpoint_spec *spec, double step_s);
/* Mean time until a cause is noticed: its own, or that of the restart chain. */
double job_found_after_s(const struct job_spec *spec, const struct failure_cause *cause);
/* Mean time between failures of this cause in the whole job; INFINITY of one that only slows. */
double job_cause_mtbf_s(const struct job_spec *spec, const struct failure_cause *cause);
/* What the policy decides when one node fails and all spares stand by. */
void job_one_failure(const struct job_spec *spec, struct recovery_decision *out);
/* What the fleet needs to know of it: borrows its causes. */
struct fleet_spec job_fleet(const struct job_spec *spec);

#endif
