/* plan_held.h - the keys of the layout that a search keeps: those of --hold and, where no scenario
 * file says a layout of its own, those that --set gives a value. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_HELD_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_HELD_H

#include "analysis/command/plan/plan_arguments.h"
#include "analysis/output/terminal/session.h"
#include "scenarios/assemble/scenario.h"

/* The keys that the line holds, as a set of bits of enum plan_axis. Says on the notes which keys of
 * --set a search chooses whatever they are. EXIT_USAGE, and says why, for a key that is none. */
int plan_held_read(const struct plan_arguments *a, struct session *session, unsigned *held);

/* EXIT_USAGE, and says why, where a key of `held` has no value in the scenario. */
int plan_held_check(const struct scenario *scenario, unsigned held, struct session *session);

#endif
