/* law_change.h - changes of a configuration that make it better or worse, for metamorphic laws. */
#ifndef ORRERY_TESTS_LAW_CHANGE_H
#define ORRERY_TESTS_LAW_CHANGE_H

#include "models/layout/configuration.h"

enum law_change {
    CHANGE_NIC,           /* twice the rate of every NIC and cable of the fabric */
    CHANGE_NVLINK,        /* twice the rate */
    CHANGE_PCIE,          /* twice the rate, towards the CPUs too */
    CHANGE_PEAKS,         /* twice the FLOP/s of products and attention */
    CHANGE_HBM,           /* twice the rate */
    CHANGE_LATENCY,       /* no latency of any wire, switch or transport */
    CHANGE_HOST,          /* half the host's time */
    CHANGE_NIC_HALF,      /* worse, from here on: half the rate of every NIC */
    CHANGE_LINK,          /* one GPU's NIC, or NVLink in a single node, at .4 of its rate */
    CHANGE_STRAGGLER,     /* the first GPU at .7 of its speed */
    CHANGE_STRAGGLER_MID, /* one in the middle, beside those there are */
    CHANGE_RECOMPUTE,     /* full, where there was none */
    CHANGE_COUNT
};
extern const char *const law_change_names[CHANGE_COUNT];

struct law_changed {
    struct configuration c; /* its perturbations are those below */
    struct perturbation perturbations[8];
};
/* `c` changed; false where the change does not apply (no NVLink, one node, recomputed already). */
bool law_change(const struct configuration *c, enum law_change change, struct law_changed *out);
bool law_change_is_better(enum law_change change);

#endif
