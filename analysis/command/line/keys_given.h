/* keys_given.h - keys of the scenario that a line gives twice: by two --set, by --set and --vary,
 * or by an option of its own and one of them. The last would count and the first be lost without a
 * word, so it is refused as for any other option. A key inside one that was given before it refines
 * that (cluster.gpu, then cluster.gpu.power); the other way round the first is lost as well. */
#ifndef ORRERY_ANALYSIS_COMMAND_LINE_KEYS_GIVEN_H
#define ORRERY_ANALYSIS_COMMAND_LINE_KEYS_GIVEN_H

#include "analysis/command/line/arguments.h"

/* Of a line that was read. Writes each as a line to `problems`; returns how many. */
unsigned keys_given_twice(const struct arguments *line, FILE *problems);

#endif
