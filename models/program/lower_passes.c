/* Synthetic programs from given pass times: the order of passes, and nothing else.
 *
 * Each pass is one compute op; it waits for its message, and its output leaves on the stage's own
 * stream. A receive is posted by the host ahead of its pass. When blocking, the stage goes on only
 * when its sends have finished; a schedule with chunks exchanges once after each forward-backward
 * pair, as Megatron-LM does without overlapped p2p communication. */
#include "models/program/lower.h"
#include "models/program/lower_pipeline.h"
#include "sim/check.h"

struct passes {
    struct program_writer *w;
    const struct schedule_shape *shape;
    const struct pass_times *times;
    struct pipeline pipeline;
    struct waits waits;  /* of the next pass */
    double extra_host_s; /* always 0: these passes cost the host nothing */
    uint32_t stage, host, name[2];
};

static uint32_t compute(struct passes *s, const struct pass *pass)
{
    bool forward = pass->kind == PASS_FORWARD;
    uint32_t chunk = s->stage + pass->chunk * s->shape->stages;
    double time_s = forward ? s->times->forward_s[chunk] : s->times->backward_s[chunk];
    struct op_cost cost = {.gpu_s = time_s, .peak_s = time_s};
    struct op op = {
        .kind = OP_COMPUTE,
        .stream = STREAM_COMPUTE,
        .phase = forward ? PHASE_FORWARD : PHASE_BACKWARD,
        .cost = program_cost(s->w, &cost, NULL, 0),
        .microbatch = pass->microbatch,
        .layer = UINT16_MAX,
        .name = (uint16_t)s->name[forward ? 0 : 1],
        .chunk = pass->chunk,
        .host = s->host,
    };
    lower_waits_take(&s->waits, s->w, op.wait);
    return program_op(s->w, op);
}

static struct program *write_stage(struct arena *arena, const struct schedule_kind *kind,
                                   const struct schedule_shape *shape,
                                   const struct pass_times *times, uint32_t stage,
                                   uint32_t *streams)
{
    struct passes s = {.w = program_begin(arena, stage), .shape = shape, .times = times};
    s.stage = stage;
    s.host = program_host(s.w, 0.0);
    s.name[0] = program_name(s.w, "forward");
    s.name[1] = program_name(s.w, "backward");
    struct pipeline_options options = {
        .message_bytes = times->send_bytes,
        .blocking = times->blocking,
        .paired = kind->interleaved && shape->chunks > 1,
    };
    lower_pipeline_begin(&s.pipeline, s.w, shape, stage, &options, &s.waits);
    struct pass *passes = ARENA_ARRAY(arena, struct pass, 2u * shape->chunks * shape->microbatches);
    uint32_t count = kind->write(shape, stage, passes);
    for (uint32_t i = 0; i < count; i++) {
        lower_pipeline_receive(&s.pipeline, &passes[i]);
        uint32_t op = compute(&s, &passes[i]);
        lower_pipeline_send(&s.pipeline, &passes[i], i + 1 < count ? &passes[i + 1] : NULL, op,
                            &s.extra_host_s);
    }
    *streams |= s.pipeline.streams;
    return program_end(s.w);
}

void lower_passes(struct arena *arena, const struct schedule_kind *kind,
                  const struct schedule_shape *shape, const struct pass_times *times,
                  struct lowered *out)
{
    CHECK(kind->refuse(shape) == NULL);
    *out = (struct lowered){.program_count = shape->stages, .rank_count = shape->stages};
    out->programs = ARENA_ARRAY(arena, struct program *, shape->stages);
    out->program_of_rank = ARENA_ARRAY(arena, uint32_t, shape->stages);
    for (uint32_t stage = 0; stage < shape->stages; stage++) {
        out->program_of_rank[stage] = stage;
        out->programs[stage] = write_stage(arena, kind, shape, times, stage, &out->streams);
    }
}
