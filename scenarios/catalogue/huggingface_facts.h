/* huggingface_facts.h - what a config.json says of the function that is trained and no time depends
 * on: model.facts, for those who write launch scripts.
 *
 * Words "key=value" apart by blanks, each as the file spells it, or as its type has it where the
 * file is silent. What any plain decoder does (every element of a head rotated, softmax over the
 * chosen experts) is no fact. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_FACTS_H
#define ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_FACTS_H

#include <stdbool.h>

#include "sim/arena.h"

struct json_t; /* jansson's */

/* `json`: the language model's object; `type`: its model_type; `beside`: attention and feed-forward
 * stand side by side. "": none. In the arena. */
const char *huggingface_facts(struct arena *arena, const struct json_t *json, const char *type,
                              bool beside);

#endif
