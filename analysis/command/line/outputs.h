/* outputs.h - what a command line may write over: never what it reads.
 *
 * Every command passes through outputs_check before it begins, and hands each further file that it
 * reads (what a scenario names) to outputs_spare. Files are compared by device and inode, so links
 * and other spellings of a path are seen; what does not exist yet is compared by folder and name.
 * Each name that an output takes while it is written counts. Targets that cannot be written, or
 * that hold something of another kind, are found here too, before anything is simulated. Options
 * and words tell by their type what they name. Files that an option reads, and
 * those of a list of files, are there, or nothing is begun. The session keeps what is read:
 * output_begin asks again, for a command that names its outputs in another way. */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_OUTPUTS_H
#define ORRERY_ANALYSIS_COMMAND_LINE_OUTPUTS_H

#include "analysis/command/line/command.h"
#include "scenarios/assemble/scenario.h"

/* Names the database where the line does not: "folder/hello.yaml" with ".db" -> "hello.db", in this
 * folder. Not with --no-db. */
void outputs_name_database(struct database_arguments *database, const char *scenario,
                           const char *suffix);
/* The same for a command's line, of its scenario, with its suffix. */
void outputs_name_default(const struct command *command, struct arguments *a);
/* EXIT_OK; EXIT_USAGE when an output would destroy an input or another output; EXIT_TROUBLE when
 * one cannot be written. The reason is told on the session's notes. */
int outputs_check(const struct arguments *a, const struct session *session);
/* The same for what a scenario names, once it has been read. */
int outputs_spare(const struct arguments *a, const struct scenario_input *inputs,
                  const struct session *session);

#endif
