/* cuda_kernels.h - the kernels of our own: random filling and the operators of a transformer that
 * stream. Each returns what its launch returned. */
#ifndef ORRERY_ANALYSIS_CALIBRATE_CUDA_CUDA_KERNELS_H
#define ORRERY_ANALYSIS_CALIBRATE_CUDA_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Random numbers, uniform in (-1, 1), over `bytes` of elements of `type`. */
cudaError_t cuda_kernels_fill(void *out, size_t bytes, const char *type, unsigned seed,
                              cudaStream_t stream);
cudaError_t cuda_kernels_empty(cudaStream_t stream);
/* An operator of point_operators (by its index) that moves `bytes` in all, within `at`. */
cudaError_t cuda_kernels_stream(int which, void *at, size_t bytes, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
