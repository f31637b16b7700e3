/* huggingface_offer.h - what is told of a config.json whose model_type is not known: what of it is
 * not simulated; the preset that has its shape; or its shape as a scenario writes it, where each
 * member of the file is understood. What the file does not tell stands there as '?', which no
 * scenario takes: a line that runs leaves nothing out. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_OFFER_H
#define ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_OFFER_H

#include "scenarios/catalogue/catalogue.h"

struct json_t; /* jansson's */

/* A sentence without its end, owned by the arena. `catalogue` NULL: without presets. */
const char *huggingface_offer(struct arena *arena, const struct json_t *json,
                              struct catalogue *catalogue);

#endif
