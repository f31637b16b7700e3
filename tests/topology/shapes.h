/* shapes.h - every small cluster: all kinds of node and fabric over small counts and options.
 *
 * Rates are small whole numbers, so that sums of them are exact. Used by the law tests of
 * topology/. */
#ifndef ORRERY_TESTS_TOPOLOGY_SHAPES_H
#define ORRERY_TESTS_TOPOLOGY_SHAPES_H

#include "topology/topology.h"
#include "topology/topology_kind.h"

/* A plain spec: rates in whole bytes/s, two GPUs and NICs for each node, options at their defaults.
 */
struct topology_spec shape_spec(const struct topology_kind *node,
                                const struct topology_kind *fabric, uint64_t nodes, uint64_t gpus,
                                uint64_t nics);
/* Sets an option of the fabric by the name that scenarios use. */
void shape_option(struct topology_spec *spec, const char *name, double value);

typedef void shape_fn(const struct topology *topology, void *context);
/* Calls `visit` with every small cluster that can be built; returns how many those were. */
unsigned shapes_each(shape_fn *visit, void *context);

/* The laws. Each returns NULL, or what is broken. */
const char *route_fault(const struct topology *t, uint32_t gpu_a, uint32_t gpu_b,
                        const struct route *route);
const char *binding_fault(const struct topology *t);

#endif
