/* lower_ops.c - the ops of a stage, as they are written.
 *
 * Invariants
 * 1. The waits of a stage name transfers that the next compute op needs; compute needs no wait for
 *    compute, its stream is in order.
 * 2. A transfer waits for the last compute op and for what that compute would have waited for.
 * 3. A transfer beside compute joins the waits after the next compute op.
 * 4. Host time is never taken back: what is not charged to an op is left for the next. */
#include "models/lower/stage/lower_ops.h"

#include "models/gpu/gpu_work.h"

#include "sim/check.h"
#include "sim/list.h"
#include "sim/random.h"

void lower_ops_begin(struct ops *o, const struct lowering *l, struct program_writer *w,
                     const struct labels *labels, struct tensors *tensors)
{
    *o = (struct ops){.w = w, .l = l, .labels = labels, .tensors = tensors};
}

void lower_ops_wait(struct ops *o, uint32_t op)
{
    lower_waits_add(&o->pending.waits, op);
}

void lower_ops_host(struct ops *o, double extra_s)
{
    CHECK(extra_s >= 0.0); /* 4 */
    o->extra_host_s += extra_s;
}

static uint32_t write(struct ops *o, struct op op)
{
    op.microbatch = o->labels->microbatch;
    op.layer = o->labels->layer;
    op.chunk = o->labels->chunk;
    if (op.kind == OP_COMPUTE) {
        op.flags |= (uint8_t)(o->labels->flags | (o->pending.joined ? OP_JOIN : 0));
        o->pending.joined = false;
    }
    o->streams |= 1u << op.stream;
    uint32_t index = program_op(o->w, op);
    CHECK(index > o->pending.last); /* 1 */
    if (op.kind == OP_COMPUTE) {
        o->pending.last = index;
        lower_tensors_workspace(o->tensors);
    }
    return index;
}

static uint32_t host_row(struct ops *o, uint32_t row, double host_s)
{
    if (o->extra_host_s > 0.0) {
        row = program_host(o->w, host_s + o->extra_host_s);
        o->extra_host_s = 0.0;
    }
    return row;
}

uint32_t lower_ops_transfer(struct ops *o, enum stream stream, struct transfer transfer,
                            enum phase phase, const char *name, uint32_t wait)
{
    struct op op = {
        .kind = OP_COLLECTIVE,
        .stream = (uint8_t)stream,
        .phase = (uint8_t)phase,
        .cost = program_transfer(o->w, transfer.op, transfer.bytes),
        .wait = {wait, OP_NONE},
        .name = (uint16_t)program_name(o->w, name),
        .host = program_host(o->w, o->l->host.launch_s),
    };
    return write(o, op);
}

uint32_t lower_ops_copy(struct ops *o, struct transfer of, enum phase phase, uint32_t wait)
{
    const struct configuration *c = o->l->c;
    const double rate = c->software.data.copy_bytes_per_s, bytes = of.bytes;
    const double parts =
        of.op == COMM_ALL_REDUCE ? 0.0 : (double)o->l->data.groups[DATA_ALL].reducers;
    const double time_s =
        (rate > 0.0 ? bytes / rate : 0.0) + c->software.data.partition_copy_s * parts;
    if (time_s <= 0.0 || bytes <= 0.0)
        return wait;
    double moved = 2.0 * bytes; /* read and written */
    struct op_kernel row = {"copy buffer", time_s, 0.0, moved, KERNEL_MODELLED, 0};
    struct op_cost cost = {
        .gpu_s = time_s, .peak_s = moved / c->gpu.hbm.bytes_per_s, .bytes = moved};
    struct op op = {
        .kind = OP_COMPUTE,
        .stream = STREAM_COPY,
        .phase = (uint8_t)phase,
        .cost = program_cost(o->w, &cost, &row, 1),
        .wait = {wait, OP_NONE},
        .microbatch = o->labels->microbatch,
        .layer = o->labels->layer,
        .chunk = o->labels->chunk,
        .name = (uint16_t)program_name(o->w, "copy buffer"),
        .host = program_host(o->w, o->l->host.launch_s),
    };
    o->streams |= 1u << STREAM_COPY;
    return program_op(o->w, op);
}

uint32_t lower_ops_host_copy(struct ops *o, const struct host_copy *copy, uint32_t wait,
                             uint32_t other)
{
    const double time_s = copy->bytes / copy->bytes_per_s;
    struct op_kernel row = {copy->name, time_s, 0.0, copy->bytes, KERNEL_MODELLED, 0};
    struct op_cost cost = {.gpu_s = time_s, .bytes = copy->bytes};
    struct op op = {
        .kind = OP_COMPUTE,
        .stream = (uint8_t)copy->stream,
        .phase = (uint8_t)copy->phase,
        .cost = program_cost(o->w, &cost, &row, 1),
        .wait = {wait, other},
        .microbatch = o->labels->microbatch,
        .layer = o->labels->layer,
        .chunk = o->labels->chunk,
        .name = (uint16_t)program_name(o->w, copy->name),
        .host = program_host(o->w, copy->copies * o->l->host.launch_s),
    };
    o->streams |= 1u << copy->stream;
    return program_op(o->w, op);
}

uint32_t lower_ops_kernel(struct ops *o, const struct kernel *kernel, enum phase phase,
                          double host_s)
{
    const struct configuration *c = o->l->c;
    struct kernel_time time = gpu_kernel_time(&o->l->costs.gpu, &c->kernels, kernel);
    struct op_kernel row = {kernel->name,  time.s,        kernel->flops,
                            kernel->bytes, time.evidence, time.shape};
    const struct gpu_work work = gpu_work_of(&c->gpu, kernel, time.s);
    struct op_cost cost = {.gpu_s = time.s,
                           .peak_s = gpu_kernel_peak_time_s(&c->gpu, kernel),
                           .flops = kernel->flops,
                           .bytes = kernel->bytes,
                           .flop_j = work.flop_j,
                           .byte_j = work.byte_j};
    double all_s = host_s + kernel->launches * o->l->costs.launch_s; /* of the update */
    struct op op = {
        .kind = OP_COMPUTE,
        .stream = STREAM_COMPUTE,
        .phase = (uint8_t)phase,
        .cost = program_cost(o->w, &cost, &row, 1),
        .name = (uint16_t)program_name(o->w, kernel->name),
    };
    op.host = host_row(o, program_host(o->w, all_s), all_s);
    lower_waits_take(&o->pending.waits, o->w, op.wait);
    return write(o, op);
}

uint32_t lower_ops_fixed(struct ops *o, const char *name, double time_s, enum phase phase)
{
    struct op_kernel row = {name, time_s, 0.0, 0.0, KERNEL_MODELLED, 0};
    struct op_cost cost = {.gpu_s = time_s};
    struct op op = {
        .kind = OP_COMPUTE,
        .stream = STREAM_COMPUTE,
        .phase = (uint8_t)phase,
        .cost = program_cost(o->w, &cost, &row, 1),
        .name = (uint16_t)program_name(o->w, name),
    };
    op.host = host_row(o, program_host(o->w, o->l->host.launch_s), o->l->host.launch_s);
    lower_waits_take(&o->pending.waits, o->w, op.wait);
    return write(o, op);
}

void lower_ops_gather_message(struct ops *o, double bytes, enum phase phase)
{
    struct op op = {
        .kind = OP_COLLECTIVE,
        .stream = STREAM_TP,
        .phase = (uint8_t)phase,
        .cost = program_transfer(o->w, COMM_ALL_GATHER, bytes),
        .name = (uint16_t)program_name(o->w, "gather message"),
        .host = program_host(o->w, o->l->host.launch_s),
    };
    lower_waits_take(&o->pending.waits, o->w, op.wait);
    lower_ops_wait(o, write(o, op));
}

static void join_beside(struct ops *o)
{
    o->pending.joined = o->pending.joining.count > 0;
    for (unsigned i = 0; i < o->pending.joining.count; i++)
        lower_ops_wait(o, o->pending.joining.op[i]);
    o->pending.joining.count = 0;
}

void lower_ops_piece(struct ops *o, const struct lowered_piece *p)
{
    struct op op = {.kind = p->kind, .stream = p->stream, .phase = p->phase, .cost = p->row};
    op.name = p->name_row;
    op.host = host_row(o, p->host, p->host_s);
    if (p->kind == OP_COMPUTE) {
        op.flags = p->host_waits ? OP_HOST_SYNC : 0;
        lower_waits_take(&o->pending.waits, o->w, op.wait);
        write(o, op);
        join_beside(o); /* 3 */
        return;
    }
    struct waits needs = o->pending.waits; /* 2 */
    lower_waits_add(&needs, o->pending.last);
    lower_waits_take(&needs, o->w, op.wait);
    uint32_t index = write(o, op);
    if (p->beside) {
        lower_waits_add(&o->pending.joining, index);
    } else {
        o->pending.waits.count = 0;
        lower_ops_wait(o, index);
    }
}

static struct known_piece new_rows(struct program_writer *w, const struct lowered_piece *p)
{
    return (struct known_piece){
        .piece = p,
        .row = p->kind == OP_COMPUTE ? program_cost(w, &p->cost, p->kernels, p->kernel_count)
                                     : program_transfer(w, p->transfer.op, p->transfer.bytes),
        .host = program_host(w, p->host_s),
        .name_row = (uint16_t)program_name(w, p->name),
    };
}

static bool same_piece(const void *rows, uint32_t number, const void *piece)
{
    return ((const struct known_piece *)rows)[number].piece == piece;
}

void lower_ops_new_piece(struct ops *o, const struct lowered_piece *piece)
{
    struct known_pieces *k = &o->known;
    struct arena *arena = o->l->arena;
    const uint32_t count = k->numbers.count;
    const uint32_t row = table_number(&k->numbers, arena, random_hash(0, (uintptr_t)piece),
                                      same_piece, k->rows, piece);
    if (row == count) {
        LIST_ROOM(arena, k->rows, count, 1, k->room);
        k->rows[row] = new_rows(o->w, piece);
    }
    struct lowered_piece p = *piece;
    p.row = k->rows[row].row;
    p.host = k->rows[row].host;
    p.name_row = k->rows[row].name_row;
    lower_ops_piece(o, &p);
}

bool lower_ops_settled(const struct ops *o)
{
    return o->pending.joining.count == 0;
}

void lower_ops_run(struct ops *o, const struct op *run, double host_s)
{
    struct op op = *run;
    CHECK(lower_ops_settled(o));
    op.host = host_row(o, run->host, host_s);
    lower_waits_take(&o->pending.waits, o->w, op.wait);
    write(o, op);
}

uint32_t lower_ops_result(struct ops *o)
{
    join_beside(o);
    if (o->pending.waits.count == 1) {
        uint32_t op = o->pending.waits.op[0];
        o->pending.waits.count = 0;
        return op;
    }
    if (o->pending.waits.count == 0 && o->pending.last != OP_NONE)
        return o->pending.last;
    struct op_cost nothing = {0};
    struct op join = {.kind = OP_COMPUTE, .stream = STREAM_COMPUTE, .phase = PHASE_FORWARD};
    join.cost = program_cost(o->w, &nothing, NULL, 0);
    join.host = program_host(o->w, 0.0);
    join.name = (uint16_t)program_name(o->w, "join");
    lower_waits_take(&o->pending.waits, o->w, join.wait);
    return write(o, join);
}

void lower_ops_resume(struct ops *o, const struct pending *pending)
{
    o->pending = *pending;
}

void lower_ops_pass_end(struct ops *o)
{
    o->pending.waits.count = o->pending.joining.count = 0;
    o->pending.joined = false;
}
