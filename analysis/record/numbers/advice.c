#include "analysis/record/numbers/advice.h"

#include <string.h>

#include "models/sharding/sharding_kind.h"
#include "sim/check.h"

/* What each move makes smaller beside state that a sharding spreads. Pipeline stages hold fewer
 * layers but more microbatches at once, so activations stay. */
static bool move_shrinks(enum neighbour_move move, enum tenant tenant)
{
    bool activations = tenant == TENANT_ACTIVATIONS || tenant == TENANT_TEMPORARY;
    bool state = tenant == TENANT_WEIGHTS || tenant == TENANT_GRADIENTS ||
                 tenant == TENANT_MASTER || tenant == TENANT_MOMENTS;
    switch (move) {
    case MOVE_MICROBATCH:
    case MOVE_CP:
        return activations;
    case MOVE_RECOMPUTE:
    case MOVE_SEQUENCE_PARALLEL:
    case MOVE_SCHEDULE:
        return tenant == TENANT_ACTIVATIONS;
    case MOVE_SEGMENTS:
        return tenant == TENANT_FRAGMENTATION;
    case MOVE_TP:
        return activations || state;
    case MOVE_PP:
        return state;
    case MOVE_SHARDING: /* by what the sharding says of itself */
    case MOVE_TP_SPLIT:
        return false;
    case MOVE_COUNT:
        break;
    }
    UNREACHABLE("move is an enum neighbour_move");
}

static bool sharding_shrinks(const struct sharding_kind *from, const struct sharding_kind *to,
                             enum tenant tenant)
{
    switch (tenant) {
    case TENANT_WEIGHTS:
        return to->shards_weights && !from->shards_weights;
    case TENANT_GRADIENTS:
        return to->shards_gradients && !from->shards_gradients;
    case TENANT_MASTER:
    case TENANT_MOMENTS:
        return to->shards_optimizer && !from->shards_optimizer;
    case TENANT_ACTIVATIONS:
    case TENANT_TEMPORARY:
    case TENANT_COMMUNICATION:
    case TENANT_CONTEXT:
    case TENANT_FRAGMENTATION:
        return false;
    case TENANT_COUNT:
        break;
    }
    UNREACHABLE("tenant is an enum tenant");
}

static const char *word_of(const struct neighbour *n)
{
    static const char *const words[MOVE_COUNT] = {
        [MOVE_MICROBATCH] = "smaller microbatch",
        [MOVE_RECOMPUTE] = "more recomputation",
        [MOVE_SEQUENCE_PARALLEL] = "sequence_parallel",
        [MOVE_SCHEDULE] = "1f1b",
        [MOVE_SEGMENTS] = "expandable segments of the allocator",
        [MOVE_TP] = "more tp",
        [MOVE_PP] = "more pp",
        [MOVE_CP] = "more cp",
    };
    return n->move == MOVE_SHARDING ? n->c.layout.data.sharding->head.name : words[n->move];
}

static const char *words_for(struct arena *arena, const struct configuration *c,
                             const struct neighbour *rows, unsigned count, enum tenant tenant)
{
    const char *text = "";
    for (unsigned i = 0; i < count; i++) {
        const struct neighbour *n = &rows[i];
        bool shrinks =
            n->move == MOVE_SHARDING
                ? sharding_shrinks(c->layout.data.sharding, n->c.layout.data.sharding, tenant)
                : move_shrinks(n->move, tenant);
        bool again = i > 0 && n->move != MOVE_SHARDING && rows[i - 1].move == n->move;
        if (shrinks && !again)
            text = arena_format(arena, "%s%s%s", text, *text != '\0' ? ", " : "", word_of(n));
    }
    return text;
}

void advice_words(struct arena *arena, const struct configuration *c, struct advice *out)
{
    struct neighbour rows[NEIGHBOUR_MAX];
    unsigned count = neighbour_list(c, rows);
    for (unsigned tenant = 0; tenant < TENANT_COUNT; tenant++)
        out->helps[tenant] = words_for(arena, c, rows, count, (enum tenant)tenant);
    out->helps[TENANT_CONTEXT] = "nothing: the price of a process";
    out->helps[TENANT_COMMUNICATION] = "fewer and smaller buffers in flight";
}

void advice_search(struct arena *arena, const struct scenario *scenario, struct advice *out)
{
    struct scenario_change change;
    scenario_change_begin(&change, scenario);
    neighbour_search(arena, &change.question, &out->tried);
    scenario_change_end(&change);
}
