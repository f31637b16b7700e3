#include "analysis/plan/search/search_own.h"

#include <inttypes.h>

#include "analysis/plan/search/search_lead.h"
#include "models/plan/ladder.h"
#include "models/plan/trial.h"

/* Rows say how far the search went up from no recomputation: what it walks past is searched. */
static bool walked(const struct search *s, const struct plan_layout *own)
{
    struct configuration c;
    plan_layout_apply(s->base, own, &c);
    return ladder_frees(&c, own->recompute);
}

/* The experts' share is of two keys. */
static unsigned keys_of(unsigned axis)
{
    return 1u << axis | (axis == PLAN_EP ? 1u << PLAN_ETP : 0);
}

/* Over how many ranks each expert that ranks share is cut: unsaid, over those of tp. */
static struct plan_layout with_cut(const struct plan_layout *layout)
{
    struct plan_layout out = *layout;
    if (out.ep > 1 && out.etp == 0)
        out.etp = out.tp;
    return out;
}

/* Does some layout of the search have these keys as `own` has them? */
static bool met(const struct search *s, const struct plan_layout *own, unsigned keys)
{
    for (uint32_t i = 0; i < s->row_count; i++) {
        const struct plan_layout row = with_cut(&s->rows[i].layout);
        if (plan_layout_same(&row, own, ~keys))
            return true;
    }
    return false;
}

unsigned search_unsearched(const struct search *s, const struct plan_layout *layout)
{
    const struct plan_layout own = with_cut(layout);
    const unsigned walks = walked(s, layout) ? 1u << PLAN_RECOMPUTE : 0;
    unsigned keys = 0;
    for (unsigned key = 0; key < PLAN_AXIS_COUNT; key++) {
        const bool there = (walks >> key & 1u) != 0 || met(s, &own, keys_of(key));
        keys |= there ? 0 : 1u << key;
    }
    /* each by itself is searched: two that never stand together */
    for (unsigned one = 0; one < PLAN_AXIS_COUNT && keys == 0; one++)
        for (unsigned two = one + 1; two < PLAN_AXIS_COUNT && keys == 0; two++)
            if (!met(s, &own, (keys_of(one) | keys_of(two)) & ~walks))
                keys = 1u << one | 1u << two;
    return keys;
}

bool search_tight(const struct search *s, const struct search_leader *leader)
{
    return leader->peak_reserved_bytes > trial_usable_bytes(s->base, s->question.headroom_ratio);
}

void search_own_rank(struct search *search, const struct configuration *c, struct search_own *out)
{
    const double usable_bytes = search->base->gpu.hbm.usable_bytes;
    *out = (struct search_own){.stated = true, .row = {.layout = plan_layout_of(c)}};
    out->leader.row = &out->row;
    out->fits = configuration_legal(c) &&
                search_lead_play(search->base, &out->row, usable_bytes, NULL, &out->leader);
    if (!out->fits)
        return;
    out->tight = search_tight(search, &out->leader);
    out->unsearched = search_unsearched(search, &out->row.layout);
    search_lead_beside(search, &out->leader);
    for (uint32_t i = 0; i < search->leader_count && !out->found; i++) {
        out->found = plan_layout_same(&search->leaders[i].row->layout, &out->row.layout, 0);
        out->rank = out->found ? i + 1 : 0;
    }
    if (!out->found)
        out->rank = search_lead_take(search, &out->leader);
    out->leads = !out->found && out->rank == 1;
}

const char *search_own_value(struct arena *arena, const struct plan_layout *l, enum plan_axis key)
{
    if (key == PLAN_EP && l->etp > 0)
        return arena_format(arena, "ep %" PRIu32 " with etp %" PRIu32, l->ep, l->etp);
    return arena_format(arena, "%s %s", plan_axis_names[key], plan_layout_text(arena, l, key));
}

const char *search_own_values(struct arena *arena, const struct plan_layout *l, unsigned keys)
{
    const char *text = NULL;
    for (unsigned key = 0; key < PLAN_AXIS_COUNT; key++)
        if ((keys >> key & 1u) != 0)
            text = arena_format(arena, "%s%s%s", text != NULL ? text : "", text != NULL ? ", " : "",
                                search_own_value(arena, l, (enum plan_axis)key));
    return text;
}
