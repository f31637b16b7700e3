#include "analysis/command/plan/plan_line.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/output/text/shell.h"
#include "analysis/tell/report/report_plan.h"

static bool ends_line(const char *text)
{
    return text[0] != '\0' && text[strlen(text) - 1] == '\n';
}

struct plan_line plan_line_of(struct arena *arena, const struct plan_arguments *a,
                              const struct scenario *scenario)
{
    const bool text = a->line.positional_count == 0 || strcmp(a->line.positional[0], "-") == 0;
    const char *head =
        arena_format(arena, "orrery run %s", text ? "-" : shell_word(arena, a->line.positional[0]));
    for (unsigned i = 0; i < a->scenario.sets.count; i++)
        head =
            arena_format(arena, "%s --set %s", head, shell_word(arena, a->scenario.sets.words[i]));
    const char *source = scenario->file.text;
    return (struct plan_line){
        head, text ? arena_format(arena, " <<'END'\n%s%sEND", source, ends_line(source) ? "" : "\n")
                   : ""};
}

/* A database of its own: by the name of the scenario, and the layout. */
static const char *database_of(struct arena *arena, const struct scenario *scenario,
                               const struct plan_layout *l)
{
    char *name = arena_text(arena, scenario->name);
    for (char *c = name; *c != '\0'; c++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._", *c) == NULL)
            *c = '-';
    return arena_format(
        arena, "%.80s-tp%" PRIu32 "-pp%" PRIu32 "-cp%" PRIu32 "%s-vpp%" PRIu32 "-mb%" PRIu32 ".db",
        name, l->tp, l->pp, l->cp, l->ep > 1 ? arena_format(arena, "-ep%" PRIu32, l->ep) : "",
        l->vpp, l->microbatch);
}

const char *plan_line_run(struct arena *arena, const struct plan_line *line,
                          const struct scenario *scenario, const struct plan_layout *layout)
{
    return arena_format(arena, "%s %s --db %s%s", line->head,
                        report_plan_sets(arena, &scenario->configuration, layout),
                        shell_word(arena, database_of(arena, scenario, layout)), line->tail);
}
