#include "analysis/record/evidence/published_mfu.h"

#include <string.h>

const struct published_mfu published_mfus[] = {
#define PUBLISHED(card, peak, experts, mfu_ratio, row, model, gpus)                                \
    {card, peak, experts, mfu_ratio, row, model, gpus},
#include "analysis/record/evidence/published_mfu_list.h"
#undef PUBLISHED
};
const size_t published_mfu_count = sizeof published_mfus / sizeof published_mfus[0];

enum peak_kind published_mfu_peak(const struct configuration *c)
{
    const enum peak_kind peak = c->training.precision->gemm_peak;
    return peak == PEAK_FP16 ? PEAK_BF16 : peak;
}

const struct published_mfu *published_mfu_of(const struct configuration *c)
{
    const bool comparable = c->training.sequence < PUBLISHED_MFU_SEQUENCE;
    for (size_t i = 0; comparable && i < published_mfu_count; i++) {
        const struct published_mfu *p = &published_mfus[i];
        if (c->gpu.name != NULL && strcmp(p->card, c->gpu.name) == 0 &&
            p->peak == published_mfu_peak(c) && p->experts == (c->model.moe.experts > 0))
            return p;
    }
    return NULL;
}

const char *published_mfu_words(struct arena *arena, const struct configuration *c,
                                double mfu_ratio)
{
    const struct published_mfu *p = published_mfu_of(c);
    if (p == NULL || !(mfu_ratio > p->mfu_ratio))
        return NULL;
    return arena_format(arena,
                        "above every MFU of this card in %s with %s among the clean rows of "
                        "validation: at most %.1f %% (%s on %u, row %s of "
                        "tests/validation/steps.csv)",
                        peak_names[p->peak], p->experts ? "experts" : "a dense model",
                        100.0 * p->mfu_ratio, p->model, p->gpus, p->row);
}
