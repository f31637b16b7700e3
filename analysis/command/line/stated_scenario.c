#include "analysis/command/line/stated_scenario.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/command/line/command.h"
#include "sim/error.h"

enum {
    GPUS_USUAL = 8,
    GPUS_MAX = 1 << 20,
    SEQUENCE_BYTES = 40,
    TEXT_BYTES = 1024
};

bool stated_name(const char *name)
{
    return name[0] != '\0' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == strlen(name);
}

/* A Hugging Face config.json, by a path that goes into a quoted word of YAML as it stands. */
static bool stated_file(const char *path)
{
    const size_t length = strlen(path);
    return length > 5 && length < 400 && strcmp(path + length - 5, ".json") == 0 &&
           strpbrk(path, "'\"\\\n\r\t") == NULL;
}

/* A quantity goes into the text as it stands; its reader judges it. */
static bool plain_quantity(const char *text)
{
    return text[0] != '\0' && strlen(text) < 40 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-") ==
               strlen(text);
}

bool stated_scenario_given(const struct stated_arguments *a)
{
    return a->model != NULL || a->gpu != NULL || a->gpus > 0 || a->sequence > 0 ||
           a->tokens != NULL || a->global_batch > 0 || a->software != NULL;
}

/* The first option that states something, as the key of a file that says the same. */
static void as_key(const struct stated_arguments *a, struct error *out)
{
    if (a->tokens != NULL)
        error_set(out, "training.tokens=%s", a->tokens);
    else if (a->gpus > 0)
        error_set(out, "cluster.gpus=%" PRIu64, a->gpus);
    else if (a->global_batch > 0)
        error_set(out, "training.global_batch=%" PRIu64, a->global_batch);
    else if (a->sequence > 0)
        error_set(out, "training.sequence=%" PRIu64, a->sequence);
    else if (a->model != NULL)
        error_set(out, "model.%s=%s", stated_file(a->model) ? "hf" : "preset", a->model);
    else if (a->gpu != NULL)
        error_set(out, "cluster.gpu=%s", a->gpu);
    else
        error_set(out, "software=%s", a->software);
}

bool stated_scenario_sole(const struct arguments *line, const struct stated_arguments *a,
                          struct error *error)
{
    const bool stated = stated_scenario_given(a);
    struct error key = {""};
    if (stated == (line->positional_count == 0))
        return true;
    if (!stated)
        return error_set(error, "it takes a scenario, or --model and --gpu");
    as_key(a, &key);
    return error_set(error,
                     "--model, --gpu, --gpus, --sequence, --global-batch, --tokens and --software "
                     "stand in place of a file; a key of a file is changed with --set %.200s",
                     key.text);
}

static bool sound(const char *command, const struct stated_arguments *a, FILE *notes)
{
    if (a->model == NULL || a->gpu == NULL) {
        fprintf(notes, "orrery %s: %s is missing; without a file it takes --model and --gpu\n",
                command, a->model == NULL ? "--model" : "--gpu");
        return false;
    }
    if ((!stated_name(a->model) && !stated_file(a->model)) || !stated_name(a->gpu)) {
        fprintf(notes,
                "orrery %s: --model and --gpu take names of the catalogue; see 'orrery list "
                "models' and 'orrery list gpus' (--model also a Hugging Face config.json)\n",
                command);
        return false;
    }
    if (a->software != NULL && !stated_name(a->software)) {
        fprintf(notes, "orrery %s: --software takes a name; see 'orrery list software'\n", command);
        return false;
    }
    if (a->gpus > GPUS_MAX) {
        fprintf(notes, "orrery %s: --gpus %" PRIu64 ": at most %d\n", command, a->gpus, GPUS_MAX);
        return false;
    }
    if (a->tokens != NULL && !plain_quantity(a->tokens)) {
        fprintf(notes, "orrery %s: --tokens: expected a number of tokens, as in 15T\n", command);
        return false;
    }
    return true;
}

static int write_text(const struct stated_arguments *a, char *text)
{
    const uint64_t gpus = a->gpus > 0 ? a->gpus : GPUS_USUAL;
    char sequence[SEQUENCE_BYTES] = "";
    if (a->sequence > 0)
        snprintf(sequence, sizeof sequence, "sequence: %" PRIu64 ", ", a->sequence);
    const uint64_t batch = a->global_batch > 0 ? a->global_batch : gpus;
    const bool file = stated_file(a->model);
    return snprintf(text, TEXT_BYTES,
                    "name: \"%s on %" PRIu64 " %s\"\nmodel: {%s: \"%s\"}\n"
                    "cluster: {gpu: %s, gpus: %" PRIu64 "}\n"
                    "training: {%sglobal_batch: %" PRIu64 "%s%s}\n%s%s\n",
                    a->model, gpus, a->gpu, file ? "hf" : "preset", a->model, a->gpu, gpus,
                    sequence, batch, a->tokens != NULL ? ", tokens: " : "",
                    a->tokens != NULL ? a->tokens : "", a->software != NULL ? "software: " : "",
                    a->software != NULL ? a->software : "");
}

int stated_scenario(const struct arguments *line, const struct stated_arguments *stated,
                    const struct scenario_arguments *how, struct session *session,
                    struct scenario **out)
{
    char text[TEXT_BYTES];
    *out = NULL;
    if (!sound(line->rules.command, stated, session->notes))
        return EXIT_USAGE;
    const int length = write_text(stated, text);
    if (length >= TEXT_BYTES) {
        fprintf(session->notes, "orrery %s: these names are too long\n", line->rules.command);
        return EXIT_USAGE;
    }
    const struct load_source source = {"the command line", text, (size_t)length};
    return load_text(line, &source, how, session, out);
}
