#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/output/text/format.h"
#include "analysis/tell/json/json.h"
#include "analysis/tell/report/figures.h"
#include "analysis/tell/report/listing.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/describe/describe.h"
#include "scenarios/language/names.h"

struct list_arguments {
    struct arguments line;
    const char *catalogue;
    bool json;
};
#define ARGUMENTS struct list_arguments
static const struct option options[] = {OPTION_CATALOGUE_ROW(catalogue), OPTION_JSON_ROW(json),
                                        OPTION_END};

static int unknown_family(const char *family, struct name_list families, FILE *notes)
{
    fprintf(notes, "orrery list: no family '%s'; there are:", format_shown(family).s);
    for (unsigned i = 0; i < families.count; i++)
        fprintf(notes, " %s", families.names[i]);
    const char *nearest = names_nearest(family, families);
    if (nearest != NULL)
        fprintf(notes, "; did you mean '%s'?", nearest);
    fputc('\n', notes);
    return EXIT_USAGE;
}

static void print(const struct listing *l, const struct session *session)
{
    for (unsigned i = 0; i < l->count; i++) {
        const struct json_list_entry *e = &l->entries[i];
        if (i == 0 || strcmp(e->family, l->entries[i - 1].family) != 0) {
            fprintf(session->out, "%s%s%s%s\n", i > 0 ? "\n" : "", session_bold(session), e->family,
                    session_plain(session));
        }
        fprintf(session->out, "  %-22s %s\n", e->name, e->doc != NULL ? e->doc : "");
    }
}

static int gather(const struct list_arguments *arguments, struct session *session,
                  struct arena *arena, struct listing *l)
{
    const char *wanted =
        arguments->line.positional_count > 0 ? arguments->line.positional[0] : NULL;
    const struct name_list families = listing_families(arena);
    bool found = false;
    for (unsigned i = 0; i < families.count; i++) {
        struct error error;
        if (wanted != NULL && strcmp(wanted, families.names[i]) != 0)
            continue;
        found = true;
        if (!listing_add(l, families.names[i], arguments->catalogue, arena, &error)) {
            fprintf(session->notes, "orrery list: %s\n", error.text);
            return EXIT_TROUBLE;
        }
    }
    return found ? EXIT_OK : unknown_family(wanted, families, session->notes);
}

/* Keeps the entry that was asked for by name; with its figures when the catalogue has it. */
static int narrow(const struct list_arguments *arguments, struct session *session,
                  struct arena *arena, struct listing *l)
{
    const char *family = arguments->line.positional[0], *wanted = arguments->line.positional[1];
    const char **names = ARENA_ARRAY(arena, const char *, l->count);
    unsigned found = l->count;
    for (unsigned i = 0; i < l->count; i++) {
        names[i] = l->entries[i].name;
        found = strcmp(names[i], wanted) == 0 ? i : found;
    }
    if (found == l->count) {
        fprintf(session->notes, "orrery list: %s has no '%s'%s\n", family, format_shown(wanted).s,
                names_advice(arena, wanted, (struct name_list){names, l->count}));
        return EXIT_USAGE;
    }
    l->entries[0] = l->entries[found];
    l->count = 1;
    struct catalogue_entry entry = {0};
    struct error error;
    if (describe_entry(family, wanted, arguments->catalogue, arena, &entry, &error)) {
        l->entries[0].figures = entry.figures;
        l->entries[0].figure_count = entry.figure_count;
        l->entries[0].history = entry.history;
    }
    return EXIT_OK;
}

static void print_listing(const struct listing *l, bool one, const struct session *session)
{
    if (one && l->entries[0].figures != NULL)
        figures_print(&l->entries[0], session);
    else
        print(l, session);
}

static int run(const void *line, struct session *session)
{
    const struct list_arguments *arguments = line;
    struct arena *arena = arena_create();
    struct listing *l = ARENA_NEW(arena, struct listing);
    bool one = arguments->line.positional_count > 1;
    int code = gather(arguments, session, arena, l);
    if (code == EXIT_OK && one)
        code = narrow(arguments, session, arena, l);
    if (code == EXIT_OK && arguments->json)
        json_list(l->entries, l->count, session->out);
    else if (code == EXIT_OK)
        print_listing(l, one, session);
    arena_destroy(arena);
    return code;
}

const struct command command_list = {
    .head = {.name = "list",
             .doc =
                 "lists the hardware, models and software of the catalogue and every kind of every "
                 "family; with NAME, the figures of that entry with unit, error and source"},
    .positional = "[FAMILY [NAME]]",
    .options = options,
    .bytes = sizeof(struct list_arguments),
    .details = "families: layers topology schedule sharding dispatch collective precision\n"
               "          optimizer failure checkpoint recovery\n"
               "          gpus nodes fabrics models software fleets storage\n"
               "          profiles (files of DIR/profiles, or of the working folder)",
    .example = "orrery list gpus h100-80gb-sxm",
    .run = run,
};
