/* huggingface_indexer.h - which layers of a config.json with sparse attention have an indexer, and
 * which take the choice of keys of one before them. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_INDEXER_H
#define ORRERY_SCENARIOS_CATALOGUE_HUGGINGFACE_INDEXER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/error.h"

struct json_t; /* jansson's */

/* One layer of `interval` behind the `first` ones, which all have one; 1: each has. */
struct huggingface_sharing {
    uint64_t interval, first;
};
/* False: its layers follow no such rule, and `error` says which does not. */
bool huggingface_sharing(const struct json_t *json, struct huggingface_sharing *out,
                         struct error *error);

#endif
