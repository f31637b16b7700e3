/* gpu.c - how long a kernel runs: the structural model of docs/models/kernel.md.
 *
 * A GEMM is cut into tiles that the SMs work off in waves; cuBLAS chooses among tile shapes and
 * splits of k, so the model takes the fastest of its list. Each candidate is bound by arithmetic,
 * by the shared memory of an SM, and by HBM. Attention follows a measured curve, everything else
 * streams. Nothing here is fitted but what struct gpu_spec carries. */
#include "models/gpu/gpu.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "models/gpu/gpu_power.h"
#include "sim/check.h"

/* Shared memory of an SM: 32 banks of 4 bytes a clock (CUDA C++ Programming Guide, "Shared
 * memory"). Every operand of a tile passes through it gemm_operand_passes times; small tiles are
 * bound by that long before L2. */
#define SHARED_BYTES_PER_CLOCK 128.0
/* Rows of keys that one block of a flash kernel takes backward: FlashAttention 2, arXiv:2307.08691
 * section 3.2 (parallel over the sequence, 128 rows at head size 128). Forward it takes
 * attention_rows of queries. */
#define ATTENTION_BLOCK_ROWS 128.0
#define EXPONENTIALS_PER_CLOCK 16.0 /* of an SM */
/* Head size at which attention curves are given. */
#define ATTENTION_CURVE_HEAD 128.0
/* Tokens x heads x head size of every point of the FlashAttention figures. */
#define ATTENTION_CURVE_ELEMENTS (16384.0 * 2048.0)
/* Fitted to heads of 192 and 128 in tests/validation/operators.csv, both cards: forward .14 on
 * either, backward .25 on A100 and .45 on B200. */
#define MIXED_HEADS_FORWARD 0.14
#define MIXED_HEADS_BACKWARD 0.35
/* A smaller head is padded to this (FlashAttention is compiled for multiples of 32). */
#define ATTENTION_LEAST_HEAD 32.0
#define FP32_BYTES 4.0
#define HALF_BYTES 2.0
/* Products inside a recurrence reach this share of the peak (assumed: none is large), and no more a
 * cycle than an SM of Hopper does: Triton's kernels are no faster on Blackwell (docs/models/
 * layers.md). */
#define SCAN_PRODUCT_RATIO 0.5
#define SCAN_FLOPS_PER_CYCLE 4096.0
/* Share of the peak that sparse attention in the latent reaches forward: FlashMLA's kernels, 640
 * TFLOP/s of the 989 of H800 and 1,450 of the 2,250 of B200 (deepseek-ai/FlashMLA README.md,
 * "token-level sparse attention for prefill"). Backward no rate was published: .6 of it, assumed,
 * between the .69 of dense attention there on B200 (1,000 of 1,460) and what the scattered sums of
 * gradients of keys cost; software.sparse_time carries 30 %. */
#define SPARSE_FORWARD_RATIO 0.645
#define SPARSE_BACKWARD_RATIO (0.6 * SPARSE_FORWARD_RATIO)
/* Heads of one query are the rows of a tile, filled up to this (csrc of FlashMLA: h_q % 64 == 0).
 */
#define SPARSE_TILE_HEADS 64.0
/* However much of the cap its memory takes, a card keeps this share for arithmetic at the usual
 * traffic; no card of the catalogue comes near. */
#define LEAST_ARITHMETIC_SHARE 0.1

const char *const kernel_evidence_names[KERNEL_EVIDENCE_COUNT] = {
    [KERNEL_MODELLED] = "model",
    [KERNEL_EXTRAPOLATED] = "extrapolated",
    [KERNEL_INTERPOLATED] = "interpolated",
    [KERNEL_MEASURED] = "measured",
};

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
        .result_bytes = gemm_result_bytes(element_bytes),
        .flops = 2.0 * m * n * k * shape.batch,
        .bytes = ((m * k + k * n) * element_bytes + m * n * gemm_result_bytes(element_bytes)) *
                 shape.batch,
        .launches = 1.0,
    };
}

void gpu_kernel_gemm_accumulate(struct kernel *kernel, double kept_bytes)
{
    double moved = 2.0 * kept_bytes;
    kernel->bytes += kernel->m * kernel->n * kernel->batch * (moved - kernel->result_bytes);
    kernel->result_bytes = moved;
}

/* FLOPs: two products forward, five backward (the scores are computed again), each of them 2 q k d
 * for each head; a causal kernel does half (arXiv:2307.08691 section 4.1). Scores and the gradients
 * of q and k go by the size of a query's head, the rest by that of a value's. */
struct kernel gpu_kernel_attention(const char *name, enum peak_kind peak,
                                   const struct attention_shape *shape, double element_bytes)
{
    double value_size = shape->value_size > 0.0 ? shape->value_size : shape->head_size;
    double sizes =
        shape->backward ? 3.0 * shape->head_size + 2.0 * value_size : shape->head_size + value_size;
    double pairs = shape->query_tokens * shape->key_tokens * (shape->causal ? 0.5 : 1.0);
    double width = shape->head_size + value_size; /* of q and o, and of k and v */
    double query = shape->query_tokens * shape->heads * width,
           keys = shape->key_tokens * shape->kv_heads * width;
    double statistics = shape->query_tokens * shape->heads * FP32_BYTES;
    /* Forward reads q, k, v and writes o; backward reads these and do and writes dq, dk, dv. */
    double elements = (query + keys) * (shape->backward ? 2.0 : 1.0);
    return (struct kernel){
        .kind = KERNEL_ATTENTION,
        .name = name,
        .peak = peak,
        .batch = shape->batch,
        .core.kind = shape->kernel,
        .core.causal = shape->causal,
        .core.backward = shape->backward,
        .core.query_tokens = shape->query_tokens,
        .core.key_tokens = shape->key_tokens,
        .core.heads = shape->heads,
        .core.kv_heads = shape->kv_heads,
        .core.head_size = shape->head_size,
        .core.value_size = value_size,
        .element_bytes = element_bytes,
        .flops = 2.0 * sizes * pairs * shape->heads * shape->batch,
        .bytes = shape->batch * (elements * element_bytes + statistics),
        .launches = 1.0,
    };
}

struct kernel gpu_kernel_scan(const char *name, const struct scan_shape *shape)
{
    return (struct kernel){.kind = KERNEL_SCAN,
                           .name = name,
                           .peak = PEAK_BF16,
                           .flops = shape->flops,
                           .bytes = shape->bytes,
                           .launches = 1.0,
                           .scan = {.cycles = shape->cycles,
                                    .walk_s = shape->walk_s,
                                    .stream_ratio = shape->stream_ratio,
                                    .time_ratio = 1.0}};
}

struct kernel gpu_kernel_sparse(const char *name, enum peak_kind peak,
                                const struct sparse_shape *shape)
{
    const double filled = SPARSE_TILE_HEADS * ceil(shape->heads / SPARSE_TILE_HEADS);
    const double ratio = shape->backward ? SPARSE_BACKWARD_RATIO : SPARSE_FORWARD_RATIO;
    return (struct kernel){
        .kind = KERNEL_SPARSE,
        .name = name,
        .peak = peak,
        .flops = shape->flops,
        .bytes = shape->bytes,
        .launches = 1.0,
        .sparse = {.peak_ratio = ratio * shape->heads / filled, .time_ratio = shape->time_ratio}};
}

struct kernel gpu_kernel_memory(const char *name, double bytes, double launches)
{
    return (struct kernel){
        .kind = KERNEL_MEMORY, .name = name, .bytes = bytes, .launches = launches};
}

/* HBM traffic of a GEMM: each operand once when the operands fit L2; else every wave of tiles, laid
 * out as a square patch of the result, reads its rows and columns again. */
static double gemm_traffic_bytes(const struct gpu_spec *gpu, const struct kernel *kernel,
                                 struct tile tile, double waves)
{
    double element_bytes = kernel->element_bytes;
    double written = kernel->m * kernel->n * kernel->batch * kernel->result_bytes;
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

/* What the card allows products at one precision, worked out once for all candidates. */
struct gemm_limits {
    double sms;                   /* that the product gets */
    double issue_flops_per_s;     /* of these SMs */
    double sustained_flops_per_s; /* that the cap feeds, less what the usual traffic takes */
    double cost_ratio;            /* of a FLOP over that of a plain product */
    double byte_s;                /* of the cap's budget that a byte of HBM takes */
    double stream_bytes_per_s;
};

/* What eight-bit products pay for exact sums and for fine scales, and what four-bit ones fall short
 * of their peak. */
static double gemm_cost_ratio(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    return (1.0 + (kernel->split_sums ? gpu->gemm.split_cost_ratio : 0.0)) *
           (1.0 + (kernel->block_scales ? gpu->gemm.block_cost_ratio : 0.0)) *
           (1.0 + (kernel->peak == PEAK_FP4 ? gpu->gemm.fp4_cost_ratio : 0.0));
}

static struct gemm_limits gemm_limits_of(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    double peak = gpu->peak_flops_per_s[kernel->peak];
    double sustained = peak * gpu_power_sustained_ratio(gpu);
    double byte_flops = gpu_power_byte_flops(gpu, kernel->peak);
    double usual = byte_flops * gpu_power_usual_traffic(gpu, kernel->element_bytes);
    double sms = (double)gpu->sm_count - kernel->taken_sms;
    CHECK(sms >= 1.0);
    return (struct gemm_limits){
        .sms = sms,
        .issue_flops_per_s = peak * gpu_power_issue_ratio(gpu) * sms / (double)gpu->sm_count,
        .sustained_flops_per_s = sustained / fmax(1.0 - usual, LEAST_ARITHMETIC_SHARE),
        .cost_ratio = gemm_cost_ratio(gpu, kernel),
        .byte_s = byte_flops / sustained,
        .stream_bytes_per_s = gpu_power_stream_bytes_per_s(gpu),
    };
}

/* One tile shape and one split of k, when faster than `best_s`. The ramp: filling and draining the
 * main loop of a tile costs as much as `gemm_k_half` steps of it. The reduction of a split k is a
 * kernel of its own (splitKreduce_kernel in any profile of cuBLAS). Waves take what their tiles
 * can issue, or what the cap sustains of tiles and traffic together. */
static double gemm_candidate_s(const struct gpu_spec *gpu, const struct kernel *kernel,
                               const struct gemm_limits *limits, struct tile tile, double split,
                               double best_s)
{
    double depth = ceil(kernel->k / split);
    double blocks = ceil(kernel->m / tile.m) * ceil(kernel->n / tile.n) * kernel->batch * split;
    double waves = ceil(blocks / limits->sms);
    double flops =
        2.0 * tile.m * tile.n * (depth + gpu->gemm.k_half) * limits->sms * limits->cost_ratio;
    double sustained_s = waves * flops / limits->sustained_flops_per_s;
    if (sustained_s >= best_s)
        return best_s;
    double operands = (tile.m + tile.n) * (depth + gpu->gemm.k_half) * kernel->element_bytes;
    double shared_s =
        gpu->gemm.operand_passes * operands / (SHARED_BYTES_PER_CLOCK * gpu->clock_hz);
    double traffic = gemm_traffic_bytes(gpu, kernel, tile, waves);
    bool reduced = split > 1.0;
    if (reduced) /* partial sums in fp32: written, and read again by the reduction */
        traffic += 2.0 * split * FP32_BYTES * kernel->m * kernel->n * kernel->batch;
    double issue_s = waves * fmax(flops / limits->issue_flops_per_s, shared_s);
    double compute_s = fmax(issue_s, sustained_s + traffic * limits->byte_s);
    double time_s = overlapped_s(compute_s, traffic / limits->stream_bytes_per_s);
    return fmin(best_s, time_s + (reduced ? gpu->kernel_start_s : 0.0));
}

static double gemm_time_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    struct gemm_limits limits = gemm_limits_of(gpu, kernel);
    double best_s = INFINITY;
    for (unsigned t = 0; t < sizeof tiles / sizeof tiles[0]; t++)
        for (unsigned s = 0; s < sizeof splits / sizeof splits[0]; s++)
            best_s = gemm_candidate_s(gpu, kernel, &limits, tiles[t], splits[s], best_s);
    return best_s;
}

static double attention_block_rows(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    return kernel->core.backward ? ATTENTION_BLOCK_ROWS : gpu->attention.rows;
}

/* Blocks of rows that a kernel of attention hands to the SMs. */
static double attention_blocks(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    double tokens = kernel->core.backward ? kernel->core.key_tokens : kernel->core.query_tokens;
    return kernel->batch * kernel->core.heads * ceil(tokens / attention_block_rows(gpu, kernel));
}

/* The last block of a causal kernel ends after the others, for a share of its own length: that
 * share, by kernel, forward and backward. By heads of 4,096 tokens, from 4 to 128 of them
 * (tests/validation/operators.csv: flash2 on A100 PCIe, cuDNN on B200); flash1 and flash3 as
 * flash2. */
static const double attention_tail_share[ATTENTION_KERNEL_COUNT][2] = {
    [ATTENTION_FLASH1] = {0.7, 0.22},
    [ATTENTION_FLASH2] = {0.7, 0.22},
    [ATTENTION_FLASH3] = {0.7, 0.22},
    [ATTENTION_CUDNN] = {0.55, 0.22},
};

/* Tail of a causal kernel over its mean time: the longest block is twice the mean one. */
static double attention_tail(const struct gpu_spec *gpu, const struct kernel *kernel, double blocks)
{
    double share = attention_tail_share[kernel->core.kind][kernel->core.backward];
    return 2.0 * share * (double)gpu->sm_count / blocks;
}

/* Time over that of the curve, which was measured on a full card: 16,384 tokens of width 2,048. A
 * kernel without a mask has equal blocks, and leaves SMs idle when there are few. */
static double attention_filling_ratio(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    double blocks = attention_blocks(gpu, kernel);
    if (!kernel->core.causal)
        return fmax(1.0, (double)gpu->sm_count / blocks);
    double of_curve =
        ATTENTION_CURVE_ELEMENTS / (attention_block_rows(gpu, kernel) * kernel->core.head_size);
    return (1.0 + attention_tail(gpu, kernel, blocks)) /
           (1.0 + attention_tail(gpu, kernel, of_curve));
}

/* Heads of queries wider than those of values (latent attention, 192 and 128) fill tiles and
 * registers badly: time of a FLOP over that of equal heads, straight in the ratio of the two. */
static double attention_mixed_ratio(const struct kernel *kernel)
{
    double excess = fmax(kernel->core.head_size / kernel->core.value_size - 1.0, 0.0);
    return 1.0 + (kernel->core.backward ? MIXED_HEADS_BACKWARD : MIXED_HEADS_FORWARD) * excess;
}

/* Time of a FLOP over that at the head size of the curves: what a score costs whatever the head
 * goes with 1/d, so both sides are straight in it, through the ratios at 64 and 256. */
static double attention_head_ratio(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    double size = fmax(kernel->core.head_size, ATTENTION_LEAST_HEAD);
    double padding = size / kernel->core.head_size;
    double steps = ATTENTION_CURVE_HEAD / size - 1.0; /* 1 at 64, -1/2 at 256 */
    if (steps > 0.0)
        return padding * (1.0 + (gpu->attention.small_head_ratio[kernel->core.kind] - 1.0) * steps);
    return 1.0 - 2.0 * (gpu->attention.large_head_ratio[kernel->core.kind] - 1.0) * steps;
}

/* Cycles of 8-bit operands over those of 16-bit ones, for which the curves are. Products take their
 * share of the peak; each score takes an exponential, 16 a clock on an SM (CUDA C++ Programming
 * Guide, arithmetic instructions: special functions), whatever the operands. Both run beside each
 * other as in the kernels of docs/models/kernel.md. Forward at head size 128 on H100 1.65 times as
 * fast; FlashAttention-3 reports 740 and 1,200 TFLOP/s (arXiv:2407.08608). */
static double attention_narrow_ratio(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    const double *peak = gpu->peak_flops_per_s;
    if (kernel->peak != PEAK_FP8 || peak[PEAK_FP8] <= peak[PEAK_BF16])
        return 1.0;
    const double scores = kernel->core.query_tokens * kernel->core.key_tokens *
                          (kernel->core.causal ? 0.5 : 1.0) * kernel->core.heads * kernel->batch;
    const double cycles_s = (double)gpu->sm_count * gpu->clock_hz;
    const double each = kernel->flops / scores * cycles_s;
    const double wide = each / peak[PEAK_BF16], narrow = each / peak[PEAK_FP8];
    const double exponential = 1.0 / EXPONENTIALS_PER_CLOCK;
    const double beside = exponential * exponential * exponential;
    return cbrt((narrow * narrow * narrow + beside) / (wide * wide * wide + beside));
}

static double attention_time_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    const struct attention_curve *curve =
        kernel->core.backward ? &gpu->attention.backward[kernel->core.kind][kernel->core.causal]
                              : &gpu->attention.forward[kernel->core.kind][kernel->core.causal];
    CHECK(curve->ceiling_flops_per_s > 0.0);
    double head = attention_head_ratio(gpu, kernel) * attention_mixed_ratio(kernel);
    double rate = curve->ceiling_flops_per_s / (1.0 + curve->half_length / kernel->core.key_tokens);
    const double sms = (double)gpu->sm_count;
    CHECK(kernel->taken_sms < sms);
    double curve_s = kernel->flops * head / rate * attention_narrow_ratio(gpu, kernel) *
                     attention_filling_ratio(gpu, kernel) * (sms / (sms - kernel->taken_sms));
    return fmax(gpu_power_attention_s(gpu, kernel, curve_s),
                kernel->bytes / gpu_power_stream_bytes_per_s(gpu));
}

/* Work of the SMs, the walk from chunk to chunk, or what passes through HBM. */
static double scan_time_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    const double all = (double)gpu->sm_count, left = all - kernel->taken_sms;
    CHECK(left >= 1.0 && kernel->scan.stream_ratio > 0.0);
    const double per_cycle =
        fmin(gpu->peak_flops_per_s[kernel->peak] / (all * gpu->clock_hz), SCAN_FLOPS_PER_CYCLE);
    const double cycles = kernel->scan.cycles + kernel->flops / (SCAN_PRODUCT_RATIO * per_cycle);
    const double busy_s = cycles / (left * gpu->clock_hz) + kernel->scan.walk_s;
    const double stream = gpu_power_stream_bytes_per_s(gpu) * kernel->scan.stream_ratio;
    return kernel->scan.time_ratio * fmax(busy_s, kernel->bytes / stream);
}

static double sparse_time_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    const double sms = (double)gpu->sm_count;
    CHECK(kernel->taken_sms < sms);
    const double rate = gpu->peak_flops_per_s[kernel->peak] * kernel->sparse.peak_ratio;
    const double busy_s = kernel->flops / rate * (sms / (sms - kernel->taken_sms));
    return kernel->sparse.time_ratio * fmax(gpu_power_attention_s(gpu, kernel, busy_s),
                                            kernel->bytes / gpu_power_stream_bytes_per_s(gpu));
}

/* FlashAttention is written for fp16 and bf16, its third release for fp8 as well (README.md of
 * Dao-AILab/flash-attention; arXiv:2407.08608 section 3.3), cuDNN's for fp16, bf16 and fp8
 * (documentation of NVIDIA/cudnn-frontend, scaled dot product attention). None takes fp32. */
bool gpu_attention_takes(enum attention_kernel which, enum peak_kind operands)
{
    if (which == ATTENTION_MATH || operands == PEAK_FP16 || operands == PEAK_BF16)
        return true;
    return operands == PEAK_FP8 && (which == ATTENTION_FLASH3 || which == ATTENTION_CUDNN);
}

bool gpu_has_attention(const struct gpu_spec *gpu, enum attention_kernel which,
                       enum peak_kind operands)
{
    if (which == ATTENTION_MATH)
        return true;
    if (!gpu_attention_takes(which, operands))
        return false;
    for (int causal = 0; causal < 2; causal++)
        if (gpu->attention.forward[which][causal].ceiling_flops_per_s <= 0.0 ||
            gpu->attention.backward[which][causal].ceiling_flops_per_s <= 0.0)
            return false;
    return true;
}

bool gpu_lacks_bf16(const struct gpu_spec *gpu)
{
    const double *peak = gpu->peak_flops_per_s;
    return peak[PEAK_FP16] > peak[PEAK_FP32] && peak[PEAK_BF16] <= peak[PEAK_FP32];
}

static double modelled_s(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    double time_s = 0.0;
    switch (kernel->kind) {
    case KERNEL_GEMM:
        time_s = gemm_time_s(gpu, kernel);
        break;
    case KERNEL_ATTENTION:
        time_s = attention_time_s(gpu, kernel);
        break;
    case KERNEL_MEMORY:
        time_s = kernel->bytes / gpu_power_stream_bytes_per_s(gpu);
        break;
    case KERNEL_SCAN:
        time_s = scan_time_s(gpu, kernel);
        break;
    case KERNEL_SPARSE:
        time_s = sparse_time_s(gpu, kernel);
        break;
    }
    return time_s + gpu->kernel_start_s * kernel->launches;
}

struct kernel_time gpu_kernel_time(const struct gpu_spec *gpu, const struct kernel_source *source,
                                   const struct kernel *kernel)
{
    struct kernel_time time = {0.0, KERNEL_MODELLED, 0};
    if (kernel->kind != KERNEL_MEMORY && kernel->flops <= 0.0)
        return time;
    if (source && source->lookup && source->lookup(source->profile, gpu, kernel, &time))
        return time;
    return (struct kernel_time){modelled_s(gpu, kernel), KERNEL_MODELLED, time.shape};
}

double gpu_kernel_time_s(const struct gpu_spec *gpu, const struct kernel_source *source,
                         const struct kernel *kernel)
{
    return gpu_kernel_time(gpu, source, kernel).s;
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
