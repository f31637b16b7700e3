#include "analysis/command/plan/plan_weeks.h"

#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/stated_scenario.h"
#include "analysis/output/text/format.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/language/file.h"
#include "scenarios/language/parse.h"
#include "scenarios/language/quantity.h"

enum {
    OWN_SETS = 2
};

struct stated_weeks { /* what the scenario says without us */
    bool run, tokens;
    bool broken; /* its file cannot be read, or has errors: they are told later */
};

static bool sets_run(const struct plan_arguments *a)
{
    for (unsigned i = 0; i < a->scenario.sets.count; i++)
        if (strncmp(a->scenario.sets.words[i], "run.", 4) == 0 ||
            strncmp(a->scenario.sets.words[i], "run=", 4) == 0)
            return true;
    return false;
}

/* Of a file, which is read once, as it may be a pipe; what is wrong with it is told later. */
static struct stated_weeks look(struct arena *arena, struct plan_arguments *a)
{
    struct stated_weeks out = {.run = sets_run(a), .tokens = a->stated.tokens != NULL};
    struct error error = {""};
    struct file_text file;
    if (a->line.positional_count == 0)
        return out;
    if (a->text == NULL) {
        out.broken = true;
        if (!file_read(arena, a->line.positional[0], SOURCE_BYTES_MAX, false, &file, &error))
            return out;
        a->text = file.text;
        a->text_bytes = file.bytes;
    }
    out.broken = true;
    const struct scenario_options how = {.catalogue = a->scenario.catalogue,
                                         .sets = a->scenario.sets.words,
                                         .set_count = a->scenario.sets.count,
                                         .layout_open = true};
    struct scenario *s = scenario_read(a->line.positional[0], a->text, a->text_bytes, &how, &error);
    if (s != NULL)
        out = (struct stated_weeks){.run = s->has_run,
                                    .tokens = s->configuration.training.tokens > 0.0,
                                    .broken = s->diagnostics.error_count > 0};
    scenario_destroy(s);
    return out;
}

/* "5.8y" of a GPU, or a fleet of the catalogue; NULL: neither. */
static const char *failures_text(struct arena *arena, const char *mtbf)
{
    struct quantity quantity;
    char why[QUANTITY_TEXT_MAX];
    if (quantity_read(PARAM_TIME, mtbf, mtbf, &quantity, why) && quantity.number > 0.0)
        return arena_format(arena, "failures=[{cause: GPU, unit: gpu, mtbf: %s}]", mtbf);
    if (mtbf[0] >= 'a' && mtbf[0] <= 'z' && stated_name(mtbf))
        return arena_format(arena, "failures=[{preset: %s}]", mtbf);
    return NULL;
}

static bool varies_run(const struct plan_arguments *a)
{
    for (unsigned i = 0; i < a->varies.count; i++)
        if (strncmp(a->varies.words[i], "run.", 4) == 0 ||
            strncmp(a->varies.words[i], "run=", 4) == 0)
            return true;
    return false;
}

int plan_weeks_seeds(struct arena *arena, struct plan_arguments *a, struct session *session)
{
    struct error error = {""};
    if (!a->has_seeds || a->mtbf != NULL || varies_run(a) ||
        !stated_scenario_sole(&a->line, &a->stated, &error))
        return EXIT_OK;
    const struct stated_weeks weeks = look(arena, a);
    if (weeks.run || weeks.broken)
        return EXIT_OK;
    fputs("orrery plan: --seeds are of weeks with failures, and none are asked for: give --mtbf, "
          "or a scenario with `run:` and `failures:`\n",
          session->notes);
    return EXIT_USAGE;
}

int plan_weeks_state(struct arena *arena, struct plan_arguments *a, struct session *session)
{
    struct error error = {""};
    if (a->mtbf == NULL)
        return plan_weeks_seeds(arena, a, session);
    if (!stated_scenario_sole(&a->line, &a->stated, &error))
        return EXIT_OK;
    const char *own[OWN_SETS];
    unsigned count = 0;
    own[count++] = failures_text(arena, a->mtbf);
    if (own[0] == NULL) {
        fprintf(session->notes,
                "orrery plan: --mtbf %s: expected the mean time between failures of a GPU, as in "
                "5.8y, or a fleet; see 'orrery list fleets'\n",
                format_shown(a->mtbf).s);
        return EXIT_USAGE;
    }
    const struct stated_weeks weeks = look(arena, a);
    if (!weeks.run)
        own[count++] = weeks.tokens ? "run.strike=always" : "run.duration=30d";
    struct option_list *sets = &a->scenario.sets;
    if (sets->count + count > ARGUMENT_SET_MAX) {
        fputs("orrery plan: too many --set options beside --mtbf\n", session->notes);
        return EXIT_USAGE;
    }
    memmove(sets->words + count, sets->words, sets->count * sizeof *sets->words);
    memcpy(sets->words, own, count * sizeof *own);
    sets->count += count;
    return EXIT_OK;
}

bool plan_weeks_ask(const struct plan_arguments *a, const struct scenario *scenario,
                    struct search_weeks_wish *wish, struct search_question *question,
                    struct error *error)
{
    if (scenario->has_run) {
        *wish = (struct search_weeks_wish){.scenario = scenario,
                                           .seeds = (uint32_t)(a->seeds < 10000 ? a->seeds : 10000),
                                           .stop = question->stop,
                                           .context = question->context};
        question->weeks = wish;
        if (!a->terms.has_best)
            question->terms.best = BEST_GOODPUT;
        return true;
    }
    return question->terms.best != BEST_GOODPUT ||
           error_set(error, "goodput is of weeks with failures: give --mtbf 5.8y (of a GPU), "
                            "--mtbf with a fleet (orrery list fleets), or a scenario with `run:` "
                            "and `failures:`");
}
