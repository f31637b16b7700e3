#include "models/plan/choice_attention.h"

static bool runs(const struct configuration *c, enum attention_kernel which)
{
    return gpu_has_attention(&c->gpu, which,
                             software_attention_operands(&c->software, c->training.precision));
}

/* The newest fused kernel that the card has for the precision; unfused when it has none. */
static enum attention_kernel newest_attention(const struct configuration *c)
{
    static const enum attention_kernel order[] = {ATTENTION_CUDNN, ATTENTION_FLASH3,
                                                  ATTENTION_FLASH2, ATTENTION_FLASH1};
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++)
        if (runs(c, order[i]) && (order[i] != ATTENTION_FLASH3 || c->software.offers.flash3))
            return order[i];
    return ATTENTION_MATH;
}

/* FP8 matrix units came with Hopper (and Ada), fused attention kernels before them. */
static bool is_fused_by_now(const struct configuration *c)
{
    return c->software.usual.attention == ATTENTION_MATH && c->gpu.peak_flops_per_s[PEAK_FP8] > 0.0;
}

static enum attention_kernel usual_attention(const struct configuration *c)
{
    return is_fused_by_now(c) ? ATTENTION_FLASH2
                              : (enum attention_kernel)c->software.usual.attention;
}

enum attention_kernel choice_attention(const struct configuration *c)
{
    const enum attention_kernel usual = usual_attention(c);
    return runs(c, usual) ? usual : newest_attention(c);
}

const char *choice_attention_why(struct arena *arena, const struct configuration *c)
{
    const struct precision *precision = c->training.precision;
    const enum peak_kind operands = software_attention_operands(&c->software, precision);
    const enum attention_kernel usual = usual_attention(c);
    if (c->training.attention == ATTENTION_MATH && !gpu_attention_takes(ATTENTION_CUDNN, operands))
        return arena_format(arena, "no fused kernel takes %s", precision->head.name);
    if (operands == PEAK_FP8 && !gpu_attention_takes(usual, operands))
        return arena_format(arena, "%s takes no 8-bit operands (software.fp8_attention)",
                            attention_kernel_names[usual]);
    if (c->training.attention == c->software.usual.attention)
        return arena_format(arena, "what %s runs", c->software.name);
    return c->software.usual.attention == ATTENTION_MATH
               ? "nobody runs unfused attention on this card"
               : arena_format(arena, "what %s runs on this card", c->software.name);
}
