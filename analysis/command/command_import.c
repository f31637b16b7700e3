#include <string.h>

#include "analysis/command/import_failures.h"
#include "analysis/command/import_node.h"
#include "analysis/command/import_profile.h"
#include "analysis/line/command.h"
#include "analysis/report/report_tasks.h"
#include "analysis/text/format.h"
#include "scenarios/import/chakra_files.h"
#include "scenarios/import/nccl_tests.h"
#include "scenarios/import/pytorch_trace.h"
#include "scenarios/language/file.h"
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
    OPTION_END};

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
    bool many; /* it reads the files itself: one name stands for several */
} kinds[] = {
    {"nccl-tests", nccl_tests, false},
    {"pytorch", pytorch, false},
    {"failures", failures, false},
    {"xid", xid, false},
    {"dcgm", dcgm, false},
    {"slurm", slurm, false},
    {"topo", topo, false},
    {"nccl-topo", nccl_topo, false},
    {"chakra", chakra, true},
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
    importing.arena = arena_create();
    struct file_text whole;
    int code = EXIT_REJECTED;
    if (kind->many) {
        importing.file.path = a->positional[1];
        code = kind->run(&importing);
    } else if (file_read(importing.arena, a->positional[1], IMPORT_BYTES_MAX, false, &whole,
                         &error)) {
        importing.file = (struct import_file){a->positional[1], whole.text, whole.bytes};
        code = kind->run(&importing);
    } else {
        trouble(&importing, &error, code);
    }
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
        "failures FILE     a table at,unit_kind,unit,cause[,repair]: laws fitted to it, as\n"
        "                  `failures:` of a scenario; with --output as a trace, too\n"
        "xid FILE          the same of the kernel's log: NVIDIA's Xid and SXid\n"
        "dcgm FILE         the same of samples of DCGM_FI_DEV_XID_ERRORS with their times\n"
        "slurm FILE        the same of sacct -P, jobcomp/filetxt or slurmctld's log\n"
        "topo FILE         `nvidia-smi topo -m` of one machine, as `cluster:` of a scenario\n"
        "nccl-topo FILE    the same of the XML that NCCL_TOPO_DUMP_FILE writes\n"
        "chakra PREFIX     Chakra execution traces PREFIX.0.et and so on: checks them, and that\n"
        "                  they fit each other; 'orrery chakra' plays them\n"
        "FILE may be -, standard input.",
    .example = "orrery import nccl-tests all_reduce.txt --gpu h100-80gb-sxm --output own.db",
    .run = run,
};
