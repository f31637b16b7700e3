/* gpu.c - how long a kernel runs: the structural model of docs/models/kernel.md.
 *
 * A GEMM is cut into tiles that the SMs work off in waves; cuBLAS chooses among tile shapes and
 * splits of k, so the model takes the fastest of its list. Each candidate is bound by arithmetic,
 * by the shared memory of an SM, and by HBM. Attention follows a measured curve, everything else
 * streams. Nothing here is fitted but what struct gpu_spec carries. */
#include "models/gpu/gpu.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "sim/check.h"

/* Shared memory of an SM: 32 banks of 4 bytes a clock (CUDA C++ Programming Guide, "Shared
 * memory"). Every operand of a tile passes through it gemm_operand_passes times; small tiles are
 * bound by that long before L2. */
#define SHARED_BYTES_PER_CLOCK 128.0
/* Rows of queries (forward) or keys (backward) that one block of a flash kernel takes:
 * FlashAttention 2, arXiv:2307.08691 section 3.2 (parallel over the sequence, 128 rows at head size
 * 128). */
#define ATTENTION_BLOCK_ROWS 128.0
/* Head size at which attention curves are given. */
#define ATTENTION_CURVE_HEAD 128.0
/* A smaller head is padded to this (FlashAttention is compiled for multiples of 32). */
#define ATTENTION_LEAST_HEAD 32.0
#define FP32_BYTES 4.0
#define HALF_BYTES 2.0

struct tile {
    double m, n;
};
/* Shapes that cublasLt offers (CUDA toolkit, cublasLtMatmulTile_t) and takes: it has 96, 160 and
 * 192 as well, but 1,024 x 2,145 in tests/validation/kernels.csv, which tiles of 192 would do in
 * one wave, takes two. */
static const struct tile tiles[] = {
    {256, 128}, {128, 256}, {128, 128}, {256, 64}, {64, 256}, {128, 64}, {64, 128}, {64, 64},
};
static const double splits[] = {1, 2, 4, 8, 16};

/* Eight-bit products are written in 16 bit (cublasLtMatmul of e4m3 operands as Transformer Engine
 * calls it). */
static double gemm_result_bytes(double element_bytes)
{
    return fmax(element_bytes, HALF_BYTES);
}

struct kernel gpu_kernel_gemm(const char *name, enum peak_kind peak, struct gemm_shape shape,
                              double element_bytes)
{
    double m = shape.m, n = shape.n, k = shape.k;
    return (struct kernel){
        .kind = KERNEL_GEMM,
        .name = name,
        .peak = peak,
        .m = m,
        .n = n,
        .k = k,
        .batch = shape.batch,
        .element_bytes = element_bytes,
        .flops = 2.0 * m * n * k * shape.batch,
        .bytes = ((m * k + k * n) * element_bytes + m * n * gemm_result_bytes(element_bytes)) *
                 shape.batch,
        .launches = 1.0,
    };
}

/* FLOPs: two products forward, five backward (the scores are computed again), each 2 q k d for each
 * head; a causal kernel does half (arXiv:2307.08691 section 4.1). */
struct kernel gpu_kernel_attention(const char *name, enum peak_kind peak,
                                   const struct attention_shape *shape, double element_bytes)
{
    double products = shape->backward ? 5.0 : 2.0;
    double pairs = shape->query_tokens * shape->key_tokens * (shape->causal ? 0.5 : 1.0);
    double query = shape->query_tokens * shape->heads * shape->head_size,
           keys = shape->key_tokens * shape->kv_heads * shape->head_size;
    double statistics = shape->query_tokens * shape->heads * FP32_BYTES;
    /* Forward reads q, k, v and writes o; backward reads these and do and writes dq, dk, dv. */
    double elements = shape->backward ? 4.0 * query + 4.0 * keys : 2.0 * query + 2.0 * keys;
    return (struct kernel){
        .kind = KERNEL_ATTENTION,
        .name = name,
        .peak = peak,
        .batch = shape->batch,
        .attention = shape->kernel,
        .causal = shape->causal,
        .backward = shape->backward,
        .query_tokens = shape->query_tokens,
        .key_tokens = shape->key_tokens,
        .heads = shape->heads,
        .kv_heads = shape->kv_heads,
        .head_size = shape->head_size,
        .element_bytes = element_bytes,
        .flops = products * 2.0 * pairs * shape->head_size * shape->heads * shape->batch,
        .bytes = shape->batch * (elements * element_bytes + statistics),
        .launches = 1.0,
    };
}

struct kernel gpu_kernel_memory(const char *name, double bytes, double launches)
{
    return (struct kernel){
        .kind = KERNEL_MEMORY, .name = name, .bytes = bytes, .launches = launches};
}

static double streaming_bytes_per_s(const struct gpu_spec *gpu)
{
    return gpu->hbm_bytes_per_s * gpu->hbm_efficiency_ratio;
}

/* HBM traffic of a GEMM: each operand once when the operands fit L2; else every wave of tiles, laid
 * out as a square patch of the result, reads its rows and columns again. */
static double gemm_traffic_bytes(const struct gpu_spec *gpu, const struct kernel *kernel,
                                 struct tile tile, double waves)
{
    double element_bytes = kernel->element_bytes;
    double written = kernel->m * kernel->n * kernel->batch * gemm_result_bytes(element_bytes);
    double operands = (kernel->m + kernel->n) * kernel->k;
    if (operands * element_bytes <= gpu->l2_bytes)
        return kernel->bytes;
    double side = sqrt((double)gpu->sm_count);
    double rows = fmin(side * tile.m, kernel->m), columns = fmin(side * tile.n, kernel->n);
    double read = waves * (rows + columns) * kernel->k;
    return fmax(kernel->bytes, read * element_bytes + written);
}

/* Loads and arithmetic of a product overlap, yet not wholly: a tile waits for its first operands
 * and writes its result after its last product. A thin one (768 deep, 192 wide) takes 1.3 times the
 * larger of the two on A100 and 1.15 on H100 (tests/validation/kernels.csv, 802816x192x768). */
static double overlapped_s(double compute_s, double memory_s)
{
    return cbrt(compute_s * compute_s * compute_s + memory_s * memory_s * memory_s);
}

/* One tile shape and one split of k, when faster than `best_s`. The ramp: filling and draining the
 * main loop of a tile costs as much as `gemm_k_half` steps of it. The reduction of a split k is a
 * kernel of its own (splitKreduce_kernel in any profile of cuBLAS). */
static double gemm_candidate_s(const struct gpu_spec *gpu, const struct kernel *kernel,
                               struct tile tile, double split, double best_s)
{
    double sms = (double)gpu->sm_count;
    double depth = ceil(kernel->k / split);
    double blocks = ceil(kernel->m / tile.m) * ceil(kernel->n / tile.n) * kernel->batch * split;
    double waves = ceil(blocks / sms);
    double sm_flops_per_s = gpu->peak_flops_per_s[kernel->peak] * gpu->gemm_efficiency_ratio / sms;
    double arithmetic_s = 2.0 * tile.m * tile.n * (depth + gpu->gemm_k_half) / sm_flops_per_s;
    if (waves * arithmetic_s >= best_s)
        return best_s;
    double operands = (tile.m + tile.n) * (depth + gpu->gemm_k_half) * kernel->element_bytes;
    double shared_s =
        gpu->gemm_operand_passes * operands / (SHARED_BYTES_PER_CLOCK * gpu->clock_hz);
    double traffic = gemm_traffic_bytes(gpu, kernel, tile, waves);
    bool reduced = split > 1.0;
    if (reduced) /* partial sums in fp32: written, and read again by the reduction */
        traffic += 2.0 * split * FP32_BYTES * kernel->m * kernel->n * kernel->batch;
    double compute_s = waves * fmax(arithmetic_s, shared_s);
    double time_s = overlapped_s(compute_s, traffic / streaming_bytes_per_s(gpu));
    return fmin(best_s, time_s + (reduced ? gpu->kernel_start_s : 0.0));
}

static double gemm_time_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    double best_s = INFINITY;
    for (unsigned t = 0; t < sizeof tiles / sizeof tiles[0]; t++)
        for (unsigned s = 0; s < sizeof splits / sizeof splits[0]; s++)
            best_s = gemm_candidate_s(gpu, kernel, tiles[t], splits[s], best_s);
    return best_s;
}

/* A block that leaves SMs idle is slower than the curve, which was measured on a full card. */
static double attention_filling_ratio(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    double rows = kernel->backward ? kernel->key_tokens : kernel->query_tokens;
    double blocks = kernel->batch * kernel->heads * ceil(rows / ATTENTION_BLOCK_ROWS);
    return fmin(1.0, blocks / (double)gpu->sm_count);
}

/* Time of a FLOP over that at the head size of the curves: what a score costs whatever the head
 * goes with 1/d, so both sides are straight in it, through the ratios at 64 and 256. */
static double attention_head_ratio(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    double size = fmax(kernel->head_size, ATTENTION_LEAST_HEAD);
    double padding = size / kernel->head_size;
    double steps = ATTENTION_CURVE_HEAD / size - 1.0; /* 1 at 64, -1/2 at 256 */
    if (steps > 0.0)
        return padding * (1.0 + (gpu->attention_small_head_ratio[kernel->attention] - 1.0) * steps);
    return 1.0 - 2.0 * (gpu->attention_large_head_ratio[kernel->attention] - 1.0) * steps;
}

static double attention_time_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    const struct attention_curve *curve =
        kernel->backward ? &gpu->attention_backward[kernel->attention][kernel->causal]
                         : &gpu->attention_forward[kernel->attention][kernel->causal];
    CHECK(curve->ceiling_flops_per_s > 0.0);
    double head = attention_head_ratio(gpu, kernel);
    double rate = curve->ceiling_flops_per_s / (1.0 + curve->half_length / kernel->key_tokens);
    double compute_s = kernel->flops * head / (rate * attention_filling_ratio(gpu, kernel));
    return fmax(compute_s, kernel->bytes / streaming_bytes_per_s(gpu));
}

bool gpu_has_attention(const struct gpu_spec *gpu, enum attention_kernel which)
{
    if (which == ATTENTION_MATH)
        return true;
    for (int causal = 0; causal < 2; causal++)
        if (gpu->attention_forward[which][causal].ceiling_flops_per_s <= 0.0 ||
            gpu->attention_backward[which][causal].ceiling_flops_per_s <= 0.0)
            return false;
    return true;
}

double gpu_kernel_time_s(const struct gpu_spec *gpu, const struct kernel_source *source,
                         const struct kernel *kernel)
{
    double time_s = 0.0;
    if (kernel->kind != KERNEL_MEMORY && kernel->flops <= 0.0)
        return 0.0;
    if (source && source->lookup && source->lookup(source->profile, kernel, &time_s))
        return time_s;
    switch (kernel->kind) {
    case KERNEL_GEMM:
        time_s = gemm_time_s(gpu, kernel);
        break;
    case KERNEL_ATTENTION:
        time_s = attention_time_s(gpu, kernel);
        break;
    case KERNEL_MEMORY:
        time_s = kernel->bytes / streaming_bytes_per_s(gpu);
        break;
    }
    return time_s + gpu->kernel_start_s * kernel->launches;
}

/* Expected largest of n draws from a normal distribution (Blom, Statistical Estimates and
 * Transformed Beta-Variables, 1958): the quantile at (n - 3/8) / (n + 1/4). */
double gpu_slowest_excess_ratio(const struct gpu_spec *gpu, uint64_t count)
{
    double n = (double)count;
    if (count <= 1)
        return 0.0;
    return gpu->speed_spread_ratio * gsl_cdf_ugaussian_Pinv((n - 0.375) / (n + 0.25));
}

double gpu_kernel_peak_time_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    if (kernel->kind == KERNEL_MEMORY || kernel->flops <= 0.0)
        return 0.0;
    return kernel->flops / gpu->peak_flops_per_s[kernel->peak];
}
