#include "analysis/validate/rows/validate_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/validate/rows/validate_run.h"
#include "scenarios/describe/describe.h"

/* GPUs of the node that the card usually comes in; 0: no such card. */
static uint64_t usual_gpus(const struct validate_versions *versions, const char *card)
{
    for (unsigned i = 0; i < versions->card_count; i++)
        if (strcmp(versions->cards[i].name, card) == 0)
            return versions->cards[i].node_gpus;
    return 0;
}

static bool counts_others(const struct validation *v)
{
    for (size_t i = 0; i < v->row_count; i++) {
        const char *cell = csv_cell(v->csv, v->rows[i].record, "gpus_per_node");
        const uint64_t gpus = strtoull(cell, NULL, 10);
        if (gpus > 0 && gpus != usual_gpus(v->versions, csv_cell(v->csv, v->rows[i].record, "gpu")))
            return true;
    }
    return false;
}

static bool read_node(const struct validation *v, const char *name, struct validate_nodes *out,
                      struct error *error)
{
    char text[256];
    const int length = snprintf(text, sizeof text, "cluster: {node: %.128s}\n", name);
    struct scenario_options how = {.catalogue = v->catalogue};
    struct scenario *s = scenario_read("node", text, (size_t)length, &how, error);
    if (s == NULL)
        return false;
    const struct node_spec *node = &s->configuration.cluster.node;
    if (node->card != NULL && *node->card != '\0')
        out->rows[out->count++] = (struct card_node){arena_text(v->arena, name),
                                                     arena_text(v->arena, node->card), node->gpus};
    scenario_destroy(s);
    return true;
}

const struct validate_nodes *validate_nodes_read(const struct validation *v, struct error *error)
{
    struct validate_nodes *out = ARENA_NEW(v->arena, struct validate_nodes);
    const struct catalogue_entry *entries;
    if (!counts_others(v))
        return out;
    const unsigned count = describe_entries("nodes", v->catalogue, v->arena, &entries, error);
    if (count == 0)
        return NULL;
    out->rows = ARENA_ARRAY(v->arena, struct card_node, count);
    for (unsigned i = 0; i < count; i++)
        if (!read_node(v, entries[i].name, out, error))
            return NULL;
    return out;
}

const char *validate_nodes_only(const struct validate_nodes *nodes, const char *card, uint64_t gpus)
{
    const char *only = NULL;
    unsigned found = 0;
    for (unsigned i = 0; i < nodes->count; i++) {
        if (strcmp(nodes->rows[i].card, card) == 0 && nodes->rows[i].gpus == gpus) {
            only = nodes->rows[i].name;
            found++;
        }
    }
    return found == 1 ? only : NULL;
}
