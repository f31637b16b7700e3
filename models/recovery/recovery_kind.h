/* recovery_kind.h - the contract of a recovery policy: what is done when something fails.
 *
 * Adding one: a file, a row in recovery_list.h, a line in models/recovery/CMakeLists.txt. A policy
 * is a pure writer of one decision; the player `job` carries it out. */
#ifndef ORRERY_MODELS_RECOVERY_RECOVERY_KIND_H
#define ORRERY_MODELS_RECOVERY_RECOVERY_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/kind.h"

/* The links of the chain from failure to running, in order. Loading and replay follow. */
enum restart_link {
    LINK_DETECT,
    LINK_DIAGNOSE,
    LINK_CORDON,
    LINK_ALLOCATE,      /* find the node that stands in */
    LINK_SCHEDULE,      /* the scheduler places the job again */
    LINK_PROVISION,     /* boot and image of a cold node */
    LINK_START,         /* processes, imports, CUDA contexts */
    LINK_COMMUNICATORS, /* NCCL */
    LINK_WARMUP,        /* after loading: compilation, data loader, first slow steps */
    RESTART_LINK_COUNT
};
extern const char *const restart_link_names[RESTART_LINK_COUNT];

/* What the policy sees of one failure. */
struct recovery_situation {
    bool hardware;                      /* some node must be replaced or repaired */
    uint32_t nodes_short;               /* of the job, all told, this failure included */
    uint32_t spares_free;               /* nodes that stand by */
    uint32_t replicas_up;               /* data-parallel replicas without a lost node */
    uint32_t replicas_untouched;        /* of those, the ones whose processes go on */
    uint32_t replicas, replicas_min;    /* configured, and the fewest to go on with */
    const struct kind_options *options; /* of the policy; NULL: it has none */
};
/* A lost node that is neither replaced nor waited for nor done without stays: the restart mends
 * it. */
struct recovery_decision {
    uint32_t nodes_taken; /* from the spares */
    bool wait;            /* for a repair: the job stands until nodes_short is filled */
    bool shrink;          /* go on with the replicas that are up; rejoin after the repair */
    bool others_go_on;    /* only the struck replica goes through the chain; no rollback */
    bool links[RESTART_LINK_COUNT]; /* which links of the chain are walked */
};
struct recovery_kind {
    struct kind head;
    bool has_spares;  /* recovery.spares means something */
    bool spares_idle; /* they are powered and paid while they stand by */
    void (*decide)(const struct recovery_situation *situation, struct recovery_decision *out);
};

#define X(name) extern const struct recovery_kind recovery_##name;
#include "models/recovery/recovery_list.h"
#undef X
KIND_FAMILY(recovery)

/* What a policy looks at and walks, found by asking it about situations of each sort: a node or
 * none is lost, a spare stands by or none, replicas are untouched or none, the fewest to go on with
 * are one or all. `options`: its own; NULL: it has none. */
struct recovery_heeds {
    bool links[RESTART_LINK_COUNT]; /* walked in some situation */
    bool replicas_min;              /* decides something */
    bool shrinks;                   /* in some situation, to stop again when replicas come back */
};
struct recovery_heeds recovery_heeds(const struct recovery_kind *kind,
                                     const struct kind_options *options);

/* What the kinds share. Links of the chain as a set of bits. */
#define LINKS_FIND (1u << LINK_DETECT | 1u << LINK_DIAGNOSE)
#define LINKS_RUN (1u << LINK_START | 1u << LINK_COMMUNICATORS | 1u << LINK_WARMUP)
void recovery_walk(struct recovery_decision *decision, unsigned links);
/* As many spares as are short, if so many stand by. */
void recovery_take_spares(const struct recovery_situation *situation,
                          struct recovery_decision *decision);

#endif
