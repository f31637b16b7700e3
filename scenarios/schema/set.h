/* set.h - `--set layout.tp=4`: changes one value of a parsed scenario before it is built.
 *
 * The path is keys joined by dots, an item of a list as [2] (one past the end appends); the value
 * is YAML, read by the same parser. Whatever is wrong with it is found later by the same table as
 * in a file, and stands at `--set:N:column`, N counting the options. */
#ifndef ORRERY_SCENARIOS_SCHEMA_SET_H
#define ORRERY_SCENARIOS_SCHEMA_SET_H

#include "scenarios/language/problems.h"
#include "scenarios/language/value.h"

/* `root` is a mapping and is changed in place. `number` from 1. */
void set_apply(struct arena *arena, struct value *root, const char *text, unsigned number,
               struct problems *problems);

#endif
