/* schema_job.h - where the keys of weeks of training are read to: run, failures, checkpoint,
 * storage, recovery. Their sections are schema.h's. */
#ifndef ORRERY_SCENARIOS_SCHEMA_SCHEMA_JOB_H
#define ORRERY_SCENARIOS_SCHEMA_SCHEMA_JOB_H

#include "models/checkpoint/storage.h"
#include "models/job/parts/job_spec.h"

struct run_keys {
    double duration_s, work_s;
    uint64_t steps;
    int strike;
    double step_noise_sigma, maintenance_every_s, maintenance_s;
};
/* A duration: fixed by its mean, or drawn. */
struct duration_keys {
    struct duration duration;
    bool sheltered;
};
enum initial_age {
    AGE_STATIONARY,
    AGE_NEW
};
struct failure_keys {
    const char *preset, *cause, *law, *trace, *rows;
    int unit, effect, initial_age;
    double mtbf_s, in_place_ratio, slow_ratio, early_factor, early_s, cascade_ratio;
    uint64_t domain_nodes;
    bool slow_link;
};
struct checkpoint_keys {
    const char *policy, *storage;
    double interval_s, write_share_ratio, bytes_per_parameter, corrupt_ratio;
    double stall_s, persist_s, load_s;
    uint64_t interval_steps, keep;
    bool final;
};
struct storage_keys {
    const char *name;
};
struct recovery_keys {
    const char *policy;
    uint64_t spares, crews, replicas_min, retire_after;
    double repair_fails_ratio, manual_repair_fails_ratio, wrong_blame_ratio, escalate_ratio;
};
struct restart_keys {
    double communicators_per_rank_s;
};

#endif
