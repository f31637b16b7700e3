/* chakra_tasks.h - the Chakra traces of all ranks of a job as one task graph (step/tasks/task.h).
 *
 * - COMP: on the rank's compute lane, with is_cpu_op on its host lane, for its duration; without
 *   one by num_ops and tensor_size at the card's rates, whichever takes longer; without these no
 *   time. MEM_LOAD and MEM_STORE: on the memory lane, for their duration. METADATA, INVALID: none.
 * - COMM_COLL: among the ranks that name the same pg_name; none, and "0", is all ranks (as
 *   astra-sim/astra-sim takes it, astra-sim/workload/Workload.cc). The k-th of a group on one rank
 *   meets the k-th on the others, in the order of chakra_order.h. comm_size is what a rank puts in
 *   (mlcommons/chakra src/converter/pytorch_node.py), so that the full buffer of an all_gather is
 *   as many times larger as the group has ranks; ranks may differ in an all_to_all alone, of which
 *   the largest counts. A barrier meets and takes no time.
 * - COMM_SEND, COMM_RECV: the k-th send from comm_src to comm_dst with a comm_tag meets the k-th
 *   such receive. None is eager yet (task_set_eager).
 *
 * Where traces tell of their process groups (chakra_groups.h), each rank of a group that they call
 * has a trace, and all tell the same.
 *
 * Nodes without a partner, partners of other operations or sizes, ranks that are none, and what no
 * step plays (REDUCE, GATHER, SCATTER, storage) are refused with file and node. */
#ifndef ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_TASKS_H
#define ORRERY_SCENARIOS_IMPORT_CHAKRA_CHAKRA_TASKS_H

#include "models/gpu/gpu.h"
#include "models/step/tasks/task.h"
#include "scenarios/import/chakra/chakra.h"

struct chakra_rates { /* of the card, for compute without a duration */
    const struct gpu_spec *gpu;
    enum peak_kind peak;
};
struct chakra_counts {                                     /* of nodes, all ranks */
    uint64_t compute, host, memory, collectives, messages; /* messages: pairs of nodes */
    uint64_t by_rates; /* of compute: their time is the card's */
    uint64_t untimed;  /* of compute: they take no time */
    uint64_t dropped;  /* dependencies on nodes that are not in the files */
    double duration_s; /* of compute, as told or by rates */
};
/* `rates` NULL: for who only checks; compute without a duration takes no time. Names are borrowed
 * of the traces. False with a sentence. */
bool chakra_tasks(struct arena *arena, const struct chakra_job *job,
                  const struct chakra_rates *rates, struct task_graph *out,
                  struct chakra_counts *counts, struct error *error);

#endif
