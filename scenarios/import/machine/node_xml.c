/* node_xml.c - NCCL's topology as it dumps it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/machine/node_topology.h"
#include "sim/units.h"

enum { /* of NCCL's reader, but for the depth */
    VALUE_BYTES_MAX = 255,
    ATTRIBUTES_MAX = 16,
    DEPTH_MAX = 32,
    LINKS_MAX = 64
};
#define MEGABIT 1e6
#define CLASS_NVSWITCH "0x068000"
/* PCI classes: display controller, 3D; network controller, InfiniBand and Ethernet. */
#define CLASS_GPU "0x0302"
#define CLASS_INFINIBAND "0x0207"
#define CLASS_ETHERNET "0x0200"

struct attribute {
    const char *name, *value;
};
struct element {
    const char *name;
    struct attribute attributes[ATTRIBUTES_MAX];
    unsigned attribute_count;
};
struct node_xml {
    struct import_text text;
    char *at;
    const char *open[DEPTH_MAX];
    unsigned depth;
    bool rooted;
    unsigned links; /* of the present GPU */
    unsigned peers; /* GPUs that it reaches by cable */
    bool switched;  /* it has links to a switch */
    /* By class: files that cloud providers write name no <gpu> and no <net> (NCCL_TOPO_FILE).
     * Index: depth of the element, for those that stand in the same switch. */
    unsigned class_gpus, class_nics, near_nics;
    unsigned gpus_in[DEPTH_MAX + 2], nics_in[DEPTH_MAX + 2];
    struct node_topology *out;
};

static bool skip_blanks(struct node_xml *x)
{
    for (; *x->at != '\0' && strchr(" \t\r\n", *x->at) != NULL; x->at++)
        x->text.line += *x->at == '\n';
    return *x->at != '\0';
}

/* A name, ended by what stands behind it, which is left to be read. */
static const char *read_name(struct node_xml *x)
{
    const size_t length = strcspn(x->at, " \t\r\n=/><\"");
    const char *name = arena_format(x->text.arena, "%.*s", (int)length, x->at);
    x->at += length;
    return length > 0 && length <= VALUE_BYTES_MAX ? name : NULL;
}

static bool read_attribute(struct node_xml *x, struct element *e)
{
    if (e->attribute_count == ATTRIBUTES_MAX)
        return import_text_bad(&x->text, "more than %d attributes", ATTRIBUTES_MAX);
    struct attribute *a = &e->attributes[e->attribute_count];
    a->name = read_name(x);
    if (a->name == NULL || strncmp(x->at, "=\"", 2) != 0)
        return import_text_bad(&x->text, "an attribute is name=\"value\"");
    x->at += 2;
    const size_t length = strcspn(x->at, "\"<>\n");
    if (x->at[length] != '"' || length > VALUE_BYTES_MAX)
        return import_text_bad(&x->text, "the value of '%s' does not end",
                               import_text_quote(&x->text, a->name));
    a->value = arena_format(x->text.arena, "%.*s", (int)length, x->at);
    x->at += length + 1;
    for (unsigned i = 0; i < e->attribute_count; i++)
        if (strcmp(e->attributes[i].name, a->name) == 0)
            return import_text_bad(&x->text, "'%s' stands twice",
                                   import_text_quote(&x->text, a->name));
    e->attribute_count++;
    return true;
}

static const char *value_of(const struct element *e, const char *name)
{
    for (unsigned i = 0; i < e->attribute_count; i++)
        if (strcmp(e->attributes[i].name, name) == 0)
            return e->attributes[i].value;
    return NULL;
}

static bool number_of(struct node_xml *x, const struct element *e, const char *name, double most,
                      double *out)
{
    const char *value = value_of(e, name);
    return (value != NULL && import_text_number(value, out) && *out >= 0.0 && *out <= most) ||
           import_text_bad(&x->text, "<%s> has no number '%s' from 0 to %g", e->name, name, most);
}

/* NVLink of each generation, one link in one direction (NVIDIA's data sheets of P100, V100, A100,
 * A40, H100, B200). */
static double link_rate(unsigned sm)
{
    if (sm < 60)
        return 0.0;
    if (sm < 70)
        return 20.0 * GIGA;
    if (sm == 86)
        return 14.0625 * GIGA;
    return sm < 100 ? 25.0 * GIGA : 50.0 * GIGA;
}

static bool begin_gpu(struct node_xml *x, const struct element *e)
{
    double sm;
    if (x->out->gpus == NODE_GPUS_MAX)
        return import_text_bad(&x->text, "more than %d GPUs", NODE_GPUS_MAX);
    if (!number_of(x, e, "sm", 999.0, &sm))
        return false;
    if (x->out->gpus > 0 && x->out->sm != (unsigned)sm)
        return import_text_bad(&x->text, "cards of sm %u and %u in one node", x->out->sm,
                               (unsigned)sm);
    x->out->sm = (unsigned)sm;
    x->out->gpus++;
    x->links = x->peers = 0;
    x->switched = false;
    return true;
}

static void end_gpu(struct node_xml *x)
{
    struct node_topology *out = x->out;
    const unsigned linked = x->switched ? NODE_GPUS_MAX : x->peers + 1; /* cut when all are known */
    if (out->gpus > 1 && (x->links != out->links || linked != out->linked))
        out->uneven = true;
    if (out->gpus == 1 || x->links < out->links)
        out->links = x->links;
    if (out->gpus == 1 || linked < out->linked)
        out->linked = linked;
    out->switched = x->switched && x->peers == 0 && (out->gpus == 1 || out->switched);
}

static bool add_links(struct node_xml *x, const struct element *e)
{
    double count;
    const char *class = value_of(e, "tclass");
    if (!number_of(x, e, "count", LINKS_MAX, &count))
        return false;
    const bool to_switch = class != NULL && strncmp(class, CLASS_NVSWITCH, 8) == 0;
    x->links += (unsigned)count;
    x->switched = x->switched || to_switch;
    x->peers += !to_switch;
    return x->links <= LINKS_MAX ||
           import_text_bad(&x->text, "more than %d NVLinks of a GPU", LINKS_MAX);
}

static bool add_net(struct node_xml *x, const struct element *e)
{
    double megabits;
    if (x->out->nics == NODE_NICS_MAX)
        return import_text_bad(&x->text, "more than %d NICs", NODE_NICS_MAX);
    if (!number_of(x, e, "speed", 1e8, &megabits))
        return false;
    const double rate = megabits * MEGABIT;
    if (x->out->nics == 0 || rate < x->out->nic_bits_per_s)
        x->out->nic_bits_per_s = rate;
    x->out->nics++;
    return true;
}

static bool begin_device(struct node_xml *x, const struct element *e)
{
    const char *class = value_of(e, "class");
    if (class == NULL)
        return true;
    const bool gpu = strncmp(class, CLASS_GPU, 6) == 0;
    const bool nic =
        strncmp(class, CLASS_INFINIBAND, 6) == 0 || strncmp(class, CLASS_ETHERNET, 6) == 0;
    x->class_gpus += gpu;
    x->class_nics += nic;
    x->gpus_in[x->depth] += gpu;
    x->nics_in[x->depth] += nic;
    return (x->class_gpus <= NODE_GPUS_MAX && x->class_nics <= NODE_NICS_MAX) ||
           import_text_bad(&x->text, "more than %d GPUs or NICs", NODE_GPUS_MAX);
}

static bool begin_element(struct node_xml *x, const struct element *e)
{
    if (x->depth == 0) {
        const char *version = value_of(e, "version");
        if (strcmp(e->name, "graphs") == 0)
            return import_text_bad(&x->text, "these are NCCL's channels (NCCL_GRAPH_DUMP_FILE), "
                                             "not its wires: give what NCCL_TOPO_DUMP_FILE writes");
        if (x->rooted || strcmp(e->name, "system") != 0)
            return import_text_bad(&x->text, "the root is one <system>");
        x->rooted = true;
        return (version != NULL && strcmp(version, "1") == 0) ||
               import_text_bad(&x->text, "version '%s' of NCCL's topology; 1 is known",
                               import_text_quote(&x->text, version != NULL ? version : ""));
    }
    if (strcmp(e->name, "gpu") == 0)
        return begin_gpu(x, e);
    if (strcmp(e->name, "nvlink") == 0)
        return add_links(x, e);
    if (strcmp(e->name, "pci") == 0)
        return begin_device(x, e);
    return strcmp(e->name, "net") != 0 || add_net(x, e);
}

static bool end_element(struct node_xml *x, const char *name)
{
    if (strcmp(name, "gpu") == 0)
        end_gpu(x);
    if (strcmp(name, "pci") == 0 && x->gpus_in[x->depth + 1] > 0)
        x->near_nics += x->nics_in[x->depth + 1];
    x->gpus_in[x->depth + 1] = x->nics_in[x->depth + 1] = 0;
    return true;
}

/* No element names a card: what stands on PCIe by its class. Links are not told. */
static void take_classes(struct node_xml *x)
{
    x->out->gpus = x->class_gpus;
    x->out->links_untold = true;
    if (x->out->nics > 0)
        return;
    x->out->nics = x->class_nics;
    x->out->near_nics = x->near_nics;
}

/* "<name a="b" ...>" or ".../>", behind its '<'. */
static bool read_begin(struct node_xml *x)
{
    struct element e = {.name = read_name(x)};
    if (e.name == NULL)
        return import_text_bad(&x->text, "an element without a name");
    while (skip_blanks(x) && *x->at != '>' && *x->at != '/')
        if (!read_attribute(x, &e))
            return false;
    const bool whole = *x->at == '/';
    x->at += whole;
    if (*x->at != '>')
        return import_text_bad(&x->text, "<%s> does not end: the file is cut",
                               import_text_quote(&x->text, e.name));
    x->at++;
    if (!begin_element(x, &e))
        return false;
    if (whole)
        return end_element(x, e.name);
    if (x->depth == DEPTH_MAX)
        return import_text_bad(&x->text, "more than %d elements in each other", DEPTH_MAX);
    x->open[x->depth++] = e.name;
    return true;
}

static bool read_end(struct node_xml *x)
{
    const char *name = read_name(x);
    skip_blanks(x);
    if (x->depth == 0 || name == NULL || strcmp(x->open[x->depth - 1], name) != 0 || *x->at != '>')
        return import_text_bad(&x->text, "an end that fits no beginning");
    x->at++;
    x->depth--;
    return end_element(x, name);
}

static bool skip_note(struct node_xml *x)
{
    const char *stop = strncmp(x->at, "!--", 3) == 0 ? "-->" : *x->at == '?' ? "?>" : NULL;
    char *end = stop != NULL ? strstr(x->at, stop) : NULL;
    if (end == NULL)
        return import_text_bad(&x->text, "neither an element nor a comment that ends");
    for (; x->at < end; x->at++)
        x->text.line += *x->at == '\n';
    x->at += strlen(stop);
    return true;
}

bool node_topology_xml(struct arena *arena, struct import_file file, struct node_topology *out,
                       struct error *error)
{
    struct node_xml x = {.out = out};
    *out = (struct node_topology){.gpus = 0};
    if (!import_text_begin(&x.text, arena, &file, error))
        return false;
    x.at = x.text.at;
    x.text.line = 1;
    while (skip_blanks(&x)) {
        if (*x.at++ != '<')
            return import_text_bad(&x.text, "text between elements: this is none of NCCL's files");
        bool good;
        if (*x.at == '!' || *x.at == '?') {
            good = skip_note(&x);
        } else if (*x.at == '/') {
            x.at++;
            good = read_end(&x);
        } else {
            good = read_begin(&x);
        }
        if (!good)
            return false;
    }
    if (x.depth > 0)
        return import_text_bad(&x.text, "<%s> does not end: the file is cut",
                               import_text_quote(&x.text, x.open[x.depth - 1]));
    if (out->gpus == 0)
        take_classes(&x);
    if (out->gpus == 0)
        return error_set(error, "%s: no GPU in it", file.path);
    out->linked = out->linked < out->gpus ? out->linked : out->gpus;
    out->switched = out->switched && !out->uneven;
    out->link_bytes_per_s = out->links > 0 ? link_rate(out->sm) : 0.0;
    return true;
}
