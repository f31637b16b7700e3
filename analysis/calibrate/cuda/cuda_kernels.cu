// Streaming operators as a transformer has them, plainly written: what counts is the traffic. Rows
// of norms, softmax and cross-entropy have 8,192 elements. Data is bf16, 8 elements a load; adam
// works on fp32. Each moves the bytes it is asked for, reads and writes together.
#include "analysis/calibrate/cuda/cuda_kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <stdint.h>
#include <string.h>

namespace {

constexpr int THREADS = 256;
constexpr int ROW = 8192;
constexpr int EACH = 8; // elements of a load of 16 bytes

struct alignas(16) Eight {
    __nv_bfloat162 pair[EACH / 2];
};

__device__ float uniform_value(uint64_t index)
{
    uint64_t z = index * 0x9E3779B97F4A7C15ull;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return (static_cast<float>(z >> 40) + 0.5f) * 0x1p-24f; // above 0, below 1
}

// Normal with deviation 1 (Box and Muller, 1958), as weights and activations are: how many bits turn
// over from one operand to the next decides the power of a product, and with it the clock.
__device__ float random_value(uint64_t index, unsigned seed)
{
    const float first = uniform_value(2 * (index + seed)), second = uniform_value(2 * (index + seed) + 1);
    return sqrtf(-2.0f * __logf(first)) * __cosf(6.2831853f * second);
}

template <typename T> __global__ void fill(T *out, size_t count, unsigned seed)
{
    size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count; i += stride)
        out[i] = T(random_value(i, seed));
}

__global__ void empty() {}

__device__ float2 get(const Eight &v, int i)
{
    return __bfloat1622float2(v.pair[i]);
}

// out = f(a, b) element by element; the operators differ in what they read and compute.
enum Pointwise { COPY, ADD, ACTIVATION, ACTIVATION_GRADIENT, ROPE };

template <Pointwise WHICH> __device__ float2 apply(float2 a, float2 b)
{
    if (WHICH == ADD)
        return make_float2(a.x + b.x, a.y + b.y);
    if (WHICH == ACTIVATION) // gated: silu(a) * b
        return make_float2(a.x / (1.0f + __expf(-a.x)) * b.x, a.y / (1.0f + __expf(-a.y)) * b.y);
    if (WHICH == ACTIVATION_GRADIENT) {
        float sx = 1.0f / (1.0f + __expf(-a.x)), sy = 1.0f / (1.0f + __expf(-a.y));
        return make_float2(b.x * sx * (1.0f + a.x * (1.0f - sx)),
                           b.y * sy * (1.0f + a.y * (1.0f - sy)));
    }
    if (WHICH == ROPE) { // a pair turned by an angle
        float sine, cosine;
        __sincosf(b.x, &sine, &cosine);
        return make_float2(a.x * cosine - a.y * sine, a.x * sine + a.y * cosine);
    }
    return a;
}

template <Pointwise WHICH, bool SECOND>
__global__ void pointwise(const Eight *a, const Eight *b, Eight *out, size_t count)
{
    size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count; i += stride) {
        Eight x = a[i], y = SECOND ? b[i] : a[i], z;
        for (int k = 0; k < EACH / 2; k++)
            z.pair[k] = __float22bfloat162_rn(apply<WHICH>(get(x, k), get(y, k)));
        out[i] = z;
    }
}

__device__ float block_sum(float value, bool largest)
{
    __shared__ float parts[THREADS / 32];
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(0xffffffffu, value, step);
        value = largest ? fmaxf(value, other) : value + other;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
    for (int i = 1; i < THREADS / 32; i++)
        value = largest ? fmaxf(value, parts[i]) : value + parts[i];
    return value;
}

// One row a block, kept in registers between the two passes.
enum Rowwise { NORM, NORM_GRADIENT, SOFTMAX, CROSS_ENTROPY };

template <Rowwise WHICH>
__global__ void rowwise(const Eight *a, const Eight *b, Eight *out, float *loss)
{
    constexpr int LOADS = ROW / EACH / THREADS;
    const size_t base = static_cast<size_t>(blockIdx.x) * (ROW / EACH);
    Eight x[LOADS], y[LOADS];
    float sum = 0.0f, most = -1e30f;
    for (int i = 0; i < LOADS; i++) {
        x[i] = a[base + i * THREADS + threadIdx.x];
        y[i] = WHICH == NORM_GRADIENT ? b[base + i * THREADS + threadIdx.x] : x[i];
        for (int k = 0; k < EACH / 2; k++) {
            float2 v = get(x[i], k), w = get(y[i], k);
            sum += v.x * w.x + v.y * w.y;
            most = fmaxf(most, fmaxf(v.x, v.y));
        }
    }
    if (WHICH == SOFTMAX || WHICH == CROSS_ENTROPY) {
        most = block_sum(most, true);
        sum = 0.0f;
        for (int i = 0; i < LOADS; i++)
            for (int k = 0; k < EACH / 2; k++)
                sum += __expf(get(x[i], k).x - most) + __expf(get(x[i], k).y - most);
    }
    sum = block_sum(sum, false);
    if (WHICH == CROSS_ENTROPY) {
        if (threadIdx.x == 0)
            loss[blockIdx.x] = most + __logf(sum);
        return;
    }
    float scale = WHICH == SOFTMAX ? 1.0f / sum : rsqrtf(fabsf(sum) / ROW + 1e-5f);
    for (int i = 0; i < LOADS; i++) {
        Eight z;
        for (int k = 0; k < EACH / 2; k++) {
            float2 v = get(x[i], k), w = get(y[i], k);
            if (WHICH == SOFTMAX)
                v = make_float2(__expf(v.x - most) * scale, __expf(v.y - most) * scale);
            else if (WHICH == NORM_GRADIENT)
                v = make_float2((w.x - v.x * scale) * scale, (w.y - v.y * scale) * scale);
            else
                v = make_float2(v.x * scale, v.y * scale);
            z.pair[k] = __float22bfloat162_rn(v);
        }
        out[base + i * THREADS + threadIdx.x] = z;
    }
}

// Rows of a table, drawn by a hash. All loads of a row are under way before the first store.
__global__ void embedding(const Eight *table, Eight *out, unsigned rows)
{
    constexpr int LOADS = ROW / EACH / THREADS;
    const size_t from = static_cast<size_t>(blockIdx.x * 2654435761u % rows) * (ROW / EACH);
    const size_t to = static_cast<size_t>(blockIdx.x) * (ROW / EACH);
    Eight x[LOADS];
    for (int i = 0; i < LOADS; i++)
        x[i] = table[from + i * THREADS + threadIdx.x];
    for (int i = 0; i < LOADS; i++)
        out[to + i * THREADS + threadIdx.x] = x[i];
}

// Reads gradient, master, both moments in fp32; writes master and moments, and the bf16 weight.
__global__ void adam(const float4 *g, float4 *w, float4 *m, float4 *v, uint2 *out, size_t count)
{
    size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count; i += stride) {
        float4 gradient = g[i], weight = w[i], first = m[i], second = v[i];
        const float *gs = &gradient.x;
        float *ws = &weight.x, *ms = &first.x, *vs = &second.x;
        for (int k = 0; k < 4; k++) {
            ms[k] = 0.9f * ms[k] + 0.1f * gs[k];
            vs[k] = 0.95f * fabsf(vs[k]) + 0.05f * gs[k] * gs[k];
            ws[k] -= 1e-4f * ms[k] * rsqrtf(vs[k] + 1e-8f);
        }
        w[i] = weight;
        m[i] = first;
        v[i] = second;
        __nv_bfloat162 low = __floats2bfloat162_rn(weight.x, weight.y);
        __nv_bfloat162 high = __floats2bfloat162_rn(weight.z, weight.w);
        uint2 packed;
        memcpy(&packed.x, &low, sizeof low);
        memcpy(&packed.y, &high, sizeof high);
        out[i] = packed;
    }
}

// bf16 to e4m3: three bytes an element.
__global__ void cast(const Eight *a, uint2 *out, size_t count)
{
    size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count; i += stride) {
        Eight x = a[i];
        __nv_fp8x4_e4m3 low(__nv_bfloat162(x.pair[0]), __nv_bfloat162(x.pair[1]));
        __nv_fp8x4_e4m3 high(__nv_bfloat162(x.pair[2]), __nv_bfloat162(x.pair[3]));
        uint2 packed;
        packed.x = low.__x;
        packed.y = high.__x;
        out[i] = packed;
    }
}

unsigned blocks_for(size_t items)
{
    size_t blocks = (items + THREADS - 1) / THREADS;
    return static_cast<unsigned>(blocks < 16384 ? (blocks ? blocks : 1) : 16384);
}

template <Pointwise WHICH, bool SECOND> void run_pointwise(Eight *at, size_t bytes, cudaStream_t s)
{
    size_t count = bytes / (SECOND ? 3 : 2) / sizeof(Eight);
    pointwise<WHICH, SECOND><<<blocks_for(count), THREADS, 0, s>>>(at, at + count, at + (SECOND ? 2 : 1) * count, count);
}

template <Rowwise WHICH> void run_rowwise(Eight *at, size_t bytes, cudaStream_t s)
{
    constexpr int TENSORS = WHICH == NORM_GRADIENT ? 3 : WHICH == CROSS_ENTROPY ? 1 : 2;
    size_t rows = bytes / TENSORS / (ROW * sizeof(__nv_bfloat16));
    if (rows == 0)
        rows = 1;
    size_t each = rows * (ROW / EACH);
    rowwise<WHICH><<<static_cast<unsigned>(rows), THREADS, 0, s>>>(
        at, at + each, at + (TENSORS - 1) * each, reinterpret_cast<float *>(at + TENSORS * each));
}

void run_adam(char *at, size_t bytes, cudaStream_t s)
{
    size_t count = bytes / (7 * sizeof(float4) + sizeof(uint2));
    float4 *tensors = reinterpret_cast<float4 *>(at);
    adam<<<blocks_for(count), THREADS, 0, s>>>(tensors, tensors + count, tensors + 2 * count, tensors + 3 * count,
                                               reinterpret_cast<uint2 *>(tensors + 4 * count), count);
}

template <typename T> void run_fill(void *out, size_t bytes, unsigned seed, cudaStream_t s)
{
    size_t count = bytes / sizeof(T);
    fill<<<blocks_for(count), THREADS, 0, s>>>(static_cast<T *>(out), count, seed);
}

} // namespace

cudaError_t cuda_kernels_fill(void *out, size_t bytes, const char *type, unsigned seed, cudaStream_t stream)
{
    if (strcmp(type, "fp16") == 0)
        run_fill<__half>(out, bytes, seed, stream);
    else if (strcmp(type, "fp8") == 0)
        run_fill<__nv_fp8_e4m3>(out, bytes, seed, stream);
    else if (strcmp(type, "bf16") == 0)
        run_fill<__nv_bfloat16>(out, bytes, seed, stream);
    else
        run_fill<float>(out, bytes, seed, stream);
    return cudaGetLastError();
}

cudaError_t cuda_kernels_empty(cudaStream_t stream)
{
    empty<<<1, 1, 0, stream>>>();
    return cudaGetLastError();
}

// In the order of point_operators.
cudaError_t cuda_kernels_stream(int which, void *at, size_t bytes, cudaStream_t stream)
{
    Eight *data = static_cast<Eight *>(at);
    size_t rows = bytes / 2 / (ROW * sizeof(__nv_bfloat16));
    size_t casts = bytes / 3 / EACH;
    switch (which) {
    case 0:
        run_pointwise<COPY, false>(data, bytes, stream);
        break;
    case 1:
        run_rowwise<NORM>(data, bytes, stream);
        break;
    case 2:
        run_rowwise<NORM_GRADIENT>(data, bytes, stream);
        break;
    case 3:
        run_pointwise<ACTIVATION, true>(data, bytes, stream);
        break;
    case 4:
        run_pointwise<ACTIVATION_GRADIENT, true>(data, bytes, stream);
        break;
    case 5:
        run_pointwise<ADD, true>(data, bytes, stream);
        break;
    case 6:
        run_pointwise<ROPE, false>(data, bytes, stream);
        break;
    case 7:
        run_rowwise<SOFTMAX>(data, bytes, stream);
        break;
    case 8:
        run_rowwise<CROSS_ENTROPY>(data, bytes, stream);
        break;
    case 9:
        if (rows == 0)
            rows = 1;
        embedding<<<static_cast<unsigned>(rows), THREADS, 0, stream>>>(
            data, data + rows * (ROW / EACH), static_cast<unsigned>(rows));
        break;
    case 10:
        run_adam(static_cast<char *>(at), bytes, stream);
        break;
    case 11:
        cast<<<blocks_for(casts), THREADS, 0, stream>>>(data, reinterpret_cast<uint2 *>(data + casts), casts);
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}
