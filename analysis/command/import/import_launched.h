/* import_launched.h - how a launch that was read leaves the command: warnings on notes, the
 * scenario on `out` or in --output. */
#ifndef ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_LAUNCHED_H
#define ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_LAUNCHED_H

#include "analysis/command/import/importing.h"
#include "scenarios/import/launched/launched.h"

/* Returns the exit code. */
int import_launched_write(const struct importing *importing, const struct launched *launched);

#endif
