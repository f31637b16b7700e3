/* job_spec.h - weeks of training: everything that the player `job` needs to know, in SI, checked.
 *
 * Beside struct configuration, which describes one step. scenarios/ fills it; after that nothing
 * returns an error. Plain data, borrowed by every replication, on any thread. */
#ifndef ORRERY_MODELS_JOB_JOB_SPEC_H
#define ORRERY_MODELS_JOB_JOB_SPEC_H

#include "models/checkpoint/checkpoint_kind.h"
#include "models/fleet/fleet.h"
#include "models/recovery/recovery_kind.h"

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
struct checkpoint_spec {
    const struct checkpoint_kind *kind;
    struct kind_options options;
    double interval_s;        /* of work; 0 with interval_steps 0: the optimal one */
    uint64_t interval_steps;  /* 0: by time */
    double write_share_ratio; /* an optimal interval writes to drives no longer; 0: as it likes */
    double floor_s;           /* what that asks for at least; 0: nothing */
    double bytes_per_parameter;
    uint64_t keep;               /* checkpoints kept of each level, at least 1 */
    double corrupt_ratio;        /* probability that one cannot be read back */
    bool final;                  /* the end of the work is saved too */
    struct checkpoint_plan plan; /* of the policy, the storage and the layout */
    double job_mtbf_s;           /* by the rates of all stopping causes; INFINITY: none */
};
struct job_spec {
    double duration_s;       /* of wall clock; 0: until the work is done */
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
    double gpu_hour_usd, node_power_w, idle_power_ratio; /* NAN: not known */
    double storage_hour_usd; /* of all checkpoints that are kept, while the run lasts */
    double tokens_per_step;
    uint64_t ranks;
};
/* What the fleet needs to know of it: borrows its causes. */
struct fleet_spec job_fleet(const struct job_spec *spec);

#endif
