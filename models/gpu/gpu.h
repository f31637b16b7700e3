/* gpu.h - a GPU, and how long a kernel runs on it.
 *
 * gpu_kernel_time_s is max(compute, memory) plus a small start latency: compute = FLOPs / (peak x
 * efficiency(shape)), memory = bytes / (HBM rate x efficiency). Efficiency comes from a measured
 * profile when one is given, else from the structural model of docs/models/kernel.md (tiles and
 * waves over the SMs, k-loop ramp, L2 re-use, sustained clock under the power cap; attention
 * R/(1 + s0/s) by kernel, and the tail of unequal blocks). It promises determinism and SI; it knows
 * no layout and no clock. */
#ifndef ORRERY_MODELS_GPU_GPU_H
#define ORRERY_MODELS_GPU_GPU_H

#include "models/gpu/gpu_spec.h"
#include "sim/param.h"

extern const struct param gpu_params[];
extern const unsigned gpu_param_count;

struct gemm_shape {
    double m, n, k, batch;
};
struct attention_shape {
    enum attention_kernel kernel;
    bool causal, backward;
    double batch; /* sequences */
    double query_tokens, key_tokens, heads, kv_heads, head_size;
    double value_size; /* of the values' heads; 0: head_size */
};
struct scan_shape {
    double flops, bytes;                 /* of the chunks as they are computed; moved at least */
    double cycles, walk_s, stream_ratio; /* struct kernel_scan */
};
struct sparse_shape {
    double flops, bytes; /* of the keys that are met; moved at least */
    double heads;        /* of queries that share their keys, on this rank */
    bool backward;
    double time_ratio; /* struct kernel_sparse */
};
/* Makers: fill flops, bytes (each operand once) and launches = 1. */
struct kernel gpu_kernel_gemm(const char *name, enum peak_kind peak, struct gemm_shape shape,
                              double element_bytes);
/* The product adds into a result of `kept_bytes` an element: reads and writes it. */
void gpu_kernel_gemm_accumulate(struct kernel *kernel, double kept_bytes);
struct kernel gpu_kernel_attention(const char *name, enum peak_kind peak,
                                   const struct attention_shape *shape, double element_bytes);
/* A recurrence by chunks, of 16-bit operands: docs/models/layers.md. */
struct kernel gpu_kernel_scan(const char *name, const struct scan_shape *shape);
/* Attention to rows of a latent that were chosen for each query: docs/models/sparse.md. */
struct kernel gpu_kernel_sparse(const char *name, enum peak_kind peak,
                                const struct sparse_shape *shape);
struct kernel gpu_kernel_memory(const char *name, double bytes, double launches);

/* How much longer the slowest of `count` cards takes than the mean one, in the mean: ranks that
 * meet in every step go at its pace. 0 for one card. */
double gpu_slowest_excess_ratio(const struct gpu_spec *gpu, uint64_t count);
/* Is this kernel written for operands of that format? Unfused attention is of any products. */
bool gpu_attention_takes(enum attention_kernel which, enum peak_kind operands);
/* Can the card run this kernel on such operands: has it curves, and the kernel the format? (Unfused
 * attention needs no curve.) */
bool gpu_has_attention(const struct gpu_spec *gpu, enum attention_kernel which,
                       enum peak_kind operands);
/* Matrix units for fp16 and none for bf16, as cards before Ampere. */
bool gpu_lacks_bf16(const struct gpu_spec *gpu);

/* What the time of a kernel rests on, the surest last. */
enum kernel_evidence {
    KERNEL_MODELLED,     /* the structural model */
    KERNEL_EXTRAPOLATED, /* a profile, from outside of what it measured or from a like kernel */
    KERNEL_INTERPOLATED, /* a profile, between shapes that it measured */
    KERNEL_MEASURED,     /* a profile: this very shape */
    KERNEL_EVIDENCE_COUNT
};
extern const char *const kernel_evidence_names[KERNEL_EVIDENCE_COUNT];
struct kernel_time {
    double s;
    enum kernel_evidence evidence;
    uint32_t shape; /* by which a source that asks for shapes knows it again; 0: none */
};
/* The door of calibration: measured times, asked before the structural model. */
struct kernel_profile;
typedef bool kernel_lookup_fn(const struct kernel_profile *profile, const struct gpu_spec *gpu,
                              const struct kernel *kernel, struct kernel_time *out);
struct kernel_source {
    kernel_lookup_fn *lookup; /* NULL: structural model only */
    const struct kernel_profile *profile;
    const char *name; /* of the profile, for reports */
};
struct kernel_time gpu_kernel_time(const struct gpu_spec *gpu, const struct kernel_source *source,
                                   const struct kernel *kernel);
/* The seconds of it alone; `source` NULL: the structural model. */
double gpu_kernel_time_s(const struct gpu_spec *gpu, const struct kernel_source *source,
                         const struct kernel *kernel);
/* The same FLOPs at the dense peak: "useful compute at peak" of the waterfall. */
double gpu_kernel_peak_time_s(const struct gpu_spec *gpu, const struct kernel *kernel);

#endif
