/* Invariants:
 * 1. Rows of costs, transfers, hosts and names are distinct: equal content gives the same row.
 * 2. op.ledger never falls from one op to the next; an op's entries end where the next op's begin.
 * 3. Waits name earlier ops. */
#include "models/program/program.h"

#include <math.h>
#include <string.h>

#include "sim/check.h"
#include "sim/list.h"

const char *const phase_names[PHASE_COUNT] = {
    "forward", "backward", "recompute", "gradients", "optimizer", "parameters",
};

struct program_writer {
    struct arena *arena;
    struct program *program;
    uint32_t op_room, cost_room, kernel_room, transfer_room, host_room, name_room;
    uint32_t setup_room, ledger_room, run_room;
};

struct program_writer *program_begin(struct arena *arena, uint32_t stage)
{
    struct program_writer *w = ARENA_NEW(arena, struct program_writer);
    w->arena = arena;
    w->program = ARENA_NEW(arena, struct program);
    w->program->stage = stage;
    return w;
}

void program_reserve(struct program_writer *w, uint32_t ops, uint32_t ledger)
{
    struct program *p = w->program;
    CHECK(p->op_count == 0 && p->ledger_count == 0);
    p->ops = ARENA_ARRAY(w->arena, struct op, ops);
    p->ledger = ARENA_ARRAY(w->arena, struct ledger_entry, ledger);
    w->op_room = ops;
    w->ledger_room = ledger;
}

static bool same_kernel(const struct op_kernel *a, const struct op_kernel *b)
{
    return strcmp(a->name, b->name) == 0 && a->gpu_s == b->gpu_s && a->flops == b->flops &&
           a->bytes == b->bytes && a->evidence == b->evidence && a->shape == b->shape;
}

static bool same_cost(const struct program *p, const struct op_cost *row, const struct op_cost *b,
                      const struct op_kernel *kernels, uint32_t kernel_count)
{
    if (row->gpu_s != b->gpu_s || row->peak_s != b->peak_s || row->flops != b->flops ||
        row->bytes != b->bytes || row->flop_j != b->flop_j || row->byte_j != b->byte_j ||
        row->kernel_count != kernel_count)
        return false;
    for (uint32_t i = 0; i < kernel_count; i++)
        if (!same_kernel(&p->kernels[row->kernel_first + i], &kernels[i]))
            return false;
    return true;
}

uint32_t program_cost(struct program_writer *w, const struct op_cost *cost,
                      const struct op_kernel *kernels, uint32_t kernel_count)
{
    struct program *p = w->program;
    for (uint32_t i = p->cost_count; i-- > 0;)
        if (same_cost(p, &p->costs[i], cost, kernels, kernel_count))
            return i;
    LIST_ROOM(w->arena, p->costs, p->cost_count, 1, w->cost_room);
    LIST_ROOM(w->arena, p->kernels, p->kernel_count, kernel_count, w->kernel_room);
    if (kernel_count > 0)
        memcpy(p->kernels + p->kernel_count, kernels, sizeof *kernels * kernel_count);
    struct op_cost *row = &p->costs[p->cost_count];
    *row = *cost;
    row->kernel_first = p->kernel_count;
    row->kernel_count = kernel_count;
    p->kernel_count += kernel_count;
    return p->cost_count++;
}

uint32_t program_transfer(struct program_writer *w, enum comm_op op, double bytes)
{
    struct program *p = w->program;
    for (uint32_t i = p->transfer_count; i-- > 0;)
        if (p->transfers[i].op == op && p->transfers[i].bytes == bytes)
            return i;
    LIST_ROOM(w->arena, p->transfers, p->transfer_count, 1, w->transfer_room);
    p->transfers[p->transfer_count] = (struct transfer){op, bytes};
    return p->transfer_count++;
}

uint32_t program_host(struct program_writer *w, double seconds)
{
    struct program *p = w->program;
    for (uint32_t i = p->host_count; i-- > 0;)
        if (p->hosts[i] == seconds)
            return i;
    LIST_ROOM(w->arena, p->hosts, p->host_count, 1, w->host_room);
    p->hosts[p->host_count] = seconds;
    return p->host_count++;
}

uint32_t program_name(struct program_writer *w, const char *name)
{
    struct program *p = w->program;
    for (uint32_t i = p->name_count; i-- > 0;)
        if (p->names[i] == name || strcmp(p->names[i], name) == 0)
            return i;
    CHECK(p->name_count < UINT16_MAX);
    LIST_ROOM(w->arena, p->names, p->name_count, 1, w->name_room);
    p->names[p->name_count] = name;
    return p->name_count++;
}

uint32_t program_run(struct program_writer *w, const struct run *run)
{
    struct program *p = w->program;
    for (uint32_t i = p->runs.count; i-- > 0;)
        if (p->runs.rows[i].key == run->key)
            return i;
    LIST_ROOM(w->arena, p->runs.rows, p->runs.count, 1, w->run_room);
    p->runs.rows[p->runs.count] = *run;
    return p->runs.count++;
}

uint32_t program_op(struct program_writer *w, struct op op)
{
    struct program *p = w->program;
    LIST_ROOM(w->arena, p->ops, p->op_count, 1, w->op_room);
    op.ledger = p->ledger_count;
    p->ops[p->op_count] = op;
    return ++p->op_count;
}

void program_setup(struct program_writer *w, struct ledger_entry entry)
{
    struct program *p = w->program;
    LIST_ROOM(w->arena, p->setup, p->setup_count, 1, w->setup_room);
    entry.op = 0;
    p->setup[p->setup_count++] = entry;
}

void program_ledger(struct program_writer *w, struct ledger_entry entry)
{
    struct program *p = w->program;
    CHECK(p->op_count > 0);
    LIST_ROOM(w->arena, p->ledger, p->ledger_count, 1, w->ledger_room);
    entry.op = p->op_count;
    p->ledger[p->ledger_count++] = entry;
}

struct program *program_end(struct program_writer *w)
{
    DCHECK(program_problem(w->program) == NULL);
    CHECK(w->program->runs.count > 0 || program_problem(w->program) == NULL);
    return w->program;
}

static bool is_send(unsigned stream)
{
    return stream == STREAM_SEND_NEXT || stream == STREAM_SEND_PREV;
}

static bool is_receive(unsigned stream)
{
    return stream == STREAM_RECV_PREV || stream == STREAM_RECV_NEXT;
}

static bool stream_fits(const struct op *op)
{
    switch ((enum op_kind)op->kind) {
    case OP_COMPUTE:
        return (STREAMS_ALONE >> op->stream & 1u) != 0;
    case OP_COLLECTIVE:
        return (op->stream >= STREAM_TP && op->stream <= STREAM_WORLD) ||
               op->stream == STREAM_EP_DATA || op->stream == STREAM_EP_GATHER ||
               op->stream == STREAM_EP_REPLICATE || op->stream == STREAM_CP_HEADS;
    case OP_SEND:
        return is_send(op->stream);
    case OP_RECV:
        return is_receive(op->stream);
    }
    return false;
}

static const char *op_problem(const struct program *p, uint32_t index)
{
    const struct op *op = &p->ops[index];
    if (op->wait[0] > index || op->wait[1] > index)
        return "an op waits for itself or for a later op";
    if (!stream_fits(op))
        return "an op stands on a stream of another kind";
    const bool run = (op->flags & OP_RUN) != 0;
    if (run && (op->kind != OP_COMPUTE || op->stream != STREAM_COMPUTE))
        return "a run is no compute";
    if (op->cost >= (run                      ? p->runs.count
                     : op->kind == OP_COMPUTE ? p->cost_count
                                              : p->transfer_count))
        return "an op names a cost or transfer that is not there";
    if (op->host >= p->host_count || op->name >= p->name_count || op->phase >= PHASE_COUNT)
        return "an op names a host time, name or phase that is not there";
    uint32_t before = index == 0 ? 0 : p->ops[index - 1].ledger;
    if (op->ledger < before || op->ledger > p->ledger_count)
        return "the ledger entries of an op do not follow those of the op before";
    return NULL;
}

static const char *row_problem(const struct program *p)
{
    for (uint32_t i = 0; i < p->cost_count; i++) {
        const struct op_cost *c = &p->costs[i];
        if (!(c->gpu_s >= 0.0 && isfinite(c->gpu_s)) ||
            c->kernel_first + c->kernel_count > p->kernel_count)
            return "a cost is no time, or its kernels are not there";
    }
    for (uint32_t i = 0; i < p->transfer_count; i++)
        if (!(p->transfers[i].bytes >= 0.0 && isfinite(p->transfers[i].bytes)))
            return "a transfer has no size";
    for (uint32_t i = 0; i < p->host_count; i++)
        if (!(p->hosts[i] >= 0.0 && isfinite(p->hosts[i])))
            return "a host time is no time";
    if (!(p->interference.ratio >= 0.0 && p->interference.ratio < 1.0))
        return "the interference ratio is not in [0, 1)";
    for (unsigned i = 0; i < JOIN_COUNT; i++)
        if (!(p->interference.join_ratio[i] >= 0.0 && isfinite(p->interference.join_ratio[i])))
            return "a join ratio is below zero";
    return NULL;
}

enum life {
    LIFE_NONE,
    LIFE_SETUP, /* allocated before the first step */
    LIFE_STEP,  /* allocated in a step, must be freed in it */
    LIFE_STAYS  /* allocated in the first step for good */
};

/* What is known of a tensor number while the ledger is read. */
struct block_life {
    enum life life;
    uint8_t tenant;
    double bytes;
};

/* A free says of its block what the allocation said; flags speak of allocations only. */
static bool frees_what_was_taken(const struct block_life *block, const struct ledger_entry *e)
{
    return e->flags == 0 && e->tenant == block->tenant && e->bytes == block->bytes;
}

static const char *entry_problem(struct block_life *blocks, const struct ledger_entry *e,
                                 bool setup)
{
    struct block_life *block = &blocks[e->tensor];
    bool stays = (e->flags & LEDGER_STAYS) != 0;
    if (!(e->bytes >= 0.0 && isfinite(e->bytes)) || e->tenant >= TENANT_FRAGMENTATION)
        return "a ledger entry has no size or no tenant";
    if (stays && !(e->flags & LEDGER_FIRST_STEP))
        return "an allocation that stays must happen in the first step only";
    if (e->action == LEDGER_ALLOCATE) {
        if (block->life != LIFE_NONE)
            return "a block is allocated while it lives";
        block->life = setup ? LIFE_SETUP : stays ? LIFE_STAYS : LIFE_STEP;
        block->tenant = e->tenant;
        block->bytes = e->bytes;
        return NULL;
    }
    if (block->life != LIFE_STEP)
        return "a block is freed that the step did not allocate";
    if (!frees_what_was_taken(block, e))
        return "a free differs from its allocation";
    block->life = LIFE_NONE;
    return NULL;
}

static uint32_t tensor_bound(const struct ledger_entry *entries, uint32_t count, uint32_t bound)
{
    for (uint32_t i = 0; i < count; i++)
        bound = entries[i].tensor >= bound ? entries[i].tensor + 1 : bound;
    return bound;
}

/* Plays setup and two steps; `blocks` has a row for each tensor, zeroed. */
static const char *ledger_problem(const struct program *p, struct block_life *blocks,
                                  uint32_t tensors)
{
    const char *problem = NULL;
    for (uint32_t i = 0; i < p->setup_count && problem == NULL; i++)
        problem = entry_problem(blocks, &p->setup[i], true);
    for (unsigned step = 1; step <= 2 && problem == NULL; step++) {
        for (uint32_t i = 0; i < p->ledger_count && problem == NULL; i++) {
            const struct ledger_entry *e = &p->ledger[i];
            if (step == 1 || !(e->flags & LEDGER_FIRST_STEP))
                problem = entry_problem(blocks, e, false);
        }
        for (uint32_t t = 0; t < tensors && problem == NULL; t++)
            if (blocks[t].life == LIFE_STEP)
                problem = "a block of the step is never freed";
    }
    return problem;
}

const char *program_problem(const struct program *program)
{
    const char *problem = row_problem(program);
    for (uint32_t i = 0; i < program->op_count && problem == NULL; i++)
        problem = op_problem(program, i);
    if (problem != NULL)
        return problem;
    uint32_t tensors = tensor_bound(program->setup, program->setup_count, 0);
    tensors = tensor_bound(program->ledger, program->ledger_count, tensors);
    struct arena *scratch = arena_create();
    struct block_life *blocks = ARENA_ARRAY(scratch, struct block_life, tensors + 1);
    problem = ledger_problem(program, blocks, tensors);
    arena_destroy(scratch);
    return problem;
}
