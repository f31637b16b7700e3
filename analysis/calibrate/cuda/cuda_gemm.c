/* cuda_gemm.c - products by cublasLt: one, a strided batch, or one for each expert on side streams.
 *
 * The layout is that of a linear layer's forward pass: inputs m x k and weights n x k, both along
 * k, result m x n; cublasLt counts along columns, so it is asked for the transpose (the one layout
 * that eight-bit products have). Sums in fp32; the algorithm is the first that the library's
 * heuristic offers, as frameworks take it. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calibrate/cuda/cuda_parts.h"

#ifdef ORRERY_CUBLASLT
#include <cublasLt.h>

#define WORKSPACE_BYTES ((size_t)32 << 20)
#define FP32_BYTES 4u
#define HALF_BYTES 2u

struct cuda_gemm_work {
    cublasLtMatmulDesc_t product;
    cublasLtMatrixLayout_t weights, inputs, result;
    cublasLtMatmulAlgo_t algorithm;
    size_t weight_bytes, input_bytes, result_bytes; /* of a product */
    unsigned experts;                               /* products of one launch, each by itself */
    void *workspaces[CUDA_SIDE_STREAMS];
    float beta;
};

static enum device_answer blas_answer(cublasStatus_t code, const char *call, struct error *error)
{
    if (code == CUBLAS_STATUS_SUCCESS)
        return DEVICE_DONE;
    error_set(error, "%.200s: %s", call, cublasLtGetStatusString(code));
    return code == CUBLAS_STATUS_NOT_SUPPORTED || code == CUBLAS_STATUS_ARCH_MISMATCH
               ? DEVICE_UNSUPPORTED
           : code == CUBLAS_STATUS_EXECUTION_FAILED ? DEVICE_LOST
                                                    : DEVICE_FAILED;
}
#define BLAS_TRY(call, error)                                                                      \
    do {                                                                                           \
        enum device_answer answer_ = blas_answer((call), #call, (error));                          \
        if (answer_ != DEVICE_DONE)                                                                \
            return answer_;                                                                        \
    } while (0)

void cuda_gemm_version(char *out, size_t room)
{
    size_t version = cublasLtGetVersion();
    snprintf(out, room, "cublasLt %zu", version);
}

void cuda_gemm_close(struct cuda_machine *m)
{
    if (m->blas != NULL)
        cublasLtDestroy((cublasLtHandle_t)m->blas);
    m->blas = NULL;
}

/* "-" adds the partial sums of 8-bit products inside the tensor cores, as forward passes do, and
 * "split-sums" in fp32 outside of them (models/profile/profile_time.c has the names). Other formats
 * have one way of adding. */
static bool is_known(const struct calibrate_point *p, int8_t *fast)
{
    const bool eight = strcmp(p->type, "fp8") == 0;
    *fast = eight && strcmp(p->name, "-") == 0;
    return strcmp(p->name, "-") == 0 || (eight && strcmp(p->name, "split-sums") == 0);
}

struct cuda_gemm_types {
    cudaDataType_t operand, result;
    cublasComputeType_t compute;
};

static bool types_of(const struct calibrate_point *p, struct cuda_gemm_types *out)
{
    static const struct {
        const char *name;
        struct cuda_gemm_types types;
    } known[] = {
        {"bf16", {CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F}},
        {"fp16", {CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F}},
        {"fp8", {CUDA_R_8F_E4M3, CUDA_R_16BF, CUBLAS_COMPUTE_32F}},
        {"tf32", {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32}},
        {"fp32", {CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F}},
    };
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, p->type) != 0)
            continue;
        *out = known[i].types;
        if (p->accumulate)
            out->result = CUDA_R_32F;
        return true;
    }
    return false;
}

static enum device_answer set_batch(cublasLtMatrixLayout_t layout, int count, int64_t stride,
                                    struct error *error)
{
    BLAS_TRY(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                              sizeof count),
             error);
    BLAS_TRY(cublasLtMatrixLayoutSetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                              &stride, sizeof stride),
             error);
    return DEVICE_DONE;
}

static enum device_answer make_layouts(struct cuda_gemm_work *w, const struct calibrate_point *p,
                                       const struct cuda_gemm_types *types, struct error *error)
{
    uint64_t m = (uint64_t)p->size[0], n = (uint64_t)p->size[1], k = (uint64_t)p->size[2];
    BLAS_TRY(cublasLtMatrixLayoutCreate(&w->weights, types->operand, k, n, (int64_t)k), error);
    BLAS_TRY(cublasLtMatrixLayoutCreate(&w->inputs, types->operand, k, m, (int64_t)k), error);
    BLAS_TRY(cublasLtMatrixLayoutCreate(&w->result, types->result, n, m, (int64_t)n), error);
    int batch = w->experts > 1 ? 1 : (int)p->size[3];
    if (batch <= 1)
        return DEVICE_DONE;
    enum device_answer answer = set_batch(w->weights, batch, (int64_t)(n * k), error);
    if (answer == DEVICE_DONE)
        answer = set_batch(w->inputs, batch, (int64_t)(m * k), error);
    if (answer == DEVICE_DONE)
        answer = set_batch(w->result, batch, (int64_t)(m * n), error);
    return answer;
}

static enum device_answer choose(struct cuda_machine *m, struct cuda_gemm_work *w,
                                 struct error *error)
{
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    size_t workspace = WORKSPACE_BYTES;
    int count = 0;
    BLAS_TRY(cublasLtMatmulPreferenceCreate(&preference), error);
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &workspace, sizeof workspace);
    cublasStatus_t code =
        cublasLtMatmulAlgoGetHeuristic((cublasLtHandle_t)m->blas, w->product, w->weights, w->inputs,
                                       w->result, w->result, preference, 1, &found, &count);
    cublasLtMatmulPreferenceDestroy(preference);
    BLAS_TRY(code, error);
    if (count == 0) {
        error_set(error, "cublasLt has no algorithm for it on this card");
        return DEVICE_UNSUPPORTED;
    }
    w->algorithm = found.algo;
    return DEVICE_DONE;
}

static enum device_answer multiply(struct cuda_machine *m, char *at, unsigned expert,
                                   cudaStream_t stream, unsigned side, struct error *error)
{
    struct cuda_gemm_work *w = m->work.own;
    const float alpha = 1.0f;
    unsigned products = w->experts > 1 ? w->experts : (unsigned)m->work.point.size[3];
    char *inputs = at + products * w->weight_bytes, *results = inputs + products * w->input_bytes;
    char *result = results + expert * w->result_bytes;
    BLAS_TRY(cublasLtMatmul((cublasLtHandle_t)m->blas, w->product, &alpha,
                            at + expert * w->weight_bytes, w->weights,
                            inputs + expert * w->input_bytes, w->inputs, &w->beta, result,
                            w->result, result, w->result, &w->algorithm, w->workspaces[side],
                            WORKSPACE_BYTES, stream),
             error);
    return DEVICE_DONE;
}

static enum device_answer launch_one(struct cuda_machine *m, unsigned turn, struct error *error)
{
    return multiply(m, m->work.operand[turn], 0, m->stream, 0, error);
}

/* The experts' products go round the side streams, which begin and end with the main one. */
static enum device_answer launch_experts(struct cuda_machine *m, unsigned turn, struct error *error)
{
    struct cuda_gemm_work *w = m->work.own;
    CUDA_TRY(cudaEventRecord(m->fork, m->stream), error);
    for (unsigned side = 0; side < CUDA_SIDE_STREAMS; side++)
        CUDA_TRY(cudaStreamWaitEvent(m->sides[side], m->fork, 0), error);
    for (unsigned expert = 0; expert < w->experts; expert++) {
        unsigned side = expert % CUDA_SIDE_STREAMS;
        enum device_answer answer =
            multiply(m, m->work.operand[turn], expert, m->sides[side], side, error);
        if (answer != DEVICE_DONE)
            return answer;
    }
    for (unsigned side = 0; side < CUDA_SIDE_STREAMS; side++) {
        CUDA_TRY(cudaEventRecord(m->join[side], m->sides[side]), error);
        CUDA_TRY(cudaStreamWaitEvent(m->stream, m->join[side], 0), error);
    }
    return DEVICE_DONE;
}

static void end_gemm(struct cuda_machine *m)
{
    struct cuda_gemm_work *w = m->work.own;
    if (w->result != NULL)
        cublasLtMatrixLayoutDestroy(w->result);
    if (w->inputs != NULL)
        cublasLtMatrixLayoutDestroy(w->inputs);
    if (w->weights != NULL)
        cublasLtMatrixLayoutDestroy(w->weights);
    if (w->product != NULL)
        cublasLtMatmulDescDestroy(w->product);
    free(w);
}

static enum device_answer take_memory(struct cuda_machine *m, struct cuda_gemm_work *w,
                                      struct error *error)
{
    const struct calibrate_point *p = &m->work.point;
    size_t element = (size_t)point_type_bytes(p->type);
    size_t kept = p->accumulate ? FP32_BYTES : element > HALF_BYTES ? element : HALF_BYTES;
    w->weight_bytes = (size_t)(p->size[1] * p->size[2]) * element;
    w->input_bytes = (size_t)(p->size[0] * p->size[2]) * element;
    w->result_bytes = (size_t)(p->size[0] * p->size[1]) * kept;
    unsigned sides = w->experts > 1 ? CUDA_SIDE_STREAMS : 1;
    for (unsigned i = 0; i < sides; i++) {
        w->workspaces[i] = cuda_take(m, WORKSPACE_BYTES);
        if (w->workspaces[i] == NULL) {
            error_set(error, "the card has no room for a workspace");
            return DEVICE_FAILED;
        }
    }
    return cuda_operands(m,
                         (w->weight_bytes + w->input_bytes + w->result_bytes) * (size_t)p->size[3],
                         p->type, error);
}

static enum device_answer describe_product(struct cuda_machine *m, struct cuda_gemm_work *w,
                                           struct error *error)
{
    const struct calibrate_point *p = &m->work.point;
    struct cuda_gemm_types types;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    int8_t fast;
    if (!is_known(p, &fast) || !types_of(p, &types)) {
        error_set(error, "no product '%s' in %s", p->name, p->type);
        return DEVICE_UNSUPPORTED;
    }
    if (m->blas == NULL)
        BLAS_TRY(cublasLtCreate((cublasLtHandle_t *)&m->blas), error);
    BLAS_TRY(cublasLtMatmulDescCreate(&w->product, types.compute, CUDA_R_32F), error);
    BLAS_TRY(cublasLtMatmulDescSetAttribute(w->product, CUBLASLT_MATMUL_DESC_TRANSA, &transposed,
                                            sizeof transposed),
             error);
    BLAS_TRY(cublasLtMatmulDescSetAttribute(w->product, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast,
                                            sizeof fast),
             error);
    enum device_answer answer = make_layouts(w, p, &types, error);
    return answer == DEVICE_DONE ? choose(m, w, error) : answer;
}

enum device_answer cuda_gemm(struct cuda_machine *m, struct error *error)
{
    const struct calibrate_point *p = &m->work.point;
    struct cuda_gemm_work *w = calloc(1, sizeof *w);
    if (w == NULL) {
        error_set(error, "the host has no memory left");
        return DEVICE_FAILED;
    }
    m->work.own = w;
    m->work.end = end_gemm;
    m->work.by_graph = true;
    w->experts = p->kind == POINT_GROUPED ? (unsigned)p->size[3] : 1;
    w->beta = p->accumulate ? 1.0f : 0.0f;
    enum device_answer answer = describe_product(m, w, error);
    if (answer == DEVICE_DONE)
        answer = take_memory(m, w, error);
    if (answer == DEVICE_DONE)
        m->work.launch = w->experts > 1 ? launch_experts : launch_one;
    return answer;
}

#else

void cuda_gemm_version(char *out, size_t room)
{
    snprintf(out, room, "no cublasLt");
}

void cuda_gemm_close(struct cuda_machine *m)
{
    (void)m;
}

enum device_answer cuda_gemm(struct cuda_machine *m, struct error *error)
{
    (void)m;
    error_set(error, "this program was built without cublasLt");
    return DEVICE_UNSUPPORTED;
}

#endif
