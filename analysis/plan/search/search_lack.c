#include "analysis/plan/search/search_lack.h"

#include <stdio.h>

#include "models/plan/ladder.h"
#include "models/plan/trial.h"
#include "models/schedule/schedule_kind.h"
#include "models/step/simulate/step.h"

enum {
    BREAKS_READ = 64,
    PASSES_MOST = 1 << 20 /* of trials: about four seconds */
};

/* The first rule that it breaks. */
static void say_rule(const struct configuration *c, struct search_lack *out)
{
    struct rule_break breaks[BREAKS_READ];
    const unsigned count = configuration_check(c, breaks, BREAKS_READ);
    for (unsigned i = 0; i < count && i < BREAKS_READ && out->key == NULL; i++) {
        if (breaks[i].warning)
            continue;
        out->key = breaks[i].key;
        snprintf(out->sentence, sizeof out->sentence, "%s", breaks[i].text);
    }
}

/* Legal with fewer microbatches, and fits with as much recomputation as there is? Where a schedule
 * holds all microbatches, fewer tell nothing. */
static bool is_of_batch(const struct search *s, const struct search_row *row,
                        struct trial_budget *budget, struct search_lack *out)
{
    struct configuration c, few;
    out->layout = row->layout;
    ladder_most(s->question.held, &out->layout);
    plan_layout_apply(s->base, &out->layout, &c);
    few = c;
    trial_shorten(&few);
    if (c.layout.pipeline.schedule->holds_all || configuration_legal(&c) ||
        !configuration_legal(&few) || !trial_holds(&few, budget))
        return false;
    say_rule(&c, out);
    return true;
}

static void find_batch(const struct search *s, struct search_lack *out)
{
    struct trial_budget budget = {.usable_bytes =
                                      trial_usable_bytes(s->base, s->question.headroom_ratio),
                                  .passes_max = PASSES_MOST};
    for (uint32_t i = 0; i < s->row_count && out->batch == NULL; i++)
        if (s->rows[i].fate == FATE_RULE && budget.passes <= budget.passes_max &&
            is_of_batch(s, &s->rows[i], &budget, out))
            out->batch = &s->rows[i];
}

/* Of the layouts whose bounds fit the card, that which holds least there. */
static void find_host(const struct search *s, struct search_lack *out)
{
    const struct search_row *least = NULL;
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].fate == FATE_LEDGER &&
            (least == NULL || s->rows[i].least_bytes < least->least_bytes))
            least = &s->rows[i];
    if (least == NULL)
        return;
    struct step_options options = {.memory_only = true,
                                   .usable_bytes =
                                       trial_usable_bytes(s->base, s->question.headroom_ratio)};
    struct configuration c;
    struct step *step = NULL;
    struct error error;
    plan_layout_apply(s->base, &least->layout, &c);
    if (step_run(&c, &options, &step, &error) && !step->fits &&
        step->failed.program == UINT32_MAX) {
        out->host = least;
        out->layout = least->layout;
        out->host_bytes = step->host.bytes;
        out->host_room_bytes = step->host.room_bytes;
    }
    step_destroy(step);
}

void search_lack_find(const struct search *s, struct search_lack *out)
{
    *out = (struct search_lack){.batch = NULL};
    find_batch(s, out);
    if (out->batch == NULL)
        find_host(s, out);
}
