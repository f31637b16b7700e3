/* cuda_operands.c - what the families of points share: the answer that a call's code stands for,
 * operands in the pool, a round of launches as a graph. */
#include "analysis/calibrate/cuda/cuda_kernels.h"
#include "analysis/calibrate/cuda/cuda_parts.h"

enum device_answer cuda_answer(cudaError_t code, const char *call, struct error *error)
{
    if (code == cudaSuccess)
        return DEVICE_DONE;
    error_set(error, "%.200s: %s (%s)", call, cudaGetErrorString(code), cudaGetErrorName(code));
    switch ((int)code) { /* of CUDA: a hundred more end the context */
    case cudaErrorMemoryAllocation:
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorNotSupported:
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
        cudaGetLastError(); /* these leave the context as it was */
        return DEVICE_FAILED;
    default:
        return DEVICE_LOST;
    }
}

void *cuda_take(struct cuda_machine *m, size_t bytes)
{
    size_t taken = (bytes + CUDA_ALIGNMENT - 1) / CUDA_ALIGNMENT * CUDA_ALIGNMENT;
    if (taken < bytes || taken > m->pool_bytes - m->used_bytes)
        return NULL;
    char *at = m->pool + m->used_bytes;
    m->used_bytes += taken;
    return at;
}

enum device_answer cuda_operands(struct cuda_machine *m, size_t bytes, const char *type,
                                 struct error *error)
{
    struct cuda_work *work = &m->work;
    size_t wanted = bytes > 0 ? 2 * m->l2_bytes / bytes + 1 : 1;
    if (wanted > CUDA_COPIES_MAX)
        wanted = CUDA_COPIES_MAX;
    while (work->copies < wanted) {
        char *at = cuda_take(m, bytes);
        if (at == NULL)
            break;
        CUDA_TRY(cuda_kernels_fill(at, bytes, type, work->copies, m->stream), error);
        work->operand[work->copies++] = at;
    }
    if (work->copies > 0)
        return DEVICE_DONE;
    error_set(error, "its operands take %.3g bytes; the card has %.3g free", (double)bytes,
              (double)m->pool_bytes);
    return DEVICE_UNSUPPORTED;
}

enum device_answer cuda_capture(struct cuda_machine *m, unsigned count, cudaGraphExec_t *out,
                                struct error *error)
{
    cudaGraph_t graph = NULL;
    enum device_answer answer = DEVICE_DONE;
    CUDA_TRY(cudaStreamBeginCapture(m->stream, cudaStreamCaptureModeThreadLocal), error);
    for (unsigned i = 0; i < count && answer == DEVICE_DONE; i++)
        answer = m->work.launch(m, i % m->work.copies, error);
    cudaError_t ended = cudaStreamEndCapture(m->stream, &graph);
    if (answer != DEVICE_DONE)
        return answer;
    CUDA_TRY(ended, error);
    cudaError_t made = cudaGraphInstantiate(out, graph, 0);
    cudaGraphDestroy(graph);
    CUDA_TRY(made, error);
    return DEVICE_DONE;
}
