/* idle.h - stated keys that mean nothing in their scenario: one table of keys, what each needs and
 * what it does, and a warning at the key's place. It chooses and refuses nothing. */
#ifndef ORRERY_SCENARIOS_SCHEMA_IDLE_H
#define ORRERY_SCENARIOS_SCHEMA_IDLE_H

#include "scenarios/language/problems.h"
#include "scenarios/language/value.h"
#include "scenarios/schema/schema.h"

/* `root` is what the user stated; the configuration is whole and keeps the rules. With its layout
 * open, what a search of layouts chooses is not known, and keys that hang on it are let pass. */
void idle_warn(const struct value *root, const struct configuration *c, bool layout_open,
               struct problems *problems);

#endif
