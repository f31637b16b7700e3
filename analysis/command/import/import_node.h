/* import_node.h - the wires of one machine as `cluster:` of a scenario. */
#ifndef ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_NODE_H
#define ORRERY_ANALYSIS_COMMAND_IMPORT_IMPORT_NODE_H

#include "analysis/command/import/import_kind.h"
#include "scenarios/import/machine/node_topology.h"

typedef bool node_reader_fn(struct arena *arena, struct import_file file, struct node_topology *out,
                            struct error *error);
/* Reads the machine and prints the section, and as comments what the machine does not tell. */
int import_node(struct importing *importing, node_reader_fn *read);

#endif
