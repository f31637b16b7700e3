#include "analysis/command/line/card_agrees.h"

#include <string.h>

#include "analysis/output/text/format.h"
#include "scenarios/assemble/scenario.h"

struct opened {
    struct arena *arena;
    struct problems *problems;
    struct catalogue catalogue;
};

static struct opened open_catalogue(const char *folder)
{
    struct opened o = {.arena = arena_create()};
    o.problems = ARENA_NEW(o.arena, struct problems);
    o.problems->arena = o.arena;
    catalogue_open(&o.catalogue, o.arena, folder, o.problems);
    return o;
}

bool card_fits(const char *folder, const char *gpu, const char *name)
{
    struct opened o = open_catalogue(folder);
    struct error why;
    const bool fits =
        card_compare(&o.catalogue, gpu, &(struct card_told){.name = name}, &why) == CARD_FITS;
    arena_destroy(o.arena);
    return fits;
}

const char *card_chip_of(struct arena *arena, const char *folder, const char *text, const char *gpu)
{
    struct opened o = open_catalogue(folder);
    const char *chip = card_chip_within(&o.catalogue, text, gpu);
    chip = chip != NULL ? arena_text(arena, chip) : NULL;
    arena_destroy(o.arena);
    return chip;
}

/* Does the command have --other-card? */
static bool can_insist(const struct arguments *line)
{
    static const char name[] = "--other-card";
    return option_find(line->rules.options, name, sizeof name - 1) != NULL;
}

bool card_agrees(const struct arguments *line, struct card_arguments how, struct session *session,
                 const char *path, const char *gpu, const struct card_told *told)
{
    struct opened o = open_catalogue(how.catalogue);
    struct error why = {""};
    const enum card_match match = card_compare(&o.catalogue, gpu, told, &why);
    const bool taken = match != CARD_DIFFERS || how.other_card;
    for (unsigned i = 0; i < o.problems->kept_count; i++)
        scenario_print_problem(&o.problems->kept[i], session->notes, session->notes_colour);
    if (match != CARD_FITS)
        fprintf(session->notes, "orrery %s: %s%s: %s%s\n", line->rules.command,
                taken ? "warning: " : "", format_shown(path).s, why.text,
                match == CARD_UNKNOWN ? ""
                : taken               ? "; it is taken for that card (--other-card)"
                : can_insist(line)    ? "; --other-card takes it for that card nevertheless"
                                      : "");
    arena_destroy(o.arena);
    return taken;
}
