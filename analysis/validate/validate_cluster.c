/* From the hardware columns of a row to the cluster of a scenario. The node is the one that the GPU
 * usually comes in. Data sets count GPUs by the chassis; an NVLink domain of many chassis is one
 * node here: a fabric that joins no nodes, or that has a NIC for every GPU of the usual node, tells
 * that the row means whole domains. A job that leaves a domain partly idle uses it evenly. */
#include <stdio.h>
#include <string.h>

#include "analysis/validate/validate_run.h"
#include "sim/units.h"
#include "topology/topology_kind.h"

enum {
    GPU_MAX = 1 << 22
};
struct hardware { /* as the catalogue has it */
    uint64_t node_gpus, nics;
    double nic_bytes_per_s;
    bool joins; /* the fabric can join nodes */
};

static bool can_join(const struct topology_spec *spec)
{
    struct topology_spec two = *spec;
    struct error error;
    two.nodes = 2;
    return spec->fabric.kind != NULL && topology_check(&two, &error);
}

/* Reads GPU, node and fabric through the door, for one node; the rest is not there and not asked.
 */
static bool look_up(const struct validation *v, const struct validate_run *run,
                    struct hardware *out, struct validate_row *row)
{
    char text[512];
    snprintf(text, sizeof text, "cluster: {gpu: %s, nodes: 1%s%s}\n", run->gpu,
             *run->fabric ? ", fabric: " : "", run->fabric);
    struct scenario_options how = {.catalogue = v->catalogue};
    struct error error = {""};
    struct scenario *s = scenario_read("the row", text, strlen(text), &how, &error);
    if (s == NULL) {
        validate_row_refuse(row, REFUSAL_HARDWARE, "%.200s", error.text);
        return false;
    }
    const struct topology_spec *spec = &s->configuration.cluster;
    bool found = spec->node.kind != NULL && spec->fabric.kind != NULL;
    for (unsigned i = 0; !found && i < s->problem_count; i++)
        if (strncmp(s->problems[i].text, "cluster", strlen("cluster")) == 0 && !row->refused)
            validate_row_refuse(row, REFUSAL_HARDWARE, "%.200s", s->problems[i].text);
    if (!found && !row->refused)
        validate_row_refuse(row, REFUSAL_HARDWARE, "its hardware is not in the catalogue");
    if (found) {
        out->node_gpus = spec->node.gpus;
        out->nics = topology_nics(spec);
        out->nic_bytes_per_s = spec->fabric.nic_bytes_per_s > 0.0 ? spec->fabric.nic_bytes_per_s
                                                                  : spec->node.nic_bytes_per_s;
        out->joins = can_join(spec);
    }
    scenario_destroy(s);
    return found;
}

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A smaller node keeps the rate of all its NICs; an idle GPU of a domain takes its NIC along. */
static int write_nics(const struct hardware *hardware, uint64_t gpus, bool domain, char *out,
                      size_t size)
{
    uint64_t nics = divisor(hardware->nics, gpus);
    double rate = hardware->nic_bytes_per_s;
    if (nics == 0 || nics == hardware->nics)
        return snprintf(out, size, "}");
    if (!domain)
        rate *= (double)hardware->nics / (double)nics;
    return snprintf(out, size, ", nics: %llu, nic: %.17gGB/s}", (unsigned long long)nics,
                    rate / GIGA);
}

bool validate_cluster(const struct validation *v, const struct validate_run *run,
                      char out[VALIDATE_CLUSTER_SIZE], struct validate_row *row)
{
    struct hardware hardware = {0};
    char nics[128] = "}";
    if (run->gpus == 0 || run->gpus > GPU_MAX || run->gpus_per_node > GPU_MAX) {
        validate_row_refuse(row, REFUSAL_CELLS, "gpus: from 1 to %d", (int)GPU_MAX);
        return false;
    }
    if (!look_up(v, run, &hardware, row))
        return false;
    uint64_t gpus = run->gpus, inside = run->gpus_per_node > 0 ? run->gpus_per_node : 1;
    bool domain =
        run->gpus_per_node == 0 ||
        (hardware.node_gpus > inside && (!hardware.joins || hardware.nics == hardware.node_gpus));
    if (domain)
        inside = hardware.node_gpus;
    if (gpus <= inside) {
        snprintf(out, VALIDATE_CLUSTER_SIZE, "cluster: {gpu: %s, node: {gpus: %llu}, gpus: %llu}\n",
                 run->gpu, (unsigned long long)inside, (unsigned long long)gpus);
        return true;
    }
    uint64_t nodes = (gpus + inside - 1) / inside;
    while (gpus % nodes != 0)
        nodes++;
    uint64_t used = gpus / nodes;
    if (!domain && used != inside) {
        validate_row_refuse(row, REFUSAL_HARDWARE, "%llu GPUs are not whole nodes of %llu",
                            (unsigned long long)gpus, (unsigned long long)inside);
        return false;
    }
    write_nics(&hardware, used, domain, nics, sizeof nics);
    snprintf(out, VALIDATE_CLUSTER_SIZE,
             "cluster: {gpu: %s, node: {gpus: %llu}, nodes: %llu, fabric: {name: %s%s}\n", run->gpu,
             (unsigned long long)used, (unsigned long long)nodes,
             *run->fabric ? run->fabric : "unknown", nics);
    return true;
}
