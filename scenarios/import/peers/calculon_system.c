/* calculon_system.c - Calculon's description of a machine as a card, a node and a fabric. */
#include <inttypes.h>
#include <string.h>

#include "scenarios/import/peers/calculon.h"

#define HAS(option) launched_has(l, CALCULON_##option)
#define NUMBER(option, usual) launched_number(l, CALCULON_##option, usual)
#define GPU(option, ...) launched_key(l, LAUNCHED_GPU, CALCULON_##option, __VA_ARGS__)
#define NODE(option, ...) launched_key(l, LAUNCHED_NODE, CALCULON_##option, __VA_ARGS__)
#define FABRIC(option, ...) launched_key(l, LAUNCHED_FABRIC, CALCULON_##option, __VA_ARGS__)
#define SOFTWARE(option, ...) launched_key(l, LAUNCHED_SOFTWARE, CALCULON_##option, __VA_ARGS__)

static void read_rates(struct launched *l, enum calculon_format format)
{
    static const int rates[] = {CALCULON_RATE_FLOAT32, CALCULON_RATE_FLOAT16,
                                CALCULON_RATE_BFLOAT16, CALCULON_RATE_FLOAT8};
    static const int shares[] = {CALCULON_SHARE_FLOAT32, CALCULON_SHARE_FLOAT16,
                                 CALCULON_SHARE_BFLOAT16, CALCULON_SHARE_FLOAT8};
    static const char *const peaks[] = {"fp32", "fp16", "bf16", "fp8"};
    peer_figure(l, rates[format], "system.matrix.*.tflops of the execution's datatype");
    for (unsigned i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (launched_has(l, rates[i]))
            launched_key(l, LAUNCHED_GPU, rates[i], "peak_%s: %.15gTFLOP/s", peaks[i],
                         peer_figure(l, rates[i], peaks[i]));
    if (!HAS(RATE_BFLOAT16)) /* a card has both or none */
        GPU(RATE_FLOAT16, "peak_bf16: %.15gTFLOP/s", NUMBER(RATE_FLOAT16, 0.0));
    launched_key(l, LAUNCHED_GPU, shares[format], "gemm_efficiency: %.15g",
                 peer_efficiency(l, shares[format], 1.0));
    if (launched_has(l, shares[format]))
        launched_warn(l, shares[format],
                      "that of the largest products is taken; smaller ones are simulated by their "
                      "shapes");
}

static void read_memory(struct launched *l, double near_size)
{
    static const char *const modes[] = {"roofline", "no_overlap", NULL};
    const double gib = peer_figure(l, CALCULON_HBM, "system.mem1.GiB");
    GPU(HBM, "hbm: %.15gGiB", gib);
    GPU(HBM, "usable_hbm: %.15gGiB", gib);
    GPU(HBM, "context: 0B");
    GPU(HBM_RATE, "hbm_bandwidth: %.15gGB/s",
        peer_figure(l, CALCULON_HBM_RATE, "system.mem1.GBps"));
    GPU(HBM_SHARE, "hbm_efficiency: %.15g", peer_efficiency(l, CALCULON_HBM_SHARE, 1.0));
    if (HAS(HOST))
        NODE(HOST, "host_memory: %.15gGiB", NUMBER(HOST, 0.0) * near_size);
    const double host =
        HAS(HOST_RATE) ? peer_figure(l, CALCULON_HOST_RATE, "system.mem2.GBps") : 0.0;
    NODE(HOST_RATE, "pcie_bandwidth: %.15gGB/s",
         host * peer_efficiency(l, CALCULON_HOST_SHARE, 1.0));
    if (launched_choice(l, CALCULON_MODE, modes, 0) == 1)
        launched_warn(l, CALCULON_MODE,
                      "arithmetic and memory of a kernel are simulated as overlapped (roofline)");
}

/* The scale of [scale, offset]: what is sent of each byte; 1 where switches reduce. */
static bool reduces(struct launched *l, int option)
{
    return launched_has(l, option) && launched_number(l, option, 2.0) < 1.5;
}

static void read_near(struct launched *l, uint64_t size)
{
    NODE(NEAR_SIZE, "kind: nvlink_island");
    NODE(NEAR_SIZE, "gpus: %" PRIu64, size);
    NODE(NEAR_RATE, "nvlink_bandwidth: %.15gGB/s",
         peer_figure(l, CALCULON_NEAR_RATE, "system.networks.0.bandwidth"));
    if (HAS(NEAR_LATENCY))
        NODE(NEAR_LATENCY, "collective_start: %.15gus", NUMBER(NEAR_LATENCY, 0.0) * 1e6);
    NODE(NEAR_REDUCE, "nvls: %s", reduces(l, CALCULON_NEAR_REDUCE) ? "true" : "false");
    if (HAS(NEAR_SHARE))
        launched_warn(l, CALCULON_NEAR_SHARE,
                      "collectives reach the share that is simulated of NCCL");
}

static void read_far(struct launched *l, uint64_t size)
{
    NODE(FAR_RATE, "nics: %" PRIu64, size);
    NODE(FAR_RATE, "nic_bandwidth: %.15gGB/s",
         peer_figure(l, CALCULON_FAR_RATE, "system.networks.1.bandwidth"));
    FABRIC(FAR_RATE, "kind: rail");
    FABRIC(FAR_SHARE, "efficiency: %.15g", peer_share(l, CALCULON_FAR_SHARE, 1.0));
    if (HAS(FAR_LATENCY))
        FABRIC(FAR_LATENCY, "latency: %.15gus", NUMBER(FAR_LATENCY, 0.0) * 1e6);
    if (reduces(l, CALCULON_FAR_REDUCE))
        launched_warn(l, CALCULON_FAR_REDUCE, "switches between nodes reduce nothing here");
}

/* The share of compute that traffic takes, where any runs beside it. */
static void read_usage(struct launched *l, const struct calculon_run *run)
{
    const bool far = NUMBER(DP_NET, 0.0) >= 1.0;
    const int data = far ? CALCULON_FAR_USAGE : CALCULON_NEAR_USAGE;
    const char *tensor = launched_text(l, CALCULON_TP_OVERLAP, "none");
    if (run->dp > 1 && launched_truth(l, CALCULON_DP_OVERLAP, false) && launched_has(l, data))
        launched_key(l, LAUNCHED_SOFTWARE, data, "interference: %.15g",
                     launched_number(l, data, 0.0));
    if (run->tp > 1 && strcmp(tensor, "none") != 0 && HAS(NEAR_USAGE))
        SOFTWARE(NEAR_USAGE, "tp_overlap_cost: %.15g", NUMBER(NEAR_USAGE, 0.0));
}

uint64_t calculon_system(struct launched *l, const struct calculon_run *run, bool card)
{
    const uint64_t size = launched_needed(l, CALCULON_NEAR_SIZE, "networks.0.size");
    const uint64_t most = HAS(FAR_SIZE) ? launched_count(l, CALCULON_FAR_SIZE, 1) : size;
    if (run->gpus > most)
        launched_bad(l, HAS(FAR_SIZE) ? CALCULON_FAR_SIZE : CALCULON_NEAR_SIZE,
                     "joins %" PRIu64 " processors, and the execution has %" PRIu64, most,
                     run->gpus);
    read_rates(l, run->format);
    read_near(l, size);
    read_memory(l, (double)size);
    if (HAS(FAR_SIZE))
        read_far(l, size);
    else
        launched_key(l, LAUNCHED_NODE, LAUNCHED_NOTHING, "nics: 0");
    read_usage(l, run);
    peer_card(l, card);
    return size;
}
