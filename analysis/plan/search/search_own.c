#include "analysis/plan/search/search_own.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/plan/search/search_lead.h"
#include "analysis/plan/search/search_order.h"
#include "models/plan/choice.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"

static bool same_value(enum search_key key, const struct search_layout *a,
                       const struct search_layout *b)
{
    switch (key) {
    case SEARCH_TP:
        return a->tp == b->tp;
    case SEARCH_PP:
        return a->pp == b->pp;
    case SEARCH_CP:
        return a->cp == b->cp;
    case SEARCH_EP:
        return a->ep == b->ep && a->etp == b->etp;
    case SEARCH_MICROBATCH:
        return a->microbatch == b->microbatch;
    case SEARCH_SCHEDULE:
        return a->schedule == b->schedule;
    case SEARCH_VPP:
        return a->vpp == b->vpp;
    case SEARCH_RECOMPUTE:
        return a->recompute == b->recompute;
    case SEARCH_SHARDING:
        return a->sharding == b->sharding;
    case SEARCH_SEQUENCE_PARALLEL:
        return a->sequence_parallel == b->sequence_parallel;
    case SEARCH_KEY_COUNT:
        break;
    }
    return false;
}

/* Rows say how far the search went up from no recomputation: what it walks past is searched. */
static bool walked(const struct search *s, const struct search_layout *own)
{
    struct configuration c;
    search_apply(s->base, own, &c);
    return own->recompute == RECOMPUTE_NONE || choice_frees(&c, own->recompute);
}

static unsigned unsearched(const struct search *s, const struct search_layout *own)
{
    unsigned keys = 0;
    for (unsigned key = 0; key < SEARCH_KEY_COUNT; key++) {
        bool met = key == SEARCH_RECOMPUTE && walked(s, own);
        for (uint32_t i = 0; i < s->row_count && !met; i++)
            met = same_value((enum search_key)key, &s->rows[i].layout, own);
        keys |= met ? 0 : 1u << key;
    }
    return keys;
}

void search_own_rank(struct search *search, const struct configuration *c, struct search_own *out)
{
    const double usable_bytes = search->base->gpu.hbm.usable_bytes;
    *out = (struct search_own){.stated = true, .row = {.layout = search_layout_of(c)}};
    out->leader.row = &out->row;
    out->fits = configuration_legal(c) &&
                search_lead_play(search->base, &out->row, usable_bytes, NULL, &out->leader);
    if (!out->fits)
        return;
    out->tight =
        out->leader.peak_reserved_bytes > usable_bytes * (1.0 - search->question.headroom_ratio);
    out->unsearched = unsearched(search, &out->row.layout);
    search_order_beside(search, &out->leader);
    for (uint32_t i = 0; i < search->leader_count && !out->found; i++) {
        out->found = search_layout_same(&search->leaders[i].row->layout, &out->row.layout);
        out->rank = out->found ? i + 1 : 0;
    }
    if (!out->found)
        out->rank = search_order_take(search, &out->leader);
}

const char *search_own_value(struct arena *arena, const struct search_own *own, enum search_key key)
{
    const struct search_layout *l = &own->row.layout;
    const uint32_t numbers[SEARCH_KEY_COUNT] = {
        [SEARCH_TP] = l->tp, [SEARCH_PP] = l->pp,   [SEARCH_CP] = l->cp,
        [SEARCH_EP] = l->ep, [SEARCH_VPP] = l->vpp, [SEARCH_MICROBATCH] = l->microbatch};
    const char *words[SEARCH_KEY_COUNT] = {[SEARCH_SCHEDULE] = l->schedule->head.name,
                                           [SEARCH_RECOMPUTE] = recompute_names[l->recompute],
                                           [SEARCH_SHARDING] = l->sharding->head.name,
                                           [SEARCH_SEQUENCE_PARALLEL] =
                                               l->sequence_parallel ? "true" : "false"};
    if (key == SEARCH_EP && l->etp > 0)
        return arena_format(arena, "ep %" PRIu32 " with etp %" PRIu32, l->ep, l->etp);
    return words[key] != NULL
               ? arena_format(arena, "%s %s", search_key_names[key], words[key])
               : arena_format(arena, "%s %" PRIu32, search_key_names[key], numbers[key]);
}
