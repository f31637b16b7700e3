/* job_oracle.h - weeks of training played naively, to hold the player (job/player/job.h) against.
 *
 * One step, one save, one link at a time; every step keeps its own times, every rollback adds them
 * up again. Written from what job/player/job.h and the headers of its parts promise, not from how
 * the player does it. Failures from traces (EFFECT_STOP) that name nodes, domains or the job, fixed
 * durations, all replicas needed: no drawing, so both sides meet the same failures. */
#ifndef ORRERY_TESTS_JOB_ORACLE_H
#define ORRERY_TESTS_JOB_ORACLE_H

#include "models/job/player/job.h"

enum {
    ORACLE_STEPS = 512, /* of a job, at most */
    ORACLE_NODES = 16,  /* with its spares */
    ORACLE_CAUSES = 3,
    ORACLE_EVENTS = 16, /* of each cause */
    ORACLE_FAILURES = ORACLE_CAUSES * ORACLE_EVENTS,
    ORACLE_COPIES = 4096
};
struct told {
    struct job_result result;
    uint64_t by_cause[ORACLE_CAUSES];
    uint32_t interruption_count, save_count, failure_count;
    struct interruption interruptions[ORACLE_FAILURES];
    struct saved saves[ORACLE_COPIES];
    double failed_s[ORACLE_FAILURES];
};
/* Every step takes step_s, alone or beside slow writes. */
void job_oracle(const struct job_spec *spec, double step_s, struct told *out);

#endif
