/* keys.h - every key that a scenario may hold, spelt as `--set` takes it: "layout.tp",
 * "failures[0].mtbf".
 *
 * For whoever typed a key without its section, and for shells that complete one. Made from the
 * schema; keys of the options of all kinds are among them. */
#ifndef ORRERY_SCENARIOS_SCHEMA_KEYS_H
#define ORRERY_SCENARIOS_SCHEMA_KEYS_H

#include "scenarios/schema/schema.h"

/* In the order of the sections. Owned by the arena. */
struct name_list keys_all(struct arena *arena);
/* Those of a list whose last word is this one, case aside. */
struct name_list keys_named(struct arena *arena, struct name_list keys, const char *word);
/* Those whose last word is nearest to this one, if one is near. */
struct name_list keys_near(struct arena *arena, struct name_list keys, const char *word);
/* The words that a key takes, "true" and "false" of a flag included; empty where it takes numbers
 * or any word. Names are those of the built-in catalogue. */
struct name_list keys_values(struct arena *arena, const char *key);

#endif
