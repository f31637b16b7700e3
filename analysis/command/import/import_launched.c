/* import_launched.c - the launch of a training framework as a scenario. */
#include "analysis/command/import/import_launched.h"

#include <string.h>

#include "analysis/command/import/import_kind.h"
#include "analysis/command/line/command.h"
#include "analysis/output/terminal/output.h"
#include "scenarios/import/configured/nanotron.h"
#include "scenarios/import/configured/nemo.h"
#include "scenarios/import/launched/launched_deepspeed.h"
#include "scenarios/import/launched/launched_megatron.h"
#include "scenarios/import/launched/launched_print.h"
#include "scenarios/import/launched/launched_torchtitan.h"

typedef bool launched_fn(struct arena *arena, const struct import_file *file,
                         const struct launched_hints *hints, uint64_t gpus, struct launched *out,
                         struct error *error);

static bool write_scenario(const struct importing *i, const struct launched *l, struct error *error)
{
    struct output output;
    if (i->a->output == NULL) {
        launched_print(l, i->a->card.gpu, i->session->out);
        return true;
    }
    if (!output_begin(&output, i->session, i->a->output, OUTPUT_SCENARIO, error))
        return false;
    launched_print(l, i->a->card.gpu, output.out);
    return output_end(&output, i->session, true, error);
}

int import_launched_write(const struct importing *i, const struct launched *l)
{
    struct error error = {""};
    for (uint32_t w = 0; w < l->warnings.count; w++)
        fprintf(i->session->notes, "orrery import: warning: %s\n", l->warnings.rows[w]);
    return write_scenario(i, l, &error) ? EXIT_OK : importing_trouble(i, &error, EXIT_TROUBLE);
}

static int run_launched(struct importing *i, launched_fn *read)
{
    const struct option_list *sets = &i->a->sets;
    const struct launched_hints hints = {.sets = sets->words,
                                         .set_count = sets->count,
                                         .sources = strcmp(i->file.path, "-") != 0,
                                         .model = i->a->model};
    struct launched l;
    struct error error = {""};
    if (!read(i->arena, &i->file, &hints, i->a->watch.gpus, &l, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    return import_launched_write(i, &l);
}

static int run_megatron(struct importing *i)
{
    return run_launched(i, launched_megatron);
}

static const char *const takes[] = {"--output", "--gpu", "--gpus", "--set", "--catalogue", NULL};

const struct import_kind import_megatron = {
    .head = {.name = "megatron",
             .doc =
                 "a launch of Megatron-LM, by script, command line, the arguments in its log or\n"
                 "model_config.yaml: the scenario of that training"},
    .file = "FILE",
    .takes = takes,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run_megatron,
};

static int run_torchtitan(struct importing *i)
{
    return run_launched(i, launched_torchtitan);
}

const struct import_kind import_torchtitan = {
    .head = {.name = "torchtitan",
             .doc = "a launch of torchtitan, by TOML, script, command line or YAML of Primus: the\n"
                    "scenario of that training"},
    .file = "FILE",
    .takes = takes,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run_torchtitan,
};

static const char *const takes_model[] = {"--output", "--gpu",       "--gpus", "--set",
                                          "--model",  "--catalogue", NULL};

static int run_deepspeed(struct importing *i)
{
    return run_launched(i, launched_deepspeed);
}

const struct import_kind import_deepspeed = {
    .head = {.name = "deepspeed",
             .doc =
                 "DeepSpeed's ds_config.json with --model, or a script of Megatron-DeepSpeed with\n"
                 "the configuration in it: the scenario of that training"},
    .file = "FILE",
    .takes = takes_model,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run_deepspeed,
};

static const char *const takes_whole[] = {"--output", "--gpu", "--gpus", "--catalogue", NULL};

static int run_nanotron(struct importing *i)
{
    return run_launched(i, nanotron_read);
}

const struct import_kind import_nanotron = {
    .head = {.name = "nanotron", .doc = "a YAML of nanotron: the scenario of that training"},
    .file = "FILE",
    .takes = takes_whole,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run_nanotron,
};

static int run_nemo(struct importing *i)
{
    return run_launched(i, nemo_read);
}

const struct import_kind import_nemo = {
    .head = {.name = "nemo",
             .doc = "the resolved YAML of a GPT of NeMo 1: the scenario of that training"},
    .file = "FILE",
    .takes = takes_whole,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run_nemo,
};
