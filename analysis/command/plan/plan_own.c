/* plan_own.c - reads the scenario again as `run` does, for the keys that a search left open. */
#include "analysis/command/plan/plan_own.h"

void plan_own_rank(const struct scenario *scenario, struct search *search, struct search_own *out)
{
    const unsigned axes = 1u << CHOICE_TP | 1u << CHOICE_PP,
                   rest = 1u << CHOICE_MICROBATCH | 1u << CHOICE_RECOMPUTE,
                   open = scenario->choices.open;
    const struct scenario_options how = {.catalogue = scenario->file.catalogue,
                                         .sets = scenario->file.sets,
                                         .set_count = scenario->file.set_count,
                                         .has_seed = true,
                                         .seed = scenario->configuration.seed};
    struct error error = {""};
    *out = (struct search_own){.stated = false};
    if ((open & axes) == axes)
        return;
    struct scenario *whole =
        scenario_read(scenario->path, scenario->file.text, scenario->file.text_bytes, &how, &error);
    if (whole != NULL && whole->diagnostics.error_count == 0)
        search_own_rank(search, &whole->configuration, out);
    out->stated = true;
    out->completed = (open & rest) != 0;
    scenario_destroy(whole);
}
