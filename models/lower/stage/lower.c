/* lower.c - programs of one training step: each pipeline stage's passes in the order of the
 * schedule, then reduction, clipping, update and gather. docs/models/pipeline.md,
 * docs/models/sharding.md. */
#include "models/lower/stage/lower.h"

#include <math.h>

#include "models/lower/stage/lower_data.h"
#include "models/lower/stage/lower_offload.h"
#include "models/lower/stage/lower_pair.h"
#include "models/lower/stage/lower_pipeline.h"
#include "models/lower/stage/lower_runs.h"
#include "models/lower/stage/lower_setup.h"
#include "models/lower/stage/lower_update.h"
#include "sim/check.h"

/* Each part is written by its own file, which never sees the whole: this one composes them. */
struct stage {
    struct lowering *l;
    struct program_writer *w;
    uint32_t stage;
    struct pipeline pipeline;
    struct labels labels;
    struct units units;
    struct tensors tensors;
    struct late late;
    struct ops ops;
    struct step_memory memory;
    struct data_parallel data;
    struct runs runs;
    struct offload offload;
    struct update update;
};

static uint64_t schedule_passes(const struct lowering *l)
{
    return schedule_room(l->c->layout.pipeline.schedule, &l->shape);
}

/* Rows that the passes of this stage write, nearly: data-parallel ops come on top. */
static void reserve(struct stage *s)
{
    uint64_t ops = 0, ledger = 0;
    for (uint32_t i = 0; i < s->units.count; i++) {
        const struct block *b = s->units.rows[i].block;
        uint64_t again = b->full_recompute || b->repeats ? 2 : 1,
                 segments = b->layer->segment_count;
        for (unsigned k = 0; k < PIECES_PAIRED_FORWARD; k++)
            ops += k == PIECES_INPUT ? 0 : b->lists[k].count;
        ledger += again * (2 * (uint64_t)b->tensor_count + 2 * segments) + 2 * segments;
    }
    const uint64_t m = s->l->microbatches, passes = schedule_passes(s->l);
    ops = ops * m + 4 * passes + 8 * (uint64_t)s->units.count;
    ledger = ledger * m + 4 * passes + 8 * (uint64_t)s->units.count;
    CHECK(ops < UINT32_MAX && ledger < UINT32_MAX);
    program_reserve(s->w, (uint32_t)ops,
                    s->l->detail != LOWERED_WITH_LEDGER ? 0 : (uint32_t)ledger);
}

/* Passes that are runs: a message before, one behind, and what follows their last compute. Others
 * are written unit by unit. */
static void reserve_runs(struct stage *s)
{
    const struct lowering *l = s->l;
    const uint64_t passes = schedule_passes(l);
    const bool always = l->offload.activations || lower_data_plan_scatters(&l->data) ||
                        lower_data_plan_gathers_anew(&l->data);
    const uint64_t units = s->units.count;
    const uint64_t ops = always ? 6 * units * passes : 5 * passes + 8 * units + 64;
    CHECK(ops < UINT32_MAX);
    program_reserve(s->w, (uint32_t)ops, 0);
}

static void begin_pipeline(struct stage *s)
{
    const struct lowering *l = s->l;
    const struct software_profile *software = &l->c->software;
    const struct schedule_kind *kind = l->c->layout.pipeline.schedule;
    const bool interleaved = l->shape.chunks > 1, waits = !kind->splits;
    struct pipeline_options options = {
        .message_bytes = l->message.bytes,
        .host_s = l->host.launch_s + l->host.message_s,
        .host_waits = software->pipeline.host_wait && !interleaved && waits,
        .blocking = waits && (interleaved ? software->pipeline.blocking_interleaved
                                          : software->pipeline.blocking),
        .paired = interleaved && waits,
    };
    lower_pipeline_begin(&s->pipeline, s->w, kind, &l->shape, s->stage, &s->ops.pending.waits);
    lower_pipeline_options(&s->pipeline, &options);
    lower_pipeline_neighbours(&s->pipeline, l->arena, NULL);
}

static void begin_parts(struct stage *s)
{
    struct lowering *l = s->l;
    lower_labels_none(&s->labels);
    lower_tensors_begin(&s->tensors, l, s->w, &s->labels,
                        l->detail == LOWERED_AS_RUNS ? NULL : &s->units);
    lower_late_begin(&s->late, l, &s->tensors);
    lower_ops_begin(&s->ops, l, s->w, &s->labels, &s->tensors);
    lower_runs_begin(&s->runs, l, &s->ops);
    lower_memory_begin(&s->memory, l, &s->units,
                       &(struct memory_parts){&s->labels, &s->tensors, &s->late});
    lower_offload_begin(&s->offload, l, &s->units,
                        &(struct offload_parts){&s->labels, &s->tensors, &s->ops});
    s->update = (struct update){l, &s->units, &s->labels, &s->ops};
}

static void begin_stage(struct stage *s, struct lowering *l, uint32_t stage)
{
    *s = (struct stage){.l = l, .w = program_begin(l->arena, stage), .stage = stage};
    for (unsigned b = 0; b < lower_plan_block_count(l) && l->detail != LOWERED_AS_RUNS; b++)
        lower_block_rows(&l->blocks[b], s->w);
    lower_units_build(&s->units, l, stage);
    begin_parts(s);
    begin_pipeline(s);
    if (l->detail == LOWERED_AS_RUNS)
        reserve_runs(s);
    else
        reserve(s);
    lower_data_begin(&s->data, l, &s->units,
                     &(struct data_parts){&s->labels, &s->ops, &s->late, &s->memory, stage});
}

static void begin_unit(struct stage *s, const struct pass *pass, uint32_t unit)
{
    lower_labels_unit(&s->labels, s->units.rows[unit].layer);
    lower_offload_unit_begin(&s->offload, pass, unit);
    lower_data_unit_begin(&s->data, pass, unit);
}

static void end_unit(struct stage *s, const struct pass *pass, uint32_t unit)
{
    if (pass_ends_microbatch(pass))
        lower_data_unit_gradient(&s->data, unit);
    lower_offload_unit_end(&s->offload, pass, unit);
    lower_data_unit_end(&s->data, pass, unit);
    lower_labels_unit_end(&s->labels);
}

static void write_run(struct stage *s, const struct pass *pass, uint32_t index)
{
    begin_unit(s, pass, index);
    lower_runs_units(&s->runs, &s->units, index, 1, (enum pass_kind)pass->kind);
    end_unit(s, pass, index);
}

static void begin_list(struct stage *s, const struct pass_walk *walk)
{
    lower_labels_unit_end(&s->labels);
    lower_labels_unit(&s->labels, walk->each->layer);
}

static void write_piece(struct stage *s, const struct pass_walk *walk)
{
    const struct lowered_piece *piece = walk->piece;
    if (s->l->detail == LOWERED_AS_RUNS) {
        lower_ops_new_piece(&s->ops, piece);
    } else {
        lower_ops_piece(&s->ops, piece);
        if (piece->kind == OP_COMPUTE)
            lower_memory_piece(&s->memory, piece, walk->each);
    }
    if (walk->pieces < walk->list->count)
        return;
    lower_late_launched(&s->late, walk->list->launches);
    lower_ops_host(&s->ops, walk->list->host_left_s);
}

/* Writes the next piece, what its units send and allocate around it included. NULL: the pass is
 * over, and everything around its last piece is written too. */
static const struct lowered_piece *write_next(struct stage *s, struct pass_walk *walk)
{
    for (;;) {
        switch (lower_walk_next(walk)) {
        case WALK_UNIT:
            begin_unit(s, walk->pass, walk->index);
            break;
        case WALK_LIST:
            begin_list(s, walk);
            break;
        case WALK_PIECE:
            write_piece(s, walk);
            return walk->piece;
        case WALK_UNIT_END:
            end_unit(s, walk->pass, walk->index);
            break;
        case WALK_END:
            return NULL;
        }
    }
}

static void receive(struct stage *s, const struct pass *pass)
{
    const struct message_plan *message = &s->l->message;
    bool received = lower_pipeline_receive(&s->pipeline, pass) != OP_NONE;
    if (received && s->l->detail != LOWERED_AS_RUNS)
        lower_tensors_received(&s->tensors, fmax(message->bytes, message->gather_bytes));
    lower_pipeline_host_wait(&s->pipeline);
    if (received && s->l->c->software.pipeline.host_wait)
        lower_late_host_waits(&s->late);
    if (received && message->gather_bytes > 0.0) {
        lower_ops_gather_message(&s->ops, message->gather_bytes,
                                 pass_is_forward(pass) ? PHASE_FORWARD : PHASE_BACKWARD);
    }
}

static void write_units(struct stage *s, const struct pass *pass)
{
    const bool forward = pass_is_forward(pass);
    const uint32_t first = s->units.chunk_first[pass->chunk];
    const uint32_t end = s->units.chunk_first[pass->chunk + 1];
    if (s->l->detail != LOWERED_AS_RUNS) {
        struct pass_walk walk;
        lower_walk_begin(&walk, &s->units, pass, false);
        while (write_next(s, &walk) != NULL)
            continue;
        return;
    }
    if (!s->l->offload.activations && lower_data_quiet(&s->data, pass)) {
        lower_data_quiet_begin(&s->data);
        lower_runs_pass(&s->runs, &s->units, pass);
        return;
    }
    for (uint32_t i = first; i < end; i++)
        write_run(s, pass, forward ? i : end - 1 - (i - first));
}

/* Up to the first unit; `with`: the pass whose input is received together with this one's, or NULL.
 */
static void begin_pass(struct stage *s, const struct pass *pass, const struct pass *with)
{
    CHECK(pass->kind < PASS_KIND_COUNT);
    const struct configuration *c = s->l->c;
    lower_labels_pass(&s->labels, pass);
    if (with != NULL)
        lower_pipeline_receive(&s->pipeline, with);
    receive(s, pass);
    if (pass->kind != PASS_WEIGHTS) /* a queue of products, run from where it was left */
        lower_ops_host(&s->ops, s->l->host.pass_s);
    const uint32_t part =
        schedule_part(c->layout.pipeline.schedule, &s->l->shape, s->stage, pass->chunk);
    if (pass_is_forward(pass) && part == 0)
        lower_ops_host(&s->ops, s->l->host.data_s);
}

static void end_pass(struct stage *s, const struct pass *pass, const struct pass *next)
{
    uint32_t made = OP_NONE;
    if (lower_pipeline_sends(&s->pipeline, pass)) {
        made = lower_ops_result(&s->ops);
        lower_tensors_handed_over(&s->tensors);
    }
    lower_late_pass_end(&s->late);
    if (next == NULL)
        lower_late_host_waits(&s->late);
    lower_ops_pass_end(&s->ops);
    lower_data_pass_end(&s->data, pass);
    lower_pipeline_send(&s->pipeline, pass, next, made, &s->ops.extra_host_s);
}

static void write_pass(struct stage *s, const struct pass *pass, const struct pass *next)
{
    begin_pass(s, pass, pass->kind == PASS_FORWARD_PAIRED ? next : NULL);
    write_units(s, pass);
    end_pass(s, pass, next);
}

/* Writes until rows have been sent. False: the pass is over. */
static bool turn(struct stage *s, struct pair *pair, enum strand_index strand)
{
    const struct lowered_piece *piece;
    lower_pair_take(pair, strand);
    do
        piece = write_next(s, &pair->strands[strand].walk);
    while (piece != NULL && !lower_pair_gives_way(piece));
    return piece != NULL;
}

static void take_turns(struct stage *s, struct pair *pair)
{
    bool more[STRAND_COUNT] = {true, true};
    while (more[STRAND_BACKWARD] || more[STRAND_FORWARD])
        for (int i = STRAND_BACKWARD; i < STRAND_COUNT; i++)
            more[i] = more[i] && turn(s, pair, (enum strand_index)i);
}

/* A forward and the backward behind it, whose exchanges hide behind each other's products. */
static void write_pair(struct stage *s, const struct pass *forward, const struct pass *next)
{
    const struct pass *backward = forward + 1;
    const struct pair_parts parts = {&s->labels, &s->ops, &s->tensors};
    struct pair pair;
    lower_pair_begin(&pair, &parts, &s->units, forward, backward);
    lower_offload_paired(&s->offload, true);
    begin_pass(s, backward, forward);
    lower_pair_take(&pair, STRAND_FORWARD);
    begin_pass(s, forward, backward);
    take_turns(s, &pair);
    lower_pair_take(&pair, STRAND_FORWARD);
    end_pass(s, forward, backward);
    lower_pair_take(&pair, STRAND_BACKWARD);
    end_pass(s, backward, next);
    lower_pair_end(&pair);
    lower_offload_paired(&s->offload, false);
}

static void write_passes(struct stage *s)
{
    uint32_t count;
    const struct pass *passes = lower_plan_passes(s->l, s->stage, &count);
    /* A message round the ends of an interleaved pipeline is wanted up to two passes a stage after
     * it was sent, which its sender waits for. */
    if (s->l->shape.chunks > 1 && s->pipeline.options.blocking && s->l->c->model.moe.experts > 0)
        lower_pipeline_lead(&s->pipeline, s->l->arena, passes, count, 2 * s->l->shape.stages);
    lower_offload_passes(&s->offload, passes, count);
    for (uint32_t i = 0; i < count; i++) {
        if (passes[i].kind == PASS_FORWARD_PAIRED && s->l->weaves) {
            write_pair(s, &passes[i], i + 2 < count ? &passes[i + 2] : NULL);
            i++;
        } else {
            write_pass(s, &passes[i], i + 1 < count ? &passes[i + 1] : NULL);
        }
    }
    lower_offload_end(&s->offload);
}

static void end_step(struct stage *s)
{
    lower_labels_none(&s->labels);
    lower_data_reduce_rest(&s->data);
    lower_update(&s->update);
    lower_memory_update(&s->memory);
    lower_data_gather_updated(&s->data);
}

static struct program *write_stage(struct lowering *l, uint32_t stage, uint32_t *streams)
{
    struct stage s;
    begin_stage(&s, l, stage);
    write_passes(&s);
    end_step(&s);
    const struct setup setup = {l, &s.units, &s.tensors, s.ops.streams | s.pipeline.streams};
    if (l->detail == LOWERED_WITH_LEDGER)
        lower_setup(&setup);
    struct program *program = program_end(s.w);
    program->host_bytes = lower_offload_host_bytes(&s.offload) + lower_update_host_bytes(&s.update);
    program->interference.ratio = l->c->software.data.interference_ratio;
    program->interference.join_ratio[JOIN_TENSOR] = configuration_tensor_overlap_cost(l->c);
    program->interference.join_ratio[JOIN_CONTEXT] = l->c->software.tensor.overlap_cost_ratio;
    program->interference.streams = 1u << STREAM_DP | 1u << STREAM_GATHER | 1u << STREAM_REPLICATE |
                                    1u << STREAM_EP_DATA | 1u << STREAM_EP_GATHER |
                                    1u << STREAM_EP_REPLICATE;
    *streams |= (s.ops.streams | s.pipeline.streams) & ~STREAMS_ALONE;
    return program;
}

/* FLOPs that the kernels of one rank of this program do. */
static double kernel_flops(const struct program *p)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].kind == OP_COMPUTE)
            sum += p->costs[p->ops[i].cost].flops;
    return sum;
}

static void count_flops(const struct lowering *l, struct lowered *out)
{
    const struct configuration *c = l->c;
    double tokens = (double)c->training.global_batch * (double)c->training.sequence;
    out->model_flops = configuration_flops_per_token(c, false) * tokens;
    out->causal_flops = configuration_flops_per_token(c, c->training.causal) * tokens;
    double ranks = (double)(out->rank_count / out->program_count);
    for (uint32_t i = 0; i < out->program_count; i++)
        out->hardware_flops += ranks * kernel_flops(out->programs[i]);
}

struct program *lower_stage(struct arena *arena, const struct configuration *c, uint32_t stage)
{
    uint32_t streams = 0;
    return write_stage(lower_plan_lowering(arena, c), stage, &streams);
}

static void lower_stages(struct lowering *l, struct lowered *out)
{
    struct arena *arena = l->arena;
    const struct configuration *c = l->c;
    *out = (struct lowered){.program_count = l->shape.stages};
    out->rank_count = (uint32_t)configuration_ranks(c);
    out->programs = ARENA_ARRAY(arena, struct program *, out->program_count);
    out->layers_of_stage = ARENA_ARRAY(arena, uint32_t, out->program_count);
    for (uint32_t stage = 0; stage < l->shape.stages; stage++) {
        out->programs[stage] = write_stage(l, stage, &out->streams);
        for (uint32_t k = 0; k < l->chunks; k++)
            out->layers_of_stage[stage] +=
                l->split[schedule_part(c->layout.pipeline.schedule, &l->shape, stage, k)];
    }
    if (l->detail == LOWERED_AS_RUNS)
        return;
    out->program_of_rank = ARENA_ARRAY(arena, uint32_t, out->rank_count);
    for (uint32_t rank = 0; rank < out->rank_count; rank++)
        out->program_of_rank[rank] = layout_coordinates(c, rank).pp;
    count_flops(l, out);
}

void lower(struct arena *arena, const struct configuration *c, struct lowered *out)
{
    lower_stages(lower_plan_lowering(arena, c), out);
}

void lower_timed(struct arena *arena, const struct configuration *c, struct lowered *out)
{
    struct lowering *l = lower_plan_lowering(arena, c);
    l->detail = LOWERED_TIMED;
    lower_stages(l, out);
}

void lower_runs(struct arena *arena, const struct configuration *c, const struct lowering *from,
                struct lowered *out)
{
    struct lowering *l = lower_plan_like(arena, c, from);
    l->detail = LOWERED_AS_RUNS;
    lower_stages(l, out);
}
