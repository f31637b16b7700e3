/* outputs.h - what a command line may write over: never what it reads.
 *
 * Every command passes through outputs_check before it begins, and hands each further file that it
 * reads (what a scenario names) to outputs_spare. Files are compared by device and inode, so links
 * and other spellings of a path are seen; what does not exist yet is compared by folder and name.
 * Each name that an output takes while it is written counts. Targets that cannot be written are
 * found here too, before anything is simulated. Options tell by their type what they name. */
#ifndef ORRERY_ANALYSIS_LINE_OUTPUTS_H
#define ORRERY_ANALYSIS_LINE_OUTPUTS_H

#include "analysis/line/command.h"
#include "scenarios/build/scenario.h"

/* Where the command writes a database that was not named: from the scenario's name, in this folder.
 */
void outputs_name_database(const struct command *command, struct arguments *a);
/* EXIT_OK; EXIT_USAGE when an output would destroy an input or another output; EXIT_TROUBLE when
 * one cannot be written. The reason is told on notes. */
int outputs_check(const struct arguments *a, FILE *notes);
/* The same for what a scenario names, once it has been read. */
int outputs_spare(const struct arguments *a, const struct scenario_input *inputs, FILE *notes);

#endif
