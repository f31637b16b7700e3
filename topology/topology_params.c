/* topology_params.c - how nodes and fabrics are spelt, checked and explained. Figures live in
 * scenarios/catalogue with their sources; a default here is stated with its reason. */
#include "sim/units.h"
#include "topology/topology.h"

#define NODE(field) offsetof(struct node_spec, field)
#define FABRIC(field) offsetof(struct fabric_spec, field)

/* Beyond a hundred times today's fastest link (NVLink 5: 900 GB/s one way) or a second of latency a
 * prefix was mistyped. */
#define RATE_MAX (100.0 * TERA)
#define LATENCY_MAX_S 1.0

const struct param node_params[] = {
    {"socket", PARAM_TEXT, NODE(socket), 0, 0, "", NULL,
     "What its GPUs are plugged into: sxm5, pcie, ...; empty: not said."},
    {"card", PARAM_TEXT, NODE(card), 0, 0, "", NULL,
     "The GPU of the catalogue that such nodes hold, beside its usual node; empty: not said."},
    {"fabric", PARAM_TEXT, NODE(fabric), 0, 0, "", NULL,
     "The fabric of the catalogue that usually joins such nodes, taken when cluster.fabric does "
     "not "
     "say."},
    {"gpus", PARAM_COUNT, NODE(gpus), 1, 65536, NULL, NULL,
     "GPUs in a node; for an nvlink_island those of one NVLink domain (72 for an NVL72 rack)."},
    {"chassis_gpus", PARAM_COUNT, NODE(chassis_gpus), 0, 65536, "0", NULL,
     "GPUs in one chassis of an NVLink domain of several (4 in a compute tray of an NVL72 rack), "
     "as "
     "hosts and schedulers count them; 0: the node is one chassis."},
    {"nvlink_bandwidth", PARAM_BANDWIDTH, NODE(nvlink_bytes_per_s), 0, RATE_MAX, "0GB/s", NULL,
     "NVLink bandwidth of a GPU in one direction, half of what data sheets add up; 0: no NVLink. "
     "Of a pcie node: over all its bridges (`bridged`)."},
    {"nvlink_latency", PARAM_TIME, NODE(nvlink_latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "From GPU to GPU through the NVSwitch or over a bridge, one way; the default counts no wire "
     "time."},
    {"nvlink_step", PARAM_TIME, NODE(nvlink_step_s), 0, LATENCY_MAX_S, "0us", NULL,
     "What each step of a collective takes beyond what NCCL works with, where all its members are "
     "in one node on NVLink."},
    {"nvls", PARAM_FLAG, NODE(nvls), 0, 0, "false", NULL,
     "The NVSwitch reduces and multicasts (NVLink SHARP, third-generation NVSwitch and later)."},
    {"nvls_efficiency", PARAM_RATIO, NODE(nvls_ratio), 0.01, 1, "75%", NULL,
     "What in-switch reduction moves of nvlink_bandwidth when its chunks are large; the default is "
     "Hopper's."},
    {"nvls_channels", PARAM_COUNT, NODE(nvls_channels), 1, 1024, "16", NULL,
     "Channels of in-switch reduction on each GPU; the default is NCCL's for Hopper."},
    {"collective_start", PARAM_TIME, NODE(collective_start_s), 0, LATENCY_MAX_S, "16.7us", NULL,
     "What the smallest collective takes before its steps (NCCL's LL; other starts in proportion): "
     "kernel start and first flags. It differs by site; the default is the middle of those known."},
    {"pcie_bandwidth", PARAM_BANDWIDTH, NODE(pcie_bytes_per_s), 0, RATE_MAX, NULL, NULL,
     "Usable PCIe bandwidth of a GPU in one direction; a NIC has a slot of the same width."},
    {"pcie_latency", PARAM_TIME, NODE(pcie_latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "From GPU to GPU under one PCIe switch, one way; through the CPUs it counts twice."},
    {"host_bandwidth", PARAM_BANDWIDTH, NODE(host_bytes_per_s), 0, RATE_MAX, "0GB/s", NULL,
     "Bandwidth in one direction between a PCIe switch and the CPUs, by which GPUs under different "
     "switches meet."},
    {"nics", PARAM_COUNT, NODE(nics), 0, 65536, NULL, NULL,
     "NICs of a node on the compute network: at most one for each GPU, dividing their number."},
    {"nic_bandwidth", PARAM_BANDWIDTH, NODE(nic_bytes_per_s), 0, RATE_MAX, "0Gb/s", NULL,
     "Line rate of one NIC in one direction."},
    {"nic_efficiency", PARAM_RATIO, NODE(nic_efficiency_ratio), 0.01, 1, "100%", NULL,
     "Payload share of the line rate after protocol headers."},
    {"nic_latency", PARAM_TIME, NODE(nic_latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "From host memory to the wire of the first switch, or back: half of an RDMA write's one-way "
     "latency between neighbours."},
    {"host_slowdown", PARAM_RATIO, NODE(host_slowdown_ratio), 0.1, 100, "1", NULL,
     "Time of the software's work on this node's CPUs (launches, passes, the optimizer's) over "
     "that "
     "on the x86 servers of 2021 to 2024 which the software's figures are of."},
    {"host_memory", PARAM_BYTES, NODE(host_memory_bytes), 0, PETA, "0GB", NULL,
     "Memory of the node's CPUs; 0: not said."},
    {"host_dram_bandwidth", PARAM_BANDWIDTH, NODE(host_dram_bytes_per_s), 0, RATE_MAX, "0GB/s",
     NULL, "Bandwidth of that memory, all CPUs together; 0: not said."},
    {"host_dram_efficiency", PARAM_RATIO, NODE(host_dram_ratio), 0.01, 1, "60%", NULL,
     "Share of it that an update on the CPUs reaches: STREAM reads 80 %, DeepSpeed's CPU-Adam "
     "about "
     "half (arXiv:2101.06840)."},
    {"nvme_read_bandwidth", PARAM_BANDWIDTH, NODE(nvme_read_bytes_per_s), 0, RATE_MAX, "0GB/s",
     NULL, "What the node's NVMe drives read together; 0: not said."},
    {"nvme_write_bandwidth", PARAM_BANDWIDTH, NODE(nvme_write_bytes_per_s), 0, RATE_MAX, "0GB/s",
     NULL, "What they write."},
};
const unsigned node_param_count = sizeof node_params / sizeof node_params[0];

const struct param fabric_params[] = {
    {"nic", PARAM_BANDWIDTH, FABRIC(nic_bytes_per_s), 0, RATE_MAX, "0Gb/s", NULL,
     "Line rate of one NIC in one direction; 0: the node's."},
    {"nics", PARAM_COUNT, FABRIC(nics), 0, 65536, "0", NULL,
     "NICs of a node on this network; 0: the node's."},
    {"efficiency", PARAM_RATIO, FABRIC(efficiency_ratio), 0.01, 1, "100%", NULL,
     "What the transport reaches of the payload rate with large messages."},
    {"latency", PARAM_TIME, FABRIC(latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "What the transport adds to each message, beside NICs and switches."},
    {"bulk_latency", PARAM_TIME, FABRIC(bulk_latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "What the transport adds to each step between nodes of a collective of large messages (not "
     "LL): "
     "its windows open."},
    {"routing", PARAM_CHOICE, FABRIC(routing), 0, 0, "adaptive", topology_routing_names,
     "How messages share equal cables of rail and fat_tree: adaptive, packet by packet; hashed, a "
     "flow on one cable, and a collective waits for the fullest that is to be expected."},
    {"flows", PARAM_COUNT, FABRIC(flows), 1, 4096, "2", NULL,
     "Flows (queue pairs) into which a message between two NICs is split where routing is hashed; "
     "the default is two channels of NCCL for each NIC."},
    {"switch_latency", PARAM_TIME, FABRIC(switch_latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "From port to port of one switch."},
};
const unsigned fabric_param_count = sizeof fabric_params / sizeof fabric_params[0];
