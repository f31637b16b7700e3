/* import_node.h - the wires of one machine as `cluster:` of a scenario. */
#ifndef ORRERY_ANALYSIS_COMMAND_IMPORT_NODE_H
#define ORRERY_ANALYSIS_COMMAND_IMPORT_NODE_H

#include <stdio.h>

#include "scenarios/import/node_topology.h"

/* Prints the section, and as comments what the machine does not tell. `gpu`: the card's name in the
 * catalogue; NULL: not said. */
void import_node_print(FILE *out, const struct node_topology *node, const char *gpu);

#endif
