/* import_failures.h - a log of failures as a scenario takes it: laws that were fitted, a trace. */
#ifndef ORRERY_ANALYSIS_COMMAND_IMPORT_FAILURES_H
#define ORRERY_ANALYSIS_COMMAND_IMPORT_FAILURES_H

#include "analysis/line/arguments.h"
#include "analysis/terminal/session.h"
#include "scenarios/import/failure_log.h"

/* Prints `failures:` of a scenario; with --output writes the trace, too. Returns an exit code. */
int import_failures(const struct arguments *arguments, struct session *session, struct arena *arena,
                    struct import_file file, enum failure_format format);

#endif
