#include "analysis/command/line/price_warning.h"

#include <math.h>

#include "analysis/output/text/format.h"
#include "models/plan/price.h"

enum {
    PASSES_RUN = 1 << 14,  /* about 60 ms */
    PASSES_CHECK = 1 << 17 /* half a second */
};

static const char *sentence(struct arena *arena, const struct price *price)
{
    return arena_format(arena, "costs %s: with %s, which fits, a step takes %s in place of %s",
                        format_percent(price->cost_ratio).s, price->other,
                        format_time(price->other_s).s, format_time(price->step_s).s);
}

void price_warn(const struct session *session, struct scenario *scenario, const struct step *step,
                enum price_effort effort)
{
    const bool run = effort == PRICE_OF_RUN;
    struct scenario_change change;
    scenario_change_begin(&change, scenario);
    const struct price_question question = {.change = change.question,
                                            .step = step,
                                            .win_ratio = run ? PRICE_WORTH_A_LOOK : -INFINITY,
                                            .passes_max = run ? PASSES_RUN : PASSES_CHECK};
    struct prices prices;
    price_find(scenario->arena, &question, &prices);
    scenario_change_end(&change);
    for (unsigned i = 0; i < prices.count; i++) {
        const struct price *price = &prices.rows[i];
        const struct problem *problem =
            scenario_warn(scenario, price->key, sentence(scenario->arena, price));
        if (problem != NULL)
            scenario_print_problem(problem, session->notes, session->notes_colour);
    }
}
