/* launched_print.h - a launch as the text of a scenario: keys with their places, and as comments
 * what moves no time and what is simulated otherwise. */
#ifndef ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_PRINT_H
#define ORRERY_SCENARIOS_IMPORT_LAUNCHED_LAUNCHED_PRINT_H

#include <stdio.h>

#include "scenarios/import/launched/launched.h"

/* `gpu`: the card's name, or NULL. */
void launched_print(const struct launched *l, const char *gpu, FILE *out);

#endif
