/* ledger_entry.h - one allocation or free of a rank, as programs carry it.
 *
 * Programs hold entries in the order in which the software makes them; ledger.h plays them through
 * a model of the caching allocator. Plain data: it knows neither op times nor the card. */
#ifndef ORRERY_MODELS_PROGRAM_LEDGER_ENTRY_H
#define ORRERY_MODELS_PROGRAM_LEDGER_ENTRY_H

#include <stdint.h>

enum tenant {
    TENANT_WEIGHTS,
    TENANT_GRADIENTS,
    TENANT_MASTER,
    TENANT_MOMENTS,
    TENANT_ACTIVATIONS,
    TENANT_TEMPORARY,
    TENANT_COMMUNICATION, /* NCCL buffers, pipeline receive buffers, gathered units, buckets */
    TENANT_CONTEXT,
    TENANT_FRAGMENTATION, /* reserved - allocated; never in an entry */
    TENANT_COUNT
};

enum ledger_action {
    LEDGER_ALLOCATE,
    LEDGER_FREE
};
enum ledger_flag {
    LEDGER_OUTSIDE = 1,    /* not through the allocator: context, communicator buffers */
    LEDGER_FIRST_STEP = 2, /* happens in the first step only (moments built lazily) */
    LEDGER_STAYS = 4,      /* an allocation of a step that is never freed (with FIRST_STEP) */
    LEDGER_SIDE = 8        /* in the pool of another stream than that of compute */
};
struct ledger_entry { /* 40 bytes */
    uint8_t action, tenant, flags, reserved;
    uint32_t tensor; /* number of this block within the rank; a free names its allocation */
    double bytes;
    const char *name;           /* "qkv output", "exp_avg": a literal or in the arena */
    const char *call_site;      /* "forward", "optimizer construction": where in the software */
    uint16_t layer, microbatch; /* labels; UINT16_MAX: none */
    uint32_t op;                /* index + 1 of the op of the step it hangs on; 0: setup */
};

#endif
