/* load.h - a scenario for a command: read with the options of its line, problems printed to stderr.
 */
#ifndef ORRERY_ANALYSIS_LINE_LOAD_H
#define ORRERY_ANALYSIS_LINE_LOAD_H

#include "analysis/line/arguments.h"
#include "analysis/terminal/session.h"
#include "scenarios/build/scenario.h"

/* EXIT_OK with a scenario (to be destroyed) whose configuration is valid; else the exit code, the
 * problems having been told. With `keep_rejected` a rejected scenario is handed out too. */
int load_scenario(const struct arguments *arguments, struct session *session, bool keep_rejected,
                  struct scenario **out);
/* The same of a text that is called `name`; one that is rejected is not handed out. */
int load_text(const struct arguments *arguments, struct session *session, const char *name,
              const char *text, size_t bytes, struct scenario **out);

#endif
