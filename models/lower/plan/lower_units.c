/* lower_units.c - the units of a stage, and their groups.
 *
 * Invariants
 * 1. The units of a chunk are neighbours; chunk_first counts up to all of them.
 * 2. Every unit is in one group, whose units are neighbours of one chunk; embedding and head are
 *    groups of their own, as in torchtitan, the head with those of modules that share it. */
#include "models/lower/plan/lower_units.h"

#include <math.h>

#include "sim/check.h"

double lower_units_kept_bytes(const struct lowered_unit *u)
{
    return u->keeps_input || !u->block->full_recompute ? u->block->kept_bytes : 0.0;
}

double lower_units_part(const struct lowered_unit *unit, struct shard_counts shards)
{
    return ceil(unit->held / (double)shards.all) + ceil(unit->experts / (double)shards.experts);
}

double lower_units_moment(const struct lowered_unit *unit, struct shard_counts shards,
                          enum moment_extent extent)
{
    return lower_units_part(unit, shards) *
           optimizer_extent_ratio(extent, &unit->block->weights.state);
}

double lower_units_elements(const struct units *units, struct shard_counts shards)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < units->count; i++)
        sum += lower_units_part(&units->rows[i], shards);
    return sum;
}

double lower_units_sent_bytes(const struct units *units, bool experts)
{
    double elements = 0.0, bytes = 0.0;
    for (uint32_t i = 0; i < units->count; i++) {
        const struct lowered_unit *u = &units->rows[i];
        const double part = experts ? u->experts : u->held;
        elements += part;
        bytes += part * u->block->weights.sent_bytes;
    }
    return elements > 0.0 ? bytes / elements : 0.0;
}

static void add_unit(struct units *units, const struct lowering *l, enum block_index kind,
                     uint32_t chunk, uint16_t layer)
{
    const struct block *b = &l->blocks[kind];
    const double experts = l->data.experts != EXPERTS_WITH_ALL ? b->weights.expert_parameters : 0.0;
    const bool adapters = l->data.adapters;
    double held = b->weights.parameters - experts,
           frozen_bytes = adapters ? b->weights.frozen_bytes : 0.0;
    if (kind == BLOCK_HEAD && l->c->model.tied_embeddings && !l->data.tied_across) {
        held -= l->vocabulary_shard; /* the embedding's, on the same rank */
        frozen_bytes -= adapters ? l->vocabulary_shard * ADAPTER_WEIGHT_BYTES : 0.0;
    }
    if (adapters)
        held = b->weights.trained;
    units->rows[units->count++] = (struct lowered_unit){.block = b,
                                                        .kind = kind,
                                                        .chunk = chunk,
                                                        .layer = layer,
                                                        .keeps_input = true,
                                                        .again = 1,
                                                        .experts = experts,
                                                        .held = held,
                                                        .frozen_bytes = frozen_bytes};
}

/* Layer i of the so many of a chunk, recomputed with its group once the backward pass comes to the
 * last of it (Megatron-LM megatron/core/transformer/transformer_block.py, _checkpointed_forward).
 */
static void join_recomputed(struct lowered_unit *u, uint64_t size, uint32_t i, uint32_t layers)
{
    const uint32_t place = (uint32_t)(i % size);
    const bool last = place + 1 == size || i + 1 == layers;
    u->keeps_input = place == 0;
    u->again = last ? place + 1 : 0;
}

/* Behind the model's last layer (NVIDIA/Megatron-LM
 * megatron/core/transformer/multi_token_prediction.py): the modules that predict further ahead,
 * then their heads, then the model's. The table is the embedding's or a tied head's where either is
 * on the same rank; else the first module has a copy. With full recomputation all that is between
 * its embedding and its head runs again from what it joined. */
static void add_predictions(struct units *units, const struct lowering *l, uint32_t chunk)
{
    const struct configuration *c = l->c;
    const bool again =
        c->layout.recompute == RECOMPUTE_FULL || c->layout.recompute == RECOMPUTE_UNIFORM;
    const bool copy = l->data.tied_across && !c->model.tied_embeddings;
    for (uint32_t i = 0; i < c->model.mtp_layers; i++) {
        const uint16_t layer = (uint16_t)(c->model.layers + i);
        add_unit(units, l, BLOCK_EMBEDDING, chunk, UINT16_MAX);
        if (i > 0 || !copy)
            units->rows[units->count - 1].held = 0.0;
        add_unit(units, l, BLOCK_PREDICTION, chunk, layer);
        add_unit(units, l, lower_plan_predicting(c), chunk, layer);
        if (!again)
            continue;
        units->rows[units->count - 2].again = 0;
        units->rows[units->count - 1].again = 2;
        units->rows[units->count - 1].keeps_input = false;
    }
    for (uint32_t i = 0; i < c->model.mtp_layers; i++)
        add_unit(units, l, BLOCK_PREDICTION_HEAD, chunk, UINT16_MAX);
}

static void build_units(struct units *units, const struct lowering *l, uint32_t stage)
{
    const struct schedule_kind *order = l->c->layout.pipeline.schedule;
    const uint32_t chunks = l->chunks;
    uint32_t room = 2;
    for (uint32_t k = 0; k < chunks; k++)
        room += l->split[schedule_part(order, &l->shape, stage, k)];
    room += 4 * (uint32_t)l->c->model.mtp_layers;
    units->rows = ARENA_ARRAY(l->arena, struct lowered_unit, room);
    units->chunk_first = ARENA_ARRAY(l->arena, uint32_t, chunks + 1);
    for (uint32_t k = 0; k < chunks; k++) {
        uint32_t global = schedule_part(order, &l->shape, stage, k);
        units->chunk_first[k] = units->count;
        if (global == 0)
            add_unit(units, l, BLOCK_EMBEDDING, k, UINT16_MAX);
        const uint32_t leaving = configuration_offloaded_layers(l->c, l->split[global]);
        for (uint32_t i = 0; i < l->split[global]; i++) {
            const uint32_t layer = l->layer_start[global] + i;
            const enum block_index kind = lower_plan_block(l->c, i, layer);
            add_unit(units, l, kind, k, (uint16_t)layer);
            units->rows[units->count - 1].leaves = i < leaving;
            if (l->c->layout.recompute == RECOMPUTE_UNIFORM)
                join_recomputed(&units->rows[units->count - 1], l->c->layout.recompute_layers, i,
                                l->split[global]);
        }
        if (global + 1 != l->parts)
            continue;
        add_predictions(units, l, k);
        add_unit(units, l, BLOCK_HEAD, k, UINT16_MAX);
    }
    units->chunk_first[chunks] = units->count;
    CHECK(units->count <= room); /* 1 */
}

static void add_group(struct units *units, uint32_t unit)
{
    units->groups[units->group_count++] = (struct group_of_units){.first = unit};
}

static void join_group(struct units *units, const struct lowering *l, uint32_t chunk,
                       uint32_t index, uint64_t size)
{
    struct lowered_unit *u = &units->rows[index];
    bool joins = units->group_count > units->chunk_group[chunk] && u->layer != UINT16_MAX &&
                 units->rows[index - 1].layer != UINT16_MAX &&
                 units->groups[units->group_count - 1].count < size;
    if (!joins && !(index > 0 && units->rows[index - 1].kind == BLOCK_PREDICTION_HEAD))
        add_group(units, index);
    struct group_of_units *g = &units->groups[units->group_count - 1];
    CHECK(g->first + g->count == index); /* 2 */
    g->count++;
    const double whole = lower_plan_block_bytes(l, u->block, false);
    const double experts = u->experts * u->block->weights.weight_bytes;
    const double stays = l->data.experts == EXPERTS_APART_WHOLE ? experts : 0.0;
    const double copies = u->block->weights.copy_bytes;
    g->gathered_bytes += whole - stays;
    g->expert_bytes += experts - stays;
    g->alive_bytes += stays > 0.0
                          ? fmin(lower_plan_block_bytes(l, u->block, true), whole + copies - stays)
                          : lower_plan_block_bytes(l, u->block, true);
    g->held += u->held;
    g->experts += u->experts;
    u->group = units->group_count - 1;
}

static void build_groups(struct units *units, const struct lowering *l)
{
    uint64_t size = l->data.sharding->units ? l->c->layout.data.fsdp_unit_layers : 1;
    size = size > 0 ? size : 1;
    units->groups = ARENA_ARRAY(l->arena, struct group_of_units, units->count + 1);
    units->chunk_group = ARENA_ARRAY(l->arena, uint32_t, l->chunks + 1);
    for (uint32_t chunk = 0; chunk < l->chunks; chunk++) {
        units->chunk_group[chunk] = units->group_count;
        for (uint32_t i = units->chunk_first[chunk]; i < units->chunk_first[chunk + 1]; i++)
            join_group(units, l, chunk, i, size);
    }
    units->chunk_group[l->chunks] = units->group_count;
}

void lower_units_build(struct units *units, const struct lowering *l, uint32_t stage)
{
    *units = (struct units){0};
    build_units(units, l, stage);
    build_groups(units, l);
}

bool lower_units_at_edge(const struct units *units, uint32_t unit, bool forward, bool first)
{
    const struct group_of_units *g = &units->groups[units->rows[unit].group];
    CHECK(unit >= g->first && unit < g->first + g->count); /* 2 */
    return forward == first ? unit == g->first : unit == g->first + g->count - 1;
}
