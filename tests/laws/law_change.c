#include "tests/laws/law_change.h"

#include <string.h>

#include "sim/check.h"

const char *const law_change_names[CHANGE_COUNT] = {
    [CHANGE_NIC] = "double NIC",
    [CHANGE_NVLINK] = "double NVLink",
    [CHANGE_PCIE] = "double PCIe",
    [CHANGE_PEAKS] = "double peaks",
    [CHANGE_HBM] = "double HBM",
    [CHANGE_LATENCY] = "no latency",
    [CHANGE_HOST] = "half host time",
    [CHANGE_NIC_HALF] = "half NIC",
    [CHANGE_LINK] = "degraded link",
    [CHANGE_STRAGGLER] = "slow first GPU",
    [CHANGE_STRAGGLER_MID] = "slow middle GPU",
    [CHANGE_RECOMPUTE] = "full recomputation",
};

bool law_change_is_better(enum law_change change)
{
    return change < CHANGE_NIC_HALF;
}

static void scale_nic(struct configuration *c, double factor)
{
    c->cluster.node.nic.bytes_per_s *= factor;
    c->cluster.fabric.nic_bytes_per_s *= factor;
}

static void scale_peaks(struct gpu_spec *gpu, double factor)
{
    for (unsigned p = 0; p < PEAK_COUNT; p++)
        gpu->peak_flops_per_s[p] *= factor;
    for (unsigned kernel = 0; kernel < ATTENTION_KERNEL_COUNT; kernel++) {
        for (unsigned causal = 0; causal < 2; causal++) {
            gpu->attention.forward[kernel][causal].ceiling_flops_per_s *= factor;
            gpu->attention.backward[kernel][causal].ceiling_flops_per_s *= factor;
        }
    }
}

static void drop_latency(struct topology_spec *cluster)
{
    cluster->node.nvlink.latency_s = 0.0;
    cluster->node.pcie.latency_s = 0.0;
    cluster->node.nic.latency_s = 0.0;
    cluster->fabric.latency_s = 0.0;
    cluster->fabric.bulk_latency_s = 0.0;
    cluster->fabric.switch_latency_s = 0.0;
}

static void scale_host(struct software_profile *s, double factor)
{
    s->host.launch_s *= factor;
    s->host.pass_s *= factor;
    s->host.optimizer_s *= factor;
    s->host.data_s *= factor;
    s->tensor.exposed_host_s *= factor;
    s->pipeline.sync_s *= factor;
}

static void perturb(struct law_changed *out, struct perturbation one)
{
    struct configuration *c = &out->c;
    CHECK(c->perturbation_count < sizeof out->perturbations / sizeof out->perturbations[0]);
    out->perturbations[c->perturbation_count++] = one;
}

bool law_change(const struct configuration *c, enum law_change change, struct law_changed *out)
{
    struct node_spec *node = &out->c.cluster.node;
    const uint64_t gpus = configuration_gpus(c);
    out->c = *c;
    CHECK(c->perturbation_count < sizeof out->perturbations / sizeof out->perturbations[0]);
    memcpy(out->perturbations, c->perturbations,
           c->perturbation_count * sizeof out->perturbations[0]);
    out->c.perturbations = out->perturbations;
    switch (change) {
    case CHANGE_NIC:
    case CHANGE_NIC_HALF:
        scale_nic(&out->c, change == CHANGE_NIC ? 2.0 : 0.5);
        return c->cluster.nodes > 1;
    case CHANGE_NVLINK:
        node->nvlink.bytes_per_s *= 2.0;
        return c->cluster.node.nvlink.bytes_per_s > 0.0;
    case CHANGE_PCIE:
        node->pcie.bytes_per_s *= 2.0;
        node->pcie.host_bytes_per_s *= 2.0;
        return true;
    case CHANGE_PEAKS:
        scale_peaks(&out->c.gpu, 2.0);
        return true;
    case CHANGE_HBM:
        out->c.gpu.hbm.bytes_per_s *= 2.0;
        return true;
    case CHANGE_LATENCY:
        drop_latency(&out->c.cluster);
        return true;
    case CHANGE_HOST:
        scale_host(&out->c.software, 0.5);
        return true;
    case CHANGE_LINK:
        perturb(out, (struct perturbation){.what = PERTURB_LINK,
                                           .gpu = gpus / 3,
                                           .ratio = 0.4,
                                           .link = c->cluster.nodes > 1 ? LINK_NIC
                                                   : c->cluster.node.nvlink.bytes_per_s > 0.0
                                                       ? LINK_NVLINK
                                                       : LINK_PCIE});
        return true;
    case CHANGE_STRAGGLER:
    case CHANGE_STRAGGLER_MID:
        perturb(out, (struct perturbation){.what = PERTURB_GPU_SPEED,
                                           .gpu = change == CHANGE_STRAGGLER ? 0 : gpus / 2,
                                           .ratio = 0.7});
        return true;
    case CHANGE_RECOMPUTE:
        out->c.layout.recompute = RECOMPUTE_FULL;
        /* Copies to the host are fewer then: it may well be faster. */
        return c->layout.recompute == RECOMPUTE_NONE && c->layout.offload.activations == 0.0;
    case CHANGE_COUNT:
        break;
    }
    CHECK(false);
    return false;
}
