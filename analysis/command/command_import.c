#include <string.h>

#include "analysis/command/import_failures.h"
#include "analysis/command/import_node.h"
#include "analysis/command/import_profile.h"
#include "analysis/line/command.h"
#include "analysis/line/gpu_name.h"
#include "analysis/report/report_tasks.h"
#include "analysis/text/format.h"
#include "scenarios/import/chakra_files.h"
#include "scenarios/import/import_open.h"
#include "scenarios/import/nccl_tests.h"
#include "scenarios/import/pytorch_trace.h"
#include "scenarios/language/names.h"

static const struct option options[] = {
    {"--output", OPTION_OUTPUT, FIELD(output), "FILE", NULL,
     "nccl-tests, pytorch: the profile to write, or to add to; failures: the trace to write"},
    {"--gpu", OPTION_TEXT, FIELD(gpu), "NAME", NULL,
     "nccl-tests, pytorch, topo, nccl-topo: the card by its name in the catalogue"},
    {"--op", OPTION_TEXT, FIELD(op), "OP", NULL,
     "nccl-tests: the collective, where the output does not say which"},
    {"--gpus", OPTION_SOME, FIELD(gpus), "N", NULL, "failures: GPUs that were watched"},
    {"--gpus-per-node", OPTION_SOME, FIELD(gpus_per_node), "N", NULL,
     "failures: of them in a node (8); pytorch: cards of a node (those that the process saw)"},
    {"--start", OPTION_TEXT, FIELD(start), "DATE", NULL,
     "failures: when the watch began, as 2026-01-01 or 2026-01-01T08:00:00+01:00"},
    {"--end", OPTION_TEXT, FIELD(end), "DATE", NULL,
     "failures: when it ended (the last moment that the log names)"},
    {"--merge", OPTION_TIME, FIELD(merge_s), "TIME", NULL,
     "failures: repeats within TIME are one (10min; of a table, 0s)"},
    {"--catalogue", OPTION_TEXT, FIELD(catalogue), "DIR", NULL,
     "look --gpu up in DIR, not in the built-in catalogue"},
    OPTION_END};
/* Groups of options that a kind may take. */
enum {
    TAKES_OUTPUT = 1,
    TAKES_GPU = 2, /* and --catalogue */
    TAKES_OP = 4,
    TAKES_NODE = 8,
    TAKES_WATCH = 16,
    TAKES_FAILURES = TAKES_WATCH | TAKES_NODE | TAKES_OUTPUT
};

struct importing {
    const struct arguments *a;
    struct session *session;
    struct arena *arena;
    struct import_file file;
};

static int trouble(const struct importing *i, const struct error *error, int code)
{
    fprintf(i->session->notes, "orrery import: %s\n", error->text);
    return code;
}

static int nccl_tests(struct importing *i)
{
    struct error error = {""};
    struct nccl_tests tests;
    bool added;
    if (i->a->output == NULL) {
        fputs("orrery import nccl-tests: give --output FILE, the profile to write or to add to\n",
              i->session->notes);
        return EXIT_USAGE;
    }
    if (!nccl_tests_read(i->arena, i->file, i->a->op, &tests, &error))
        return trouble(i, &error, EXIT_REJECTED);
    const struct import_points points = {tests.points, tests.point_count,      tests.device,
                                         i->a->gpu,    "output of nccl-tests", 0.0};
    if (!import_profile(i->arena, &points, i->a->output, &added, &error))
        return trouble(i, &error, EXIT_REJECTED);
    fprintf(i->session->out, "%s: %u points of %u table%s%s", format_shown(i->a->output).s,
            tests.point_count, tests.table_count, tests.table_count == 1 ? "" : "s",
            added ? " added" : "");
    if (tests.left_out > 0)
        fprintf(i->session->out, "; %u rows of no bytes or of integers left out", tests.left_out);
    fputs("\n", i->session->out);
    return EXIT_OK;
}

static int pytorch(struct importing *i)
{
    struct error error = {""};
    struct pytorch_trace trace;
    const unsigned gpus_per_node = (unsigned)(i->a->gpus_per_node % UINT32_MAX);
    bool added;
    if (i->a->output == NULL) {
        fputs("orrery import pytorch: give --output FILE, the profile to write or to add to\n",
              i->session->notes);
        return EXIT_USAGE;
    }
    if (!pytorch_trace_read(i->arena, i->file, gpus_per_node, &trace, &error))
        return trouble(i, &error, EXIT_REJECTED);
    const struct import_points points = {
        trace.points, trace.point_count, trace.device, i->a->gpu, "trace of the PyTorch profiler",
        0.0};
    if (!import_profile(i->arena, &points, i->a->output, &added, &error))
        return trouble(i, &error, EXIT_REJECTED);
    fprintf(i->session->out, "%s: %u points of %u operators%s, %s of %s in kernels\n",
            format_shown(i->a->output).s, trace.point_count, trace.operators, added ? " added" : "",
            format_percent(trace.points_s / trace.kernels_s).s, format_time(trace.kernels_s).s);
    if (trace.mended > 0)
        fprintf(i->session->notes, "orrery import: %s: %u bytes that are no text, read as '?'\n",
                format_shown(i->file.path).s, trace.mended);
    if (trace.collectives_left > 0)
        fprintf(i->session->out,
                "%u kinds of collectives left out: fewer than three kernels within 5 %% of the "
                "shortest, so that none can be told to have waited for nobody\n",
                trace.collectives_left);
    return EXIT_OK;
}

static int failures(struct importing *i)
{
    return import_failures(i->a, i->session, i->arena, i->file, FAILURE_CSV);
}

static int xid(struct importing *i)
{
    return import_failures(i->a, i->session, i->arena, i->file, FAILURE_XID);
}

static int dcgm(struct importing *i)
{
    return import_failures(i->a, i->session, i->arena, i->file, FAILURE_DCGM);
}

static int slurm(struct importing *i)
{
    return import_failures(i->a, i->session, i->arena, i->file, FAILURE_SLURM);
}

typedef bool node_reader_fn(struct arena *arena, struct import_file file, struct node_topology *out,
                            struct error *error);

static int node(struct importing *i, node_reader_fn *read)
{
    struct node_topology topology;
    struct error error = {""};
    if (!read(i->arena, i->file, &topology, &error))
        return trouble(i, &error, EXIT_REJECTED);
    import_node_print(i->session->out, &topology, i->a->gpu);
    return EXIT_OK;
}

static int topo(struct importing *i)
{
    return node(i, node_topology_matrix);
}

static int nccl_topo(struct importing *i)
{
    return node(i, node_topology_xml);
}

/* The traces of all ranks: what they hold, and whether they fit each other and come to an end. */
static int chakra(struct importing *i)
{
    struct chakra_job job;
    struct task_graph graph;
    struct task_links links;
    struct chakra_counts counts;
    struct error error = {""};
    if (!chakra_files_read(i->arena, i->file.path, &job, &error) ||
        !chakra_tasks(i->arena, &job, NULL, &graph, &counts, &error))
        return trouble(i, &error, EXIT_REJECTED);
    task_link(i->arena, &graph, &links);
    if (!task_check(&graph, &links, &error))
        return trouble(i, &error, EXIT_REJECTED);
    report_task_counts(i->session, i->file.path, graph.rank_count, graph.node_count, &counts);
    return EXIT_OK;
}

static const struct import_kind {
    const char *name;
    int (*run)(struct importing *);
    unsigned takes;
    size_t bytes_max; /* 0: it reads the files itself; one name stands for several */
} kinds[] = {
    {"nccl-tests", nccl_tests, TAKES_OUTPUT | TAKES_GPU | TAKES_OP, IMPORT_BYTES_MAX},
    {"pytorch", pytorch, TAKES_OUTPUT | TAKES_GPU | TAKES_NODE, PYTORCH_BYTES_MAX},
    {"failures", failures, TAKES_FAILURES, IMPORT_BYTES_MAX},
    {"xid", xid, TAKES_FAILURES, IMPORT_BYTES_MAX},
    {"dcgm", dcgm, TAKES_FAILURES, IMPORT_BYTES_MAX},
    {"slurm", slurm, TAKES_FAILURES, IMPORT_BYTES_MAX},
    {"topo", topo, TAKES_GPU, IMPORT_BYTES_MAX},
    {"nccl-topo", nccl_topo, TAKES_GPU, IMPORT_BYTES_MAX},
    {"chakra", chakra, 0, 0},
};
enum {
    KIND_COUNT = sizeof kinds / sizeof kinds[0]
};

static int no_kind(const char *wanted, struct session *session)
{
    const char *names[KIND_COUNT];
    for (unsigned k = 0; k < KIND_COUNT; k++)
        names[k] = kinds[k].name;
    const char *nearest = names_nearest(wanted, (struct name_list){names, KIND_COUNT});
    fprintf(session->notes, "orrery import: no kind '%s'", format_shown(wanted).s);
    if (nearest != NULL)
        fprintf(session->notes, "; did you mean '%s'?\n", nearest);
    else
        fputs("; see 'orrery import --help'\n", session->notes);
    return EXIT_USAGE;
}

/* An option that was given and says nothing to the kind; NULL: none. */
static const char *stray_option(const struct arguments *a, const struct import_kind *kind)
{
    const struct {
        unsigned group;
        bool given;
        const char *option;
    } known[] = {
        {TAKES_OUTPUT, a->output != NULL, "--output"},
        {TAKES_GPU, a->gpu != NULL, "--gpu"},
        {TAKES_GPU, a->catalogue != NULL, "--catalogue"},
        {TAKES_OP, a->op != NULL, "--op"},
        {TAKES_NODE, a->gpus_per_node > 0, "--gpus-per-node"},
        {TAKES_WATCH, a->gpus > 0, "--gpus"},
        {TAKES_WATCH, a->start != NULL, "--start"},
        {TAKES_WATCH, a->end != NULL, "--end"},
        {TAKES_WATCH, a->merge_s > 0.0, "--merge"},
    };
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].given && (kind->takes & known[i].group) == 0)
            return known[i].option;
    return NULL;
}

static bool options_fit(const struct arguments *a, struct session *session,
                        const struct import_kind *kind)
{
    struct error error = {""};
    const char *stray = stray_option(a, kind);
    if (stray != NULL)
        fprintf(session->notes, "orrery import %s: takes no %s; see 'orrery import --help'\n",
                kind->name, stray);
    else if (a->gpu != NULL && !gpu_name_known(a->gpu, a->catalogue, &error))
        fprintf(session->notes, "orrery import: --gpu: %s\n", error.text);
    else
        return true;
    return false;
}

static int run(const struct arguments *a, struct session *session)
{
    struct importing importing = {.a = a, .session = session};
    struct error error = {""};
    const struct import_kind *kind = NULL;
    if (a->positional_count != 2) {
        fputs("orrery import: takes a kind and a file; see 'orrery import --help'\n",
              session->notes);
        return EXIT_USAGE;
    }
    for (unsigned k = 0; k < KIND_COUNT; k++)
        if (strcmp(kinds[k].name, a->positional[0]) == 0)
            kind = &kinds[k];
    if (kind == NULL)
        return no_kind(a->positional[0], session);
    if (!options_fit(a, session, kind))
        return EXIT_USAGE;
    importing.arena = arena_create();
    importing.file.path = a->positional[1];
    const int code = kind->bytes_max == 0 || import_open(importing.arena, a->positional[1],
                                                         kind->bytes_max, &importing.file, &error)
                         ? kind->run(&importing)
                         : trouble(&importing, &error, EXIT_REJECTED);
    arena_destroy(importing.arena);
    return code;
}

const struct command command_import = {
    .head = {.name = "import",
             .doc = "reads what other programs measured or logged into what a scenario takes"},
    .positional = "[KIND FILE]",
    .options = options,
    .details =
        "nccl-tests FILE   times of collectives, into the profile that --output names\n"
        "pytorch FILE      kernels and collectives of a trace of torch.profiler, likewise\n"
        "failures FILE     a table at,unit_kind,unit,cause[,repair]: laws fitted to it, as\n"
        "                  `failures:` of a scenario; with --output as a trace, too\n"
        "xid FILE          the same of the kernel's log: NVIDIA's Xid and SXid\n"
        "dcgm FILE         the same of samples of DCGM_FI_DEV_XID_ERRORS with their times\n"
        "slurm FILE        the same of sacct -P, jobcomp/filetxt or slurmctld's log\n"
        "topo FILE         `nvidia-smi topo -m` of one machine, as `cluster:` of a scenario\n"
        "nccl-topo FILE    the same of the XML that NCCL_TOPO_DUMP_FILE writes\n"
        "chakra PREFIX     Chakra execution traces PREFIX.0.et and so on: checks them, and that\n"
        "                  they fit each other; 'orrery chakra' plays them\n"
        "FILE may be -, standard input; what gzip packed is unpacked.\n"
        "exit code: 0 read, 1 --output cannot be written, 2 wrong usage, 3 no such file, or it is\n"
        "not as its kind says",
    .example = "orrery import nccl-tests all_reduce.txt --gpu h100-80gb-sxm --output own.db",
    .run = run,
};
