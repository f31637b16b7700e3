/* span.h - a stretch of work of one GPU, measured or simulated, and what kind of work it is.
 *
 * Kernels of other programs are told apart by their names, as far as the libraries in use name them
 * (cuBLAS, CUTLASS, cuDNN, DeepGEMM, Tensile and hipBLASLt, Composable Kernel, AITER, AOTriton,
 * FlashAttention, Transformer Engine, apex, PyTorch, Triton and Inductor, NCCL and RCCL, DeepEP):
 * tests/scenarios/import/kernel_names.txt has names of public traces, and what they must be told
 * for. Plain data; it knows no file and no model. */
#ifndef ORRERY_SCENARIOS_IMPORT_TRACE_SPAN_H
#define ORRERY_SCENARIOS_IMPORT_TRACE_SPAN_H

#include <stdbool.h>
#include <stdint.h>

enum span_kind {
    SPAN_GEMM,
    SPAN_ATTENTION,   /* fused */
    SPAN_NORM,        /* of layers */
    SPAN_ELEMENTWISE, /* whatever else streams: activations, additions, softmax, casts, copies */
    SPAN_OPTIMIZER,   /* and the norm of the gradients */
    SPAN_COPY,        /* memcpy, memset */
    SPAN_OTHER,       /* a kernel whose name says nothing */
    SPAN_ALL_REDUCE,
    SPAN_ALL_GATHER,
    SPAN_REDUCE_SCATTER,
    SPAN_BROADCAST,
    SPAN_ALL_TO_ALL,
    SPAN_SEND_RECV,
    SPAN_COMMUNICATION, /* of no known operation */
    SPAN_KIND_COUNT
};
/* Of the forward or of the backward pass, or not told. */
enum span_direction {
    SPAN_EITHER,
    SPAN_FORWARD,
    SPAN_BACKWARD
};
/* What a kernel does for the experts, where kinds alone would pair it with other work; or not told.
 * Rows are dispatched to the ranks of their experts and combined from there, each in both passes:
 * the gradients of what is combined are dispatched. */
enum span_role {
    SPAN_ANY,
    SPAN_GROUPED, /* products of all experts of a rank at once */
    SPAN_DENSE,   /* one product */
    SPAN_DISPATCH,
    SPAN_COMBINE
};
#define SPAN_UNTOLD UINT16_MAX
struct trace_span {
    enum span_kind kind;
    enum span_role role;
    enum span_direction does;   /* compute: what it is of, values or gradients */
    enum span_direction during; /* compute, all-to-all: the half of the step that runs it;
                                 * recomputation is forward work during the backward half */
    const char *name;           /* of the kernel */
    const char *stream;         /* its number, or its name */
    const char *phase;          /* simulated: of the step; measured: "" */
    uint16_t microbatch, layer; /* simulated; SPAN_UNTOLD: none */
    double begin_s, finish_s;   /* since the first span of the step */
    double busy_s;              /* of its kernels; communication: waiting for others too */
    double amount; /* FLOPs of products and attention, bytes of collectives; 0: not told */
};
extern const char *const span_kind_names[SPAN_KIND_COUNT];
static inline bool span_communicates(enum span_kind kind)
{
    return kind >= SPAN_ALL_REDUCE;
}
enum {
    SPAN_NAMES_KEPT = 1024 /* a step has some hundred names, and each of them a thousand times */
};
/* What a name tells; NULL: not asked yet. */
struct span_told {
    const char *name;
    enum span_kind kind;
    enum span_direction does;
    enum span_role role;
};
/* Begins as {0}; names are borrowed. */
struct span_names {
    struct span_told told[SPAN_NAMES_KEPT];
};
/* The three below at once, remembered: valid until the next call. */
const struct span_told *span_told(struct span_names *names, const char *name);
/* Of a kernel by its name. */
enum span_kind span_kind_of_kernel(const char *name);
enum span_direction span_direction_of_kernel(const char *name);
enum span_role span_role_of_kernel(const char *name); /* SPAN_DENSE: no name tells it */
/* Of a kernel of this program's own, which is simulated, by its name and its FLOPs. */
enum span_kind span_kind_of_simulated(const char *name, double flops);
/* Of a collective by its operation ("all_reduce", "send"). */
enum span_kind span_kind_of_operation(const char *operation);

#endif
