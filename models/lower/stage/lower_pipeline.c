/* Invariants:
 * 1. Messages of one direction leave in the order of the passes that made them.
 * 2. A held output leaves directly after the backward pass that follows its forward. */
#include "models/lower/stage/lower_pipeline.h"

#include "sim/check.h"

/* Does the output of this pass, or the input, go from a stage to the one behind it? */
static bool goes_on(const struct pipeline *p, const struct pass *pass)
{
    return pass_is_forward(pass) == (p->kind->placement == PLACED_ROUND || pass->chunk == 0);
}

/* At the bottom of a V a stage hands on to itself. */
static bool turns(const struct pipeline *p, uint32_t stage, const struct pass *pass, bool output)
{
    return p->kind->placement == PLACED_V && stage + 1 == p->shape.stages &&
           (pass->chunk == 0) == (pass_is_forward(pass) == output);
}

static bool at_end(const struct pipeline *p, uint32_t stage, const struct pass *pass, bool last)
{
    const uint32_t part = schedule_part(p->kind, &p->shape, stage, pass->chunk);
    return part == (last ? p->parts - 1 : 0);
}

/* Does this pass take its input from another stage? */
static bool receives(const struct pipeline *p, const struct pass *pass)
{
    return p->shape.stages > 1 && pass->kind != PASS_WEIGHTS &&
           !at_end(p, p->stage, pass, !pass_is_forward(pass)) && !turns(p, p->stage, pass, false);
}

static bool sends(const struct pipeline *p, uint32_t stage, const struct pass *pass)
{
    return p->shape.stages > 1 && pass->kind != PASS_WEIGHTS &&
           !at_end(p, stage, pass, pass_is_forward(pass)) && !turns(p, stage, pass, true);
}

bool lower_pipeline_sends(const struct pipeline *p, const struct pass *pass)
{
    return sends(p, p->stage, pass);
}

void lower_pipeline_begin(struct pipeline *p, struct program_writer *w,
                          const struct schedule_kind *kind, const struct schedule_shape *shape,
                          uint32_t stage, struct waits *waits)
{
    *p = (struct pipeline){.w = w,
                           .kind = kind,
                           .shape = *shape,
                           .stage = stage,
                           .parts = schedule_parts(kind, shape),
                           .waits = waits};
}

void lower_pipeline_options(struct pipeline *p, const struct pipeline_options *options)
{
    p->options = *options;
    if (p->shape.stages == 1)
        return;
    p->host = program_host(p->w, options->host_s);
    p->transfer = program_transfer(p->w, COMM_SEND, options->message_bytes);
    p->names[0] = (uint16_t)program_name(p->w, "receive activations");
    p->names[1] = (uint16_t)program_name(p->w, "receive gradients");
    p->names[2] = (uint16_t)program_name(p->w, "send activations");
    p->names[3] = (uint16_t)program_name(p->w, "send gradients");
}

void lower_pipeline_neighbours(struct pipeline *p, struct arena *arena,
                               const struct pass_costs *costs)
{
    if (p->kind->placement == PLACED_ROUND)
        return;
    const uint32_t room = schedule_room(p->kind, &p->shape);
    p->ahead = ARENA_ARRAY(arena, uint32_t, (size_t)2 * FLOWS * p->shape.microbatches);
    for (unsigned flow = 0; flow < FLOWS; flow++) {
        struct incoming *in = &p->incoming[flow];
        if (flow == 0 ? p->stage == 0 : p->stage + 1 == p->shape.stages)
            continue;
        const uint32_t from = flow == 0 ? p->stage - 1 : p->stage + 1;
        in->passes = ARENA_ARRAY(arena, struct pass, room);
        const uint32_t count = schedule_write(p->kind, &p->shape, costs, from, in->passes);
        for (uint32_t i = 0; i < count; i++)
            if (sends(p, from, &in->passes[i]) && goes_on(p, &in->passes[i]) == (flow == 0))
                in->passes[in->count++] = in->passes[i];
    }
}

static struct op message(struct pipeline *p, const struct pass *pass, bool send,
                         double *extra_host_s)
{
    static const uint8_t streams[2][2] = {{STREAM_RECV_NEXT, STREAM_RECV_PREV},
                                          {STREAM_SEND_PREV, STREAM_SEND_NEXT}};
    bool forward = pass_is_forward(pass);
    uint8_t stream = streams[send][goes_on(p, pass)];
    p->streams |= 1u << stream;
    uint32_t host = p->host;
    if (*extra_host_s > 0.0) {
        host = program_host(p->w, p->options.host_s + *extra_host_s);
        *extra_host_s = 0.0;
    }
    return (struct op){
        .kind = send ? OP_SEND : OP_RECV,
        .stream = stream,
        .phase = forward ? PHASE_FORWARD : PHASE_BACKWARD,
        .cost = p->transfer,
        .microbatch = pass->microbatch,
        .layer = UINT16_MAX,
        .name = p->names[(send ? 2 : 0) + (forward ? 0 : 1)],
        .chunk = pass->chunk,
        .host = host,
    };
}

static uint32_t post(struct pipeline *p, const struct pass *pass)
{
    double no_extra_s = 0.0;
    return program_op(p->w, message(p, pass, false, &no_extra_s));
}

static uint32_t *slot(struct pipeline *p, const struct pass *pass)
{
    CHECK(pass->microbatch < p->shape.microbatches && pass->chunk < FLOWS);
    const uint32_t row = pass->chunk * 2u + (pass_is_forward(pass) ? 0 : 1);
    return &p->ahead[(size_t)row * p->shape.microbatches + pass->microbatch];
}

/* Everything that the neighbour sends up to this message. */
static uint32_t post_in_order(struct pipeline *p, const struct pass *pass)
{
    struct incoming *in = &p->incoming[goes_on(p, pass) ? 0 : 1];
    uint32_t *op = slot(p, pass);
    while (*op == OP_NONE) {
        CHECK(in->received < in->count); /* 1 */
        const struct pass *next = &in->passes[in->received++];
        *slot(p, next) = post(p, next);
    }
    return *op;
}

void lower_pipeline_lead(struct pipeline *p, struct arena *arena, const struct pass *passes,
                         uint32_t count, uint32_t lead)
{
    CHECK(p->kind->placement == PLACED_ROUND);
    p->lead.order = passes;
    p->lead.count = count;
    p->lead.passes = lead;
    p->lead.posted = ARENA_ARRAY(arena, uint32_t, count);
}

/* The receives of all passes up to `lead` behind this one. */
static uint32_t post_ahead(struct pipeline *p, const struct pass *pass)
{
    CHECK(pass >= p->lead.order && pass < p->lead.order + p->lead.count);
    const uint32_t at = (uint32_t)(pass - p->lead.order);
    for (; p->lead.looked_at < p->lead.count && p->lead.looked_at <= at + p->lead.passes;
         p->lead.looked_at++) {
        const struct pass *next = &p->lead.order[p->lead.looked_at];
        p->lead.posted[p->lead.looked_at] = receives(p, next) ? post(p, next) : OP_NONE;
    }
    return p->lead.posted[at];
}

uint32_t lower_pipeline_receive(struct pipeline *p, const struct pass *pass)
{
    const uint32_t led = p->lead.order != NULL ? post_ahead(p, pass) : OP_NONE;
    if (!receives(p, pass))
        return OP_NONE;
    const bool in_order = p->kind->placement == PLACED_ROUND;
    uint32_t op = p->lead.order != NULL ? led : in_order ? post(p, pass) : post_in_order(p, pass);
    lower_waits_add(p->waits, op);
    return op;
}

void lower_pipeline_host_wait(struct pipeline *p)
{
    if (!p->options.blocking || !p->options.host_waits || p->waits->count == 0)
        return;
    struct op_cost nothing = {0};
    struct op op = {
        .kind = OP_COMPUTE,
        .stream = STREAM_COMPUTE,
        .phase = PHASE_FORWARD,
        .flags = OP_HOST_SYNC,
        .cost = program_cost(p->w, &nothing, NULL, 0),
        .microbatch = UINT16_MAX,
        .layer = UINT16_MAX,
        .name = (uint16_t)program_name(p->w, "wait for exchange"),
        .host = program_host(p->w, 0.0),
    };
    lower_waits_take(p->waits, p->w, op.wait);
    program_op(p->w, op);
}

static void send_now(struct pipeline *p, const struct pass *pass, uint32_t made_by, uint32_t after,
                     double *extra_host_s)
{
    struct op op = message(p, pass, true, extra_host_s);
    op.wait[0] = made_by;
    op.wait[1] = after == made_by ? OP_NONE : after;
    uint32_t sent = program_op(p->w, op);
    if (p->options.blocking)
        lower_waits_add(p->waits, sent);
}

/* Is this forward exchanged together with the backward after it, as its schedule says, or as the
 * software does that interleaves? Not when all forwards come first
 * (microbatches = stages): then the last one is warm-up, and the backward needs it elsewhere. */
static bool pairs(struct pipeline *p, const struct pass *pass, const struct pass *next)
{
    if (!pass_is_forward(pass)) {
        p->backward_seen = true;
        return false;
    }
    if (pass->kind == PASS_FORWARD_PAIRED)
        return true;
    p->forwards_seen++;
    bool warm_up = !p->backward_seen && p->forwards_seen == p->shape.chunks * p->shape.microbatches;
    return p->options.blocking && p->options.paired && next != NULL &&
           next->kind == PASS_BACKWARD && !warm_up;
}

void lower_pipeline_send(struct pipeline *p, const struct pass *pass, const struct pass *next,
                         uint32_t op, double *extra_host_s)
{
    if (pairs(p, pass, next) && lower_pipeline_sends(p, pass)) {
        CHECK(p->held_op == OP_NONE);
        p->held = *pass;
        p->held_op = op;
        return;
    }
    if (p->held_op != OP_NONE) {
        send_now(p, &p->held, p->held_op, op, extra_host_s);
        p->held_op = OP_NONE;
    }
    if (lower_pipeline_sends(p, pass))
        send_now(p, pass, op, op, extra_host_s);
}
