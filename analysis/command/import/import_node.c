#include "analysis/command/import/import_node.h"

#include "analysis/command/line/command.h"
#include "analysis/output/text/format.h"
#include "sim/plural.h"
#include "sim/units.h"

/* By the matrix: how many links, not of which rate, and not always where they go. */
static void print_untold(FILE *out, unsigned links, const char *where)
{
    fprintf(
        out,
        "    # nvlink_bandwidth: %u link%s%s:\n    # %uGB/s with NVLink 2 to 4 (25 GB/s a link), "
        "%uGB/s with NVLink 5; the card's usual node says which\n",
        links, plural_s(links), where, 25 * links, 50 * links);
}

static void print_links(FILE *out, const struct node_topology *n)
{
    if (n->links_untold) {
        fputs("    # nvlink_bandwidth: not told; without it that of the card's usual node\n", out);
    } else if (n->links == 0) {
        fputs("    nvlink_bandwidth: 0GB/s\n", out);
    } else if (n->link_bytes_per_s > 0.0) {
        fprintf(out, "    nvlink_bandwidth: %gGB/s   # %u link%s of %g GB/s\n",
                n->links * n->link_bytes_per_s / GIGA, n->links, plural_s(n->links),
                n->link_bytes_per_s / GIGA);
    } else {
        print_untold(out, n->links, n->wired > 0 && !n->meshed ? " if they go to a switch" : "");
        if (n->wired > 0 && !n->meshed)
            print_untold(out, n->wired, " if they go from card to card (kind: pcie, bridged)");
    }
    if (n->meshed)
        fputs(
            "    # NVLink does not join each of these GPUs to each other: a node of a scenario has "
            "a switch\n    # or is bridged, and takes such a mesh as one of them\n",
            out);
    else if (n->links > 0 && n->linked < n->gpus)
        fprintf(out, "    # NVLink joins %u GPUs at a time: kind: pcie, bridged: %u\n", n->linked,
                n->linked);
    if (n->uneven)
        fputs("    # some GPUs have more NVLinks or reach more by them: what stands here is the "
              "least\n",
              out);
}

/* The scenario's rule: at most one for each GPU, dividing their number. */
static void print_nics(FILE *out, const struct node_topology *n)
{
    const unsigned nics = n->near_nics > 0 ? n->near_nics : n->nics;
    const char *which = n->near_nics > 0 && n->near_nics < n->nics
                            ? "those with a GPU under their PCIe switch, of"
                            : "of";
    if (nics > n->gpus || (nics > 0 && n->gpus % nics != 0)) {
        fprintf(out, "    # nics: %u for %u GPU%s; say how many are of the compute network\n", nics,
                n->gpus, plural_s(n->gpus));
        return;
    }
    fprintf(out, "    nics: %u   # %s %u; those for storage are not told apart\n", nics, which,
            n->nics);
    if (n->nic_bits_per_s > 0.0)
        fprintf(out, "    nic_bandwidth: %gGb/s\n", n->nic_bits_per_s / GIGA);
    else if (nics > 0)
        fputs("    # nic_bandwidth: not told\n", out);
}

static void print_node(FILE *out, const struct node_topology *node, const char *gpu)
{
    fputs("cluster:\n", out);
    if (gpu != NULL)
        fprintf(out, "  gpu: %s\n", format_shown(gpu).s);
    else if (node->sm > 0)
        fprintf(out, "  # gpu: a card of sm %u; which one is not told: --gpu NAME\n", node->sm);
    else
        fputs("  # gpu: not told: --gpu NAME\n", out);
    fputs("  nodes: 1   # how many there are is not told, nor what joins them (fabric)\n", out);
    fprintf(out,
            "  node:      # over the card's usual node; PCIe and host rates are not told\n"
            "    gpus: %u\n",
            node->gpus);
    print_links(out, node);
    print_nics(out, node);
}

int import_node(struct importing *i, node_reader_fn *read)
{
    struct node_topology topology;
    struct error error = {""};
    if (!read(i->arena, i->file, &topology, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    if (!importing_agrees(i, (struct card_told){.name = "",
                                                .nvlinks = topology.links,
                                                .nvlinks_all = topology.switched,
                                                .capability = topology.sm}))
        return EXIT_REJECTED;
    print_node(i->session->out, &topology, i->a->card.gpu);
    return EXIT_OK;
}
