/* gpu.c - how long a kernel runs: the structural model of docs/models/kernel.md.
 *
 * A GEMM is cut into tiles that the SMs work off in waves; cuBLAS chooses among tile shapes and
 * splits of k, so the model takes the fastest of its list. Each candidate is bound by arithmetic,
 * by the L2 port of an SM, and by HBM. Attention follows a measured curve, everything else streams.
 * Nothing here is fitted but what struct gpu_spec carries. */
#include "models/gpu.h"

#include <math.h>

#include "sim/check.h"

/* Bytes an SM can take from L2 in a clock: 5,120 B/clk over the A100's L2 partitions feed its SMs
 * through ports of 64 B (NVIDIA A100 white paper, "A100 L2 cache"; the same port on Hopper). */
#define L2_PORT_BYTES_PER_CLOCK 64.0
/* Rows of queries (forward) or keys (backward) that one block of a flash kernel takes:
 * FlashAttention 2, arXiv:2307.08691 section 3.2 (parallel over the sequence, 128 rows at head size
 * 128). */
#define ATTENTION_BLOCK_ROWS 128.0
/* Head size at which attention curves are given. */
#define ATTENTION_CURVE_HEAD 128.0
#define FP32_BYTES 4.0

struct tile {
    double m, n;
};
/* Shapes that cublasLt offers (CUDA toolkit, cublasLtMatmulTile_t); the large ones are what it
 * picks for large products, the small ones fill the SMs on small ones. */
static const struct tile tiles[] = {
    {256, 128}, {128, 256}, {192, 128}, {128, 192}, {160, 128}, {128, 160}, {128, 128},
    {128, 96},  {96, 128},  {256, 64},  {64, 256},  {128, 64},  {64, 128},  {64, 64},
};
static const double splits[] = {1, 2, 4, 8, 16};

struct kernel kernel_gemm(const char *name, enum peak_kind peak, double m, double n, double k,
                          double batch, double element_bytes)
{
    return (struct kernel){
        .kind = KERNEL_GEMM,
        .name = name,
        .peak = peak,
        .m = m,
        .n = n,
        .k = k,
        .batch = batch,
        .element_bytes = element_bytes,
        .flops = 2.0 * m * n * k * batch,
        .bytes = (m * k + k * n + m * n) * batch * element_bytes,
        .launches = 1.0,
    };
}

/* FLOPs: two products forward, five backward (the scores are computed again), each 2 q k d for each
 * head; a causal kernel does half (arXiv:2307.08691 section 4.1). */
struct kernel kernel_attention(const char *name, enum attention_kernel which, enum peak_kind peak,
                               bool causal, bool backward, double batch, double query_tokens,
                               double key_tokens, double heads, double kv_heads, double head_size,
                               double element_bytes)
{
    double products = backward ? 5.0 : 2.0;
    double pairs = query_tokens * key_tokens * (causal ? 0.5 : 1.0);
    double query = query_tokens * heads * head_size, keys = key_tokens * kv_heads * head_size;
    double statistics = query_tokens * heads * FP32_BYTES;
    /* Forward reads q, k, v and writes o; backward reads these and do and writes dq, dk, dv. */
    double elements = backward ? 4.0 * query + 4.0 * keys : 2.0 * query + 2.0 * keys;
    return (struct kernel){
        .kind = KERNEL_ATTENTION,
        .name = name,
        .peak = peak,
        .batch = batch,
        .attention = which,
        .causal = causal,
        .backward = backward,
        .query_tokens = query_tokens,
        .key_tokens = key_tokens,
        .heads = heads,
        .kv_heads = kv_heads,
        .head_size = head_size,
        .element_bytes = element_bytes,
        .flops = products * 2.0 * pairs * head_size * heads * batch,
        .bytes = batch * (elements * element_bytes + statistics),
        .launches = 1.0,
    };
}

struct kernel kernel_memory(const char *name, double bytes, double launches)
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
    double result = kernel->m * kernel->n;
    double operands = (kernel->m + kernel->n) * kernel->k;
    if (operands * kernel->element_bytes <= gpu->l2_bytes)
        return kernel->bytes;
    double side = sqrt((double)gpu->sm_count);
    double rows = fmin(side * tile.m, kernel->m), columns = fmin(side * tile.n, kernel->n);
    double read = waves * (rows + columns) * kernel->k;
    return fmax(kernel->bytes, (read + result * kernel->batch) * kernel->element_bytes);
}

/* One tile shape and one split of k, when faster than `best_s`. The ramp: filling and draining the
 * main loop of a tile costs as much as `gemm_k_half` steps of it. */
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
    double port_s = (tile.m + tile.n) * depth * kernel->element_bytes /
                    (L2_PORT_BYTES_PER_CLOCK * gpu->clock_hz);
    double traffic = gemm_traffic_bytes(gpu, kernel, tile, waves);
    if (split > 1.0) /* partial sums in fp32: written, and read again by the reduction */
        traffic += 2.0 * split * FP32_BYTES * kernel->m * kernel->n * kernel->batch;
    double time_s = fmax(waves * fmax(arithmetic_s, port_s), traffic / streaming_bytes_per_s(gpu));
    return fmin(best_s, time_s);
}

static double gemm_time_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    double best_s = INFINITY;
    for (unsigned t = 0; t < sizeof tiles / sizeof tiles[0]; t++) {
        for (unsigned s = 0; s < sizeof splits / sizeof splits[0]; s++)
            best_s = gemm_candidate_s(gpu, kernel, tiles[t], splits[s], best_s);
    }
    return best_s;
}

/* A block that leaves SMs idle is slower than the curve, which was measured on a full card. */
static double attention_filling_ratio(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    double rows = kernel->backward ? kernel->key_tokens : kernel->query_tokens;
    double blocks = kernel->batch * kernel->heads * ceil(rows / ATTENTION_BLOCK_ROWS);
    return fmin(1.0, blocks / (double)gpu->sm_count);
}

static double attention_time_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    const struct attention_curve *curve =
        kernel->backward ? &gpu->attention_backward[kernel->attention][kernel->causal]
                         : &gpu->attention_forward[kernel->attention][kernel->causal];
    CHECK(curve->ceiling_flops_per_s > 0.0);
    double fixed = gpu->attention_softmax_ratio[kernel->attention];
    double head = 1.0 - fixed + fixed * ATTENTION_CURVE_HEAD / kernel->head_size;
    double rate = curve->ceiling_flops_per_s / (1.0 + curve->half_length / kernel->key_tokens);
    double compute_s = kernel->flops * head / (rate * attention_filling_ratio(gpu, kernel));
    return fmax(compute_s, kernel->bytes / streaming_bytes_per_s(gpu));
}

bool gpu_has_attention(const struct gpu_spec *gpu, enum attention_kernel which)
{
    if (which == ATTENTION_MATH)
        return true;
    for (int causal = 0; causal < 2; causal++) {
        if (gpu->attention_forward[which][causal].ceiling_flops_per_s <= 0.0 ||
            gpu->attention_backward[which][causal].ceiling_flops_per_s <= 0.0)
            return false;
    }
    return true;
}

double kernel_time_s(const struct gpu_spec *gpu, const struct kernel_source *source,
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

double kernel_peak_time_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    if (kernel->kind == KERNEL_MEMORY || kernel->flops <= 0.0)
        return 0.0;
    return kernel->flops / gpu->peak_flops_per_s[kernel->peak];
}
