/* rule_of_thumb.h - the memory that a training job takes, as it is reckoned in class. */
#ifndef ORRERY_MODELS_PLAN_RULE_OF_THUMB_H
#define ORRERY_MODELS_PLAN_RULE_OF_THUMB_H

#include "models/layout/configuration.h"

/* The classroom's rule (docs/models/memory.md): 16 N + k L b s h 2 bytes, k = 12, nominal N. */
struct rule_of_thumb {
    double parameters, bytes_per_parameter, static_bytes, activation_bytes, total_bytes;
    double inference_bytes;
    /* static_bytes = parameters x held_bytes + adapter_parameters x adapter_bytes: of a weight,
     * which is frozen beside adapters, and of one of theirs; 0: all weights are trained.
     * bytes_per_parameter is their mean over all weights. */
    double held_bytes, adapter_parameters, adapter_bytes;
    double card_bytes; /* nominal HBM: 80e9 of an 80 GB card */
    /* Such cards for each of the three sums. */
    uint64_t static_cards, cards, inference_cards;
};
/* The same for any precision, optimizer and formats: bytes for each parameter, by what they are
 * for, and for each token and hidden unit of a layer. Gradients are the precision's, unless the
 * training says how wide they are kept. */
struct rule_of_thumb_recipe {
    double weights_bytes, gradients_bytes, master_bytes, moments_bytes, activations_bytes;
};
void rule_of_thumb_recipe(const struct training_spec *training, struct rule_of_thumb_recipe *out);
void rule_of_thumb(const struct configuration *c, struct rule_of_thumb *out);

#endif
