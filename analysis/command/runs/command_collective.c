#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/stated_scenario.h"
#include "analysis/output/text/format.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report.h"
#include "models/collective/collective_kind.h"
#include "models/step/simulate/collective_run.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/language/names.h"
#include "sim/check.h"
#include "sim/units.h"

enum {
    ROW_MAX = 4096,
    GPUS_MAX = 1 << 20
};

struct collective_arguments {
    struct arguments line;
    const char *op, *gpu, *node, *fabric; /* NULL: not said */
    uint64_t gpus;
    double min_bytes, max_bytes, factor;
    const char *catalogue;
    bool json;
};
#define ARGUMENTS struct collective_arguments
static const struct option options[] = {
    {"--op", OPTION_TEXT, FIELD(op), "OP", NULL,
     "all_reduce (default), all_gather, reduce_scatter, broadcast, all_to_all or send"},
    {"--gpus", OPTION_SOME, FIELD_USUAL(gpus, "8"), "N", NULL, "GPUs in the group"},
    {"--gpu", OPTION_TEXT, FIELD_USUAL(gpu, "h100-80gb-sxm"), "NAME", NULL, "kind of GPU"},
    {"--node", OPTION_TEXT, FIELD(node), "NAME", NULL, "kind of node (the GPU's usual one)"},
    {"--fabric", OPTION_TEXT, FIELD(fabric), "NAME", NULL,
     "network between nodes (the node's usual one)"},
    {"--min", OPTION_SIZE, FIELD_USUAL(min_bytes, "8"), "SIZE", NULL, "smallest buffer"},
    {"--max", OPTION_SIZE, FIELD_USUAL(max_bytes, "8GiB"), "SIZE", NULL, "largest buffer"},
    {"--factor", OPTION_FACTOR, FIELD_USUAL(factor, "2"), "F", NULL, "ratio between sizes"},
    OPTION_CATALOGUE_ROW(catalogue),
    OPTION_JSON_ROW(json),
    OPTION_END};

static const enum comm_op ops[] = {COMM_ALL_REDUCE, COMM_ALL_GATHER, COMM_REDUCE_SCATTER,
                                   COMM_BROADCAST,  COMM_ALL_TO_ALL, COMM_SEND};

static bool find_op(const char *name, enum comm_op *out, FILE *notes)
{
    const char *known[sizeof ops / sizeof ops[0]];
    for (unsigned i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        known[i] = comm_op_names[ops[i]];
        if (strcmp(known[i], name) == 0) {
            *out = ops[i];
            return true;
        }
    }
    const char *nearest =
        names_nearest(name, (struct name_list){known, sizeof ops / sizeof ops[0]});
    fprintf(notes, "orrery collective: no operation '%s'", format_shown(name).s);
    if (nearest != NULL)
        fprintf(notes, "; did you mean '%s'?\n", nearest);
    else
        fputs("; see 'orrery collective --help'\n", notes);
    return false;
}

/* The catalogue is met through the door of scenarios: a small scenario on one node, or on two where
 * the GPUs do not fit one. Its batch is never trained; it is one that nodes of any usual size
 * divide. */
static struct scenario *cluster_scenario(const struct collective_arguments *a,
                                         struct session *session, int *code)
{
    const char *gpu = a->gpu;
    const bool node = a->node != NULL, fabric = a->fabric != NULL;
    char text[1024];
    *code = EXIT_USAGE;
    if (!stated_name(gpu) || (node && !stated_name(a->node)) ||
        (fabric && !stated_name(a->fabric))) {
        fputs("orrery collective: --gpu, --node and --fabric take names of the catalogue; see "
              "'orrery list'\n",
              session->notes);
        return NULL;
    }
    int length = snprintf(text, sizeof text,
                          "name: collective\nmodel: {preset: gpt2-124m}\n"
                          "cluster: {gpu: %s, nodes: 2%s%s%s%s}\n"
                          "training: {sequence: 1024, global_batch: 5040, precision: fp32}\n"
                          "layout: {tp: 1, pp: 1, dp: auto, microbatch: 1}\n",
                          gpu, node ? ", node: " : "", node ? a->node : "",
                          fabric ? ", fabric: " : "", fabric ? a->fabric : "");
    if (length >= (int)sizeof text) {
        fputs("orrery collective: these names are too long\n", session->notes);
        return NULL;
    }
    struct scenario_options how = {.catalogue = a->catalogue};
    struct error error = {""};
    struct scenario *s = scenario_read("the given cluster", text, (size_t)length, &how, &error);
    if (s != NULL && s->diagnostics.error_count == 0 &&
        a->gpus <= s->configuration.cluster.node.gpus) { /* one node uses no fabric */
        static const char *const alone[] = {"cluster.nodes=1"};
        how.sets = alone;
        how.set_count = 1;
        scenario_destroy(s);
        s = scenario_read("the given cluster", text, (size_t)length, &how, &error);
    }
    if (s == NULL) {
        fprintf(session->notes, "orrery collective: %s\n", error.text);
        *code = EXIT_TROUBLE;
        return NULL;
    }
    scenario_print_problems(s, session->notes, session->notes_colour);
    if (s->diagnostics.error_count == 0)
        return s;
    scenario_destroy(s);
    *code = EXIT_REJECTED;
    return NULL;
}

static bool check_range(const struct collective_arguments *a, enum comm_op op, FILE *notes)
{
    const uint64_t gpus = a->gpus;
    if (gpus < 2 || gpus > GPUS_MAX || (op == COMM_SEND && gpus % 2 != 0)) {
        fprintf(notes, "orrery collective: --gpus %" PRIu64 ": from 2 to %d%s\n", a->gpus, GPUS_MAX,
                op == COMM_SEND ? ", and even for send" : "");
        return false;
    }
    if (a->min_bytes > a->max_bytes ||
        log(a->max_bytes / a->min_bytes) / log(a->factor) >= ROW_MAX - 1) {
        fputs("orrery collective: --min must not be above --max, in at most 4096 steps\n", notes);
        return false;
    }
    return true;
}

static const char *const lines[] = {
    "# {.op}, {.gpus:digits} GPUs, {.nodes:digits} x {.node} over {.fabric}; all start together\n"
    "{if announced}# announced: {wrap announced_words:whole 2}{end}"
    "#     size (B)  algorithm    protocol    time (us) algbw (GB/s) busbw (GB/s)\n"
    "{each rows}  {bytes:.0f>12}  {algorithm<12} {protocol<8} {time_s/.us:.2f>12} "
    "{algbw_bytes_per_s/.giga:.3f>12} {busbw_bytes_per_s/.giga:.3f>12}\n{end}",
    NULL};

static struct fact *begin(const struct configuration *c, enum comm_op op, uint64_t gpus,
                          struct arena *arena)
{
    const bool many = c->cluster.nodes > 1;
    struct fact *document = document_begin(arena, "orrery.collective/1", NULL);
    document_word(document, ".op", comm_op_names[op]);
    document_count(document, ".gpus", gpus);
    report_announced_of(document, c);
    document_count(document, ".nodes", c->cluster.nodes);
    document_word(document, ".node", c->cluster.node.name);
    document_word(document, ".fabric", many ? c->cluster.fabric.name : "its own links");
    document_real(document, ".us", IN_SECONDS, MICROSECOND);
    document_real(document, ".giga", IN_COUNT, GIGA);
    return document;
}

static void add_row(struct fact *rows, enum comm_op op, uint64_t gpus,
                    const struct collective_result *r)
{
    struct fact *row = document_object(rows, NULL);
    document_word(row, "op", comm_op_names[op]);
    document_count(row, "ranks", gpus);
    document_real(row, "bytes", IN_BYTES, r->bytes);
    document_word(row, "algorithm", r->algorithm);
    document_word(row, "protocol", r->protocol);
    document_real(row, "time_s", IN_SECONDS, r->time_s);
    document_real(row, "algbw_bytes_per_s", IN_BYTES_PER_S, r->algbw_bytes_per_s);
    document_real(row, "busbw_bytes_per_s", IN_BYTES_PER_S, r->busbw_bytes_per_s);
}

/* A ring that leaves a node with other members than it entered has one channel (ring.c). */
static void note_uneven(const struct configuration *c, enum comm_op op, uint64_t gpus, FILE *notes)
{
    const uint64_t each = c->cluster.node.gpus, last = gpus % each;
    if (op == COMM_ALL_TO_ALL || op == COMM_SEND || gpus < each || last == 0 ||
        topology_nics(&c->cluster) < 2)
        return;
    fprintf(notes,
            "note: %" PRIu64 " GPUs fill nodes of %" PRIu64 " unevenly (the last has %" PRIu64
            "): one ring over one NIC of each node joins them, where equal nodes have a ring for "
            "each NIC; take a multiple of %" PRIu64 "\n",
            gpus, each, last, each);
}

static int measure(const struct collective_arguments *a, struct session *session,
                   struct scenario *scenario, enum comm_op op)
{
    struct configuration *c = &scenario->configuration;
    const uint64_t gpus = a->gpus;
    c->cluster.gpus = 0;
    c->cluster.nodes = (gpus + c->cluster.node.gpus - 1) / c->cluster.node.gpus;
    if (!check_range(a, op, session->notes))
        return EXIT_USAGE;
    double *bytes = ARENA_ARRAY(scenario->arena, double, ROW_MAX);
    struct collective_result *results =
        ARENA_ARRAY(scenario->arena, struct collective_result, ROW_MAX);
    struct collective_sizes sizes = {op, bytes, 0};
    struct error error = {""};
    for (double size = a->min_bytes; size <= a->max_bytes && sizes.count < ROW_MAX;
         size = fmax(floor(size * a->factor), size + 1.0))
        bytes[sizes.count++] = floor(size);
    if (!collective_sweep(c, &sizes, gpus, results, &error)) {
        fprintf(session->notes, "orrery collective: %s\n", error.text);
        return EXIT_REJECTED;
    }
    note_uneven(c, op, gpus, session->notes);
    struct fact *document = begin(c, op, gpus, scenario->arena);
    struct fact *rows = document_array(document, "rows");
    for (uint32_t i = 0; i < sizes.count; i++)
        add_row(rows, op, gpus, &results[i]);
    document_print(document, lines, a->json, session);
    return EXIT_OK;
}

static int run(const void *line, struct session *session)
{
    const struct collective_arguments *a = line;
    enum comm_op op = COMM_ALL_REDUCE;
    if (a->op != NULL && !find_op(a->op, &op, session->notes))
        return EXIT_USAGE;
    int code;
    struct scenario *scenario = cluster_scenario(a, session, &code);
    if (scenario == NULL)
        return code;
    code = measure(a, session, scenario, op);
    scenario_destroy(scenario);
    return code;
}

const struct command command_collective = {
    .head = {.name = "collective", .doc = "times a collective by size, as nccl-tests prints it"},
    .options = options,
    .bytes = sizeof(struct collective_arguments),
    .details =
        "The buffer is the full one, as nccl-tests counts; busbw is its bus bandwidth. With\n"
        "send, each GPU of the first half sends to its peer in the second half.",
    .example = "orrery collective --op all_reduce --gpus 16 --min 1M --max 1GiB",
    .run = run,
};
