/* simumax_system.c - SimuMax's description of a machine as a card, a node and a fabric. */
#include <inttypes.h>
#include <string.h>

#include "scenarios/import/peers/simumax.h"

#define HAS(option) launched_has(l, SIMUMAX_##option)
#define NUMBER(option, usual) launched_number(l, SIMUMAX_##option, usual)
#define FIGURE(option, name) peer_figure(l, SIMUMAX_##option, name)
#define GPU(option, ...) launched_key(l, LAUNCHED_GPU, SIMUMAX_##option, __VA_ARGS__)
#define NODE(option, ...) launched_key(l, LAUNCHED_NODE, SIMUMAX_##option, __VA_ARGS__)
#define FABRIC(option, ...) launched_key(l, LAUNCHED_FABRIC, SIMUMAX_##option, __VA_ARGS__)

/* A share of a peak, which flash kernels of half the scores may exceed. */
static double factor(struct launched *l, int option)
{
    return launched_has(l, option) ? peer_figure(l, option, "") : 1.0;
}

static void read_rates(struct launched *l)
{
    const bool own = HAS(RATE);
    const int rate = own ? SIMUMAX_RATE : SIMUMAX_USUAL_RATE;
    const int share = own ? SIMUMAX_SHARE : SIMUMAX_USUAL_SHARE;
    const bool narrow = HAS(FP8_RATE);
    const double peak = peer_figure(l, rate, "accelerator.op.matmul.tflops");
    launched_key(l, LAUNCHED_GPU, rate, "peak_bf16: %.15gTFLOP/s", peak);
    launched_key(l, LAUNCHED_GPU, rate, "peak_fp16: %.15gTFLOP/s", peak);
    if (narrow)
        GPU(FP8_RATE, "peak_fp8: %.15gTFLOP/s", FIGURE(FP8_RATE, ""));
    launched_key(l, LAUNCHED_GPU, share, "gemm_efficiency: %.15g", peer_share(l, share, 1.0));
    if (narrow && HAS(FP8_SHARE) &&
        peer_share(l, SIMUMAX_FP8_SHARE, 1.0) != peer_share(l, share, 1.0))
        launched_warn(l, SIMUMAX_FP8_SHARE, "8-bit products reach the share of the others");
}

static void read_attention(struct launched *l)
{
    static const char *const masks[] = {"causal", "full"};
    for (unsigned m = 0; m < 2 && HAS(FORWARD_RATE) && HAS(BACKWARD_RATE); m++) {
        GPU(FORWARD_RATE, "attention_flash2_%s_forward_rate: %.15gTFLOP/s", masks[m],
            FIGURE(FORWARD_RATE, "") * factor(l, SIMUMAX_FORWARD_SHARE));
        GPU(FORWARD_RATE, "attention_flash2_%s_forward_half: 0", masks[m]);
        GPU(BACKWARD_RATE, "attention_flash2_%s_backward_rate: %.15gTFLOP/s", masks[m],
            FIGURE(BACKWARD_RATE, "") * factor(l, SIMUMAX_BACKWARD_SHARE));
        GPU(BACKWARD_RATE, "attention_flash2_%s_backward_half: 0", masks[m]);
    }
}

static void read_memory(struct launched *l)
{
    static const char *const modes[] = {"roofline", "only_compute", NULL};
    const double gib = FIGURE(HBM, "accelerator.mem_gbs");
    GPU(HBM, "hbm: %.15gGiB", gib);
    GPU(MEMORY_SHARE, "usable_hbm: %.15gGiB", gib * peer_share(l, SIMUMAX_MEMORY_SHARE, 0.94));
    launched_key(l, LAUNCHED_GPU, LAUNCHED_NOTHING, "context: 0B");
    GPU(HBM_RATE, "hbm_bandwidth: %.15gGiB/s", FIGURE(HBM_RATE, "accelerator.bandwidth.default"));
    GPU(HBM_SHARE, "hbm_efficiency: %.15g", peer_share(l, SIMUMAX_HBM_SHARE, 1.0));
    if (launched_choice(l, SIMUMAX_MODE, modes, 0) == 1)
        launched_warn(l, SIMUMAX_MODE, "kernels wait for memory, too");
}

static void read_node(struct launched *l, uint64_t size)
{
    const bool pcie = launched_truth(l, SIMUMAX_PCIE, false);
    NODE(PCIE, "kind: %s", pcie ? "pcie" : "nvlink_island");
    NODE(NODE_SIZE, "gpus: %" PRIu64, size);
    if (pcie) {
        const double rate = FIGURE(PCIE_RATE, "networks.intra_node_pcie_8x.bandwidth.gbps");
        NODE(PCIE_RATE, "pcie_bandwidth: %.15gGiB/s", rate);
        NODE(PCIE_RATE, "host_bandwidth: %.15gGiB/s", rate);
        return;
    }
    NODE(NEAR_RATE, "nvlink_bandwidth: %.15gGiB/s",
         FIGURE(NEAR_RATE, "networks.high_intra_node.bandwidth.gbps"));
    if (HAS(NEAR_LATENCY))
        NODE(NEAR_LATENCY, "collective_start: %.15gus", NUMBER(NEAR_LATENCY, 0.0));
    launched_key(l, LAUNCHED_NODE, LAUNCHED_NOTHING, "pcie_bandwidth: %.15gGiB/s",
                 NUMBER(FAR_RATE, 0.0)); /* is not said: no narrower than the network */
}

static void read_fabric(struct launched *l)
{
    if (!HAS(FAR_RATE)) {
        launched_key(l, LAUNCHED_NODE, LAUNCHED_NOTHING, "nics: 0");
        return;
    }
    NODE(FAR_RATE, "nics: 1"); /* the rate is that of a node */
    NODE(FAR_RATE, "nic_bandwidth: %.15gGiB/s", FIGURE(FAR_RATE, ""));
    FABRIC(FAR_RATE, "kind: rail");
    FABRIC(FAR_SHARE, "efficiency: %.15g", peer_share(l, SIMUMAX_FAR_SHARE, 1.0));
    if (HAS(FAR_LATENCY))
        FABRIC(FAR_LATENCY, "latency: %.15gus", NUMBER(FAR_LATENCY, 0.0));
}

/* "inter_node", or one of a node; "auto": the strategy follows the order of ranks, too. */
static void read_place(struct launched *l, int option, uint64_t span, uint64_t size)
{
    const char *net = launched_text(l, option, "auto");
    const bool inside = span <= size;
    if (strcmp(net, "auto") != 0 && inside == (strncmp(net, "inter", 5) == 0))
        launched_warn(l, option, "the order of ranks puts this group %s",
                      inside ? "into a node" : "across nodes");
}

void simumax_system(struct launched *l, const struct simumax_run *run, bool card)
{
    const struct launched_ranks *r = &run->ranks;
    const uint64_t size = launched_count(l, SIMUMAX_NODE_SIZE, 8), data = r->tp * r->cp * r->dp;
    read_rates(l);
    read_attention(l);
    read_memory(l);
    read_node(l, size);
    read_fabric(l);
    if (run->gpus > size && !HAS(FAR_RATE))
        launched_bad(l, SIMUMAX_WORLD,
                     "%" PRIu64 " GPUs are more than a node has, and there is no "
                     "networks.inter_node",
                     run->gpus);
    read_place(l, SIMUMAX_TP_NET, r->tp, size);
    read_place(l, SIMUMAX_DP_NET, r->dp > 1 ? data : 1, size);
    read_place(l, SIMUMAX_EP_NET, launched_count(l, SIMUMAX_EP, 1), size);
    if (r->pp > 1)
        read_place(l, SIMUMAX_PP_NET, run->gpus, size);
    peer_card(l, card);
}
