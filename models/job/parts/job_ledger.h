/* job_ledger.h - what the parts of the player `job` count in.
 *
 * Progress is counted in replica-steps (each step adds the replicas that took part), so that it is
 * exact; STEPS_NEVER of it is more than any job makes. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_LEDGER_H
#define ORRERY_MODELS_JOB_PARTS_JOB_LEDGER_H

#include <stdint.h>

/* No interval, no end of the work. */
#define STEPS_NEVER ((uint64_t)1 << 52)

struct ledger_mark {          /* what was reached at one moment */
    uint64_t progress, steps; /* replica-steps; steps of any size, for the record */
    double useful_s, degraded_s;
};
struct copy {                   /* one checkpoint on one level */
    struct ledger_mark reached; /* when its save began */
    uint64_t save;              /* number of the save */
    double began_s, durable_s, stall_s;
};

/* Inline, which fmin and fmax of the C library are not; nothing here is NAN. */
static inline double job_lesser(double a, double b)
{
    return a < b ? a : b;
}

static inline double job_greater(double a, double b)
{
    return a > b ? a : b;
}

#endif
