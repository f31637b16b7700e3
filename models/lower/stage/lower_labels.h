/* lower_labels.h - a part of a stage that is lowered: what the ops and the ledger entries that are
 * being written belong to.
 *
 * Whoever writes reads them; what they say is decided by the walk over passes and units. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_LABELS_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_LABELS_H

#include <stdint.h>

#include "models/schedule/schedule_kind.h"

struct labels {
    uint16_t microbatch, layer; /* UINT16_MAX: none */
    uint8_t chunk;
    uint8_t flags; /* enum op_flag, of compute */
};

void lower_labels_none(struct labels *labels); /* outside of passes */
void lower_labels_pass(struct labels *labels, const struct pass *pass);
/* A unit, until lower_labels_unit_end; UINT16_MAX: the embedding or the head. */
void lower_labels_unit(struct labels *labels, uint16_t layer);
void lower_labels_unit_end(struct labels *labels);
void lower_labels_flags(struct labels *labels, uint8_t flags);
/* Another microbatch and layer, until lower_labels_set puts back what this returns. */
struct labels lower_labels_swap(struct labels *labels, uint16_t microbatch, uint16_t layer);
void lower_labels_set(struct labels *labels, const struct labels *to);

#endif
