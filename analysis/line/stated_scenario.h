/* stated_scenario.h - a scenario that a command line states in a few words (--model, --gpu, --gpus,
 * --sequence, --tokens) in place of a file. */
#ifndef ORRERY_ANALYSIS_LINE_STATED_SCENARIO_H
#define ORRERY_ANALYSIS_LINE_STATED_SCENARIO_H

#include "analysis/line/arguments.h"
#include "analysis/terminal/session.h"
#include "scenarios/build/scenario.h"

/* Are these names as the catalogue has them, so that they may go into a text of YAML? */
bool stated_name(const char *name);
/* Does the line state one? */
bool stated_scenario_given(const struct arguments *arguments);
/* Reads it, with --set, --catalogue and --seed: a global batch of one sequence for each GPU, all
 * else chosen as for a file that says nothing. EXIT_OK with a scenario (to be destroyed); else the
 * exit code, the problems having been told. */
int stated_scenario(const struct arguments *arguments, struct session *session,
                    struct scenario **out);

#endif
