/* chakra_order.h - the order in which a rank calls what its Chakra trace holds.
 *
 * A trace is a graph; which collective of a group is the first is told by no field. Taken is the
 * one order in which every node stands behind those that it waits for and else the lowest id
 * first: ids are given as the host issues nodes. */
#ifndef ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_ORDER_H
#define ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_ORDER_H

#include "scenarios/import/chakra/chakra.h"

/* Rows of nodes in that order into `out` [node_count]. False with a sentence that names a node
 * which waits for itself. */
bool chakra_order(const struct chakra_trace *trace, uint32_t *out, struct error *error);

#endif
