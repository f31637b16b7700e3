#include <string.h>

#include "analysis/command/import/import_kind.h"
#include "analysis/command/line/command.h"
#include "analysis/command/line/gpu_name.h"
#include "analysis/command/line/load.h"
#include "analysis/output/text/format.h"
#include "scenarios/language/names.h"

enum {
    NAMES_MAX = 64
};

#define ARGUMENTS struct import_arguments
static const struct option options[] = {
    {"--output", OPTION_OUTPUT, FIELD(output), "FILE", NULL,
     "nccl-tests, pytorch: the profile to write, or to add to; failures: the trace to write; "
     "calculon, simumax, megatron, torchtitan, deepspeed, "
     "nanotron, nemo: the scenario to write"},
    {"--gpu", OPTION_TEXT, FIELD(card.gpu), "NAME", NULL,
     "nccl-tests, pytorch, topo, nccl-topo, mllog, calculon, simumax, megatron, torchtitan, "
     "deepspeed, nanotron, nemo: the card by its name in the catalogue"},
    OPTION_OTHER_CARD_ROW(card.other_card, "with --gpu: accept a file that names another card"),
    {"--op", OPTION_TEXT, FIELD(op), "OP", NULL,
     "nccl-tests: the collective, if the output does not name it"},
    {"--gpus", OPTION_SOME, FIELD(watch.gpus), "N", NULL,
     "failures: GPUs that were watched; calculon, simumax, megatron, torchtitan, deepspeed, "
     "nanotron, nemo: GPUs of the job"},
    {"--gpus-per-node", OPTION_SOME, FIELD(gpus_per_node), "N", NULL,
     "failures: GPUs per node (8); pytorch: GPUs per node (those that the process saw)"},
    {"--start", OPTION_TEXT, FIELD(watch.start), "DATE", NULL,
     "failures: when the watch began, as 2026-01-01 or 2026-01-01T08:00:00+01:00"},
    {"--end", OPTION_TEXT, FIELD(watch.end), "DATE", NULL,
     "failures: when it ended (the last moment that the log names)"},
    {"--merge", OPTION_TIME, FIELD(watch.merge_s), "TIME", NULL,
     "failures: repeats within TIME count as one (10min; for a table 0s)"},
    {"--host", OPTION_TEXT, FIELD(watch.host), "NAME", NULL,
     "xid: the node that wrote the log, if the log does not name it (dmesg -T)"},
    {"--catalogue", OPTION_FOLDER, FIELD(card.catalogue), "DIR", NULL,
     "look --gpu up in DIR instead of the built-in catalogue"},
    {"--config", OPTION_INPUT, FIELD(config), "FILE", NULL,
     "mllog: the submitter's config_*.sh of that run; nothing of it is executed"},
    {"--row", OPTION_FLAG, FIELD(row), NULL, NULL,
     "mllog: print a row as `orrery validate` reads it, instead of a scenario"},
    {"--set", OPTION_SET, FIELD(sets), "VAR=VALUE", NULL,
     "megatron, torchtitan, deepspeed: a variable of the script, as in --set TP=8; may be "
     "repeated"},
    {"--model", OPTION_TEXT, FIELD(model), "FILE", NULL,
     "calculon, simumax: the JSON of the model; deepspeed: a model of the catalogue, or a "
     "config.json of Hugging Face"},
    {"--system", OPTION_INPUT, FIELD(system), "FILE", NULL,
     "calculon, simumax: the JSON of the machine, in place of --gpu and its usual node"},
    OPTION_CHAKRA_ROWS(messages),
    OPTION_END};
static int no_name(const char *wanted, struct session *session)
{
    const char *names[NAMES_MAX];
    struct import_name name;
    unsigned count = 0;
    while (count < NAMES_MAX && import_name_at(count, &name))
        names[count++] = name.head->name;
    const char *nearest = names_nearest(wanted, (struct name_list){names, count});
    fprintf(session->notes, "orrery import: no kind '%s'", format_shown(wanted).s);
    if (nearest != NULL)
        fprintf(session->notes, "; did you mean '%s'?\n", nearest);
    else
        fputs("; see 'orrery import --help'\n", session->notes);
    return EXIT_USAGE;
}

static const char *word(unsigned index)
{
    struct import_name name;
    return import_name_at(index, &name) ? name.head->name : NULL;
}

static bool find_name(const char *wanted, struct import_name *out)
{
    for (unsigned i = 0; import_name_at(i, out); i++)
        if (strcmp(out->head->name, wanted) == 0)
            return true;
    return false;
}

/* An option that was given and says nothing to the kind; NULL: none. */
static const char *stray_option(const struct import_arguments *a, const struct import_name *name)
{
    for (const struct option *o = options; o->name != NULL; o++)
        if (arguments_say(&a->line, o) && !import_name_takes(name, o->name))
            return o->name;
    return NULL;
}

static bool options_fit(const struct import_arguments *a, struct session *session,
                        const struct import_name *name)
{
    struct error error = {""};
    const char *stray = stray_option(a, name);
    if (stray != NULL)
        fprintf(session->notes, "orrery import %s: takes no %s; see 'orrery import --help'\n",
                name->head->name, stray);
    else if (a->card.gpu != NULL && !gpu_name_known(a->card.gpu, a->card.catalogue, &error))
        fprintf(session->notes, "orrery import: --gpu: %s\n", error.text);
    else
        return true;
    return false;
}

static int run_kind(const struct import_kind *kind, struct importing *importing)
{
    struct error error = {""};
    const char *path = importing->file.path;
    return kind->bytes_max == 0 ||
                   import_open(importing->arena, path, kind->bytes_max, &importing->file, &error)
               ? kind->run(importing)
               : importing_trouble(importing, &error, load_refused_code(path));
}

static int run(const void *line, struct session *session)
{
    const struct import_arguments *a = line;
    struct import_name name;
    if (a->line.positional_count != 2) {
        fputs("orrery import: takes a kind and a file; see 'orrery import --help'\n",
              session->notes);
        return EXIT_USAGE;
    }
    if (!find_name(a->line.positional[0], &name))
        return no_name(a->line.positional[0], session);
    if (!options_fit(a, session, &name))
        return EXIT_USAGE;
    struct importing importing = {.a = a,
                                  .session = session,
                                  .arena = arena_create(),
                                  .file = {.path = a->line.positional[1]},
                                  .form = name.form};
    const int code = run_kind(name.kind, &importing);
    arena_destroy(importing.arena);
    return code;
}

const struct command command_import = {
    .head = {.name = "import",
             .doc = "turns measurements and logs of other programs into parts of a scenario"},
    .positional = "[KIND FILE]",
    .options = options,
    .bytes = sizeof(struct import_arguments),
    .rows = import_print_names,
    .word = word,
    .details =
        "FILE may be - (standard input); gzip files are decompressed.\n"
        "exit code: 0 read, 1 no such file, or --output cannot be written, 2 wrong usage, 3 not\n"
        "a file of this kind",
    .example = "orrery import nccl-tests all_reduce.txt --gpu h100-80gb-sxm --output own.db",
    .run = run,
};
