/* export_launch.h - `orrery export FILE --launch FRAMEWORK`: the script that starts the layout of a
 * database or of a scenario. */
#ifndef ORRERY_ANALYSIS_COMMAND_EXCHANGE_EXPORT_LAUNCH_H
#define ORRERY_ANALYSIS_COMMAND_EXCHANGE_EXPORT_LAUNCH_H

#include "analysis/command/exchange/export_arguments.h"
#include "analysis/output/terminal/session.h"

/* Does the line ask for what only goes with --launch, or for what does not? Tells on notes. */
bool export_launch_line(const struct export_arguments *arguments, FILE *notes);
/* The exit code: EXIT_REJECTED where the framework refuses the layout. */
int export_launch(const struct export_arguments *arguments, struct session *session);

#endif
