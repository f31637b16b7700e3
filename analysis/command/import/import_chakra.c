/* import_chakra.c - Chakra execution traces: checked, and played by `orrery chakra`. */
#include "analysis/command/import/import_kind.h"
#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/tell/report/report_tasks.h"
#include "scenarios/import/chakra/chakra_files.h"

/* The traces of all ranks: what they hold, and whether they fit each other and come to an end. */
static int run(struct importing *i)
{
    struct chakra_job job;
    struct task_graph graph;
    struct task_links links;
    struct chakra_counts counts;
    struct error error = {""};
    if (!chakra_files_read(i->arena, i->file.path, i->a->messages.drop_missing, &job, &error))
        return importing_trouble(
            i, &error, load_refused_code(arena_format(i->arena, "%s.0.et", i->file.path)));
    if (!chakra_tasks(i->arena, &job, NULL, &graph, &counts, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    task_set_eager(&graph,
                   i->a->messages.has_eager ? i->a->messages.eager_bytes : TASK_EAGER_BYTES);
    task_link(i->arena, &graph, &links);
    if (!task_check(&graph, &links, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    report_task_counts(i->session, i->file.path, &graph, &counts);
    return EXIT_OK;
}

static const char *const takes[] = {"--eager", "--drop-missing", NULL};

const struct import_kind import_chakra = {
    .head = {.name = "chakra",
             .doc = "Chakra execution traces PREFIX.0.et and so on: checks each, and that\n"
                    "they fit together; 'orrery chakra' simulates them"},
    .file = "PREFIX",
    .takes = takes,
    .run = run,
};
