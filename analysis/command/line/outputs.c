#include "analysis/command/line/outputs.h"

#include <dirent.h>
#include <string.h>
#include <unistd.h>

#include "analysis/output/terminal/identity.h"
#include "analysis/output/terminal/output.h"
#include "analysis/output/text/format.h"
#include "scenarios/language/file.h"

/* What stands under these names is written over or removed while PATH is written. */
static const char *const suffixes[] = {
    "", ".partial", ".partial-journal", ".partial-wal", ".partial-shm", ".partial-whole"};
enum {
    SUFFIXES = sizeof suffixes / sizeof suffixes[0]
};

static struct identity identify_input(const char *path)
{
    return strcmp(path, "-") == 0 ? identity_of_stream(STDIN_FILENO) : identity_of_path(path);
}

/* The file that an option names when it is one that is written; else NULL. */
static const char *written_by(const struct arguments *a, const struct option *o)
{
    const void *member = arguments_member(a, o);
    if (o->type == OPTION_DATABASE) {
        const struct database_arguments *database = member;
        return database->none ? NULL : database->path;
    }
    const bool written =
        o->type == OPTION_PICTURE || o->type == OPTION_PAGE || o->type == OPTION_OUTPUT;
    return written ? *(const char *const *)member : NULL;
}

static bool takes(const char *output, const struct identity *other)
{
    char name[OUTPUT_PATH_MAX + 32];
    for (unsigned i = 0; i < SUFFIXES; i++) {
        snprintf(name, sizeof name, "%s%s", output, suffixes[i]);
        struct identity identity = identity_of_path(name);
        if (identity_same(&identity, other))
            return true;
    }
    return false;
}

static int spare_one(const struct arguments *a, const char *input, const struct session *session)
{
    FILE *notes = session->notes;
    struct identity read = identify_input(input);
    identity_list_add(session->inputs, &read, format_shown(input).s);
    for (const struct option *o = a->rules.options; o->name != NULL; o++) {
        const char *output = written_by(a, o);
        if (output != NULL && takes(output, &read)) {
            fprintf(notes,
                    "orrery %s: %s %s would be written over %s, which is read; name another "
                    "file\n",
                    a->rules.command, o->name, format_shown(output).s, format_shown(input).s);
            return EXIT_USAGE;
        }
    }
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        struct identity stream = identity_of_stream(fd);
        if (identity_same(&stream, &read)) {
            fprintf(notes, "orrery %s: %s goes to %s, which is read; send it to another file\n",
                    a->rules.command, fd == STDOUT_FILENO ? "standard output" : "standard error",
                    format_shown(input).s);
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}

static int spare_folder(const struct arguments *a, const char *folder,
                        const struct session *session)
{
    char path[OUTPUT_PATH_MAX];
    int code = EXIT_OK;
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return EXIT_OK; /* its reader tells */
    for (const struct dirent *entry; code == EXIT_OK && (entry = readdir(entries)) != NULL;)
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path)
            code = spare_one(a, path, session);
    closedir(entries);
    return code;
}

int outputs_spare(const struct arguments *a, const struct scenario_input *inputs,
                  const struct session *session)
{
    int code = EXIT_OK;
    for (; inputs != NULL && code == EXIT_OK; inputs = inputs->next)
        code = spare_one(a, inputs->path, session);
    return code;
}

/* Found now, not after the long work that comes before the file is read. `option` NULL: a word. */
static int must_be_there(const struct arguments *a, const char *option, const char *path,
                         const struct session *session)
{
    if (strcmp(path, "-") == 0 || access(path, R_OK) == 0)
        return EXIT_OK;
    struct error error;
    file_unreadable(&error, "cannot read ", path);
    fprintf(session->notes, "orrery %s: %s%s%s\n", a->rules.command, option != NULL ? option : "",
            option != NULL ? ": " : "", error.text);
    return EXIT_TROUBLE;
}

static int spare_steps(const struct arguments *a, const struct option_list *steps,
                       const struct session *session)
{
    char path[OUTPUT_PATH_MAX];
    int code = EXIT_OK;
    for (unsigned i = 0; i < steps->count && code == EXIT_OK; i++) {
        const size_t length = arguments_step_file(steps->words[i]);
        snprintf(path, sizeof path, "%.*s", (int)length, steps->words[i]);
        if (length == 0 || length >= sizeof path)
            continue;
        code = must_be_there(a, "--measured", path, session);
        code = code == EXIT_OK ? spare_one(a, path, session) : code;
    }
    return code;
}

static int spare_option(const struct arguments *a, const struct option *o,
                        const struct session *session)
{
    if (o->type == OPTION_STEP)
        return spare_steps(a, arguments_member(a, o), session);
    if (o->type != OPTION_INPUT && o->type != OPTION_FOLDER)
        return EXIT_OK;
    const char *path = *(const char *const *)arguments_member(a, o);
    if (path == NULL)
        return EXIT_OK;
    if (o->type == OPTION_FOLDER)
        return spare_folder(a, path, session);
    const int code = must_be_there(a, o->name, path, session);
    return code == EXIT_OK ? spare_one(a, path, session) : code;
}

static int spare_inputs(const struct arguments *a, const struct session *session)
{
    const char *many = a->rules.positional != NULL ? strstr(a->rules.positional, "...") : NULL;
    int code = EXIT_OK;
    for (unsigned i = 0; i < a->positional_count && code == EXIT_OK && many != NULL; i++)
        code = must_be_there(a, NULL, a->positional[i], session);
    for (unsigned i = 0; i < a->positional_count && code == EXIT_OK; i++)
        if (arguments_positional_file(&a->rules, i))
            code = spare_one(a, a->positional[i], session);
    for (const struct option *o = a->rules.options; o->name != NULL && code == EXIT_OK; o++)
        code = spare_option(a, o, session);
    return code;
}

static int spare_each_other(const struct arguments *a, FILE *notes)
{
    for (const struct option *o = a->rules.options; o->name != NULL; o++) {
        const char *one = written_by(a, o);
        for (const struct option *p = o + 1; one != NULL && p->name != NULL; p++) {
            const char *other = written_by(a, p);
            for (unsigned i = 0; other != NULL && i < SUFFIXES; i++) {
                char name[OUTPUT_PATH_MAX + 32];
                snprintf(name, sizeof name, "%s%s", other, suffixes[i]);
                struct identity identity = identity_of_path(name);
                if (takes(one, &identity)) {
                    fprintf(notes, "orrery %s: %s and %s would be the same file\n",
                            a->rules.command, o->name, p->name);
                    return EXIT_USAGE;
                }
            }
        }
    }
    return EXIT_OK;
}

static int all_ready(const struct arguments *a, FILE *notes)
{
    struct error error = {""};
    for (const struct option *o = a->rules.options; o->name != NULL; o++) {
        const char *path = written_by(a, o);
        const enum output_kind kind = o->type == OPTION_PICTURE ? OUTPUT_PICTURE
                                      : o->type == OPTION_PAGE  ? OUTPUT_PAGE
                                                                : OUTPUT_LATER;
        if (path != NULL && !output_ready(path, kind, o->type != OPTION_DATABASE, &error)) {
            fprintf(notes, "orrery %s: %s: %s\n", a->rules.command, o->name, error.text);
            return EXIT_TROUBLE;
        }
    }
    return EXIT_OK;
}

int outputs_check(const struct arguments *a, const struct session *session)
{
    int code = spare_inputs(a, session);
    if (code == EXIT_OK)
        code = spare_each_other(a, session->notes);
    return code == EXIT_OK ? all_ready(a, session->notes) : code;
}

void outputs_name_database(struct database_arguments *database, const char *scenario,
                           const char *suffix)
{
    if (database->none || database->path != NULL)
        return;
    const char *path = strcmp(scenario, "-") == 0 ? "stdin" : scenario;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    size_t length = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    snprintf(database->usual, sizeof database->usual, "%.*s%s", (int)length, name, suffix);
    database->path = database->usual;
}

void outputs_name_default(const struct command *command, struct arguments *a)
{
    if (command->database == NULL || a->positional_count == 0)
        return;
    for (const struct option *o = command->options; o->name != NULL; o++)
        if (o->type == OPTION_DATABASE)
            outputs_name_database((void *)((char *)a + o->offset), a->positional[0],
                                  command->database);
}
