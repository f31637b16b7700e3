#include <stdlib.h>
#include <string.h>

#include "models/layout/announced.h"
#include "models/plan/choice.h"
#include "scenarios/assemble/build_parts.h"
#include "sim/plural.h"
#include "topology/topology_kind.h"

/* A node or fabric as read: its struct's common part, found by the section. */
struct wired {
    enum section section;
    enum family kinds;
    enum topology_role role;
    void *object;
    const char **name;
    const struct topology_kind **kind;
    struct kind_options *options;
};

static const char *entry_name(const char *name)
{
    return *name ? name : "custom";
}

static void build_gpu(struct builder *b, const struct value *cluster)
{
    struct gpu_spec *gpu = &b->scenario->configuration.gpu;
    const struct schema_section *schema = schema_section(SECTION_GPU);
    const struct value *mapping = section_take(b, cluster, SECTION_GPU), *base = NULL;
    struct named_keys keys = {"", ""};
    if (mapping == NULL || !reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys))
        return;
    if (*keys.name && (base = section_entry(b, SECTION_GPU, mapping, "name", keys.name)) == NULL)
        return;
    struct value *merged = section_overlay(b, SECTION_GPU, base, mapping);
    reader_fill(&b->reader, merged, schema->path, schema_table(schema), gpu);
    section_finish(b, SECTION_GPU, merged, (struct params){NULL, 0}, schema->path);
    gpu->name = entry_name(keys.name);
    struct constant_section of = {SECTION_GPU, gpu->name, base, mapping, NULL};
    build_constants(b, &of, schema_table(schema), gpu);
    build_figures(b, &of, schema_table(schema), merged);
    if (base && value_find(mapping, "hbm") && value_find(mapping, "nominal_hbm") == NULL)
        gpu->hbm.nominal_bytes = 0.0; /* the base's is of a card with its memory */
    if (base && value_find(mapping, "hbm") && value_find(mapping, "usable_hbm") == NULL)
        problems_warning(b->problems, section_mark(mapping, "hbm"),
                         "cluster.gpu.hbm: usable_hbm, which decides what fits, stays that of %s; "
                         "give it too",
                         gpu->name);
}

static const struct topology_kind *find_kind(struct builder *b, const struct wired *w,
                                             const struct value *mapping, const struct value *base,
                                             const char *given)
{
    const struct value *of_base = value_find(base, "kind");
    const char *path = schema_section(w->section)->path;
    const char *text = *given ? given : of_base && of_base->text ? of_base->text : "";
    const struct topology_kind *kind = topology_find(w->role, text);
    if (*text == '\0')
        problems_error(b->problems, mapping->key_mark,
                       "%s must be given by a name of the catalogue or a 'kind'", path);
    else if (kind == NULL)
        section_unknown_name(b, w->section, mapping, "kind", text,
                             family_kinds(b->arena, w->kinds));
    return kind;
}

/* Of a board with a NIC for each GPU a smaller piece has as many NICs as GPUs, unless it is said.
 */
static void follow_gpus(const struct value *mapping, const struct value *base,
                        struct node_spec *node)
{
    const struct value *gpus = value_find(base, "gpus"), *nics = value_find(base, "nics");
    bool each = gpus && nics && gpus->text && nics->text && strcmp(gpus->text, nics->text) == 0;
    if (each && value_find(mapping, "gpus") && value_find(mapping, "nics") == NULL)
        node->nic.count = node->gpus;
}

static void build_wired(struct builder *b, const struct value *mapping, const struct wired *w)
{
    const struct schema_section *schema = schema_section(w->section);
    const struct value *base = NULL;
    struct named_keys keys = {"", ""};
    if (!reader_fill(&b->reader, mapping, schema->path, schema->keys, &keys))
        return;
    if (*keys.name && (base = section_entry(b, w->section, mapping, "name", keys.name)) == NULL)
        return;
    const struct topology_kind *kind = find_kind(b, w, mapping, base, keys.kind);
    if (kind == NULL)
        return;
    struct value *merged = section_overlay(b, w->section, base, mapping);
    reader_fill(&b->reader, merged, schema->path, schema_table(schema), w->object);
    if (w->section == SECTION_NODE)
        follow_gpus(mapping, base, w->object);
    struct params options = section_options(b, merged, schema->path, &kind->head, w->options);
    section_finish(b, w->section, merged, options, schema->path);
    *w->name = entry_name(keys.name);
    *w->kind = kind;
    struct constant_section of = {w->section, *w->name, base, mapping, NULL};
    build_constants(b, &of, schema_table(schema), w->object);
    build_figures(b, &of, schema_table(schema), merged);
    build_figures(b, &of, options, merged);
    const struct value *usual = value_find(base, "kind");
    if (usual && usual->text && strcmp(usual->text, kind->head.name) == 0)
        build_constant_options(b, &of, options, w->options);
}

static bool says_zero(const struct value *value)
{
    return value != NULL && value->text != NULL && value->text[0] == '0' &&
           strtod(value->text, NULL) == 0.0;
}

/* A rate of 0 looks like no network; it is the one of the node, which is said. */
static void warn_of_zero(struct builder *b, const struct value *mapping)
{
    static const char says[] = "cluster.fabric.%s: 0 stands for the %s of the node; leave the key "
                               "out, or say another";
    if (says_zero(value_find(mapping, "nic")))
        problems_warning(b->problems, section_mark(mapping, "nic"), says, "nic", "rate");
    if (says_zero(value_find(mapping, "nics")))
        problems_warning(b->problems, section_mark(mapping, "nics"), says, "nics", "number");
}

/* `mapping` with one more word. */
static const struct value *with_word(struct builder *b, const struct value *mapping,
                                     const char *key, const char *text)
{
    struct value *word = value_word(b->arena, text, mapping->mark);
    struct value *out = value_new(b->arena, VALUE_MAPPING, mapping->mark);
    out->key_mark = mapping->key_mark;
    for (const struct value *member = mapping->first; member; member = member->next)
        value_append(out, value_share(b->arena, member));
    word->key = key;
    word->key_mark = mapping->key_mark;
    value_append(out, word);
    return out;
}

/* A part of the cluster that neither a name nor a kind says is the usual one, and is told. */
static const struct value *usual_part(struct builder *b, const struct value *mapping,
                                      const char *usual, enum choice_key key)
{
    const bool said = value_find(mapping, "name") != NULL || value_find(mapping, "kind") != NULL;
    if (said || usual == NULL || *usual == '\0')
        return mapping;
    b->open |= 1u << key;
    return with_word(b, mapping, "name", usual);
}

/* Without a name or a kind it is the node that the GPU usually comes in; of a GPU that could not be
 * read, which is told, none is missed. */
static void build_node(struct builder *b, const struct value *cluster)
{
    struct node_spec *node = &b->scenario->configuration.cluster.node;
    const struct value *mapping = section_take(b, cluster, SECTION_NODE);
    struct wired wired = {SECTION_NODE, FAMILY_NODE_KINDS, TOPOLOGY_NODE, node,
                          &node->name,  &node->kind,       &node->options};
    if (mapping == NULL)
        return;
    mapping = usual_part(b, mapping, b->scenario->configuration.gpu.node, CHOICE_NODE);
    const bool said = value_find(mapping, "name") != NULL || value_find(mapping, "kind") != NULL;
    if (!said && b->scenario->configuration.gpu.name == NULL)
        return;
    build_wired(b, mapping, &wired);
}

/* What the scenario says of its nodes' NICs goes before what an entry says of a fabric: 0 there
 * stands for the node's. Where both are said the fabric's counts, and another one is told. */
static const struct value *with_nics_of_node(struct builder *b, const struct value *cluster,
                                             const struct value *fabric)
{
    static const struct {
        const char *of_node, *of_fabric, *unsaid;
    } keys[] = {{"nics", "nics", "0"}, {"nic_bandwidth", "nic", "0Gb/s"}};
    const struct value *node = value_find(cluster, "node");
    for (unsigned i = 0; node != NULL && i < sizeof keys / sizeof keys[0]; i++) {
        const struct value *of_node = value_find(node, keys[i].of_node),
                           *said = value_find(fabric, keys[i].of_fabric);
        if (said == NULL) /* the other spelling */
            said = value_find(fabric, keys[i].of_node);
        if (of_node == NULL || of_node->text == NULL)
            continue;
        if (said == NULL)
            fabric = with_word(b, fabric, keys[i].of_fabric, keys[i].unsaid);
        else if (said->text != NULL && !says_zero(said) && strcmp(said->text, of_node->text) != 0)
            problems_warning(b->problems, of_node->key_mark,
                             "cluster.node.%s: %s has no effect, as cluster.fabric.%s says %s",
                             keys[i].of_node, of_node->text, keys[i].of_fabric, said->text);
    }
    return fabric;
}

/* One node stands alone: the kind that joins nothing. Several are joined by what the node usually
 * stands on. */
static void build_fabric(struct builder *b, const struct value *cluster, uint64_t nodes)
{
    struct topology_spec *spec = &b->scenario->configuration.cluster;
    struct fabric_spec *fabric = &spec->fabric;
    const struct value *mapping = section_take(b, cluster, SECTION_FABRIC);
    struct wired wired = {SECTION_FABRIC, FAMILY_FABRIC_KINDS, TOPOLOGY_FABRIC, fabric,
                          &fabric->name,  &fabric->kind,       &fabric->options};
    if (mapping == NULL)
        return;
    if (mapping->count == 0 && nodes == 1)
        mapping = with_word(b, mapping, "kind", "none");
    mapping = usual_part(b, mapping, spec->node.fabric, CHOICE_FABRIC);
    build_wired(b, with_nics_of_node(b, cluster, mapping), &wired);
    warn_of_zero(b, mapping);
}

static void refuse_gpus(struct builder *b, const struct value *cluster,
                        const struct cluster_keys *keys)
{
    const struct node_spec *node = &b->scenario->configuration.cluster.node;
    const unsigned long long gpus = keys->gpus, nodes = keys->nodes, inside = node->gpus;
    const unsigned long long tray = node->chassis_gpus > 0 ? node->chassis_gpus : 1;
    const struct mark mark = section_mark(cluster, "gpus");
    if (nodes > 0 && gpus > nodes * inside) {
        problems_error(b->problems, mark,
                       "cluster.gpus: %llu node%s of %llu GPU%s %s %llu; give nodes or gpus alone",
                       nodes, plural_s(nodes), inside, plural_s(inside),
                       nodes == 1 ? "has" : "have", nodes * inside);
    } else if (nodes > 0) {
        problems_error(b->problems, mark,
                       "cluster.gpus: %llu GPU%s %s not fill %llu node%s evenly, by whole %s: give "
                       "nodes or gpus alone, or %llu GPUs for %llu of each node",
                       gpus, plural_s(gpus), gpus == 1 ? "does" : "do", nodes, plural_s(nodes),
                       tray > 1 ? "trays" : "GPUs", gpus / (nodes * tray) * nodes * tray,
                       gpus / (nodes * tray) * tray);
    } else if (tray > 1) {
        problems_error(b->problems, mark,
                       "cluster.gpus: %llu is not a whole number of trays of %llu GPUs: %llu or "
                       "%llu are",
                       gpus, tray, gpus / tray * tray, (gpus / tray + 1) * tray);
    } else {
        problems_error(b->problems, mark,
                       "cluster.gpus: %llu is not a whole number of nodes of %llu GPUs", gpus,
                       inside);
    }
}

/* What fills a node: all nodes alike by whole trays where both nodes and GPUs are said, else as a
 * job of so many GPUs does. */
static struct topology_filling fill_nodes(const struct node_spec *node,
                                          const struct cluster_keys *keys)
{
    const uint64_t tray = node->chassis_gpus > 0 ? node->chassis_gpus : 1;
    const struct topology_filling own = topology_fill(node, keys->gpus);
    if (keys->nodes == 0 || own.nodes == keys->nodes)
        return own;
    const uint64_t each = keys->gpus / keys->nodes;
    const bool even = keys->gpus % keys->nodes == 0 && each > 0 && each % tray == 0;
    return even && each <= node->gpus ? (struct topology_filling){keys->nodes, each}
                                      : (struct topology_filling){0, 0};
}

/* Nodes from GPUs: whole nodes, a part of each, or of the last. */
static void count_nodes(struct builder *b, const struct value *cluster,
                        const struct cluster_keys *keys)
{
    struct topology_spec *spec = &b->scenario->configuration.cluster;
    const uint64_t inside = spec->node.gpus;
    spec->nodes = keys->nodes ? keys->nodes : 1;
    if (keys->gpus == 0 || inside == 0)
        return;
    const struct topology_filling filling = fill_nodes(&spec->node, keys);
    if (filling.nodes == 0) {
        refuse_gpus(b, cluster, keys);
        return;
    }
    spec->nodes = filling.nodes;
    spec->gpus = keys->gpus < filling.nodes * filling.each ? keys->gpus : 0;
    if (filling.each == inside)
        return;
    spec->node.installed_gpus = inside;
    spec->node.gpus = filling.each;
    if (keys->nodes == 0 && filling.nodes > 1)
        b->open |= 1u << CHOICE_NODES;
}

enum {
    CLUSTER_GPU_MAX = 1 << 22 /* rank numbers and vertices are 32 bits wide, with room for both */
};

static void check_size(struct builder *b, const struct value *cluster)
{
    const struct topology_spec *spec = &b->scenario->configuration.cluster;
    uint64_t most = CLUSTER_GPU_MAX;
    if (spec->node.gpus > most || spec->nodes > most / (spec->node.gpus ? spec->node.gpus : 1))
        problems_error(b->problems, section_mark(cluster, "nodes"),
                       "cluster: more than %llu GPUs cannot be simulated",
                       (unsigned long long)most);
}

/* What no kind says of itself: NICs and GPUs, rates, the size of the whole. */
static void ask_whole(struct builder *b, const struct value *cluster)
{
    struct error error = {{0}};
    if (!topology_check(&b->scenario->configuration.cluster, &error))
        problems_error(b->problems, cluster->key_mark, "cluster: %s", error.text);
}

/* A card fits the socket of its board. */
static void check_socket(struct builder *b, const struct value *cluster)
{
    const struct configuration *c = &b->scenario->configuration;
    const char *card = c->gpu.socket, *board = c->cluster.node.socket;
    bool known = card && *card && board && *board;
    if (!known || strcmp(card, board) == 0)
        return;
    const char *own =
        *c->gpu.node ? arena_format(b->arena, "; it usually comes in %s", c->gpu.node) : "";
    problems_warning(b->problems, section_mark(cluster, "node"),
                     "cluster.node: %s takes cards with socket %s, and %s has %s%s; give "
                     "node: {socket: %s} for a board of your own",
                     c->cluster.node.name, board, c->gpu.name, card, own, card);
}

/* What stands on it is said again by the reports (analysis/tell/report/report.h). */
static void warn_of_announced(struct builder *b, const struct value *cluster)
{
    const struct configuration *c = &b->scenario->configuration;
    char words[ANNOUNCED_WORDS_MAX];
    if (announced_words(c, words, sizeof words) == NULL)
        return;
    const char *key = c->gpu.announced_error_ratio > 0.0            ? "gpu"
                      : c->cluster.node.announced_error_ratio > 0.0 ? "node"
                                                                    : "fabric";
    problems_warning(b->problems, section_mark(cluster, key), "cluster.%s: %s", key, words);
}

static void ask_kind(struct builder *b, const struct value *cluster, const char *key,
                     const struct topology_kind *kind)
{
    struct error error = {{0}};
    if (kind && kind->check && !kind->check(&b->scenario->configuration.cluster, &error))
        problems_error(b->problems, section_mark(cluster, key), "cluster.%s: %s", key, error.text);
}

void build_cluster(struct builder *b)
{
    struct topology_spec *spec = &b->scenario->configuration.cluster;
    const struct schema_section *schema = schema_section(SECTION_CLUSTER);
    const struct value *cluster = section_take(b, b->root, SECTION_CLUSTER);
    struct cluster_keys keys = {0, 0, ""};
    if (cluster == NULL)
        return;
    unsigned before = b->problems->error_count;
    reader_fill(&b->reader, cluster, schema->path, schema->keys, &keys);
    build_gpu(b, cluster);
    build_node(b, cluster);
    count_nodes(b, cluster, &keys);
    check_size(b, cluster);
    build_fabric(b, cluster, spec->nodes);
    topology_drop_nics(spec);
    section_finish(b, SECTION_CLUSTER, cluster, (struct params){NULL, 0}, schema->path);
    b->cluster_sound = b->problems->error_count == before;
    if (!b->cluster_sound)
        return;
    if (*keys.profile)
        build_profile(b, cluster, keys.profile);
    ask_kind(b, cluster, "node", spec->node.kind);
    ask_kind(b, cluster, "fabric", spec->fabric.kind);
    if (b->problems->error_count == before)
        ask_whole(b, cluster);
    check_socket(b, cluster);
    warn_of_announced(b, cluster);
}
