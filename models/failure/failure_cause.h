/* failure_cause.h - what fails, of which unit, how often, and what it does: one cause, in SI,
 * checked.
 *
 * Plain data of a job's specification; the law of its times is a failure_kind, the fleet draws. */
#ifndef ORRERY_MODELS_FAILURE_FAILURE_CAUSE_H
#define ORRERY_MODELS_FAILURE_FAILURE_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "models/duration/duration.h"
#include "models/failure/failure_kind.h"

enum failure_unit {
    UNIT_GPU,
    UNIT_NIC,
    UNIT_NODE,
    UNIT_DOMAIN, /* a rack, a PDU, a leaf switch: `domain_nodes` nodes in a row */
    UNIT_JOB     /* software, storage, one for the whole job */
};
extern const char *const failure_unit_names[];
enum failure_effect {
    EFFECT_STOP,   /* the job crashes or hangs */
    EFFECT_SLOW,   /* a unit runs at slow_ratio until it is found or gets well */
    EFFECT_CORRUPT /* silent: everything since is tainted when it is found after `detect` */
};
extern const char *const failure_effect_names[];

/* One moment of a trace, in exposed time (wall clock less what failures cannot strike). */
struct trace_event {
    double at_s;
    uint32_t unit;     /* number of the unit, by failure_cause.unit; spares follow the job's */
    double repair_s;   /* whole repair of its node; 0: a restart mended it; < 0: by the laws */
    const char *cause; /* for the record */
};
struct failure_cause {
    const char *name; /* "gpu", "switch": of the scenario, free */
    const struct failure_kind *kind;
    struct kind_options options;
    int unit, effect;
    double mtbf_s;         /* of one unit */
    uint64_t domain_nodes; /* UNIT_DOMAIN: nodes in each */
    double in_place_ratio; /* share of its failures that a restart mends: no node is replaced */
    bool new_units;        /* initial age 0; else stationary */
    struct duration detect, repair;  /* own laws; mean_s < 0: recovery's */
    double slow_ratio;               /* EFFECT_SLOW: speed that is left, in (0, 1) */
    struct duration slow_time;       /* EFFECT_SLOW: until it gets well by itself; mean 0: never */
    bool slow_link;                  /* the NIC is slow, not the GPU */
    double early_factor, early_s;    /* rate is x factor for so long after the start; 1, 0: none */
    double cascade_ratio;            /* probability that another node of the same domain follows */
    const struct trace_event *trace; /* ascending */
    uint32_t trace_count;
};
/* Failures a second of so many units (a share of one counts), in the mean: units / mtbf_s. */
double failure_cause_rate(const struct failure_cause *cause, double units);

#endif
