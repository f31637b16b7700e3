/* huggingface_signs.h - what the members of a config.json tell of a model beside its sizes:
 * experts, Mamba layers, an encoder. Two readers ask: a known type is refused that holds what its
 * rows do not describe, and of an unknown one no shape is offered that leaves something out. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_SIGNS_H
#define ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_SIGNS_H

#include <stdbool.h>

#include "scenarios/catalogue/huggingface_types.h"
#include "sim/arena.h"

struct json_t; /* jansson's */

enum huggingface_sign {
    SIGN_MAMBA, /* from here on what no shape can say */
    SIGN_LINEAR,
    SIGN_CONVOLUTION,
    SIGN_SPARSE,
    SIGN_ENCODER,
    SIGN_BOTH_WAYS,
    SIGN_MEDIA,
    SIGN_UNEQUAL,
    SIGN_STREAMS,
    SIGN_OTHER_LAYERS,
    SIGN_EXPERTS, /* from here on what a shape says with keys of its own */
    SIGN_LATENT,
    SIGN_INDEXER,
    SIGN_PREDICTION,
    SIGN_COUNT
};
/* The member (or the value of one) that tells of each; NULL: none does. */
struct huggingface_signs {
    const char *by[SIGN_COUNT];
};

/* A value that says "no such thing": null, false, 0, "", [] or {}. */
bool huggingface_neutral(const struct json_t *json);
/* The activation that the file names where it is not that of the feed-forward block `ffn` (a word
 * of model.ffn); NULL: it is, or the file names none. Borrowed. */
const char *huggingface_other_activation(const struct json_t *json, const char *ffn);
/* Texts are copied to the arena. */
struct huggingface_signs huggingface_signs(struct arena *arena, const struct json_t *json);
/* "Mamba layers (mamba_d_conv), layers of convolutions (conv_dim)": what no shape can say, and what
 * one says with keys of its own. NULL: nothing of that. */
const char *huggingface_unsayable(struct arena *arena, const struct huggingface_signs *signs);
const char *huggingface_sayable(struct arena *arena, const struct huggingface_signs *signs);
/* The same of what a known type's rows do not describe: with `beside` what stands beside its layers
 * and may be left out with a word (images, modules that predict further tokens), else the rest. */
const char *huggingface_undescribed(struct arena *arena, const struct huggingface_signs *signs,
                                    const struct huggingface_type *whole, bool beside);

#endif
