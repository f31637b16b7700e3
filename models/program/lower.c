/* Programs of one training step: each pipeline stage's passes in the order of the schedule, then
 * reduction, clipping, update and gather. docs/models/pipeline.md, docs/models/sharding.md. */
#include "models/program/lower.h"

#include <math.h>

#include "models/program/lower_parts.h"
#include "sim/check.h"

static uint64_t schedule_passes(const struct lowering *l)
{
    return schedule_room(l->c->layout.schedule, &l->shape);
}

/* Rows that the passes of this stage write, nearly: data-parallel ops come on top. */
static void reserve(struct stage *s)
{
    uint64_t ops = 0, ledger = 0;
    for (uint32_t i = 0; i < s->units.count; i++) {
        const struct block *b = s->units.rows[i].block;
        uint64_t again = b->full_recompute || b->repeats ? 2 : 1,
                 segments = b->layer->segment_count;
        ops += b->forward.count + b->recompute.count + b->whole.count + b->backward.count +
               b->weights.count;
        ledger += again * (2 * (uint64_t)b->tensor_count + 2 * segments) + 2 * segments;
    }
    const uint64_t m = s->l->microbatches, passes = schedule_passes(s->l);
    ops = ops * m + 4 * passes + 8 * (uint64_t)s->units.count;
    ledger = ledger * m + 4 * passes + 8 * (uint64_t)s->units.count;
    CHECK(ops < UINT32_MAX && ledger < UINT32_MAX);
    program_reserve(s->w, (uint32_t)ops, s->l->timed ? 0 : (uint32_t)ledger);
}

/* Passes that are runs: a message before, one behind, and what follows their last compute. Others
 * are written unit by unit. */
static void reserve_runs(struct stage *s)
{
    const struct lowering *l = s->l;
    const uint64_t passes = schedule_passes(l);
    const bool always = l->offloads || l->data.scatters || (l->data.gathers && !l->data.keeps);
    const uint64_t units = s->units.count;
    const uint64_t ops = always ? 6 * units * passes : 5 * passes + 8 * units + 64;
    CHECK(ops < UINT32_MAX);
    program_reserve(s->w, (uint32_t)ops, 0);
}

static void begin_pipeline(struct stage *s)
{
    const struct lowering *l = s->l;
    const struct software_profile *software = &l->c->software;
    const struct schedule_kind *kind = l->c->layout.schedule;
    const bool interleaved = l->shape.chunks > 1, waits = !kind->splits;
    struct pipeline_options options = {
        .message_bytes = l->message.bytes,
        .host_s = l->costs.launch_s + configuration_host_s(l->c, software->p2p_sync_s),
        .host_waits = software->p2p_host_wait && !interleaved && waits,
        .blocking =
            waits && (interleaved ? software->p2p_blocking_interleaved : software->p2p_blocking),
        .paired = interleaved && waits,
    };
    lower_pipeline_begin(&s->pipeline, s->w, kind, &l->shape, s->stage, &s->ops.pending.waits);
    lower_pipeline_options(&s->pipeline, &options);
    lower_pipeline_neighbours(&s->pipeline, l->arena, NULL);
}

static void begin_stage(struct stage *s, struct lowering *l, uint32_t stage)
{
    *s = (struct stage){.l = l, .w = program_begin(l->arena, stage), .stage = stage};
    for (unsigned b = 0; b < BLOCK_COUNT && !l->runs; b++)
        lower_block_rows(&l->blocks[b], s->w);
    lower_labels_none(&s->labels);
    lower_units_build(&s->units, l, stage);
    lower_tensors_begin(&s->tensors, l, s->w, &s->labels, l->runs ? NULL : &s->units);
    lower_late_begin(&s->late, l, &s->tensors);
    lower_ops_begin(&s->ops, l, s->w, &s->labels, &s->tensors);
    lower_traffic_begin(&s->traffic, l);
    lower_runs_begin(&s->runs, l, &s->ops);
    begin_pipeline(s);
    if (l->runs)
        reserve_runs(s);
    else
        reserve(s);
    lower_data_begin(s);
}

static void write_run(struct stage *s, const struct pass *pass, uint32_t index)
{
    lower_labels_unit(&s->labels, s->units.rows[index].layer);
    lower_offload_unit_begin(s, pass, index);
    lower_data_unit_begin(s, pass, index);
    lower_runs_units(&s->runs, &s->units, index, 1, (enum pass_kind)pass->kind);
    if (pass_ends_microbatch(pass))
        lower_data_unit_gradient(s, index);
    lower_offload_unit_end(s, pass, index);
    lower_data_unit_end(s, pass, index);
    lower_labels_unit_end(&s->labels);
}

static void receive(struct stage *s, const struct pass *pass)
{
    const struct message_plan *message = &s->l->message;
    bool received = lower_pipeline_receive(&s->pipeline, pass) != OP_NONE;
    if (received && !s->l->runs)
        lower_tensors_received(&s->tensors, fmax(message->bytes, message->gather_bytes));
    lower_pipeline_host_wait(&s->pipeline);
    if (received && s->l->c->software.p2p_host_wait)
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
    if (!s->l->runs) {
        struct pass_walk walk;
        lower_walk_begin(&walk, s, pass);
        lower_walk_all(&walk, s);
        return;
    }
    if (!s->l->offloads && lower_data_quiet(s, pass)) {
        lower_data_quiet_begin(s);
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
        lower_ops_host(&s->ops, configuration_host_s(c, c->software.pass_host_s));
    const uint32_t part = schedule_part(c->layout.schedule, &s->l->shape, s->stage, pass->chunk);
    if (pass_is_forward(pass) && part == 0)
        lower_ops_host(&s->ops, configuration_host_s(c, c->software.data_host_s));
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
    lower_data_pass_end(s, pass);
    lower_pipeline_send(&s->pipeline, pass, next, made, &s->ops.extra_host_s);
}

static void write_pass(struct stage *s, const struct pass *pass, const struct pass *next)
{
    begin_pass(s, pass, pass->kind == PASS_FORWARD_PAIRED ? next : NULL);
    write_units(s, pass);
    end_pass(s, pass, next);
}

/* A forward and the backward behind it, whose exchanges hide behind each other's products. */
static void write_pair(struct stage *s, const struct pass *forward, const struct pass *next)
{
    const struct pass *backward = forward + 1;
    struct pair pair;
    lower_pair_begin(&pair, s, forward, backward);
    s->offload.paired = true;
    begin_pass(s, backward, forward);
    lower_pair_take(&pair, s, STRAND_FORWARD);
    begin_pass(s, forward, backward);
    lower_pair_units(&pair, s);
    lower_pair_take(&pair, s, STRAND_FORWARD);
    end_pass(s, forward, backward);
    lower_pair_take(&pair, s, STRAND_BACKWARD);
    end_pass(s, backward, next);
    lower_pair_end(&pair, s);
    s->offload.paired = false;
}

static void write_passes(struct stage *s)
{
    uint32_t count;
    const struct pass *passes = lower_plan_passes(s->l, s->stage, &count);
    /* A message round the ends of an interleaved pipeline is wanted up to two passes a stage after
     * it was sent, which its sender waits for. */
    if (s->l->shape.chunks > 1 && s->pipeline.options.blocking && s->l->c->model.experts > 0)
        lower_pipeline_lead(&s->pipeline, s->l->arena, passes, count, 2 * s->l->shape.stages);
    lower_offload_begin(s, passes, count);
    for (uint32_t i = 0; i < count; i++) {
        if (passes[i].kind == PASS_FORWARD_PAIRED && s->l->weaves) {
            write_pair(s, &passes[i], i + 2 < count ? &passes[i + 2] : NULL);
            i++;
        } else {
            write_pass(s, &passes[i], i + 1 < count ? &passes[i + 1] : NULL);
        }
    }
    lower_offload_end(s);
}

static struct program *write_stage(struct lowering *l, uint32_t stage, uint32_t *streams)
{
    struct stage s;
    begin_stage(&s, l, stage);
    write_passes(&s);
    lower_data_step_end(&s);
    if (!l->timed)
        lower_memory_setup(&s);
    struct program *program = program_end(s.w);
    program->host_bytes = lower_offload_host_bytes(&s) + lower_update_host_bytes(&s);
    program->interference_ratio = l->c->software.interference_ratio;
    program->join_ratio = l->c->software.tp_overlap_cost_ratio;
    program->interfering = 1u << STREAM_DP | 1u << STREAM_GATHER | 1u << STREAM_REPLICATE |
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
                l->split[schedule_part(c->layout.schedule, &l->shape, stage, k)];
    }
    if (l->runs)
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
    l->timed = true;
    lower_stages(l, out);
}

void lower_runs(struct arena *arena, const struct configuration *c, const struct lowering *from,
                struct lowered *out)
{
    struct lowering *l = lower_plan_like(arena, c, from);
    l->timed = l->runs = true;
    lower_stages(l, out);
}

/* Stages keep the most at the end of some pass. */
double lower_least_bytes(struct arena *scratch, const struct configuration *c,
                         const struct lowering *from, uint32_t stage)
{
    const struct arena_mark mark = arena_mark(scratch);
    struct lowering *l = lower_plan_like(scratch, c, from);
    struct stage s = {.l = l, .stage = stage};
    lower_units_build(&s.units, l, stage);
    double *kept = ARENA_ARRAY(scratch, double, l->chunks), now = 0.0, most = 0.0;
    double *late = ARENA_ARRAY(scratch, double, l->chunks);
    for (uint32_t i = 0; i < s.units.count; i++) {
        if (!s.units.rows[i].leaves)
            kept[s.units.rows[i].chunk] += lower_memory_kept_bytes(&s.units.rows[i]);
        late[s.units.rows[i].chunk] += s.units.rows[i].block->late_bytes;
    }
    uint32_t count;
    const struct pass *passes = lower_plan_passes(l, stage, &count);
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t kind = passes[i].kind, chunk = passes[i].chunk;
        now += pass_is_forward(&passes[i]) ? kept[chunk] : 0.0;
        now -= kind == PASS_BACKWARD || kind == PASS_BACKWARD_INPUT ? kept[chunk] : 0.0;
        now += kind == PASS_BACKWARD_INPUT ? late[chunk] : 0.0;
        now -= kind == PASS_WEIGHTS ? late[chunk] : 0.0;
        most = fmax(most, now);
    }
    const double bytes = lower_memory_state_bytes(&s) + most;
    arena_rewind(scratch, mark);
    return bytes;
}
