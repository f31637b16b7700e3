/* huggingface_pattern.h - which layers a config.json of a model with recurrent layers lists, as
 * model.pattern spells it. Families spell it in five ways; the members are named in the .c file. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_PATTERN_H
#define ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_PATTERN_H

#include "sim/arena.h"
#include "sim/error.h"

struct json_t; /* jansson's */

/* `mixer` is the kind of the recurrent layers. Owned by the arena; NULL: the file does not tell,
 * and `error` says what is amiss. */
const char *huggingface_pattern(struct arena *arena, const struct json_t *json, const char *mixer,
                                struct error *error);

#endif
