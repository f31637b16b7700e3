/* huggingface.h - a model's config.json, as Hugging Face repositories carry it, becomes keys of
 * ours.
 *
 * The result is a mapping with the keys of model_params, read by the same reader as a scenario's.
 * The types that are known stand in huggingface_types.c; any other is refused, with what the file
 * tells of it (huggingface_offer.h). Python's Infinity and NaN are read, as it writes them, and
 * refused where a key needs the value. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_H
#define ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_H

#include "scenarios/catalogue/catalogue.h"
#include "scenarios/language/problems.h"
#include "scenarios/language/value.h"

enum {
    HUGGINGFACE_BYTES_MAX = 64 << 20 /* lists of what is not quantized make megabytes */
};

/* `catalogue` (may be NULL) names the preset of the same sizes. Problems stand at `where` (the `hf`
 * key) or, for broken JSON, in the file itself. NULL: refused.
 */
const struct value *huggingface_read(struct arena *arena, const char *path, struct mark where,
                                     struct catalogue *catalogue, struct problems *problems);

#endif
