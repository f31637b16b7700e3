/* Synthetic programs from given pass times: the order of passes, and nothing else.
 *
 * Each pass is one compute op; it waits for its message, and its output leaves on the stage's own
 * stream. A receive is posted by the host ahead of its pass. When blocking, the stage goes on only
 * when its sends have finished; a schedule with chunks exchanges once after each forward-backward
 * pair, as Megatron-LM does without overlapped p2p communication. */
#include "models/lower/stage/lower_passes.h"

#include "models/lower/stage/lower_pipeline.h"
#include "sim/check.h"

struct passes {
    struct program_writer *w;
    const struct schedule_kind *kind;
    const struct schedule_shape *shape;
    const struct pass_times *times;
    struct pipeline pipeline;
    struct waits waits;  /* of the next pass */
    double extra_host_s; /* always 0: these passes cost the host nothing */
    uint32_t stage, host, name[PASS_KIND_COUNT];
};

static double time_of(const struct passes *s, const struct pass *pass)
{
    const uint32_t part = schedule_part(s->kind, s->shape, s->stage, pass->chunk);
    switch ((enum pass_kind)pass->kind) {
    case PASS_BACKWARD:
        return s->times->backward_s[part];
    case PASS_BACKWARD_INPUT:
        return s->times->input_s[part];
    case PASS_WEIGHTS:
        return s->times->weights_s[part];
    case PASS_FORWARD:
    case PASS_FORWARD_PAIRED:
        return s->times->forward_s[part];
    case PASS_KIND_COUNT:
        break;
    }
    UNREACHABLE("kind is an enum pass_kind");
}

static uint32_t compute(struct passes *s, const struct pass *pass)
{
    const double time_s = time_of(s, pass);
    struct op_cost cost = {.gpu_s = time_s, .peak_s = time_s};
    struct op op = {
        .kind = OP_COMPUTE,
        .stream = STREAM_COMPUTE,
        .phase = pass_is_forward(pass) ? PHASE_FORWARD : PHASE_BACKWARD,
        .cost = program_cost(s->w, &cost, NULL, 0),
        .microbatch = pass->microbatch,
        .layer = UINT16_MAX,
        .name = (uint16_t)s->name[pass->kind],
        .chunk = pass->chunk,
        .host = s->host,
    };
    lower_waits_take(&s->waits, s->w, op.wait);
    return program_op(s->w, op);
}

static const char *const names[PASS_KIND_COUNT] = {"forward", "forward", "backward",
                                                   "input gradients", "weight gradients"};

static struct program *write_stage(struct arena *arena, const struct schedule_kind *kind,
                                   const struct schedule_shape *shape,
                                   const struct pass_times *times, uint32_t stage,
                                   uint32_t *streams)
{
    struct passes s = {
        .w = program_begin(arena, stage), .kind = kind, .shape = shape, .times = times};
    s.stage = stage;
    s.host = program_host(s.w, 0.0);
    for (unsigned i = 0; i < PASS_KIND_COUNT; i++)
        s.name[i] = i < PASS_BACKWARD_INPUT || kind->splits ? program_name(s.w, names[i]) : 0;
    struct pipeline_options options = {
        .message_bytes = times->send_bytes,
        .blocking = times->blocking && !kind->splits,
        .paired = kind->interleaved && shape->chunks > 1,
    };
    const struct pass_costs costs = {times->forward_s,  times->input_s,    times->weights_s,
                                     times->kept_bytes, times->late_bytes, times->transfer_s};
    const bool timed = times->input_s != NULL;
    lower_pipeline_begin(&s.pipeline, s.w, kind, shape, stage, &s.waits);
    lower_pipeline_options(&s.pipeline, &options);
    lower_pipeline_neighbours(&s.pipeline, arena, timed ? &costs : NULL);
    struct pass *passes = ARENA_ARRAY(arena, struct pass, schedule_room(kind, shape));
    uint32_t count = schedule_write(kind, shape, timed ? &costs : NULL, stage, passes);
    for (uint32_t i = 0; i < count; i++) {
        const struct pass *next = i + 1 < count ? &passes[i + 1] : NULL;
        if (passes[i].kind == PASS_FORWARD_PAIRED)
            lower_pipeline_receive(&s.pipeline, next);
        lower_pipeline_receive(&s.pipeline, &passes[i]);
        uint32_t op = compute(&s, &passes[i]);
        lower_pipeline_send(&s.pipeline, &passes[i], next, op, &s.extra_host_s);
    }
    *streams |= s.pipeline.streams;
    return program_end(s.w);
}

void lower_passes(struct arena *arena, const struct schedule_kind *kind,
                  const struct schedule_shape *shape, const struct pass_times *times,
                  struct lowered *out)
{
    CHECK(kind->refuse(shape) == NULL);
    CHECK(!kind->splits || times->input_s != NULL);
    *out = (struct lowered){.program_count = shape->stages, .rank_count = shape->stages};
    out->programs = ARENA_ARRAY(arena, struct program *, shape->stages);
    out->program_of_rank = ARENA_ARRAY(arena, uint32_t, shape->stages);
    for (uint32_t stage = 0; stage < shape->stages; stage++) {
        out->program_of_rank[stage] = stage;
        out->programs[stage] = write_stage(arena, kind, shape, times, stage, &out->streams);
    }
}
