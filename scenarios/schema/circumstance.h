/* circumstance.h - what a key needs to have an effect: one table of questions to a configuration,
 * with the words for where the answer is no. It knows no key (idle.c). */
#ifndef ORRERY_SCENARIOS_SCHEMA_CIRCUMSTANCE_H
#define ORRERY_SCENARIOS_SCHEMA_CIRCUMSTANCE_H

#include "models/layout/configuration.h"

enum need {
    /* of the model */
    NEED_EXPERTS,
    NEED_EXPERT_GROUPS,
    NEED_SHARED_EXPERTS,
    NEED_EXPERT_EXTRAS,
    NEED_DENSE_LAYERS,
    NEED_WINDOW,
    NEED_RECURRENT,
    NEED_MAMBA2,
    NEED_KDA,
    NEED_CONVOLUTION,
    NEED_LATENT,
    NEED_INDEXER,
    NEED_INDEXER_INTERVAL,
    NEED_ALL_KEYS,
    NEED_MODULES,
    NEED_LAYERNORM,
    NEED_PROJECTIONS,
    /* of the training */
    NEED_ADAPTERS,
    NEED_ALL_TRAINED,
    NEED_CAUSAL,
    NEED_MATH_ATTENTION,
    NEED_FUSED_ATTENTION,
    NEED_NARROW,
    NEED_EIGHT_BITS,
    NEED_WIDE_LAYERS,
    NEED_NORM_WRITES,
    /* of the layout */
    NEED_EXPERT_RANKS,
    NEED_EXPERT_ROOM,
    NEED_TENSOR,
    NEED_SEQUENCE,
    NEED_PIPELINE,
    NEED_CHUNKS,
    NEED_ONE_CHUNK,
    NEED_STAGES_INTERLEAVED,
    NEED_WHOLE_BACKWARD,
    NEED_WHOLE_MESSAGES,
    NEED_CONTEXT,
    NEED_KEYS_MOVED,
    NEED_REPLICAS,
    NEED_HYBRID,
    NEED_UNITS,
    NEED_UNITS_AGAIN,
    NEED_GATHERED_UNITS,
    NEED_GATHER_AFTER_UPDATE,
    NEED_PARTS,
    NEED_KEPT_GRADIENTS,
    NEED_SUMS,
    NEED_FULL_RECOMPUTE,
    NEED_OPERATOR_RECOMPUTE,
    NEED_OPTIMIZER_OFFLOAD,
    NEED_ACTIVATION_OFFLOAD,
    /* of what the job asks of a card */
    NEED_FP32,
    NEED_TF32,
    NEED_BF16,
    NEED_FP16,
    NEED_FP8,
    NEED_FP4,
    NEED_SCALES,
    NEED_BLOCKS,
    NEED_PLAIN_SCALES,
    NEED_ROUGH_SUMS,
    NEED_HALVES,
    NEED_FLASH1,
    NEED_FLASH2,
    NEED_FLASH3,
    NEED_CUDNN,
    NEED_MASKED,
    NEED_UNMASKED,
    NEED_SMALL_HEADS,
    NEED_LARGE_HEADS,
    /* of the card itself */
    NEED_REACHED_CAP,
    /* of a node, and of the network between nodes */
    NEED_FAR_NICS,
    NEED_NVLINK,
    NEED_OFFLOAD,
    NEED_DRIVES,
    NEED_EXCHANGES,
    NEED_PCIE_SWITCHES,
    NEED_NODES,
    NEED_TIERS,
    NEED_CABLES,
    NEED_HASHED,
    /* of the software */
    NEED_APART,
    NEED_TENSOR_PIPELINES,
    NEED_TENSORS_BESIDE,
    NEED_OVERLAP,
    NEED_SOFTWARE_BALANCE,
    NEED_COUNT
};

struct circumstance {
    bool (*holds)(const struct configuration *c);
    const char *lacks;                                  /* "with pp 1" */
    const char *(*name)(const struct configuration *c); /* what is there instead; NULL: nothing */
    bool of_layout; /* by keys that a search of layouts chooses: nothing is known before */
};
extern const struct circumstance circumstances[NEED_COUNT];

#endif
