/* cuda_stream.c - operators that stream, copies, launches: what needs no library. */
#include <stdlib.h>
#include <string.h>

#include "analysis/calibrate/cuda/cuda_kernels.h"
#include "analysis/calibrate/cuda/cuda_parts.h"

/* Adam and gradients of norms touch a little behind what they move: rows are whole. */
#define ROOM_BYTES ((size_t)4 << 20)

static int operator_index(const char *name)
{
    for (int i = 0; point_operators[i] != NULL; i++)
        if (strcmp(point_operators[i], name) == 0)
            return i;
    return -1;
}

static enum device_answer launch_stream(struct cuda_machine *m, unsigned turn, struct error *error)
{
    const struct calibrate_point *p = &m->work.point;
    CUDA_TRY(cuda_kernels_stream(operator_index(p->name), m->work.operand[turn], (size_t)p->size[0],
                                 m->stream),
             error);
    return DEVICE_DONE;
}

enum device_answer cuda_stream(struct cuda_machine *m, struct error *error)
{
    const struct calibrate_point *p = &m->work.point;
    int which = operator_index(p->name);
    if (which < 0 || strcmp(p->type, "bf16") != 0) {
        error_set(error, "no operator '%s' in %s", p->name, p->type);
        return DEVICE_UNSUPPORTED;
    }
    m->work.launch = launch_stream;
    m->work.by_graph = true;
    enum device_answer answer = cuda_operands(
        m, (size_t)p->size[0] + ROOM_BYTES, strcmp(p->name, "adam") == 0 ? "fp32" : "bf16", error);
    if (answer != DEVICE_DONE)
        m->work.launch = NULL;
    return answer;
}

struct cuda_copy_work {
    void *host;  /* "" */
    void *peer;  /* on the other card */
    bool pinned; /* else from malloc */
    bool out;    /* from the card */
    int other;
};

static enum device_answer launch_copy(struct cuda_machine *m, unsigned turn, struct error *error)
{
    struct cuda_copy_work *own = m->work.own;
    void *card = m->work.operand[turn];
    size_t bytes = (size_t)m->work.point.size[0];
    if (own->peer != NULL)
        CUDA_TRY(cudaMemcpyPeerAsync(own->peer, own->other, card, m->device, bytes, m->stream),
                 error);
    else if (own->out)
        CUDA_TRY(cudaMemcpyAsync(own->host, card, bytes, cudaMemcpyDeviceToHost, m->stream), error);
    else
        CUDA_TRY(cudaMemcpyAsync(card, own->host, bytes, cudaMemcpyHostToDevice, m->stream), error);
    return DEVICE_DONE;
}

static void end_copy(struct cuda_machine *m)
{
    struct cuda_copy_work *own = m->work.own;
    if (own->peer != NULL) {
        cudaSetDevice(own->other);
        cudaFree(own->peer);
        cudaSetDevice(m->device);
    }
    if (own->pinned)
        cudaFreeHost(own->host);
    else
        free(own->host);
    free(own);
}

static enum device_answer open_peer(struct cuda_machine *m, struct cuda_copy_work *own,
                                    size_t bytes, struct error *error)
{
    own->other = (m->device + 1) % m->cards;
    if (m->cards < 2) {
        error_set(error, "copies between cards need two");
        return DEVICE_UNSUPPORTED;
    }
    cudaDeviceEnablePeerAccess(own->other, 0); /* without it the copy goes through the host */
    cudaGetLastError();
    CUDA_TRY(cudaSetDevice(own->other), error);
    CUDA_TRY(cudaMalloc(&own->peer, bytes), error);
    CUDA_TRY(cudaSetDevice(m->device), error);
    return DEVICE_DONE;
}

static enum device_answer open_host(struct cuda_copy_work *own, size_t bytes, struct error *error)
{
    if (own->pinned) {
        CUDA_TRY(cudaMallocHost(&own->host, bytes), error);
    } else {
        own->host = malloc(bytes);
        if (own->host == NULL) {
            error_set(error, "the host has no memory left");
            return DEVICE_FAILED;
        }
    }
    memset(own->host, 1, bytes); /* its pages are there before anything is timed */
    return DEVICE_DONE;
}

enum device_answer cuda_copy(struct cuda_machine *m, struct error *error)
{
    const char *name = m->work.point.name;
    size_t bytes = (size_t)m->work.point.size[0];
    struct cuda_copy_work *own = calloc(1, sizeof *own);
    if (own == NULL) {
        error_set(error, "the host has no memory left");
        return DEVICE_FAILED;
    }
    m->work.own = own;
    m->work.end = end_copy;
    own->out = strncmp(name, "from-device", strlen("from-device")) == 0;
    own->pinned = strstr(name, "-pinned") != NULL;
    bool peer = strcmp(name, "to-peer") == 0;
    if (!peer && !own->out && strncmp(name, "to-device", strlen("to-device")) != 0) {
        error_set(error, "no copy '%s'", name);
        return DEVICE_UNSUPPORTED;
    }
    enum device_answer answer =
        peer ? open_peer(m, own, bytes, error) : open_host(own, bytes, error);
    if (answer == DEVICE_DONE)
        answer = cuda_operands(m, bytes, "fp32", error);
    if (answer == DEVICE_DONE)
        m->work.launch = launch_copy;
    return answer;
}

static enum device_answer launch_kernels(struct cuda_machine *m, unsigned turn, struct error *error)
{
    (void)turn;
    for (double i = 0.0; i < m->work.point.size[0]; i += 1.0)
        CUDA_TRY(cuda_kernels_empty(m->stream), error);
    return DEVICE_DONE;
}

static enum device_answer launch_graph(struct cuda_machine *m, unsigned turn, struct error *error)
{
    (void)turn;
    CUDA_TRY(cudaGraphLaunch((cudaGraphExec_t)m->work.own, m->stream), error);
    return DEVICE_DONE;
}

static void end_graph(struct cuda_machine *m)
{
    cudaGraphExecDestroy((cudaGraphExec_t)m->work.own);
}

enum device_answer cuda_launches(struct cuda_machine *m, struct error *error)
{
    cudaGraphExec_t ready = NULL;
    m->work.copies = 1;
    m->work.launch = launch_kernels;
    if (strcmp(m->work.point.name, "graph") != 0)
        return DEVICE_DONE;
    enum device_answer answer = cuda_capture(m, 1, &ready, error);
    m->work.launch = answer == DEVICE_DONE ? launch_graph : NULL;
    if (answer != DEVICE_DONE)
        return answer;
    m->work.own = ready;
    m->work.end = end_graph;
    return DEVICE_DONE;
}
