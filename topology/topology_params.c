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

const char *const cooling_names[] = {"air", "liquid", "immersion", NULL};

const struct param node_params[] = {
    {"announced_error", PARAM_RATIO, NODE(announced_error_ratio), 0, 1, "0%", NULL,
     "Relative standard error that every prediction on such nodes has in addition, as their vendor "
     "has announced them and nobody has measured them; 0: they are sold."},
    {"socket", PARAM_TEXT, NODE(socket), 0, 0, "", NULL,
     "Socket of its GPUs: sxm5, pcie, ...; empty: not specified."},
    {"card", PARAM_TEXT, NODE(card), 0, 0, "", NULL,
     "GPU of the catalogue that such nodes hold although its usual node is another one; empty: not "
     "specified."},
    {"fabric", PARAM_TEXT, NODE(fabric), 0, 0, "", NULL,
     "Fabric of the catalogue that usually connects such nodes; the default of cluster.fabric."},
    {"gpus", PARAM_COUNT, NODE(gpus), 1, 65536, NULL, NULL,
     "GPUs in a node; for an nvlink_island those of one NVLink domain (72 for an NVL72 rack)."},
    {"chassis_gpus", PARAM_COUNT, NODE(chassis_gpus), 0, 65536, "0", NULL,
     "GPUs in one chassis of an NVLink domain of several (4 in a compute tray of an NVL72 rack), "
     "as hosts and schedulers count them; 0: the node is one chassis."},
    {"job_gpus", PARAM_COUNT, NODE(job_gpus), 0, 65536, "0", NULL,
     "GPUs of each node that a job of several nodes uses where its GPUs are not whole nodes (64 of "
     "an NVL72 rack of 72: two trays are spares); the last node holds what is left. 0: all."},
    {"nvlink_bandwidth", PARAM_BANDWIDTH, NODE(nvlink.bytes_per_s), 0, RATE_MAX, "0GB/s", NULL,
     "NVLink bandwidth of a GPU in one direction, half the sum that data sheets give; 0: no "
     "NVLink. In a pcie node: over all its bridges (`bridged`)."},
    {"nvlink_latency", PARAM_TIME, NODE(nvlink.latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "One-way latency from GPU to GPU through the NVSwitch or over a bridge; the default excludes "
     "wire time."},
    {"nvlink_step", PARAM_TIME, NODE(nvlink.step_s), 0, LATENCY_MAX_S, "0us", NULL,
     "Time that each step of a collective within one NVLink node takes beyond NCCL's own "
     "estimate."},
    {"nvls", PARAM_FLAG, NODE(nvlink.nvls), 0, 0, "false", NULL,
     "The NVSwitch reduces and multicasts (NVLink SHARP, third-generation NVSwitch and later)."},
    {"nvls_efficiency", PARAM_RATIO, NODE(nvlink.nvls_ratio), 0.01, 1, "75%", NULL,
     "Share of nvlink_bandwidth that in-switch reduction reaches with large chunks; the default is "
     "Hopper's."},
    {"nvls_channels", PARAM_COUNT, NODE(nvlink.nvls_channels), 1, 1024, "16", NULL,
     "Channels of in-switch reduction on each GPU; the default is NCCL's for Hopper."},
    {"exchange_efficiency", PARAM_RATIO, NODE(nvlink.exchange_ratio), 0.01, 1, "77%", NULL,
     "Share of nvlink_bandwidth that an all-to-all reaches with large messages; the default is "
     "Hopper's."},
    {"collective_start", PARAM_TIME, NODE(collective_start_s), 0, LATENCY_MAX_S, "16.7us", NULL,
     "Fixed time of the smallest collective before its steps (NCCL's LL; other protocols in "
     "proportion): kernel start and first flags. It differs by site; the default is the median of "
     "those known."},
    {"pcie_bandwidth", PARAM_BANDWIDTH, NODE(pcie.bytes_per_s), 0, RATE_MAX, NULL, NULL,
     "Usable PCIe bandwidth of a GPU in one direction; a NIC has a slot of the same width."},
    {"pcie_latency", PARAM_TIME, NODE(pcie.latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "One-way latency from GPU to GPU under one PCIe switch; through the CPUs it counts twice."},
    {"host_bandwidth", PARAM_BANDWIDTH, NODE(pcie.host_bytes_per_s), 0, RATE_MAX, "0GB/s", NULL,
     "Bandwidth in one direction between a PCIe switch and the CPUs, the path between GPUs under "
     "different switches."},
    {"nics", PARAM_COUNT, NODE(nic.count), 0, 65536, NULL, NULL,
     "NICs of a node on the compute network: at most one for each GPU, dividing their number."},
    {"nic_bandwidth", PARAM_BANDWIDTH, NODE(nic.bytes_per_s), 0, RATE_MAX, "0Gb/s", NULL,
     "Line rate of one NIC in one direction."},
    {"nic_efficiency", PARAM_RATIO, NODE(nic.efficiency_ratio), 0.01, 1, "100%", NULL,
     "Payload share of the line rate after protocol headers."},
    {"nic_latency", PARAM_TIME, NODE(nic.latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "Latency from host memory to the wire of the first switch, or back: half of an RDMA write's "
     "one-way latency between neighbours."},
    {"host_slowdown", PARAM_RATIO, NODE(host.slowdown_ratio), 0.1, 100, "1", NULL,
     "Host time of the software on this node's CPUs (launches, passes, optimizer) relative to the "
     "x86 servers of 2021 to 2024 on which its figures were taken."},
    {"host_memory", PARAM_BYTES, NODE(host.memory_bytes), 0, PETA, "0GB", NULL,
     "Memory of the node's CPUs; 0: not specified."},
    {"host_dram_bandwidth", PARAM_BANDWIDTH, NODE(host.dram_bytes_per_s), 0, RATE_MAX, "0GB/s",
     NULL, "Bandwidth of that memory, all CPUs together; 0: not specified."},
    {"host_dram_efficiency", PARAM_RATIO, NODE(host.dram_ratio), 0.01, 1, "60%", NULL,
     "Share of that bandwidth that an optimizer update on the CPUs reaches: STREAM reads 80 %, "
     "DeepSpeed's CPU-Adam about half (arXiv:2101.06840)."},
    {"nvme_read_bandwidth", PARAM_BANDWIDTH, NODE(host.nvme_read_bytes_per_s), 0, RATE_MAX, "0GB/s",
     NULL, "Read bandwidth of all NVMe drives of the node; 0: not specified."},
    {"nvme_write_bandwidth", PARAM_BANDWIDTH, NODE(host.nvme_write_bytes_per_s), 0, RATE_MAX,
     "0GB/s", NULL, "Write bandwidth of all NVMe drives of the node."},
    {"rest_power", PARAM_POWER, NODE(power.rest_w), 0, MEGA, "125W", NULL,
     "Power of CPUs, memory, NVSwitches, NICs and drives for each GPU, cards idle; chosen by "
     "immersed "
     "and water-cooled nodes of 8 H100 and B200 (MLPerf Training power logs)."},
    {"load_power", PARAM_POWER, NODE(power.load_w), 0, MEGA, "25W", NULL,
     "What these draw more for each GPU when its card is at its cap; from the same nodes."},
    {"conversion", PARAM_RATIO, NODE(power.conversion_ratio), 0.5, 1, "94%", NULL,
     "Share of the AC power that power supplies hand on; MLPerf Training power logs state 94 to 96 "
     "%."},
    {"cooling", PARAM_CHOICE, NODE(power.cooling), 0, 0, "air", cooling_names,
     "How the node is cooled: fans add 13 % (air), 3 % (liquid: cold plates) or nothing "
     "(immersion)."},
    {"pue", PARAM_RATIO, NODE(power.pue), 1, 5, "1", NULL,
     "Power of the site over that of its machines; 1: machines alone. Sites of large operators "
     "1.08 "
     "to 1.2, colocation 1.25 to 1.4."},
};
const unsigned node_param_count = sizeof node_params / sizeof node_params[0];

const struct param fabric_params[] = {
    {"announced_error", PARAM_RATIO, FABRIC(announced_error_ratio), 0, 1, "0%", NULL,
     "Relative standard error that every prediction of several nodes on this network has in "
     "addition, as its vendor has announced it and nobody has measured it; 0: it is sold."},
    {"nic", PARAM_BANDWIDTH, FABRIC(nic_bytes_per_s), 0, RATE_MAX, "0Gb/s", NULL,
     "Line rate of one NIC in one direction; 0: the node's."},
    {"nics", PARAM_COUNT, FABRIC(nics), 0, 65536, "0", NULL,
     "NICs of a node on this network; 0: the node's."},
    {"efficiency", PARAM_RATIO, FABRIC(efficiency_ratio), 0.01, 1, "100%", NULL,
     "Share of the payload rate that the transport reaches with large messages."},
    {"latency", PARAM_TIME, FABRIC(latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "Latency of the transport for each message, in addition to NICs and switches."},
    {"bulk_latency", PARAM_TIME, FABRIC(bulk_latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "Latency of the transport for each inter-node step of a collective with large messages (not "
     "LL): opening of its windows."},
    {"routing", PARAM_CHOICE, FABRIC(routing), 0, 0, "adaptive", topology_routing_names,
     "How messages use parallel cables of rail and fat_tree: adaptive, packet by packet; hashed, "
     "each flow on one cable, and a collective waits for the expected fullest one."},
    {"flows", PARAM_COUNT, FABRIC(flows), 1, 4096, "2", NULL,
     "Flows (queue pairs) into which a message between two NICs is split where routing is hashed; "
     "the default is two channels of NCCL for each NIC."},
    {"switch_latency", PARAM_TIME, FABRIC(switch_latency_s), 0, LATENCY_MAX_S, "0us", NULL,
     "Latency from port to port of one switch."},
    {"port_power", PARAM_POWER, FABRIC(port_w), 0, 10000, "11W", NULL,
     "Power of a leaf switch for each NIC; one of 64 ports drew 691 W (MLPerf Training v4.1, "
     "Dell)."},
};
const unsigned fabric_param_count = sizeof fabric_params / sizeof fabric_params[0];
