/* What is kept on the host, of the optimizer and of activations: bytes, rates, and the rules of it.
 */
#include <math.h>

#include "models/layout/configuration_parts.h"
#include "models/sharding/sharding_kind.h"

const char *const offload_names[] = {"cpu", "nvme", NULL};

static double ranks_of_node(const struct configuration *c)
{
    return fmin((double)configuration_ranks(c), (double)c->cluster.node.gpus);
}

struct offload_rates configuration_offload_rates(const struct configuration *c)
{
    const struct node_spec *node = &c->cluster.node;
    const double ranks = ranks_of_node(c);
    return (struct offload_rates){
        .link_bytes_per_s = node->pcie.bytes_per_s,
        .dram_bytes_per_s = node->host.dram_bytes_per_s * node->host.dram_ratio / ranks,
        .nvme_read_bytes_per_s = node->host.nvme_read_bytes_per_s / ranks,
        .nvme_write_bytes_per_s = node->host.nvme_write_bytes_per_s / ranks,
    };
}

/* A rate that is not said bounds nothing. */
static double bounded(double rate, double bound)
{
    return bound > 0.0 ? fmin(rate, bound) : rate;
}

struct activation_rates configuration_activation_rates(const struct configuration *c)
{
    const struct offload_rates all = configuration_offload_rates(c);
    const double link = bounded(all.link_bytes_per_s, all.dram_bytes_per_s);
    if (c->layout.offload.activations_to == OFFLOAD_CPU)
        return (struct activation_rates){link, link};
    return (struct activation_rates){bounded(link, all.nvme_write_bytes_per_s),
                                     bounded(link, all.nvme_read_bytes_per_s)};
}

uint32_t configuration_offloaded_layers(const struct configuration *c, uint32_t layers)
{
    const double stay = (1.0 - c->layout.offload.activations) * (double)layers;
    return layers - (uint32_t)floor(stay + 1e-9); /* a share like .9 is not exact */
}

bool configuration_weights_are_master(const struct configuration *c)
{
    return c->layout.data.sharding->gather == GATHER_UNITS && configuration_shards(c) > 1 &&
           c->software.shards.weights_are_master && c->training.precision->master_weights;
}

static void check_optimizer(struct rule_report *r)
{
    static const char key[] = "layout.optimizer_offload";
    const struct configuration *c = r->c;
    const struct node_spec *node = &c->cluster.node;
    if (!(c->layout.offload.optimizer > 0.0))
        return;
    if (!(node->pcie.bytes_per_s > 0.0))
        rule_say(r, false, key,
                 "state on the host is reached over PCIe: give cluster.node a "
                 "pcie_bandwidth");
    if (!(node->host.dram_bytes_per_s > 0.0))
        rule_say(r, false, key,
                 "an update on the host takes as long as its memory bandwidth allows: give "
                 "cluster.node a host_dram_bandwidth");
    if (c->layout.offload.optimizer_to == OFFLOAD_NVME &&
        !(node->host.nvme_read_bytes_per_s > 0.0 && node->host.nvme_write_bytes_per_s > 0.0))
        rule_say(r, false, "layout.optimizer_offload_to",
                 "the state moves at the bandwidth of the drives: give cluster.node an "
                 "nvme_read_bandwidth and an nvme_write_bandwidth, or take cpu");
    if (configuration_weights_are_master(c))
        rule_say(r, false, key,
                 "%s keeps the shards of its weights in fp32 alone, as the optimizer's copy: take "
                 "zero-1 or 0",
                 c->software.name);
    if (c->training.optimizer->orthogonal_steps > 0)
        rule_say(r, false, key,
                 "%s multiplies matrices, which is no work for a CPU: take adamw or 0",
                 c->training.optimizer->head.name);
}

static void check_activations(struct rule_report *r)
{
    static const char key[] = "layout.activation_offload";
    const struct node_spec *node = &r->c->cluster.node;
    if (!(r->c->layout.offload.activations > 0.0))
        return;
    if (!(node->pcie.bytes_per_s > 0.0))
        rule_say(r, false, key,
                 "activations reach the host over PCIe: give cluster.node a pcie_bandwidth");
    if (r->c->layout.offload.activations_to == OFFLOAD_NVME &&
        !(node->host.nvme_read_bytes_per_s > 0.0 && node->host.nvme_write_bytes_per_s > 0.0))
        rule_say(r, false, "layout.activation_offload_to",
                 "activations move at the bandwidth of the drives: give cluster.node an "
                 "nvme_read_bandwidth and an nvme_write_bandwidth, or take cpu");
}

void configuration_check_offload(struct rule_report *r)
{
    check_activations(r);
    check_optimizer(r);
}
