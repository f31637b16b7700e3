/* lower_update.c - the optimizer at the end of a step: the update of every element, and before it
 * the orthogonal steps of weight matrices (Muon).
 *
 * A matrix is made orthogonal whole (KellerJordan/Muon): by steps of X X^T, of its square, and of
 * their sum with X, 4 m^2 n + 2 m^3 FLOPs each in 16 bits, m the shorter side of what this tensor
 * rank holds. Where ranks share the state each takes a part of the matrices, at least one, and the
 * momenta that lie on others come to it in 16 bits (Liu et al., arXiv:2502.16982 section 2.3). */
#include "models/lower/stage/lower_update.h"

#include <math.h>

#define MOMENTUM_BYTES 2.0 /* as it is sent and multiplied */

/* So many matrices of a kind, on this stage. */
struct matrix_batch {
    const struct weight_matrix *matrix;
    double units;
};

static double batch_elements(const struct matrix_batch *b)
{
    return b->matrix->inputs * b->matrix->outputs * b->matrix->count * b->units;
}

/* Matrices of all that ranks hold alike, or of experts where those ranks are others. */
static uint32_t list_matrices(const struct update *u, enum data_part part, struct matrix_batch *out)
{
    uint32_t count = 0;
    for (unsigned kind = 0; kind < lower_plan_block_count(u->l); kind++) {
        const struct block *b = &u->l->blocks[kind];
        double units = 0.0;
        for (uint32_t i = 0; i < u->units->count; i++)
            units += u->units->rows[i].kind == kind;
        for (unsigned k = 0; units > 0.0 && k < b->weights.matrix_count; k++) {
            const bool apart =
                b->weights.matrices[k].experts && u->l->data.experts != EXPERTS_WITH_ALL;
            if (apart == (part == DATA_EXPERTS))
                out[count++] = (struct matrix_batch){&b->weights.matrices[k], units};
        }
    }
    return count;
}

/* The part of them that the busiest of so many ranks makes orthogonal. */
static double busiest_share(const struct matrix_batch *rows, uint32_t count, unsigned steps,
                            double ranks)
{
    double all = 0.0, largest = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        const struct weight_matrix *m = rows[i].matrix;
        const double each = optimizer_orthogonal_flops(steps, m->inputs, m->outputs);
        all += each * m->count * rows[i].units;
        largest = fmax(largest, each);
    }
    return fmax(1.0 / ranks, largest / all);
}

static void product(const struct update *u, const char *name, struct gemm_shape shape)
{
    const enum peak_kind peak = u->l->c->training.precision->attention_peak;
    struct kernel kernel = gpu_kernel_gemm(name, peak, shape, MOMENTUM_BYTES);
    kernel.launches = shape.batch;
    lower_ops_kernel(u->ops, &kernel, PHASE_OPTIMIZER, 0.0);
}

static void gather_momenta(const struct update *u, enum data_part part, double elements)
{
    const struct transfer gather = {COMM_ALL_GATHER, elements * MOMENTUM_BYTES};
    const enum stream stream = part == DATA_EXPERTS ? STREAM_EP_DATA : STREAM_DP;
    lower_ops_wait(u->ops, lower_ops_transfer(u->ops, stream, gather, PHASE_OPTIMIZER,
                                              "gather momenta", u->ops->pending.last));
}

static void orthogonal_part(const struct update *u, enum data_part part)
{
    const struct lowering *l = u->l;
    const unsigned steps = l->c->training.optimizer->orthogonal_steps;
    struct matrix_batch rows[BLOCK_COUNT * LAYER_MATRIX_MAX];
    const uint32_t count = list_matrices(u, part, rows);
    if (count == 0)
        return;
    const struct shard_counts shards = l->data.shares.optimizer;
    const double ranks = part == DATA_EXPERTS ? shards.experts : shards.all;
    const double share = busiest_share(rows, count, steps, ranks);
    double elements = 0.0;
    for (uint32_t i = 0; i < count; i++)
        elements += batch_elements(&rows[i]);
    if (ranks > 1.0)
        gather_momenta(u, part, elements);
    for (uint32_t i = 0; i < count; i++) {
        const struct weight_matrix *matrix = rows[i].matrix;
        const double m = fmin(matrix->inputs, matrix->outputs);
        const double n = fmax(matrix->inputs, matrix->outputs);
        const double batch = steps * matrix->count * rows[i].units * share;
        product(u, "orthogonal step: X X^T", (struct gemm_shape){m, m, n, batch});
        product(u, "orthogonal step: square", (struct gemm_shape){m, m, m, batch});
        product(u, "orthogonal step: times X", (struct gemm_shape){m, n, m, batch});
    }
}

static void orthogonal(const struct update *u)
{
    for (int part = 0; part < DATA_PART_COUNT; part++)
        if (u->l->c->training.optimizer->orthogonal_steps > 0)
            orthogonal_part(u, (enum data_part)part);
}

/* State is read and written once: so many bytes. */
static double state_traffic(const struct update *u, double elements)
{
    const struct lowering *l = u->l;
    const struct optimizer *o = l->c->training.optimizer;
    const struct shard_counts shards = l->data.shares.optimizer;
    double bytes = elements * (o->more_traffic_bytes + 2.0 * l->data.state.master_bytes);
    for (unsigned k = 0; k < l->data.state.moment_count; k++)
        for (uint32_t i = 0; i < u->units->count; i++)
            bytes += 2.0 * l->data.state.moment_bytes[k] *
                     lower_units_moment(&u->units->rows[i], shards, o->moments[k].extent);
    return bytes;
}

/* Of the weights that this rank updates. */
static double weight_bytes(const struct update *u)
{
    const struct lowering *l = u->l;
    const struct shard_counts shards = l->data.shares.optimizer;
    double bytes = 0.0;
    for (uint32_t i = 0; i < u->units->count; i++)
        bytes += lower_units_part(&u->units->rows[i], shards) *
                 u->units->rows[i].block->weights.sent_bytes;
    return bytes;
}

/* Reads the gradient, writes the weight (reads it too when there is no master copy), and reads and
 * writes the state: all of what is updated, on the card or on the host. */
static double update_bytes(const struct update *u, double elements)
{
    const struct lowering *l = u->l;
    const bool master = l->data.state.master_bytes > 0.0;
    double bytes = elements * l->data.kept_bytes + state_traffic(u, elements);
    if (!l->data.weights_are_master)
        bytes += weight_bytes(u) * (master ? 1.0 : 2.0);
    return bytes;
}

/* Bytes of state of all units, as a rank shares it. */
static double state_bytes(const struct update *u, double elements)
{
    const struct lowering *l = u->l;
    const struct optimizer *o = l->c->training.optimizer;
    return (state_traffic(u, elements) - elements * o->more_traffic_bytes) / 2.0;
}

static void fixed(const struct update *u, const char *name, double bytes, double bytes_per_s)
{
    const double share = u->l->c->layout.offload.optimizer;
    lower_ops_fixed(u->ops, name, share * bytes / bytes_per_s, PHASE_OPTIMIZER);
}

/* One after the other: gradients leave as they are kept, weights come as they are computed with
 * (ZeRO-Offload, arXiv:2101.06840 section 4; NVIDIA/Megatron-LM
 * megatron/core/optimizer/cpu_offloading/hybrid_optimizer.py without overlapped copies). From
 * drives the state passes through the same memory, in and out (ZeRO-Infinity, arXiv:2104.07857;
 * DeepSpeed without pipeline_read and pipeline_write). */
static void offloaded(const struct update *u, double elements)
{
    const struct layout_spec *layout = &u->l->c->layout;
    const bool drives = layout->offload.optimizer_to == OFFLOAD_NVME;
    if (!u->l->offload.optimizer)
        return;
    const struct offload_rates rates = u->l->offload.optimizer_rates;
    const double state = state_bytes(u, elements);
    fixed(u, "gradients to host", elements * u->l->data.kept_bytes, rates.link_bytes_per_s);
    if (drives)
        fixed(u, "state from drives", state, rates.nvme_read_bytes_per_s);
    fixed(u, "update on host", update_bytes(u, elements), rates.dram_bytes_per_s);
    if (drives)
        fixed(u, "state to drives", state, rates.nvme_write_bytes_per_s);
    fixed(u, "weights from host", weight_bytes(u), rates.link_bytes_per_s);
}

double lower_update_host_bytes(const struct update *u)
{
    const struct lowering *l = u->l;
    const struct layout_spec *layout = &l->c->layout;
    if (!l->offload.optimizer)
        return 0.0;
    const double elements = lower_units_elements(u->units, l->data.shares.optimizer);
    const double state =
        layout->offload.optimizer_to == OFFLOAD_CPU ? state_bytes(u, elements) : 0.0;
    return layout->offload.optimizer * (state + elements * l->data.kept_bytes + weight_bytes(u));
}

/* Of what is updated on the card; then the kept gradients are cleared for the next step when they
 * are a buffer. */
static void on_card(const struct update *u, double elements)
{
    const struct lowering *l = u->l;
    const double here = l->data.on_card;
    double bytes = here * update_bytes(u, elements);
    if (l->c->software.data.gradients == GRADIENT_BUFFER) {
        double held = lower_units_elements(u->units, l->data.shares.gradients);
        bytes += held * l->data.kept_bytes;
    }
    bytes += here * elements * l->c->software.memory.optimizer_extra_bytes;
    for (uint32_t i = 0; i < u->units->count; i++)
        bytes += u->units->rows[i].block->weights.cast_bytes;
    struct kernel kernel = gpu_kernel_memory("optimizer update", bytes, 1.0);
    lower_ops_kernel(u->ops, &kernel, PHASE_OPTIMIZER, l->host.optimizer_s);
}

/* The gradient norm: one read of the gradients that this rank answers for, then four bytes over
 * every rank that holds a part of the model. */
static void clip(const struct update *u, double elements)
{
    if (!u->l->c->software.memory.clip_gradients)
        return;
    struct kernel norm = gpu_kernel_memory("gradient norm", elements * u->l->data.kept_bytes, 1.0);
    uint32_t op = lower_ops_kernel(u->ops, &norm, PHASE_OPTIMIZER, 0.0);
    if (u->l->data.has_world && !u->l->c->layout.pipeline.schedule->steps_alone) {
        op = lower_ops_transfer(u->ops, STREAM_WORLD, (struct transfer){COMM_ALL_REDUCE, 4.0},
                                PHASE_OPTIMIZER, "reduce gradient norm", op);
        lower_ops_wait(u->ops, op);
    }
}

void lower_update(const struct update *u)
{
    const struct shard_counts shards = u->l->data.shares.optimizer;
    const double elements = lower_units_elements(u->units, shards);
    clip(u, elements);
    orthogonal(u);
    offloaded(u, elements);
    lower_labels_flags(u->labels, 0);
    on_card(u, elements);
}
