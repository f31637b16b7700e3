/* plan_held.h - the keys of the layout that a search keeps: those of --hold and, where no scenario
 * file says a layout of its own, those that --set gives a value. */
#ifndef ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_HELD_H
#define ORRERY_ANALYSIS_COMMAND_PLAN_PLAN_HELD_H

#include "analysis/command/plan/plan_arguments.h"
#include "analysis/output/terminal/session.h"
#include "scenarios/assemble/scenario.h"

/* Sets of bits of enum plan_axis: keys of --hold, and of --set without a scenario file. */
struct plan_held_keys {
    unsigned asked, set;
};

/* What the line says. Says on the notes which keys of --set a search chooses whatever they are.
 * EXIT_USAGE, and says why, for a key of --hold that is none. */
int plan_held_read(const struct plan_arguments *a, struct session *session,
                   struct plan_held_keys *out);

/* The keys that are held: those of `set` that have a value in the scenario ("best" is none), and
 * those of `asked`, of which each must have one: else EXIT_USAGE, and says why. */
int plan_held_check(const struct scenario *scenario, const struct plan_held_keys *held,
                    struct session *session, unsigned *keys);

#endif
