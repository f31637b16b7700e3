/* huggingface.h - a model's config.json, as Hugging Face repositories carry it, becomes keys of
 * ours.
 *
 * The result is a mapping with the keys of model_params, read by the same reader as a scenario's.
 * The types that are known stand in huggingface_types.c; any other is refused, with the shape as
 * far as the file tells it. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_H
#define ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_H

#include "scenarios/language/problems.h"
#include "scenarios/language/value.h"

/* Problems stand at `where` (the `hf` key) or, for broken JSON, in the file itself. NULL: refused.
 */
const struct value *huggingface_read(struct arena *arena, const char *path, struct mark where,
                                     struct problems *problems);

#endif
