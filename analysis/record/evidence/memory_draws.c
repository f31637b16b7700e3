#include "analysis/record/evidence/memory_draws.h"

#include "analysis/record/evidence/uncertainty.h"

static void draw(struct arena *scratch, const struct scenario *s, uint32_t index,
                 double values[FIT_FIGURE_COUNT])
{
    struct configuration c = s->configuration;
    for (unsigned i = 0; i < s->stated.constant_count; i++) {
        const struct constant *constant = &s->stated.constants[i];
        if (fit_draws_figure(constant->offset) < FIT_FIGURE_COUNT)
            constant_scale(&c, constant, uncertainty_factor(scratch, c.seed, index, constant));
    }
    for (unsigned f = 0; f < FIT_FIGURE_COUNT; f++)
        values[f] = fit_draws_value(&c, (enum fit_figure)f);
}

void memory_draws(struct arena *arena, const struct scenario *s, uint32_t count,
                  struct fit_draws *out)
{
    bool any = false;
    *out = (struct fit_draws){.count = 0};
    for (unsigned i = 0; i < s->stated.constant_count; i++)
        any = any || fit_draws_figure(s->stated.constants[i].offset) < FIT_FIGURE_COUNT;
    if (!any)
        return;
    out->count = count;
    out->values = arena_array(arena, sizeof *out->values, count, _Alignof(double));
    const struct arena_mark mark = arena_mark(arena);
    for (uint32_t i = 0; i < count; i++)
        draw(arena, s, i, out->values[i]);
    arena_rewind(arena, mark);
}
