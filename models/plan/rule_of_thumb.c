/* The classroom's rule of thumb: 16 N + k L b s h 2 bytes (docs/models/memory.md). */
#include "models/plan/rule_of_thumb.h"

#include <math.h>

/* Multiples of an 80 GB card are quoted with 80e9 bytes in class, whatever the driver reports. */
static double nominal_card_bytes(const struct gpu_spec *gpu)
{
    return gpu->hbm.nominal_bytes > 0.0 ? gpu->hbm.nominal_bytes : gpu->hbm.bytes;
}

/* At most 2^53, beyond which no count is exact. */
static uint64_t cards(double bytes, double card_bytes)
{
    return (uint64_t)fmin(ceil(bytes / card_bytes), 0x1p53);
}

/* Saved elements for each token and hidden unit of a layer. In 16 bit class uses k = 12 (24 s b h
 * bytes). In 8 bit it counts Korthikanti's 34 s b h bytes as 17 elements: the precision's element
 * includes its block scales (DeepSeek-V3, arXiv:2412.19437 section 3.3: one fp32 for 128). */
static double elements_per_token(const struct precision *precision)
{
    return precision->activation_bytes < 2.0 ? 17.0 : 12.0;
}

void rule_of_thumb_recipe(const struct training_spec *training, struct rule_of_thumb_recipe *out)
{
    const struct precision *precision = training->precision;
    const struct optimizer_state state =
        optimizer_state(training->optimizer, precision, &training->state_formats);
    *out = (struct rule_of_thumb_recipe){
        .weights_bytes = precision->weight_bytes + precision->copy_bytes,
        .gradients_bytes =
            training->gradient_bytes > 0.0 ? training->gradient_bytes : precision->gradient_bytes,
        .master_bytes = state.master_bytes,
        .moments_bytes = optimizer_nominal_bytes(training->optimizer, &state) - state.master_bytes,
        .activations_bytes = elements_per_token(precision) * precision->activation_bytes,
    };
}

void rule_of_thumb(const struct configuration *c, struct rule_of_thumb *out)
{
    const struct model_shape *m = &c->model;
    double parameters = m->nominal_parameters > 0.0
                            ? m->nominal_parameters
                            : transformer_parameters(m, c->training.sequence);
    const struct precision *p = c->training.precision;
    struct rule_of_thumb_recipe recipe;
    rule_of_thumb_recipe(&c->training, &recipe);
    double bytes =
        recipe.weights_bytes + recipe.gradients_bytes + recipe.master_bytes + recipe.moments_bytes;
    out->held_bytes = bytes;
    out->adapter_parameters = out->adapter_bytes = 0.0;
    if (c->training.adapter.kind != ADAPTER_NONE) {
        out->held_bytes = configuration_frozen_bytes(c);
        out->adapter_parameters = configuration_adapter_parameters(c);
        out->adapter_bytes = bytes;
        bytes = out->held_bytes +
                bytes * out->adapter_parameters / transformer_parameters(m, c->training.sequence);
    }
    double card = nominal_card_bytes(&c->gpu);
    out->card_bytes = card;
    out->parameters = parameters;
    out->bytes_per_parameter = bytes;
    out->static_bytes = out->held_bytes * parameters + out->adapter_bytes * out->adapter_parameters;
    out->activation_bytes = recipe.activations_bytes * (double)m->layers *
                            (double)c->layout.microbatch * (double)c->training.sequence *
                            (double)m->hidden;
    out->total_bytes = out->static_bytes + out->activation_bytes;
    out->inference_bytes = p->weight_bytes * parameters;
    out->static_cards = cards(out->static_bytes, card);
    out->cards = cards(out->total_bytes, card);
    out->inference_cards = cards(out->inference_bytes, card);
}
