/* gpu.h - a GPU, and how long a kernel runs on it.
 *
 * gpu_kernel_time_s is max(compute, memory) plus a small start latency: compute = FLOPs / (peak x
 * efficiency(shape)), memory = bytes / (HBM rate x efficiency). Efficiency comes from a measured
 * profile when one is given, else from the structural model of docs/models/kernel.md (tiles and
 * waves over the SMs, k-loop ramp, L2 re-use, sustained clock under the power cap; attention
 * R/(1 + s0/s) by kernel). It promises determinism and SI; it knows no layout and no clock. */
#ifndef ORRERY_MODELS_GPU_GPU_H
#define ORRERY_MODELS_GPU_GPU_H

#include <stdint.h>

#include "models/gpu/precision.h"
#include "sim/param.h"

enum attention_kernel {
    ATTENTION_MATH,   /* unfused: products and softmax apart */
    ATTENTION_FLASH1, /* arXiv:2205.14135 */
    ATTENTION_FLASH2, /* arXiv:2307.08691 */
    ATTENTION_FLASH3, /* arXiv:2407.08608 */
    ATTENTION_CUDNN,  /* cuDNN 9 */
    ATTENTION_KERNEL_COUNT
};
extern const char *const attention_kernel_names[]; /* NULL-ended, in that order, lower case */

/* rate(s) = ceiling / (1 + half_length / s), s the keys that a query sees at most. */
struct attention_curve {
    double ceiling_flops_per_s; /* of the FLOPs really done */
    double half_length;         /* tokens */
};

/* One GPU, as catalogue/gpus.yaml gives it; every figure has its source there. */
struct gpu_spec {
    const char *name;
    double peak_flops_per_s[PEAK_COUNT]; /* dense; 0: not supported */
    double hbm_bytes;                    /* as the driver reports it */
    double usable_hbm_bytes;             /* what a process can allocate on a clean card */
    double context_bytes;                /* CUDA context and kernels' own reservation */
    double hbm_bytes_per_s;              /* data sheet */
    double hbm_efficiency_ratio;         /* that a streaming kernel reaches */
    double l2_bytes;
    uint64_t sm_count;
    double clock_hz; /* boost clock that the peaks are quoted at */
    double power_w;  /* cap */
    double idle_power_w;
    double gemm_efficiency_ratio; /* of the peak, large aligned GEMM, sustained clock */
    double gemm_burst_ratio; /* the same before the power cap lowers the clock; 0: as sustained */
    double gemm_operand_passes; /* through shared memory, of an operand element of a tile */
    double gemm_k_half;         /* k at which the k-loop ramp costs half */
    double kernel_start_s;      /* start, first loads and tail of a kernel on the GPU */
    double speed_spread_ratio;  /* standard deviation of the speed of equal cards */
    struct attention_curve attention_forward[ATTENTION_KERNEL_COUNT][2]; /* [kernel][causal] */
    struct attention_curve attention_backward[ATTENTION_KERNEL_COUNT][2];
    /* Time for the same FLOPs over that at head size 128, where the curves are given. At 64
     * exponentials and maxima weigh more; at 256 registers force smaller blocks. */
    double attention_small_head_ratio[ATTENTION_KERNEL_COUNT]; /* at 64 */
    double attention_large_head_ratio[ATTENTION_KERNEL_COUNT]; /* at 256 */
    double price_per_hour_usd;
    const char *socket; /* "sxm5", "pcie": what boards it fits; "": not said */
    const char *node;   /* of the catalogue, that it usually comes in; "": none */
};
extern const struct param gpu_params[];
extern const unsigned gpu_param_count;

enum kernel_kind {
    KERNEL_GEMM,
    KERNEL_ATTENTION,
    KERNEL_MEMORY
};
struct kernel {
    enum kernel_kind kind;
    const char *name;      /* "qkv", "rmsnorm"; a literal */
    enum peak_kind peak;   /* of a GEMM or attention */
    double m, n, k, batch; /* GEMM: batch products of m x k by k x n */
    enum attention_kernel attention;
    bool causal, backward;                                       /* attention */
    double query_tokens, key_tokens, heads, kv_heads, head_size; /* attention; batch sequences */
    double element_bytes;                                        /* of an operand */
    double flops;    /* done by the hardware; filled by the kernel_* makers */
    double bytes;    /* moved through HBM at least; filled by the makers */
    double launches; /* host launches it costs */
};

struct gemm_shape {
    double m, n, k, batch;
};
struct attention_shape {
    enum attention_kernel kernel;
    bool causal, backward;
    double batch; /* sequences */
    double query_tokens, key_tokens, heads, kv_heads, head_size;
};
/* Makers: fill flops, bytes (each operand once) and launches = 1. */
struct kernel gpu_kernel_gemm(const char *name, enum peak_kind peak, struct gemm_shape shape,
                              double element_bytes);
struct kernel gpu_kernel_attention(const char *name, enum peak_kind peak,
                                   const struct attention_shape *shape, double element_bytes);
struct kernel gpu_kernel_memory(const char *name, double bytes, double launches);

/* How much longer the slowest of `count` cards takes than the mean one, in the mean: ranks that
 * meet in every step go at its pace. 0 for one card. */
double gpu_slowest_excess_ratio(const struct gpu_spec *gpu, uint64_t count);
/* Has the card curves for this kernel? (Unfused attention needs none.) */
bool gpu_has_attention(const struct gpu_spec *gpu, enum attention_kernel which);

/* The door of calibration: measured times, asked before the structural model. */
struct kernel_profile;
typedef bool kernel_lookup_fn(const struct kernel_profile *profile, const struct kernel *kernel,
                              double *time_s);
struct kernel_source {
    kernel_lookup_fn *lookup; /* NULL: structural model only */
    const struct kernel_profile *profile;
};
double gpu_kernel_time_s(const struct gpu_spec *gpu, const struct kernel_source *source,
                         const struct kernel *kernel);
/* The same FLOPs at the dense peak: "useful compute at peak" of the waterfall. */
double gpu_kernel_peak_time_s(const struct gpu_spec *gpu, const struct kernel *kernel);

#endif
