/* adapter.h - low-rank adapters beside frozen weights (LoRA, QLoRA).
 *
 * A linear layer of i inputs and o outputs that has an adapter of rank r computes W x + B (A x), A
 * of r x i, B of o x r, and trains A and B alone (Hu et al., arXiv:2106.09685, section 4.1). QLoRA
 * keeps the weights of linear layers in four bits and brings them back to sixteen where they are
 * used (Dettmers et al., arXiv:2305.14314, section 3). docs/models/adapters.md. */
#ifndef ORRERY_MODELS_WORKLOAD_ADAPTER_H
#define ORRERY_MODELS_WORKLOAD_ADAPTER_H

#include <stdint.h>

enum adapter_kind {
    ADAPTER_NONE,
    ADAPTER_LORA,
    ADAPTER_QLORA
};
enum adapter_targets {
    ADAPTER_ON_ALL,      /* linear layers of every layer */
    ADAPTER_ON_ATTENTION /* those of the attention */
};
extern const char *const adapter_names[], *const adapter_target_names[]; /* NULL-ended */

struct adapter_spec {
    int kind, targets; /* the enums above */
    uint64_t rank;
};
/* Of a weight in NormalFloat4: four bits, an 8-bit constant for each block of 64, and an fp32 one
 * for every 256 of those (arXiv:2305.14314, section 3, double quantisation): 4.127 bits. */
#define ADAPTER_NF4_BYTES ((4.0 + 8.0 / 64.0 + 32.0 / (64.0 * 256.0)) / 8.0)
/* Of a frozen weight of a linear layer, and of an adapter's, which is computed with. */
#define ADAPTER_WEIGHT_BYTES 2.0
double adapter_frozen_bytes(const struct adapter_spec *adapter);
/* Trainable parameters beside a matrix. */
double adapter_parameters(const struct adapter_spec *adapter, double inputs, double outputs);

#endif
