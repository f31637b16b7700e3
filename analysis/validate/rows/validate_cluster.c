/* From the hardware columns of a row to the cluster of a scenario. The node is the one that the GPU
 * usually comes in, or, where the row counts other nodes, the only one of the catalogue that holds
 * as many of these cards. Data sets count GPUs by the chassis; an NVLink domain of many chassis is
 * one node here: where the usual node has several, a fabric that joins no nodes, or one with a NIC
 * for every GPU, tells that the row means whole domains. A job fills them as topology_fill says,
 * and each GPU that works has its own NIC. */
#include <stdio.h>
#include <string.h>

#include "analysis/validate/rows/validate_nodes.h"
#include "analysis/validate/rows/validate_run.h"
#include "sim/units.h"
#include "topology/topology_kind.h"

enum {
    GPU_MAX = 1 << 22
};
struct hardware {  /* as the catalogue has it */
    char node[64]; /* by its name, where it is not the usual one; "" */
    uint64_t node_gpus, chassis_gpus, job_gpus, nics;
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

/* Reads GPU, fabric and node ("": the usual one) through the door, for one node; the rest is not
 * there and not asked. */
static bool look_up(const struct validation *v, const struct validate_run *run, const char *node,
                    struct hardware *out, struct validate_row *row)
{
    char text[512];
    snprintf(text, sizeof text, "cluster: {gpu: %s, nodes: 1%s%s%s%s}\n", run->gpu,
             *node ? ", node: " : "", node, *run->fabric ? ", fabric: " : "", run->fabric);
    struct scenario_options how = {.catalogue = v->catalogue};
    struct error error = {""};
    struct scenario *s = scenario_read("the row", text, strlen(text), &how, &error);
    if (s == NULL) {
        validate_row_refuse(row, REFUSAL_HARDWARE, "%.200s", error.text);
        return false;
    }
    const struct topology_spec *spec = &s->configuration.cluster;
    bool found = spec->node.kind != NULL && spec->fabric.kind != NULL;
    for (unsigned i = 0; !found && i < s->diagnostics.problem_count; i++)
        if (strncmp(s->diagnostics.problems[i].text, "cluster", strlen("cluster")) == 0 &&
            !row->refused)
            validate_row_refuse(row, REFUSAL_HARDWARE, "%.200s", s->diagnostics.problems[i].text);
    if (!found && !row->refused)
        validate_row_refuse(row, REFUSAL_HARDWARE, "its hardware is not in the catalogue");
    if (found) {
        snprintf(out->node, sizeof out->node, "%s", node);
        out->node_gpus = spec->node.gpus;
        out->chassis_gpus = spec->node.chassis_gpus;
        out->job_gpus = spec->node.job_gpus;
        out->nics = topology_nics(spec);
        out->nic_bytes_per_s = topology_wire(spec, spec->node.gpus + 1).bytes_per_s;
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

/* Where the usual node has a NIC for each GPU, so has a smaller one, and an idle GPU of a domain
 * takes its own along; another keeps the rate of all its NICs. */
static void write_nics(const struct hardware *hardware, uint64_t gpus, struct validate_text *out)
{
    bool each = hardware->nics == hardware->node_gpus && gpus < hardware->node_gpus;
    uint64_t nics = each ? gpus : divisor(hardware->nics, gpus);
    double rate = hardware->nic_bytes_per_s;
    if (nics == 0 || nics == hardware->nics)
        return;
    if (!each)
        rate *= (double)hardware->nics / (double)nics;
    validate_text_key(out, "nics",
                      each ? "chosen: one for each GPU, as in the usual node"
                           : "chosen: as many as serve such a node evenly",
                      "%llu", (unsigned long long)nics);
    validate_text_key(out, "nic",
                      each ? "catalogue: one of the fabric"
                           : "chosen: together the rate of all NICs of the usual node",
                      "%.17gGB/s", rate / GIGA);
}

static void write_nodes(const struct validate_run *run, const struct hardware *hardware,
                        struct topology_filling filling, bool domain, struct validate_text *out)
{
    if (filling.nodes * filling.each != run->gpus)
        validate_text_key(out, "gpus", validate_origin_of(&run->cells, &run->origins, "gpus").s,
                          "%llu", (unsigned long long)run->gpus);
    validate_text_key(out, "nodes",
                      domain ? "chosen: as a job of column gpus fills NVLink domains"
                             : "columns gpus and gpus_per_node",
                      "%llu", (unsigned long long)filling.nodes);
    validate_text_open(out, "fabric");
    validate_text_key(out, "name", validate_origin_of(&run->cells, &run->origins, "fabric").s, "%s",
                      *run->fabric ? run->fabric : "unknown");
    write_nics(hardware, filling.each, out);
    validate_text_close(out);
}

/* The usual node, or the chassis that the row counts in. */
static struct validate_origin node_origin(const struct validate_run *run, bool domain)
{
    struct validate_origin out = {"chosen: the usual node of this GPU"};
    if (!domain)
        return validate_origin_of(&run->cells, &run->origins, "gpus_per_node");
    if (run->gpus_per_node > 0)
        snprintf(out.s, sizeof out.s,
                 "chosen: an NVLink domain; column gpus_per_node counts its chassis");
    return out;
}

/* The node: the one named, or so many GPUs of the usual one. */
static void write_node(const struct validate_run *run, const struct hardware *hardware,
                       uint64_t gpus, bool domain, struct validate_text *out)
{
    validate_text_open(out, "node");
    if (*hardware->node)
        validate_text_key(out, "name",
                          "chosen: the node of the catalogue with as many of these cards", "%s",
                          hardware->node);
    validate_text_key(out, "gpus", node_origin(run, domain).s, "%llu", (unsigned long long)gpus);
    validate_text_close(out);
}

/* Does a row of nodes of `inside` GPUs mean whole NVLink domains of several chassis? The fabric
 * then joins no nodes, or has a NIC for each of their GPUs. */
static bool is_domain(const struct hardware *hardware, uint64_t inside)
{
    return hardware->chassis_gpus > 0 && hardware->node_gpus > inside &&
           (!hardware->joins || hardware->nics == hardware->node_gpus);
}

/* What fills a domain, or the nodes that the row counts in; nodes = 0 with the row refused. */
static struct topology_filling fill(const struct validate_run *run, const struct hardware *hardware,
                                    uint64_t inside, bool domain, struct validate_row *row)
{
    const struct node_spec node = {.gpus = inside,
                                   .chassis_gpus = domain ? hardware->chassis_gpus : 0,
                                   .job_gpus = hardware->job_gpus};
    const struct topology_filling out = topology_fill(&node, run->gpus);
    if (out.nodes == 0)
        validate_row_refuse(row, REFUSAL_HARDWARE, "%llu GPUs are not whole nodes of %llu",
                            (unsigned long long)run->gpus, (unsigned long long)inside);
    return out;
}

bool validate_cluster(const struct validation *v, const struct validate_run *run,
                      struct validate_text *out, struct validate_row *row)
{
    struct hardware hardware = {0};
    if (run->gpus == 0 || run->gpus > GPU_MAX || run->gpus_per_node > GPU_MAX) {
        validate_row_refuse(row, REFUSAL_CELLS, "gpus: from 1 to %d", (int)GPU_MAX);
        return false;
    }
    if (!look_up(v, run, "", &hardware, row))
        return false;
    uint64_t inside = run->gpus_per_node > 0 ? run->gpus_per_node : 1;
    bool domain = run->gpus_per_node == 0 || is_domain(&hardware, inside);
    if (domain)
        inside = hardware.node_gpus;
    const char *other = domain || inside == hardware.node_gpus
                            ? NULL
                            : validate_nodes_only(v->nodes, run->gpu, run->gpus_per_node);
    if (other != NULL && !look_up(v, run, other, &hardware, row))
        return false;
    const struct topology_filling filling = fill(run, &hardware, inside, domain, row);
    if (filling.nodes == 0)
        return false;
    validate_text_open(out, "cluster");
    validate_text_key(out, "gpu", validate_origin_of(&run->cells, &run->origins, "gpu").s, "%s",
                      run->gpu);
    if (v->profile != NULL && strcmp(v->profile_gpu, run->gpu) == 0)
        validate_text_key(out, "profile", "option --profile", "\"%s\"", v->profile);
    write_node(run, &hardware, run->gpus > inside ? filling.each : inside, domain, out);
    if (run->gpus <= inside)
        validate_text_key(out, "gpus", validate_origin_of(&run->cells, &run->origins, "gpus").s,
                          "%llu", (unsigned long long)run->gpus);
    else
        write_nodes(run, &hardware, filling, domain, out);
    validate_text_close(out);
    return true;
}
