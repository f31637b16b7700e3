/* build.h - from a parsed scenario to a checked configuration.
 *
 * Every section is built even when another has problems, so that one pass finds all. The rules of
 * the layout (configuration_check, the wiring of the fabric) are asked only when the sections that
 * they read are sound: they would otherwise report consequences. */
#ifndef ORRERY_SCENARIOS_ASSEMBLE_BUILD_H
#define ORRERY_SCENARIOS_ASSEMBLE_BUILD_H

#include "scenarios/assemble/section.h"

void build_scenario(struct builder *b);
/* Where a key ("layout.tp") stands, or the section that it would stand in. */
struct mark build_place(const struct value *root, const char *key);

#endif
