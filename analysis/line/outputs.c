#include "analysis/line/outputs.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/terminal/output.h"
#include "analysis/text/format.h"

/* What stands under these names is written over or removed while PATH is written. */
static const char *const suffixes[] = {
    "", ".partial", ".partial-journal", ".partial-wal", ".partial-shm", ".partial-whole"};
enum {
    SUFFIXES = sizeof suffixes / sizeof suffixes[0]
};

/* Two paths are the same file when these are equal. */
struct identity {
    bool known, exists;
    dev_t device; /* of the file, or of the folder that it would stand in */
    ino_t inode;
    const char *name; /* where it does not exist: in that folder */
};

static struct identity identity_of(const struct stat *facts, bool exists, const char *name)
{
    return (struct identity){true, exists, facts->st_dev, facts->st_ino, name};
}

/* Devices and pipes are written without loss. */
static struct identity identify(const char *path)
{
    struct stat facts;
    struct identity unknown = {.known = false};
    if (stat(path, &facts) == 0)
        return S_ISREG(facts.st_mode) ? identity_of(&facts, true, "") : unknown;
    char folder[OUTPUT_PATH_MAX];
    const char *slash = strrchr(path, '/');
    int length = slash != NULL ? (int)(slash - path) + 1 : 1;
    int used = snprintf(folder, sizeof folder, "%.*s", length, slash != NULL ? path : ".");
    if (used >= (int)sizeof folder || stat(folder, &facts) != 0)
        return unknown;
    return identity_of(&facts, false, slash != NULL ? slash + 1 : path);
}

static struct identity identify_stream(int descriptor)
{
    struct stat facts;
    if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode))
        return (struct identity){.known = false};
    return identity_of(&facts, true, "");
}

static bool same(const struct identity *a, const struct identity *b)
{
    return a->known && b->known && a->exists == b->exists && a->device == b->device &&
           a->inode == b->inode && strcmp(a->name, b->name) == 0;
}

static struct identity identify_input(const char *path)
{
    return strcmp(path, "-") == 0 ? identify_stream(STDIN_FILENO) : identify(path);
}

/* The file that an option names when it is one that is written; else NULL. */
static const char *written_by(const struct arguments *a, const struct option *o)
{
    bool database = o->type == OPTION_DATABASE && !a->no_db;
    if (!database && o->type != OPTION_FILE && o->type != OPTION_OUTPUT)
        return NULL;
    return *(const char *const *)(const void *)((const char *)a + o->offset);
}

static bool takes(const char *output, const struct identity *other)
{
    char name[OUTPUT_PATH_MAX + 32];
    for (unsigned i = 0; i < SUFFIXES; i++) {
        snprintf(name, sizeof name, "%s%s", output, suffixes[i]);
        struct identity identity = identify(name);
        if (same(&identity, other))
            return true;
    }
    return false;
}

static int spare_one(const struct arguments *a, const char *input, FILE *notes)
{
    struct identity read = identify_input(input);
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
        struct identity stream = identify_stream(fd);
        if (same(&stream, &read)) {
            fprintf(notes, "orrery %s: %s goes to %s, which is read; send it to another file\n",
                    a->rules.command, fd == STDOUT_FILENO ? "standard output" : "standard error",
                    format_shown(input).s);
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}

static int spare_folder(const struct arguments *a, const char *folder, FILE *notes)
{
    char path[OUTPUT_PATH_MAX];
    int code = EXIT_OK;
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return EXIT_OK; /* its reader tells */
    for (const struct dirent *entry; code == EXIT_OK && (entry = readdir(entries)) != NULL;)
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path)
            code = spare_one(a, path, notes);
    closedir(entries);
    return code;
}

int outputs_spare(const struct arguments *a, const struct scenario_input *inputs, FILE *notes)
{
    int code = EXIT_OK;
    for (; inputs != NULL && code == EXIT_OK; inputs = inputs->next)
        code = spare_one(a, inputs->path, notes);
    return code;
}

static int spare_inputs(const struct arguments *a, FILE *notes)
{
    const char *positional = a->rules.positional;
    int code = EXIT_OK;
    bool file = positional != NULL &&
                (positional[0] != '[' || strcmp(positional, "[FILE]") == 0); /* else a word */
    for (unsigned i = 0; file && i < a->positional_count && code == EXIT_OK; i++)
        code = spare_one(a, a->positional[i], notes);
    for (const struct option *o = a->rules.options; o->name != NULL && code == EXIT_OK; o++) {
        if (o->type != OPTION_INPUT && o->type != OPTION_FOLDER)
            continue;
        const char *path = *(const char *const *)(const void *)((const char *)a + o->offset);
        if (path != NULL)
            code =
                o->type == OPTION_INPUT ? spare_one(a, path, notes) : spare_folder(a, path, notes);
    }
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
                struct identity identity = identify(name);
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
        if (path != NULL && !output_ready(path, o->type != OPTION_DATABASE, &error)) {
            fprintf(notes, "orrery %s: %s: %s\n", a->rules.command, o->name, error.text);
            return EXIT_TROUBLE;
        }
    }
    return EXIT_OK;
}

int outputs_check(const struct arguments *a, FILE *notes)
{
    int code = spare_inputs(a, notes);
    if (code == EXIT_OK)
        code = spare_each_other(a, notes);
    return code == EXIT_OK ? all_ready(a, notes) : code;
}

/* "folder/hello.yaml" -> "hello.db". */
void outputs_name_database(const struct command *command, struct arguments *a)
{
    if (command->database == NULL || a->no_db || a->db != NULL || a->positional_count == 0)
        return;
    const char *scenario = strcmp(a->positional[0], "-") == 0 ? "stdin" : a->positional[0];
    const char *slash = strrchr(scenario, '/');
    const char *name = slash != NULL ? slash + 1 : scenario;
    const char *dot = strrchr(name, '.');
    size_t length = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    snprintf(a->default_db, sizeof a->default_db, "%.*s%s", (int)length, name, command->database);
    a->db = a->default_db;
}
