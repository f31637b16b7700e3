/* Bytes of the model's state, and the least that a stage needs. */
#include "models/lower/plan/lower_held.h"

#include <math.h>

double lower_held_weight_bytes(const struct lowering *l, const struct lowered_unit *u)
{
    const struct data_plan *data = &l->data;
    const struct shard_counts shards = data->shares.weights;
    const double trained = lower_units_part(u, shards) * u->block->weights.weight_bytes;
    const double copies = lower_data_plan_gathers(data) ? 0.0 : u->block->weights.copy_bytes;
    return (data->weights_are_master ? 0.0 : trained) + copies +
           u->frozen_bytes / (double)shards.all;
}

double lower_held_gradient_bytes(const struct lowering *l, const struct lowered_unit *u)
{
    return lower_units_part(u, l->data.shares.gradients) * l->data.kept_bytes;
}

double lower_held_master_bytes(const struct lowering *l, const struct lowered_unit *u)
{
    const struct shard_counts shards = l->data.shares.optimizer;
    return l->data.on_card * lower_units_part(u, shards) * l->data.state.master_bytes;
}

double lower_held_moment_bytes(const struct lowering *l, const struct lowered_unit *u, unsigned k)
{
    const struct shard_counts shards = l->data.shares.optimizer;
    return l->data.on_card * l->data.state.moment_bytes[k] *
           lower_units_moment(u, shards, l->c->training.optimizer->moments[k].extent);
}

/* What is there before the first step, and what that leaves for good, but for the buffers of
 * communicators. */
static double state_bytes(const struct lowering *l, const struct units *units)
{
    const struct configuration *c = l->c;
    double bytes = 0.0;
    for (uint32_t i = 0; i < units->count; i++) {
        const struct lowered_unit *u = &units->rows[i];
        bytes += lower_held_master_bytes(l, u);
        for (unsigned k = 0; k < l->data.state.moment_count; k++)
            bytes += lower_held_moment_bytes(l, u, k);
        bytes += lower_held_weight_bytes(l, u);
        if (c->software.data.gradients == GRADIENT_BUFFER)
            bytes += lower_held_gradient_bytes(l, u);
        if (c->software.data.gradient_copy && !lower_data_plan_scatters(&l->data))
            bytes += (u->held + u->experts) * c->training.precision->gradient_bytes;
    }
    return bytes + c->gpu.hbm.context_bytes;
}

/* Of a microbatch, by chunk: what stays from forward to backward, and from there to the weights'
 * pass. */
struct kept_by_chunk {
    double *kept, *late;
};

static struct kept_by_chunk keep(const struct lowering *l, const struct units *units)
{
    const struct kept_by_chunk by = {ARENA_ARRAY(l->arena, double, l->chunks),
                                     ARENA_ARRAY(l->arena, double, l->chunks)};
    for (uint32_t i = 0; i < units->count; i++) {
        const struct lowered_unit *u = &units->rows[i];
        by.kept[u->chunk] += u->leaves ? 0.0 : lower_units_kept_bytes(u);
        by.late[u->chunk] += u->block->late_bytes;
    }
    return by;
}

/* Stages keep the most at the end of some pass. */
static double most_kept(const struct lowering *l, const struct units *units, uint32_t stage)
{
    const struct kept_by_chunk by = keep(l, units);
    double now = 0.0, most = 0.0;
    uint32_t count;
    const struct pass *passes = lower_plan_passes(l, stage, &count);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t kind = passes[i].kind, chunk = passes[i].chunk;
        now += pass_is_forward(&passes[i]) ? by.kept[chunk] : 0.0;
        now -= kind == PASS_BACKWARD || kind == PASS_BACKWARD_INPUT ? by.kept[chunk] : 0.0;
        now += kind == PASS_BACKWARD_INPUT ? by.late[chunk] : 0.0;
        now -= kind == PASS_WEIGHTS ? by.late[chunk] : 0.0;
        most = fmax(most, now);
    }
    return most;
}

double lower_held_least_bytes(struct arena *scratch, const struct configuration *c,
                              const struct lowering *from, uint32_t stage)
{
    const struct arena_mark mark = arena_mark(scratch);
    const struct lowering *l = lower_plan_like(scratch, c, from);
    struct units units;
    lower_units_build(&units, l, stage);
    const double bytes = state_bytes(l, &units) + most_kept(l, &units, stage);
    arena_rewind(scratch, mark);
    return bytes;
}
