#include "models/plan/ladder.h"

#include "sim/check.h"

bool ladder_frees(const struct configuration *c, int level)
{
    switch ((enum recompute)level) {
    case RECOMPUTE_SELECTIVE:
        return c->training.attention == ATTENTION_MATH && c->software.offers.selective_recompute;
    case RECOMPUTE_PER_OPERATOR:
        return c->software.offers.operator_recompute && c->model.moe.experts == 0 &&
               c->model.latent.kv_rank == 0;
    case RECOMPUTE_EVERY_OTHER_LAYER:
        return c->software.offers.operator_recompute;
    case RECOMPUTE_BLOCK:
        return c->software.offers.block_recompute && configuration_chunk_layers(c) > 1;
    case RECOMPUTE_MODULES: /* which frees more than a block, or less */
        return false;
    case RECOMPUTE_UNIFORM: /* which frees more than all of it, or less */
        return false;
    case RECOMPUTE_NONE:
    case RECOMPUTE_FULL:
        return true;
    }
    UNREACHABLE("level is an enum recompute");
}

bool ladder_level(struct configuration *c)
{
    for (int level = c->layout.recompute + 1; level <= RECOMPUTE_FULL; level++) {
        if (ladder_frees(c, level)) {
            c->layout.recompute = level;
            c->layout.recompute_layers = level == RECOMPUTE_BLOCK ? 1 : 0;
            return true;
        }
    }
    return false;
}

void ladder_last(struct configuration *c)
{
    if (c->layout.recompute == RECOMPUTE_BLOCK)
        c->layout.recompute_layers = configuration_chunk_layers(c) - 1;
}

static bool is_no_rung(unsigned held, int level)
{
    return (held >> PLAN_RECOMPUTE & 1u) != 0 || level == RECOMPUTE_MODULES ||
           level == RECOMPUTE_UNIFORM;
}

void ladder_most(unsigned held, struct plan_layout *layout)
{
    if (is_no_rung(held, layout->recompute))
        return;
    layout->recompute = RECOMPUTE_FULL;
    layout->recompute_layers = 0;
}

bool ladder_more(const struct configuration *base, unsigned held, struct plan_layout *layout)
{
    struct configuration c;
    if (is_no_rung(held, layout->recompute))
        return false;
    plan_layout_apply(base, layout, &c);
    const bool block = layout->recompute == RECOMPUTE_BLOCK &&
                       layout->recompute_layers + 1 < configuration_chunk_layers(&c);
    if (!block && !ladder_level(&c))
        return false;
    layout->recompute = c.layout.recompute;
    layout->recompute_layers = (uint32_t)c.layout.recompute_layers + block;
    return true;
}

uint64_t ladder_least_layers(const struct ladder_block *block, uint64_t fails, uint64_t fits)
{
    while (fits - fails > 1) {
        const uint64_t layers = fails + (fits - fails) / 2;
        if (block->fits(block->context, layers))
            fits = layers;
        else
            fails = layers;
    }
    return fits;
}
