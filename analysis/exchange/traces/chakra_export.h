/* chakra_export.h - the step of a rank as a Chakra execution trace: GlobalMetadata, then the nodes,
 * each behind its length (mlcommons/chakra schema/protobuf/et_def.proto; attributes as
 * src/feeder/et_feeder_node.cpp reads them: num_ops, comm_type, comm_size int64_val; tensor_size
 * uint64_val; comm_src, comm_dst, comm_tag int32_val; pg_name string_val).
 *
 * - A METADATA node first, whose inputs hold the process groups of the rank as PyTorch records them
 *   and as ASTRA-sim takes them (astra-sim/workload/Workload.cc, issue_pytorch_pg_metadata): the
 *   name of a group, a number from 1 on, and its ranks.
 * - An op of compute is COMP with the time that it took in the step, num_ops (FLOPs) and
 *   tensor_size (bytes of HBM traffic); on the streams of copies to and from the host MEM_STORE and
 *   MEM_LOAD. The host's time before an op is COMP with is_cpu_op.
 * - A collective is COMM_COLL; comm_size is what the rank puts in. Ranks that only meet: a BARRIER.
 * - A message is COMM_SEND and COMM_RECV, with a tag that no other message of the two ranks has.
 *   The exchange round a ring is one message to the next member and one from the member before, of
 *   the n - 1 blocks that pass.
 *
 * A node depends (data_deps) on those that its op waits for: the op before it on its stream, its
 * waits, the host. Ids rise from 1 in the order of the program. Times are whole microseconds, as
 * the schema has them; what rounding adds or takes is made good by the next node of the stream.
 * No node that took time is shorter than one microsecond. Durations of communication do not hold
 * the wait for the other ranks. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_TRACES_CHAKRA_EXPORT_H
#define ORRERY_ANALYSIS_EXCHANGE_TRACES_CHAKRA_EXPORT_H

#include <stdio.h>

#include "analysis/exchange/traces/rank_timeline.h"

/* Of the rank that was read last. Errors of `out` stay in it. */
void chakra_export_write(const struct rank_timeline *t, FILE *out);
/* The ranks of all groups of collectives by name, as ASTRA-sim's --comm-group-configuration takes
 * them: a JSON object. A layout without any has the one of all its ranks, which no node names.
 * Errors of `out` stay in it. */
void chakra_export_groups(const struct layout *layout, FILE *out);
uint32_t chakra_export_group_count(const struct layout *layout); /* of that object */

#endif
