/* dispatch_kind.h - the contract of a dispatch: how rows of tokens go to the ranks of their
 * experts, and the results back.
 *
 * Adding one: a file, a row in dispatch_list.h, a line in
 * models/collective/dispatch/CMakeLists.txt. A kind is plain facts: which copies of a row are sent
 * once, and what the kernels that send reach of a wire. The layer writes what is sent and copied by
 * them (models/workload), the collectives which wires carry it (models/collective/relay.c, or
 * direct.c). docs/models/experts.md has the formulas. */
#ifndef ORRERY_MODELS_COLLECTIVE_DISPATCH_DISPATCH_KIND_H
#define ORRERY_MODELS_COLLECTIVE_DISPATCH_DISPATCH_KIND_H

#include <stdbool.h>

#include "models/collective/dispatch/routing.h"
#include "sim/kind.h"

/* Payload share of a NIC's line rate that the nodes of the catalogue have (nic_efficiency): what a
 * fit to line rates is divided by. */
#define DISPATCH_NIC_PAYLOAD 0.97

struct dispatch_kind {
    struct kind head;
    /* Rows cross to another node by the NIC of the GPU that has the same place there, which hands
     * them on over NVLink, at the same time. False: a message from each rank to each other. */
    bool relays;
    bool once_per_node; /* relays: one row for all experts of a node that a token visits */
    /* One row for all experts of a rank that a token visits: it is copied for each where it
     * arrives, and results are added up before they leave. False: a row for each visit. */
    bool once_per_rank;
    bool eight_bit;            /* can carry rows of 8-bit elements with a scale for every 128 */
    double nvlink_ratio;       /* that its kernels reach of an NVLink port; 0: as NCCL's */
    double nic_ratio;          /* ... of what a NIC carries at most; 0: as NCCL's */
    double row_extra_bytes;    /* with each row on its way to the experts */
    double choice_extra_bytes; /* ... for each of the experts that its token chose */
    double expert_extra_bytes; /* ... for each expert of the node that it goes to */
    /* For each token and expert, on the way to the experts: every rank gathers those of all ranks
     * before rows leave. 0: nothing is gathered. */
    double map_bytes;
    /* Room for rows of a rank's experts over their mean, made before they come, so that the host
     * need not know how many do; 0: for as many as come. NULL: always 0. */
    double (*room)(const struct kind_options *options);
    unsigned sms; /* that its kernels take from a GPU; 0: not known */
};
#define X(name) extern const struct dispatch_kind dispatch_##name;
#include "models/collective/dispatch/dispatch_list.h"
#undef X
KIND_FAMILY(dispatch)

#endif
