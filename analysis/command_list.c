#include <string.h>

#include "analysis/command.h"
#include "analysis/figures.h"
#include "analysis/format.h"
#include "analysis/json.h"
#include "models/checkpoint/checkpoint_kind.h"
#include "models/collective/collective_kind.h"
#include "models/failure/failure_kind.h"
#include "models/recovery/recovery_kind.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "scenarios/names.h"
#include "scenarios/scenario.h"
#include "sim/check.h"
#include "topology/topology_kind.h"

enum {
    ENTRY_MAX = 2048
};

static const struct option options[] = {OPTION_CATALOGUE_ROW, OPTION_JSON_ROW, OPTION_END};

struct listing {
    struct json_list_entry entries[ENTRY_MAX];
    unsigned count;
};

static void add(struct listing *l, const char *family, const char *name, const char *doc)
{
    CHECK(l->count < ENTRY_MAX);
    l->entries[l->count++] = (struct json_list_entry){.family = family, .name = name, .doc = doc};
}

static void add_kinds(struct listing *l, const char *family)
{
    for (unsigned i = 0; strcmp(family, "topology") == 0 && i < topology_kind_count; i++) {
        add(l, family, topology_kinds[i]->name, topology_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "schedule") == 0 && i < schedule_kind_count; i++) {
        add(l, family, schedule_kinds[i]->name, schedule_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "sharding") == 0 && i < sharding_kind_count; i++) {
        add(l, family, sharding_kinds[i]->name, sharding_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "collective") == 0 && i < collective_kind_count; i++) {
        add(l, family, collective_kinds[i]->name, collective_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "precision") == 0 && i < precision_count; i++) {
        add(l, family, precisions[i].name, precisions[i].doc);
    }
    for (unsigned i = 0; strcmp(family, "optimizer") == 0 && i < optimizer_count; i++) {
        add(l, family, optimizers[i].name, optimizers[i].doc);
    }
    for (unsigned i = 0; strcmp(family, "failure") == 0 && i < failure_kind_count; i++) {
        add(l, family, failure_kinds[i]->name, failure_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "checkpoint") == 0 && i < checkpoint_kind_count; i++) {
        add(l, family, checkpoint_kinds[i]->name, checkpoint_kinds[i]->doc);
    }
    for (unsigned i = 0; strcmp(family, "recovery") == 0 && i < recovery_kind_count; i++) {
        add(l, family, recovery_kinds[i]->name, recovery_kinds[i]->doc);
    }
}

static const char *const kind_families[] = {"topology",   "schedule",   "sharding",
                                            "collective", "precision",  "optimizer",
                                            "failure",    "checkpoint", "recovery"};
static const char *const catalogue_families[] = {"gpus",     "nodes",  "fabrics", "models",
                                                 "software", "fleets", "storage"};
enum {
    KIND_FAMILY_COUNT = sizeof kind_families / sizeof kind_families[0],
    CATALOGUE_FAMILY_COUNT = sizeof catalogue_families / sizeof catalogue_families[0]
};

static bool add_catalogue(struct listing *l, const char *family, const char *folder,
                          struct arena *arena, struct error *error)
{
    const struct catalogue_entry *entries;
    error->text[0] = '\0';
    unsigned count = scenario_list(family, folder, arena, &entries, error);
    for (unsigned i = 0; i < count; i++) {
        add(l, family, entries[i].name, entries[i].doc);
    }
    return error->text[0] == '\0';
}

static int unknown_family(const char *family, FILE *notes)
{
    const char *known[KIND_FAMILY_COUNT + CATALOGUE_FAMILY_COUNT];
    unsigned count = 0;
    for (unsigned i = 0; i < KIND_FAMILY_COUNT; i++) {
        known[count++] = kind_families[i];
    }
    for (unsigned i = 0; i < CATALOGUE_FAMILY_COUNT; i++) {
        known[count++] = catalogue_families[i];
    }
    const char *nearest = names_nearest(family, (struct name_list){known, count});
    fprintf(notes, "orrery list: no family '%s'; there are:", format_shown(family).s);
    for (unsigned i = 0; i < count; i++) {
        fprintf(notes, " %s", known[i]);
    }
    if (nearest != NULL) {
        fprintf(notes, "; did you mean '%s'?", nearest);
    }
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

static int gather(const struct arguments *arguments, struct session *session, struct arena *arena,
                  struct listing *l)
{
    const char *wanted = arguments->positional_count > 0 ? arguments->positional[0] : NULL;
    bool found = wanted == NULL;
    for (unsigned i = 0; i < KIND_FAMILY_COUNT; i++) {
        if (wanted == NULL || strcmp(wanted, kind_families[i]) == 0) {
            add_kinds(l, kind_families[i]);
            found = true;
        }
    }
    for (unsigned i = 0; i < CATALOGUE_FAMILY_COUNT; i++) {
        struct error error;
        if (wanted != NULL && strcmp(wanted, catalogue_families[i]) != 0) {
            continue;
        }
        found = true;
        if (!add_catalogue(l, catalogue_families[i], arguments->catalogue, arena, &error)) {
            fprintf(session->notes, "orrery list: %s\n", error.text);
            return EXIT_TROUBLE;
        }
    }
    return found ? EXIT_OK : unknown_family(wanted, session->notes);
}

/* Keeps the entry that was asked for by name; with its figures when the catalogue has it. */
static int narrow(const struct arguments *arguments, struct session *session, struct arena *arena,
                  struct listing *l)
{
    const char *family = arguments->positional[0], *wanted = arguments->positional[1];
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
    if (scenario_describe(family, wanted, arguments->catalogue, arena, &entry, &error)) {
        l->entries[0].figures = entry.figures;
        l->entries[0].figure_count = entry.figure_count;
    }
    return EXIT_OK;
}

static void print_listing(const struct listing *l, bool one, const struct session *session)
{
    if (one && l->entries[0].figures != NULL) {
        figures_print(&l->entries[0], session);
    } else {
        print(l, session);
    }
}

static int run(const struct arguments *arguments, struct session *session)
{
    struct arena *arena = arena_create();
    struct listing *l = ARENA_NEW(arena, struct listing);
    bool one = arguments->positional_count > 1;
    int code = gather(arguments, session, arena, l);
    if (code == EXIT_OK && one) {
        code = narrow(arguments, session, arena, l);
    }
    if (code == EXIT_OK && arguments->json) {
        json_list(l->entries, l->count, session->out);
    } else if (code == EXIT_OK) {
        print_listing(l, one, session);
    }
    arena_destroy(arena);
    return code;
}

const struct command command_list = {
    .name = "list",
    .doc =
        "lists the hardware, models and software of the catalogue and every kind of every family; "
        "with a NAME of the catalogue, its figures with unit, error and source",
    .positional = "[FAMILY [NAME]]",
    .options = options,
    .details = "families: topology schedule sharding collective precision optimizer\n"
               "          failure checkpoint recovery\n"
               "          gpus nodes fabrics models software fleets storage",
    .example = "orrery list gpus h100-80gb-sxm",
    .run = run,
};
