/* pattern.h - which layers a model has, in their order, where they are not all attention with a
 * feed-forward block behind it.
 *
 * Two spellings, repeated until the model has all of its layers:
 *
 *     3*gdn,attention     words: each a layer of this mixer and the model's feed-forward block
 *     MEM*-E              letters, as Megatron-LM spells hybrid models: each a layer with one norm
 *                         and one residual. * attention, - dense block, E experts, M mamba2, G gdn
 *
 * Blocks of words have experts where the keys of experts say so; letters say it themselves. A model
 * has one kind of recurrent layer, as its sizes stand once (model.linear_*). */
#ifndef ORRERY_MODELS_WORKLOAD_LAYER_PATTERN_H
#define ORRERY_MODELS_WORKLOAD_LAYER_PATTERN_H

#include "models/workload/layer/layer_kind.h"
#include "sim/error.h"

/* What a layer consists of. */
enum layer_form {
    LAYER_WHOLE,     /* attention, then a feed-forward block */
    LAYER_MIXED,     /* a recurrent mixer, then a feed-forward block */
    LAYER_ATTENTION, /* one of them alone */
    LAYER_MIXER,
    LAYER_FFN,
    LAYER_FORM_COUNT
};
enum layer_feed {
    FEED_AS_MODEL, /* as the keys of experts say */
    FEED_DENSE,
    FEED_EXPERTS
};
struct layer_code {
    uint8_t form, feed; /* the enums above */
};
enum {
    PATTERN_LAYERS_MAX = 256
};
struct layer_pattern {
    const char *text;              /* as written; "" or NULL: all layers are LAYER_WHOLE */
    const struct layer_kind *kind; /* of its recurrent layers; NULL: it has none */
    struct layer_sizes sizes;      /* of these */
    unsigned count;                /* layers of one repetition; 0: no pattern */
    struct layer_code layers[PATTERN_LAYERS_MAX];
};
/* Fills all but text and sizes. False: it is no pattern, and `error` says why. */
bool pattern_read(const char *text, struct layer_pattern *out, struct error *error);
/* The layer-th (from 0). */
struct layer_code pattern_at(const struct layer_pattern *pattern, uint64_t layer);
bool layer_form_attends(enum layer_form form);
bool layer_form_mixes(enum layer_form form); /* through a recurrent mixer */
bool layer_form_feeds(enum layer_form form); /* has a feed-forward block */
/* Mixer and feed-forward block of a layer: 1 or 2. */
unsigned layer_form_blocks(enum layer_form form);

#endif
