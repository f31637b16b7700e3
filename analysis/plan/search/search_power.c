#include "analysis/plan/search/search_power.h"

#include "analysis/plan/search/search.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_weeks.h"
#include "sim/units.h"

void search_power_more(struct arena *arena, const struct search *s, struct search_more *out)
{
    struct search_question question = s->question;
    struct search *found = NULL;
    struct error error;
    *out = (struct search_more){.known = false};
    if (!search_terms_limited(&question.terms) || s->stopped || s->counts.fates[FATE_POWER] == 0)
        return;
    question.terms.power_w *= 1.0 + SEARCH_MORE_RATIO;
    question.leaders = 1;
    question.told = NULL;
    question.diary = NULL;
    if (!search_run(&question, &found, &error))
        return;
    out->power_w = question.terms.power_w;
    out->known = found->leader_count > 0;
    if (out->known)
        out->leader = search_weeks_keep(arena, &found->leaders[0]);
    search_destroy(found);
}

double search_more_tokens_per_day_mw(const struct search_more *more,
                                     const struct search_leader *first)
{
    const double raise_w = more->power_w * SEARCH_MORE_RATIO / (1.0 + SEARCH_MORE_RATIO);
    const double tokens_per_s =
        search_weeks_tokens_per_s(&more->leader) - search_weeks_tokens_per_s(first);
    return tokens_per_s * DAY / (raise_w / MEGA);
}
