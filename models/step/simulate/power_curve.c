#include "models/step/simulate/power_curve.h"

#include "sim/check.h"

const struct power_point *power_curve(const struct configuration *c, const struct step *step,
                                      uint32_t rank_class, struct arena *arena, uint32_t *count)
{
    uint32_t span_count, points = 0;
    struct step_cards cards;
    const struct program *program =
        step->lowered.programs[step->symmetry.ranks[rank_class].program];
    const struct worker_idle *spans = worker_spans(step->worker, rank_class, arena, &span_count);
    struct power_point *out = ARENA_ARRAY(arena, struct power_point, span_count);
    CHECK(span_count > 0);
    step_power_cards(c, program, step->parts.class_breakdown_s[rank_class], &cards);
    for (uint32_t i = 0; i < span_count; i++) {
        const double card_w = cards.card_w[step_power_phase(spans[i].part)];
        if (points == 0 || out[points - 1].card_w != card_w)
            out[points++] = (struct power_point){spans[i].from_s, card_w};
    }
    CHECK(out[0].at_s == 0.0);
    *count = points;
    return out;
}
