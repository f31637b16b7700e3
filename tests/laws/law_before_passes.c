/* Rules of messages, and of the tensor and context transfers inside a pass. */
#include <string.h>

#include "law_before.h"

static uint32_t find_message(const struct program *p, const struct before_pass *pass, unsigned kind)
{
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        bool forward = op->stream == STREAM_RECV_PREV || op->stream == STREAM_SEND_NEXT;
        if (op->kind == kind && op->microbatch == pass->microbatch && op->chunk == pass->chunk &&
            forward == pass->forward)
            return i;
    }
    return UINT32_MAX;
}

static bool crosses(const struct before_plan *plan, const struct before_pass *pass, bool in)
{
    uint32_t global = plan->stage + pass->chunk * plan->stages;
    bool low_end = pass->forward == in; /* the input of a forward, the output of a backward */
    return plan->stages > 1 && (low_end ? global > 0 : global + 1 < plan->stages * plan->chunks);
}

static void check_receive(struct before *b, const struct before_plan *plan,
                          const struct before_pass *pass)
{
    const struct program *p = b->program;
    uint32_t receive = find_message(p, pass, OP_RECV);
    before_must(b, (receive != UINT32_MAX) == crosses(plan, pass, true), "message", pass->first,
                "its input");
    if (receive == UINT32_MAX)
        return;
    uint32_t whole = receive; /* where parts of it were sent, they are gathered first */
    for (uint32_t i = pass->first; i < pass->end; i++) {
        const struct op *op = &p->ops[i];
        bool reads = before_works(p, i) || op->stream == STREAM_TP || op->stream == STREAM_CP;
        before_must(b, !reads || before_holds(b, receive, i), "message", i, "waits for its input");
        whole = strcmp(p->names[op->name], "gather message") == 0 ? i : whole;
        before_must(b, !reads || i == whole || before_holds(b, whole, i), "message", i,
                    "waits for the whole of its input");
    }
}

/* What leaves is there when the last transfer of the pass has ended and the compute before it; in a
 * forward all compute, in a backward all but weight gradients that may run beside that transfer. */
static void check_send(struct before *b, const struct before_plan *plan,
                       const struct before_pass *pass)
{
    const struct program *p = b->program;
    uint32_t send = find_message(p, pass, OP_SEND), transfer = pass->first;
    before_must(b, (send != UINT32_MAX) == crosses(plan, pass, false), "message", pass->first,
                "its output");
    if (send == UINT32_MAX)
        return;
    bool beside = !pass->forward && b->c->software.tensor.backward_overlap && b->c->layout.tp > 1;
    for (uint32_t i = pass->first; i < pass->end; i++)
        transfer = p->ops[i].kind == OP_COLLECTIVE && p->ops[i].stream != STREAM_DP ? i : transfer;
    for (uint32_t i = pass->first; i < pass->end; i++) {
        const struct op *op = &p->ops[i];
        bool makes = op->stream == STREAM_TP || op->stream == STREAM_CP ||
                     (before_works(p, i) && (!beside || i < transfer));
        before_must(b, !makes || before_holds(b, i, send), "message", send, "waits for its pass");
    }
}

/* Software that blocks goes on when its sends have left; where its host waits nothing at all of the
 * next pass is issued before. */
static void check_blocking(struct before *b, const struct before_plan *plan)
{
    const struct program *p = b->program;
    const struct software_profile *s = &b->c->software;
    bool blocks = plan->chunks > 1 ? s->pipeline.blocking_interleaved : s->pipeline.blocking;
    bool host = blocks && s->pipeline.host_wait && plan->chunks == 1;
    uint32_t sent = UINT32_MAX, received = UINT32_MAX;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        bool compute = before_works(p, i);
        bool wire = op->stream == STREAM_TP || op->stream == STREAM_CP;
        if (blocks && (compute || wire) && sent != UINT32_MAX)
            before_must(b, before_holds(b, sent, i), "message", i, "waits for the send before");
        if (host && (compute || wire) && op->phase <= PHASE_RECOMPUTE && received != UINT32_MAX) {
            bool synced = false;
            for (uint32_t k = received; k < i; k++)
                synced |= (p->ops[k].flags & OP_HOST_SYNC) != 0 && before_holds(b, received, i);
            before_must(b, synced, "message", i, "the host waits for the exchange");
        }
        sent = op->kind == OP_SEND ? i : sent;
        received = op->kind == OP_RECV ? i : received;
    }
}

void before_messages(struct before *b, const struct before_plan *plan)
{
    for (uint32_t i = 0; i < plan->pass_count; i++) {
        check_receive(b, plan, &plan->passes[i]);
        check_send(b, plan, &plan->passes[i]);
    }
    check_blocking(b, plan);
}

/* The transfers that a unit owes in a pass, in order. */
enum {
    OWED_MAX = 8 * LAYER_SEGMENT_MAX
};
struct owed {
    struct segment_transfer transfer[OWED_MAX];
    bool beside[OWED_MAX]; /* the next compute runs meanwhile */
    bool apart[OWED_MAX];  /* it may run beside the one before it, too */
    unsigned count;
};
static void owe(struct owed *o, const struct segment_transfer *t, bool beside)
{
    if (t->comm != SEGMENT_NONE) {
        o->apart[o->count] = false;
        o->transfer[o->count] = *t;
        o->beside[o->count++] = beside;
    }
}

static void owe_forward(struct owed *o, const struct layer *layer, bool stops_early)
{
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *g = &layer->segments[i];
        owe(o, &g->transfers.before, false);
        owe(o, &g->transfers.beside, true);
        if (!stops_early || i + 1 < layer->segment_count)
            owe(o, &g->transfers.after, false);
    }
}

static void owe_backward(struct owed *o, const struct layer *layer, bool overlap)
{
    for (unsigned i = layer->segment_count; i-- > 0;) {
        const struct segment *g = &layer->segments[i];
        owe(o, &g->transfers.backward_before, false);
        owe(o, &g->transfers.backward_beside, true);
        owe(o, &g->transfers.backward_gather, true);
        bool both = g->transfers.backward_beside.comm != SEGMENT_NONE &&
                    g->transfers.backward_gather.comm != SEGMENT_NONE;
        o->apart[o->count > 0 ? o->count - 1 : 0] |= both;
        owe(o, &g->transfers.backward_after, overlap && g->wgrad_beside_count > 0);
    }
}

static bool is_owed(const struct program *p, uint32_t op, const struct segment_transfer *t)
{
    const struct transfer *is = &p->transfers[p->ops[op].cost];
    return p->ops[op].stream == (t->comm == SEGMENT_TP ? STREAM_TP : STREAM_CP) &&
           is->op == t->op && is->bytes == t->bytes;
}

/* The first compute of the stage behind `op`, and the first behind that; op_count: none. A pass
 * that sends has an op of its own to wait for what is still on the wire. */
static uint32_t next_work(const struct program *p, uint32_t op)
{
    uint32_t i = op + 1;
    while (i < p->op_count && !before_works(p, i))
        i++;
    return i;
}

static uint32_t work_before(const struct program *p, uint32_t op)
{
    uint32_t i = op;
    while (i > 0 && !before_works(p, i - 1))
        i--;
    return i; /* index + 1 of it; 0: none */
}

static void check_transfer(struct before *b, const struct before_pass *pass, uint32_t op,
                           bool beside)
{
    const struct program *p = b->program;
    uint32_t made = work_before(p, op), reads = next_work(p, op);
    if (made > 0)
        before_must(b, before_holds(b, made - 1, op), "transfer", op, "waits for its compute");
    reads = beside && reads < p->op_count ? next_work(p, reads) : reads;
    bool free = beside && reads < p->op_count && p->ops[reads].flags & OP_JOIN;
    if (reads < pass->end) {
        before_must(b, before_holds(b, op, reads), "transfer", reads, "waits for a transfer");
        before_must(b, !beside || free, "flag", reads, "is a join");
    }
}

struct place {
    uint64_t index, count; /* of a layer in its chunk */
};

static struct place place_of(const struct before_plan *plan, const struct before_unit *unit)
{
    struct place place = {0, 0};
    for (uint32_t i = 0; i < plan->unit_count; i++) {
        const struct before_unit *other = &plan->units[i];
        const bool beside = other->block == UNIT_LAYER && other->chunk == unit->chunk;
        place.index += beside && other->layer < unit->layer;
        place.count += beside;
    }
    return place;
}

/* Does the backward pass run this unit's forward again, and is its output needed for that? */
static bool runs_again(const struct configuration *c, const struct before_plan *plan,
                       const struct before_unit *unit, bool *inside)
{
    const struct place place = place_of(plan, unit);
    const uint64_t n = c->layout.recompute_layers;
    *inside = c->layout.recompute == RECOMPUTE_UNIFORM && (place.index + 1) % n != 0 &&
              place.index + 1 < place.count;
    if (unit->block != UNIT_LAYER)
        return false;
    return c->layout.recompute == RECOMPUTE_FULL || c->layout.recompute == RECOMPUTE_UNIFORM ||
           (c->layout.recompute == RECOMPUTE_BLOCK && place.index < n);
}

static void check_unit(struct before *b, const struct before_plan *plan,
                       const struct before_pass *pass, const struct before_unit *unit,
                       uint32_t *ops)
{
    const struct configuration *c = b->c;
    const struct layer *layer = &b->layers[unit->block];
    struct owed owed = {.count = 0};
    bool inside, again = runs_again(c, plan, unit, &inside) && !pass->forward;
    if (pass->forward || again)
        owe_forward(&owed, layer, again && !inside && c->software.layer.recompute_stops_early);
    if (!pass->forward)
        owe_backward(&owed, layer, c->software.tensor.backward_overlap);
    uint32_t count = before_ops(b, plan, pass, unit, ops), seen = 0, former = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (b->program->ops[ops[i]].kind != OP_COLLECTIVE)
            continue;
        bool right = seen < owed.count && is_owed(b->program, ops[i], &owed.transfer[seen]);
        before_must(b, right, "transfer", ops[i], "is not what the segment owes");
        if (right) {
            check_transfer(b, pass, ops[i], owed.beside[seen]);
            bool free = former == UINT32_MAX || owed.apart[seen];
            before_must(b, free || before_holds(b, former, ops[i]), "transfer", ops[i],
                        "waits for the one before it");
        }
        former = ops[i];
        seen++;
    }
    before_must(b, seen == owed.count, "transfer", pass->first, "as many as the segments owe");
}

void before_transfers(struct before *b, const struct before_plan *plan)
{
    uint32_t *ops = ARENA_ARRAY(b->arena, uint32_t, b->program->op_count + 1);
    for (uint32_t i = 0; i < plan->pass_count; i++) {
        for (uint32_t u = 0; u < plan->unit_count; u++)
            if (plan->units[u].chunk == plan->passes[i].chunk)
                check_unit(b, plan, &plan->passes[i], &plan->units[u], ops);
    }
}
