/* random_scenario.h - sound little scenarios by number, from the catalogue: what a user might
 * write.
 *
 * A number gives a text, always the same: a model of a few layers on up to 32 GPUs of a shipped
 * card and node, any fabric, layout, sharding, schedule and software. Sizes are drawn so that
 * heads, layers and batch divide by the layout; what the rules still refuse is refused by the
 * reader. */
#ifndef ORRERY_TESTS_RANDOM_SCENARIO_H
#define ORRERY_TESTS_RANDOM_SCENARIO_H

#include "scenarios/assemble/scenario.h"

#define RANDOM_SCENARIO_BYTES 1024

void random_scenario_text(uint64_t number, char text[RANDOM_SCENARIO_BYTES]);
/* NULL when the reader refuses it. The caller destroys it. */
struct scenario *random_scenario(uint64_t number);

#endif
