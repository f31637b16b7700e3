/* choice.h - scenarios in a line of text, and how long their step takes. */
#ifndef ORRERY_TESTS_SCENARIOS_ASSEMBLE_CHOICE_H
#define ORRERY_TESTS_SCENARIOS_ASSEMBLE_CHOICE_H

#include "scenarios/assemble/scenario.h"

struct scenario *choice_read(const char *text);
struct scenario *choice_sound(const char *text); /* without errors */
/* Seconds of the step; INFINITY when it does not fit. */
double choice_step_s(const struct configuration *c, bool *fits);

#endif
