/* Clocks, passes and units. */
#include "law_before.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/layout/configuration_split.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"

static void merge(uint32_t *into, const uint32_t *from)
{
    for (unsigned s = 0; s < STREAM_COUNT; s++)
        into[s] = from[s] > into[s] ? from[s] : into[s];
}

static void merge_finish(uint32_t *into, const uint32_t *clock, const struct program *p,
                         uint32_t op)
{
    merge(into, &clock[(size_t)op * STREAM_COUNT]);
    uint32_t *own = &into[p->ops[op].stream];
    *own = op + 1 > *own ? op + 1 : *own;
}

void before_clocks(const struct program *p, uint32_t *clock)
{
    uint32_t host[STREAM_COUNT] = {0}, last[STREAM_COUNT] = {0};
    memset(clock, 0, sizeof *clock * STREAM_COUNT * p->op_count);
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        uint32_t *own = &clock[(size_t)i * STREAM_COUNT];
        merge(own, host);
        if (last[op->stream] > 0)
            merge_finish(own, clock, p, last[op->stream] - 1);
        for (unsigned k = 0; k < 2; k++)
            if (op->wait[k] != OP_NONE)
                merge_finish(own, clock, p, op->wait[k] - 1);
        if (op->flags & OP_HOST_SYNC)
            merge_finish(host, clock, p, i);
        last[op->stream] = i + 1;
    }
}

bool before_holds(const struct before *b, uint32_t earlier, uint32_t later)
{
    const unsigned stream = b->program->ops[earlier].stream;
    return b->clock[(size_t)later * STREAM_COUNT + stream] > earlier;
}

void before_must(struct before *b, bool holds, const char *rule, uint32_t op, const char *what)
{
    if (holds)
        return;
    if (b->problems++ == 0) {
        const struct op *o = &b->program->ops[op < b->program->op_count ? op : 0];
        snprintf(b->text, b->size, "%s: stage %u op %u (%s, %s, microbatch %u, layer %u): %s", rule,
                 b->program->stage, op, b->program->names[o->name], stream_names[o->stream],
                 o->microbatch, o->layer, what);
    }
}

bool before_works(const struct program *program, uint32_t op)
{
    const struct op *o = &program->ops[op];
    return o->kind == OP_COMPUTE && o->stream == STREAM_COMPUTE &&
           program->costs[o->cost].gpu_s > 0.0;
}

static bool of_pass(const struct op *op, const struct before_pass *pass)
{
    bool worked =
        op->stream == STREAM_COMPUTE || op->stream == STREAM_TP || op->stream == STREAM_CP;
    return worked && op->microbatch == pass->microbatch && op->chunk == pass->chunk &&
           op->phase <= PHASE_RECOMPUTE && (op->phase == PHASE_FORWARD) == pass->forward;
}

static void find_pass(const struct program *p, struct before_pass *pass)
{
    pass->first = pass->end = UINT32_MAX;
    for (uint32_t i = 0; i < p->op_count; i++) {
        if (of_pass(&p->ops[i], pass) &&
            (before_works(p, i) || p->ops[i].stream != STREAM_COMPUTE)) {
            pass->first = pass->first == UINT32_MAX ? i : pass->first;
            pass->end = i + 1;
        }
    }
}

static void plan_passes(struct before *b, struct before_plan *plan)
{
    const struct configuration *c = b->c;
    struct schedule_shape shape = {plan->stages, plan->chunks,
                                   (uint32_t)configuration_microbatches(c),
                                   &c->layout.pipeline.schedule_options};
    struct pass *passes =
        ARENA_ARRAY(b->arena, struct pass, 2u * shape.chunks * shape.microbatches);
    plan->pass_count = c->layout.pipeline.schedule->write(&shape, plan->stage, passes);
    plan->passes = ARENA_ARRAY(b->arena, struct before_pass, plan->pass_count);
    for (uint32_t i = 0; i < plan->pass_count; i++) {
        plan->passes[i] = (struct before_pass){.forward = passes[i].kind == PASS_FORWARD,
                                               .chunk = passes[i].chunk,
                                               .microbatch = passes[i].microbatch};
        find_pass(b->program, &plan->passes[i]);
        before_must(b, plan->passes[i].first != UINT32_MAX, "pass", 0, "has no ops");
    }
}

/* Sizes by the formulas of the shape: matrices are split over tp, norms are not. */
static void add_unit(struct before *b, struct before_plan *plan, enum unit_block block,
                     uint32_t chunk, uint16_t layer)
{
    const struct model_shape *m = &b->c->model;
    const double tp = (double)b->c->layout.tp, h = (double)m->hidden;
    const double table = (double)m->vocabulary * h / tp;
    double norms = m->norm.kind == NORM_RMS ? h : 2.0 * h;
    double gathered = block == UNIT_EMBEDDING ? table : block == UNIT_HEAD ? table + norms : 0.0;
    double held = gathered;
    if (block == UNIT_LAYER) {
        const double keys = 2.0 * h * (double)(m->attention.kv_heads * m->attention.head_size);
        const double split = transformer_layer_parameters(m, layer) - 2.0 * norms - keys;
        const double parts =
            fmin(tp, (double)m->attention.kv_heads); /* a head is whole on its rank */
        gathered = held = split / tp + keys / parts + 2.0 * norms;
    }
    if (block == UNIT_HEAD && m->tied_embeddings && plan->stages == 1)
        held = norms;
    plan->units[plan->unit_count++] = (struct before_unit){
        .block = block, .chunk = chunk, .layer = layer, .gathered = gathered, .held = held};
}

static void plan_groups(struct before *b, struct before_plan *plan)
{
    uint64_t size = b->c->layout.data.sharding->units ? b->c->layout.data.fsdp_unit_layers : 1;
    uint64_t filled = 0;
    for (uint32_t i = 0; i < plan->unit_count; i++) {
        struct before_unit *u = &plan->units[i];
        const struct before_unit *last = i > 0 ? &plan->units[i - 1] : NULL;
        bool joins = last != NULL && last->chunk == u->chunk && last->block == UNIT_LAYER &&
                     u->block == UNIT_LAYER && filled < size;
        u->group = last == NULL ? 0 : last->group + (joins ? 0 : 1);
        filled = joins ? filled + 1 : 1;
    }
}

static void plan_units(struct before *b, struct before_plan *plan)
{
    uint32_t all = plan->stages * plan->chunks, layer = 0;
    uint32_t *split = ARENA_ARRAY(b->arena, uint32_t, all);
    configuration_split(b->c, split);
    plan->units = ARENA_ARRAY(b->arena, struct before_unit, b->c->model.layers + 2);
    for (uint32_t global = 0; global < all; global++) {
        bool here = global % plan->stages == plan->stage;
        uint32_t chunk = global / plan->stages;
        if (here && global == 0)
            add_unit(b, plan, UNIT_EMBEDDING, chunk, UINT16_MAX);
        for (uint32_t i = 0; i < split[global]; i++, layer++)
            if (here)
                add_unit(b, plan, UNIT_LAYER, chunk, (uint16_t)layer);
        if (here && global + 1 == all)
            add_unit(b, plan, UNIT_HEAD, chunk, UINT16_MAX);
    }
    plan_groups(b, plan);
}

struct before_plan *before_plan(struct before *b)
{
    struct before_plan *plan = ARENA_NEW(b->arena, struct before_plan);
    plan->stage = b->program->stage;
    plan->stages = (uint32_t)b->c->layout.pp;
    plan->chunks = (uint32_t)b->c->layout.pipeline.vpp;
    plan_units(b, plan);
    plan_passes(b, plan);
    return plan;
}

/* Ends have no layer: the embedding stands before the layers of a forward, the head behind them. */
static bool of_unit(const struct before_plan *plan, const struct before_pass *pass,
                    const struct before_unit *unit, const struct op *op, bool layers_seen)
{
    if (unit->block == UNIT_LAYER)
        return op->layer == unit->layer;
    bool first = unit->block == UNIT_EMBEDDING, both = plan->stages * plan->chunks == 1;
    return op->layer == UINT16_MAX && (!both || (first == pass->forward) == !layers_seen);
}

uint32_t before_ops(const struct before *b, const struct before_plan *plan,
                    const struct before_pass *pass, const struct before_unit *unit, uint32_t *ops)
{
    uint32_t count = 0;
    bool layers_seen = false;
    for (uint32_t i = pass->first; i < pass->end; i++) {
        const struct op *op = &b->program->ops[i];
        if (!of_pass(op, pass))
            continue;
        layers_seen |= op->layer != UINT16_MAX;
        bool moves =
            op->kind == OP_COLLECTIVE && strcmp(b->program->names[op->name], "gather message") != 0;
        if (of_unit(plan, pass, unit, op, layers_seen) && (before_works(b->program, i) || moves))
            ops[count++] = i;
    }
    return count;
}

unsigned law_before(struct arena *arena, const struct configuration *c, const struct layer *layers,
                    const struct program *program, char *text, size_t size)
{
    struct before b = {
        .c = c, .program = program, .layers = layers, .arena = arena, .text = text, .size = size};
    b.clock = ARENA_ARRAY(arena, uint32_t, (size_t)program->op_count * STREAM_COUNT + 1);
    text[0] = '\0';
    before_clocks(program, b.clock);
    struct before_plan *plan = before_plan(&b);
    if (b.problems == 0) {
        before_messages(&b, plan);
        before_transfers(&b, plan);
        before_data(&b, plan);
    }
    return b.problems;
}
