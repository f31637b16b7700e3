/* gpu_spec.h - a GPU as the catalogue gives it, and a kernel that runs on it: plain data in SI.
 *
 * Figures stand in scenarios/catalogue/gpus.yaml with their sources, names and ranges in
 * gpu_params.c; kernels are made by the makers of gpu.h. */
#ifndef ORRERY_MODELS_GPU_GPU_SPEC_H
#define ORRERY_MODELS_GPU_GPU_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "models/gpu/precision.h"

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
struct gpu_hbm {
    double bytes;            /* as the driver reports it */
    double nominal_bytes;    /* data sheet; 0: bytes */
    double usable_bytes;     /* what a process can allocate on a clean card */
    double context_bytes;    /* CUDA context and kernels' own reservation */
    double bytes_per_s;      /* data sheet */
    double efficiency_ratio; /* that a streaming kernel reaches */
};
struct gpu_power {
    double cap_w; /* cap */
    double tdp_w; /* the cap at which the sustained rates hold; 0: power_w */
    double idle_w;
    double static_ratio;        /* of tdp_w: idle, leakage and clocks of a running card */
    double memory_ratio;        /* of tdp_w: HBM at its full bandwidth */
    double voltage_floor_ratio; /* share of the boost clock below which the voltage stays */
    double window_s;            /* that the card exceeds its cap before the clock falls */
};
struct gpu_gemm {
    double efficiency_ratio; /* of the peak, large aligned GEMM, sustained clock */
    double burst_ratio;      /* the same before the power cap lowers the clock; 0: as sustained */
    double operand_passes;   /* through shared memory, of an operand element of a tile */
    double k_half;           /* k at which the k-loop ramp costs half */
    double split_cost_ratio; /* more time of 8-bit products that sum up in fp32 by parts */
    double block_cost_ratio; /* more time of 8-bit products whose scales go by block */
    double fp4_cost_ratio;   /* more time of 4-bit products than peak and clock say */
    bool block_scaling;      /* products take a scale for each block of 32 */
    bool transposed_copies;  /* 8-bit operands lie along k: what is used both ways is copied */
    bool persistent;         /* a product is one block on each SM, until all its tiles are done */
};
struct gpu_attention {
    struct attention_curve forward[ATTENTION_KERNEL_COUNT][2]; /* [kernel][causal] */
    struct attention_curve backward[ATTENTION_KERNEL_COUNT][2];
    /* Time for the same FLOPs over that at head size 128, where the curves are given. At 64
     * exponentials and maxima weigh more; at 256 registers force smaller blocks. */
    double small_head_ratio[ATTENTION_KERNEL_COUNT]; /* at 64 */
    double large_head_ratio[ATTENTION_KERNEL_COUNT]; /* at 256 */
    double rows; /* of queries, that a block of a forward kernel takes */
};
struct gpu_spec {
    const char *name;
    double peak_flops_per_s[PEAK_COUNT]; /* dense; 0: not supported */
    double l2_bytes;
    uint64_t sm_count;
    uint64_t release;               /* year in which the card came out; 0: not said */
    const char *maker, *generation; /* "NVIDIA", "Hopper": of its chip; "": not said */
    double clock_hz;                /* boost clock that the peaks are quoted at */
    double kernel_start_s;          /* start, first loads and tail of a kernel on the GPU */
    double speed_spread_ratio;      /* standard deviation of the speed of equal cards */
    double price_per_hour_usd;
    double announced_error_ratio; /* of every prediction on it; 0: it is sold */
    const char *socket;           /* "sxm5", "pcie": what boards it fits; "": not said */
    const char *node;             /* of the catalogue, that it usually comes in; "": none */
    struct gpu_hbm hbm;
    struct gpu_power power;
    struct gpu_gemm gemm;
    struct gpu_attention attention;
};

enum kernel_kind {
    KERNEL_GEMM,
    KERNEL_ATTENTION,
    KERNEL_MEMORY,
    KERNEL_SCAN,  /* a recurrence by chunks */
    KERNEL_SPARSE /* attention to chosen rows of a latent */
};
struct kernel_core {
    enum attention_kernel kind;
    bool causal, backward;                                       /* attention */
    double query_tokens, key_tokens, heads, kv_heads, head_size; /* attention; batch sequences */
    double value_size;                                           /* attention: of a value's head */
};
/* A recurrence: what its time has beside its products. */
struct kernel_scan {
    double cycles;       /* of SMs, however many there are: exponentials, sums, copies */
    double walk_s;       /* of one chunk after another, which no card shortens */
    double stream_ratio; /* share of the streaming rate at which its bytes pass */
    double time_ratio;   /* of its software over the published kernels: of all of its time */
};
struct kernel_sparse {
    double peak_ratio; /* share of the peak that its products reach, with what fills their tiles */
    double time_ratio; /* of its software over the published kernels */
};
struct kernel {
    enum kernel_kind kind;
    const char *name;      /* "qkv", "rmsnorm"; a literal */
    enum peak_kind peak;   /* of whatever is no stream */
    double m, n, k, batch; /* GEMM: batch products of m x k by k x n */
    double element_bytes;  /* of an operand */
    double result_bytes;   /* GEMM: moved for an element of the result */
    bool split_sums;       /* GEMM, 8-bit: sums are promoted to fp32 on the way */
    bool block_scales;     /* GEMM, 8-bit: scales go by block */
    double taken_sms;      /* of whatever is no stream: SMs that what runs beside it holds */
    double flops;          /* done by the hardware; filled by the kernel_* makers */
    double bytes;          /* moved through HBM at least; filled by the makers */
    double launches;       /* host launches it costs */
    struct kernel_core core;
    struct kernel_scan scan;
    struct kernel_sparse sparse;
};

#endif
