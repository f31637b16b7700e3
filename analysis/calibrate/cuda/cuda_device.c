/* cuda_device.c - one card as a calibrate_device. Every call's answer is looked at; the sentence
 * names the call.
 *
 * Invariants
 * 1. Between prepare and release `work` tells how to launch; else its launch is NULL.
 * 2. Operands lie in the pool, which nothing else of this program uses. */
#include "analysis/calibrate/cuda/cuda_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/calibrate/cuda/cuda_kernels.h"
#include "analysis/calibrate/cuda/cuda_parts.h"
#include "sim/check.h"
#include "sim/units.h"

#define POOL_RATIO 0.8 /* of the free memory: libraries allocate for themselves */

static enum device_answer describe(void *state, struct device_facts *out, struct error *error)
{
    struct cuda_machine *m = state;
    int runtime = 0, clock_khz = 0;
    char parts[3][DEVICE_TEXT_BYTES / 4] = {"", "", ""};
    *out = (struct device_facts){.memory_bytes = (double)m->properties.totalGlobalMem,
                                 .cards = m->cards};
    CUDA_TRY(cudaRuntimeGetVersion(&runtime), error);
    CUDA_TRY(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, m->device), error);
    out->clock_max_hz = KILO * clock_khz;
    snprintf(out->device, sizeof out->device, "%.90s", m->properties.name);
    snprintf(out->runtime, sizeof out->runtime, "CUDA %d.%d", runtime / 1000, runtime % 1000 / 10);
    cuda_gemm_version(parts[0], sizeof parts[0]);
    cuda_attention_version(parts[1], sizeof parts[1]);
    cuda_collective_version(parts[2], sizeof parts[2]);
    snprintf(out->libraries, sizeof out->libraries, "%s, %s, %s", parts[0], parts[1], parts[2]);
    cuda_sense_facts(m, out);
    return DEVICE_DONE;
}

static enum device_answer make(struct cuda_machine *m, struct error *error)
{
    switch (m->work.point.kind) {
    case POINT_GEMM:
    case POINT_GROUPED:
        return cuda_gemm(m, error);
    case POINT_ATTENTION:
        return cuda_attention(m, error);
    case POINT_MEMORY:
        return cuda_stream(m, error);
    case POINT_COPY:
        return cuda_copy(m, error);
    case POINT_LAUNCH:
        return cuda_launches(m, error);
    case POINT_COLLECTIVE:
        return cuda_collective(m, error);
    case POINT_KIND_COUNT:
        break;
    }
    error_set(error, "its kind is unknown");
    return DEVICE_UNSUPPORTED;
}

/* Libraries load their kernels at the first launch, which no capture allows. */
static enum device_answer make_round(struct cuda_machine *m, struct error *error)
{
    enum device_answer answer = m->work.launch(m, 0, error);
    if (answer != DEVICE_DONE)
        return answer;
    CUDA_TRY(cudaStreamSynchronize(m->stream), error);
    return cuda_capture(m, m->work.copies, &m->work.round, error);
}

static enum device_answer prepare(void *state, const struct calibrate_point *point,
                                  struct error *error)
{
    struct cuda_machine *m = state;
    CHECK(m->work.launch == NULL); /* 1 */
    m->used_bytes = 0;
    m->work = (struct cuda_work){.point = *point};
    enum device_answer answer = make(m, error);
    if (answer != DEVICE_DONE)
        return answer;
    CHECK(m->work.launch != NULL && m->work.copies > 0);
    CUDA_TRY(cudaStreamSynchronize(m->stream), error);
    return m->work.by_graph ? make_round(m, error) : DEVICE_DONE;
}

/* `count` launches at least, as whole rounds where they are run as a graph. */
static enum device_answer launch_all(struct cuda_machine *m, unsigned count, unsigned *launched,
                                     struct error *error)
{
    *launched = 0;
    while (*launched < count) {
        if (m->work.round != NULL) {
            CUDA_TRY(cudaGraphLaunch(m->work.round, m->stream), error);
            *launched += m->work.copies;
            continue;
        }
        enum device_answer answer = m->work.launch(m, *launched % m->work.copies, error);
        if (answer != DEVICE_DONE)
            return answer;
        *launched += 1;
    }
    return DEVICE_DONE;
}

static enum device_answer run(void *state, unsigned count, double *seconds, struct error *error)
{
    struct cuda_machine *m = state;
    float elapsed_ms = 0.0f;
    unsigned launched = 0;
    CUDA_TRY(cudaEventRecord(m->start, m->stream), error);
    enum device_answer answer = launch_all(m, count, &launched, error);
    if (answer != DEVICE_DONE)
        return answer;
    CUDA_TRY(cudaEventRecord(m->stop, m->stream), error);
    CUDA_TRY(cudaEventSynchronize(m->stop), error);
    CUDA_TRY(cudaEventElapsedTime(&elapsed_ms, m->start, m->stop), error);
    *seconds = MILLISECOND * (double)elapsed_ms * count / launched;
    return DEVICE_DONE;
}

static void release(void *state)
{
    struct cuda_machine *m = state;
    cudaStreamSynchronize(m->stream); /* what it would say, the next call says */
    if (m->work.round != NULL)
        cudaGraphExecDestroy(m->work.round);
    if (m->work.end != NULL)
        m->work.end(m);
    m->work = (struct cuda_work){.launch = NULL};
}

static enum device_answer sense(void *state, struct device_state *out, struct error *error)
{
    return cuda_sense(state, out, error);
}

static double now_s(void *state)
{
    struct timespec now;
    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * NANOSECOND;
}

static void rest(void *state, double seconds)
{
    struct timespec left = {(time_t)seconds, (long)(fmod(seconds, 1.0) / NANOSECOND)};
    (void)state;
    nanosleep(&left, NULL);
}

static enum device_answer open_streams(struct cuda_machine *m, struct error *error)
{
    CUDA_TRY(cudaStreamCreateWithFlags(&m->stream, cudaStreamNonBlocking), error);
    CUDA_TRY(cudaEventCreate(&m->start), error);
    CUDA_TRY(cudaEventCreate(&m->stop), error);
    CUDA_TRY(cudaEventCreateWithFlags(&m->fork, cudaEventDisableTiming), error);
    for (unsigned i = 0; i < CUDA_SIDE_STREAMS; i++) {
        CUDA_TRY(cudaStreamCreateWithFlags(&m->sides[i], cudaStreamNonBlocking), error);
        CUDA_TRY(cudaEventCreateWithFlags(&m->join[i], cudaEventDisableTiming), error);
    }
    return DEVICE_DONE;
}

static enum device_answer open_card(struct cuda_machine *m, struct error *error)
{
    size_t free_bytes = 0, all_bytes = 0;
    CUDA_TRY(cudaGetDeviceCount(&m->cards), error);
    CUDA_TRY(cudaSetDevice(m->device), error);
    CUDA_TRY(cudaGetDeviceProperties(&m->properties, m->device), error);
    CUDA_TRY(cudaMemGetInfo(&free_bytes, &all_bytes), error);
    m->l2_bytes = (size_t)m->properties.l2CacheSize;
    m->pool_bytes = (size_t)(POOL_RATIO * (double)free_bytes) / CUDA_ALIGNMENT * CUDA_ALIGNMENT;
    CUDA_TRY(cudaMalloc((void **)&m->pool, m->pool_bytes), error);
    return open_streams(m, error);
}

bool cuda_device_open(struct calibrate_device *out, struct error *error)
{
    struct error why = {""};
    struct cuda_machine *m = calloc(1, sizeof *m);
    if (m == NULL)
        return error_set(error, "this machine has no memory left");
    if (open_card(m, &why) != DEVICE_DONE) {
        cudaFree(m->pool);
        free(m);
        return error_set(error, "no NVIDIA GPU that can be used here: %.400s", why.text);
    }
    cuda_sense_open(m);
    *out = (struct calibrate_device){m, describe, prepare, run, release, sense, now_s, rest};
    return true;
}

void cuda_device_close(struct calibrate_device *device)
{
    struct cuda_machine *m = device->state;
    cuda_gemm_close(m);
    cuda_sense_close(m);
    for (unsigned i = 0; i < CUDA_SIDE_STREAMS; i++) {
        cudaEventDestroy(m->join[i]);
        cudaStreamDestroy(m->sides[i]);
    }
    cudaEventDestroy(m->fork);
    cudaEventDestroy(m->stop);
    cudaEventDestroy(m->start);
    cudaStreamDestroy(m->stream);
    cudaFree(m->pool);
    free(m);
}

const char *cuda_device_libraries(void)
{
    return "CUDA"
#ifdef ORRERY_CUBLASLT
           ", cublasLt"
#endif
#ifdef ORRERY_CUDNN
           ", cuDNN"
#endif
#ifdef ORRERY_NCCL
           ", NCCL"
#endif
        ;
}
