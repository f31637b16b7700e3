/* Invariants:
 * 1. Messages of one direction leave in the order of the passes that made them.
 * 2. A held output leaves directly after the backward pass that follows its forward. */
#include "models/program/lower_pipeline.h"

#include "sim/check.h"

void lower_waits_add(struct waits *waits, uint32_t op)
{
    for (unsigned i = 0; i < waits->count; i++)
        if (waits->op[i] == op)
            return;
    if (op != OP_NONE) {
        CHECK(waits->count < WAITS_MAX);
        waits->op[waits->count++] = op;
    }
}

void lower_waits_take(struct waits *waits, struct program_writer *w, uint32_t wait[2])
{
    while (waits->count > 2) {
        struct op_cost nothing = {0};
        struct op join = {
            .kind = OP_COMPUTE,
            .stream = STREAM_COMPUTE,
            .phase = PHASE_FORWARD,
            .cost = program_cost(w, &nothing, NULL, 0),
            .wait = {waits->op[waits->count - 1], waits->op[waits->count - 2]},
            .microbatch = UINT16_MAX,
            .layer = UINT16_MAX,
            .name = (uint16_t)program_name(w, "join"),
            .host = program_host(w, 0.0),
        };
        waits->count -= 2;
        lower_waits_add(waits, program_op(w, join));
    }
    wait[0] = waits->count > 0 ? waits->op[0] : OP_NONE;
    wait[1] = waits->count > 1 ? waits->op[1] : OP_NONE;
    waits->count = 0;
}

bool lower_pass_is_forward(const struct pass *pass)
{
    return pass->kind == PASS_FORWARD;
}

static uint32_t global_chunk(const struct pipeline *p, const struct pass *pass)
{
    return p->stage + pass->chunk * p->shape.stages;
}

/* Does this pass take its input from another stage? */
static bool receives(const struct pipeline *p, const struct pass *pass)
{
    uint32_t chunk = global_chunk(p, pass), last = p->shape.stages * p->shape.chunks - 1;
    if (p->shape.stages == 1)
        return false;
    return lower_pass_is_forward(pass) ? chunk > 0 : chunk < last;
}

bool lower_pipeline_sends(const struct pipeline *p, const struct pass *pass)
{
    uint32_t chunk = global_chunk(p, pass), last = p->shape.stages * p->shape.chunks - 1;
    if (p->shape.stages == 1)
        return false;
    return lower_pass_is_forward(pass) ? chunk < last : chunk > 0;
}

void lower_pipeline_begin(struct pipeline *p, struct program_writer *w,
                          const struct schedule_shape *shape, uint32_t stage,
                          const struct pipeline_options *options, struct waits *waits)
{
    *p = (struct pipeline){
        .w = w, .shape = *shape, .stage = stage, .options = *options, .waits = waits};
    if (shape->stages == 1)
        return;
    p->host = program_host(w, options->host_s);
    p->transfer = program_transfer(w, COMM_SEND, options->message_bytes);
    p->names[0] = (uint16_t)program_name(w, "receive activations");
    p->names[1] = (uint16_t)program_name(w, "receive gradients");
    p->names[2] = (uint16_t)program_name(w, "send activations");
    p->names[3] = (uint16_t)program_name(w, "send gradients");
}

static struct op message(struct pipeline *p, const struct pass *pass, bool send,
                         double *extra_host_s)
{
    static const uint8_t streams[2][2] = {{STREAM_RECV_NEXT, STREAM_RECV_PREV},
                                          {STREAM_SEND_PREV, STREAM_SEND_NEXT}};
    bool forward = lower_pass_is_forward(pass);
    uint8_t stream = streams[send][forward];
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

uint32_t lower_pipeline_receive(struct pipeline *p, const struct pass *pass)
{
    if (!receives(p, pass))
        return OP_NONE;
    double no_extra_s = 0.0;
    uint32_t op = program_op(p->w, message(p, pass, false, &no_extra_s));
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

/* Is this forward exchanged together with the backward after it? Not when all forwards come first
 * (microbatches = stages): then the last one is warm-up, and the backward needs it elsewhere. */
static bool pairs(struct pipeline *p, const struct pass *pass, const struct pass *next)
{
    if (!lower_pass_is_forward(pass)) {
        p->backward_seen = true;
        return false;
    }
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
