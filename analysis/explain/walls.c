#include "analysis/explain/walls.h"

#include <math.h>

#include "sim/check.h"

const char *const walls_wall_names[WALL_COUNT] = {
    [WALL_STATE] = "memory of state",
    [WALL_ACTIVATIONS] = "memory of activations",
    [WALL_COMMUNICATION] = "communication",
    [WALL_COMPUTE] = "compute",
};
const char *const walls_wall_moves[WALL_COUNT] = {
    [WALL_STATE] = "more cards or larger ones, fewer bytes a parameter (8-bit moments, 16-bit "
                   "gradients), a smaller model",
    [WALL_ACTIVATIONS] = "tensor and context parallelism, shorter sequences, larger cards",
    [WALL_COMMUNICATION] = "a larger batch, faster or more NICs, 16-bit gradients, overlap with "
                           "the backward pass",
    [WALL_COMPUTE] = "more cards, faster ones, 8-bit products, a higher MFU, fewer tokens",
};

/* s b h L */
static double elements(const struct walls_shape *shape)
{
    return shape->sequence * shape->sequences * shape->hidden * shape->layers;
}

double walls_kept_with_scores_bytes(const struct walls_shape *shape)
{
    return elements(shape) * (34.0 + 5.0 * shape->heads * shape->sequence / shape->hidden);
}

double walls_kept_bytes(const struct walls_shape *shape)
{
    return 34.0 * elements(shape);
}

double walls_recomputed_bytes(const struct walls_shape *shape)
{
    return 2.0 * elements(shape);
}

double walls_sequences_beside(double cards, double usable_bytes, double weights_bytes,
                              double cache_bytes, double parts)
{
    const double left_bytes = usable_bytes - weights_bytes / cards; /* of a card */
    return left_bytes > 0.0 ? floor(left_bytes / (cache_bytes / fmin(cards, parts))) : 0.0;
}

double walls_flops(double parameters, double tokens)
{
    return 6.0 * parameters * tokens;
}

double walls_adapter_flops(double parameters, double adapters, double tokens)
{
    return (4.0 * parameters + 6.0 * adapters) * tokens;
}

double walls_compute_s(double flops, double gpus, double peak_flops_per_s, double mfu_ratio)
{
    CHECK(gpus > 0.0 && peak_flops_per_s > 0.0 && mfu_ratio > 0.0);
    return flops / (gpus * peak_flops_per_s * mfu_ratio);
}

double walls_all_reduce_bytes(double buffer_bytes, double ranks)
{
    CHECK(ranks >= 1.0);
    return 2.0 * (ranks - 1.0) / ranks * buffer_bytes;
}

double walls_balance(double peak_flops_per_s, double hbm_bytes_per_s)
{
    CHECK(hbm_bytes_per_s > 0.0);
    return peak_flops_per_s / hbm_bytes_per_s;
}

double walls_roofline_s(double flops, double bytes, double peak_flops_per_s, double hbm_bytes_per_s)
{
    CHECK(peak_flops_per_s > 0.0 && hbm_bytes_per_s > 0.0);
    return fmax(flops / peak_flops_per_s, bytes / hbm_bytes_per_s);
}

enum walls_wall walls_binding(const struct walls_load *load)
{
    const double state = load->state_bytes / load->gpus;
    if (state > load->usable_bytes)
        return WALL_STATE;
    if (state + load->least_activation_bytes > load->usable_bytes)
        return WALL_ACTIVATIONS;
    return load->all_reduce_s > load->compute_s ? WALL_COMMUNICATION : WALL_COMPUTE;
}
