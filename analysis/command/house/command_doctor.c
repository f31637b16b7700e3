#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "analysis/command/line/command.h"
#include "analysis/output/terminal/ranks.h"
#include "analysis/output/text/format.h"
#include "analysis/record/database/store.h"
#include "analysis/tell/document/document_lines.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/describe/describe.h"
#include "sim/units.h"

struct doctor_arguments {
    struct arguments line;
    const char *catalogue;
    bool json;
};
#define ARGUMENTS struct doctor_arguments
static const struct option options[] = {OPTION_CATALOGUE_ROW(catalogue), OPTION_JSON_ROW(json),
                                        OPTION_END};
static const double low_space_bytes = GIB; /* warn below: a large timeline takes a few 100 MB */

static const char *const lines[] = {"orrery {version}\n"
                                    "{each rows}  {if good}ok   {else}BAD  {end} {what<18} {text}\n"
                                    "{end}"
                                    "  can  {each .commands} {name}{end}\n",
                                    NULL};

struct doctor {
    struct arena *arena;
    struct fact *rows;
    unsigned bad;
};

__attribute__((format(printf, 4, 5))) static void note(struct doctor *d, bool good,
                                                       const char *what, const char *format, ...)
{
    struct fact *row = document_object(d->rows, NULL);
    char text[1280];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    document_word(row, "what", what);
    document_flag(row, "good", good);
    document_word(row, "text", arena_text(d->arena, text));
    d->bad += !good;
}

static void check_folder(struct doctor *d)
{
    char folder[4096];
    if (getcwd(folder, sizeof folder) == NULL) {
        note(d, false, "this folder", "%s", strerror(errno));
        return;
    }
    bool writable = access(".", W_OK) == 0;
    note(d, writable, "this folder", "%s%s", folder,
         writable ? "" : ": not writable; name a database elsewhere with --db");
    struct statvfs space;
    if (statvfs(".", &space) == 0) {
        double free_bytes = (double)space.f_bavail * (double)space.f_frsize;
        note(d, free_bytes >= low_space_bytes, "free space", "%s", format_bytes(free_bytes).s);
    }
}

static void check_catalogue(struct doctor *d, const char *folder)
{
    static const char *const families[] = {"gpus",     "nodes",  "fabrics", "models",
                                           "software", "fleets", "storage"};
    for (unsigned i = 0; i < sizeof families / sizeof families[0]; i++) {
        const struct catalogue_entry *entries;
        struct error error = {""};
        unsigned count = describe_entries(families[i], folder, d->arena, &entries, &error);
        note(d, error.text[0] == '\0' && count > 0, families[i], "%u in the %s catalogue%s%s",
             count, folder != NULL ? "given" : "built-in", error.text[0] != '\0' ? ": " : "",
             error.text);
    }
}

static int run(const void *line, struct session *session)
{
    const struct doctor_arguments *a = line;
    struct arena *arena = arena_create();
    struct fact *document = document_begin(arena, "orrery.doctor/1", NULL);
    struct doctor d = {arena, document_array(document, "rows"), 0};
    note(&d, true, "compiler", "%s", __VERSION__);
    note(&d, true, "SQLite", "%s", store_sqlite_version());
    note(&d, true, "jansson", "%s", JANSSON_VERSION);
    note(&d, true, "MPI", "%s",
         session->ranks != NULL ? session->ranks->name()
                                : "none in this build; mpirun plays no study");
    check_catalogue(&d, a->catalogue);
    check_folder(&d);
    note(&d, true, "standard output", "%s, %s",
         isatty(STDOUT_FILENO) ? "a terminal" : "a file or pipe",
         session->colour ? "in colour" : "without colour");
    struct fact *can = document_array(document, ".commands");
    for (unsigned i = 0; i < command_count; i++)
        document_word(document_object(can, NULL), "name", commands[i]->head.name);
    document_print(document, lines, a->json, session);
    arena_destroy(arena);
    return d.bad == 0 ? EXIT_OK : EXIT_TROUBLE;
}

const struct command command_doctor = {
    .head =
        {.name = "doctor",
         .doc =
             "shows what this build can do here: versions, catalogue, writable folder, free space"},
    .options = options,
    .bytes = sizeof(struct doctor_arguments),
    .example = "orrery doctor",
    .run = run,
};
