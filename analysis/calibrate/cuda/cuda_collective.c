/* cuda_collective.c - collectives among the first cards of this machine by NCCL, all from one
 * thread (ncclGroupStart ... End). Time is that of the first card's stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calibrate/cuda/cuda_parts.h"

#ifdef ORRERY_NCCL
#include <nccl.h>

enum {
    CARDS_MAX = 16
};
#define HALF_BYTES 2u

struct cuda_collective_work {
    int cards;
    size_t count; /* elements of a buffer, as nccl-tests counts */
    ncclComm_t comms[CARDS_MAX];
    cudaStream_t streams[CARDS_MAX];
    void *from[CARDS_MAX], *to[CARDS_MAX];
};

static enum device_answer nccl_answer(ncclResult_t code, const char *call, struct error *error)
{
    if (code == ncclSuccess)
        return DEVICE_DONE;
    error_set(error, "%.200s: %s", call, ncclGetErrorString(code));
    return code == ncclUnhandledCudaError ? DEVICE_LOST : DEVICE_FAILED;
}
#define NCCL_TRY(call, error)                                                                      \
    do {                                                                                           \
        enum device_answer answer_ = nccl_answer((call), #call, (error));                          \
        if (answer_ != DEVICE_DONE)                                                                \
            return answer_;                                                                        \
    } while (0)

void cuda_collective_version(char *out, size_t room)
{
    int version = 0;
    ncclGetVersion(&version);
    snprintf(out, room, "nccl %d", version);
}

static ncclResult_t exchange(const struct cuda_collective_work *w, int card)
{
    size_t part = w->count / (size_t)w->cards;
    ncclResult_t code = ncclSuccess;
    for (int peer = 0; peer < w->cards && code == ncclSuccess; peer++) {
        code = ncclSend((char *)w->from[card] + (size_t)peer * part * HALF_BYTES, part,
                        ncclBfloat16, peer, w->comms[card], w->streams[card]);
        if (code == ncclSuccess)
            code = ncclRecv((char *)w->to[card] + (size_t)peer * part * HALF_BYTES, part,
                            ncclBfloat16, peer, w->comms[card], w->streams[card]);
    }
    return code;
}

static ncclResult_t pass_on(const struct cuda_collective_work *w, int card)
{
    int next = (card + 1) % w->cards, former = (card + w->cards - 1) % w->cards;
    ncclResult_t code =
        ncclSend(w->from[card], w->count, ncclBfloat16, next, w->comms[card], w->streams[card]);
    return code != ncclSuccess ? code
                               : ncclRecv(w->to[card], w->count, ncclBfloat16, former,
                                          w->comms[card], w->streams[card]);
}

static ncclResult_t one_card(const struct cuda_collective_work *w, const char *op, int card)
{
    size_t part = w->count / (size_t)w->cards;
    if (strcmp(op, "all_reduce") == 0)
        return ncclAllReduce(w->from[card], w->to[card], w->count, ncclBfloat16, ncclSum,
                             w->comms[card], w->streams[card]);
    if (strcmp(op, "all_gather") == 0)
        return ncclAllGather(w->from[card], w->to[card], part, ncclBfloat16, w->comms[card],
                             w->streams[card]);
    if (strcmp(op, "reduce_scatter") == 0)
        return ncclReduceScatter(w->from[card], w->to[card], part, ncclBfloat16, ncclSum,
                                 w->comms[card], w->streams[card]);
    return strcmp(op, "all_to_all") == 0 ? exchange(w, card) : pass_on(w, card);
}

static enum device_answer launch(struct cuda_machine *m, unsigned turn, struct error *error)
{
    struct cuda_collective_work *w = m->work.own;
    ncclResult_t code = ncclSuccess;
    (void)turn;
    NCCL_TRY(ncclGroupStart(), error);
    for (int card = 0; card < w->cards && code == ncclSuccess; card++)
        code = one_card(w, m->work.point.name, card);
    ncclResult_t ended = ncclGroupEnd();
    NCCL_TRY(code, error);
    NCCL_TRY(ended, error);
    return DEVICE_DONE;
}

static void end(struct cuda_machine *m)
{
    struct cuda_collective_work *w = m->work.own;
    for (int card = 0; card < w->cards; card++) {
        cudaSetDevice(card);
        if (w->streams[card] != NULL && card != m->device) {
            cudaStreamSynchronize(w->streams[card]);
            cudaStreamDestroy(w->streams[card]);
        }
        if (w->comms[card] != NULL)
            ncclCommDestroy(w->comms[card]);
        cudaFree(w->from[card]);
        cudaFree(w->to[card]);
    }
    cudaSetDevice(m->device);
    free(w);
}

static enum device_answer open_cards(struct cuda_machine *m, struct cuda_collective_work *w,
                                     struct error *error)
{
    int list[CARDS_MAX];
    for (int card = 0; card < w->cards; card++) {
        list[card] = card;
        CUDA_TRY(cudaSetDevice(card), error);
        CUDA_TRY(cudaMalloc(&w->from[card], w->count * HALF_BYTES), error);
        CUDA_TRY(cudaMalloc(&w->to[card], w->count * HALF_BYTES), error);
        CUDA_TRY(cudaMemset(w->from[card], 0, w->count * HALF_BYTES), error);
        if (card == m->device)
            w->streams[card] = m->stream;
        else
            CUDA_TRY(cudaStreamCreateWithFlags(&w->streams[card], cudaStreamNonBlocking), error);
    }
    CUDA_TRY(cudaSetDevice(m->device), error);
    NCCL_TRY(ncclCommInitAll(w->comms, w->cards, list), error);
    return DEVICE_DONE;
}

enum device_answer cuda_collective(struct cuda_machine *m, struct error *error)
{
    static const char *const known[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                        "send"};
    const struct calibrate_point *p = &m->work.point;
    bool found = false;
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++)
        found |= strcmp(known[i], p->name) == 0;
    if (!found || strcmp(p->type, "bf16") != 0 || p->size[0] > m->cards || p->size[0] > CARDS_MAX ||
        p->size[0] < 2.0) {
        error_set(error, "no %s of %s among %g of %d cards here", p->name, p->type, p->size[0],
                  m->cards);
        return DEVICE_UNSUPPORTED;
    }
    struct cuda_collective_work *w = calloc(1, sizeof *w);
    if (w == NULL) {
        error_set(error, "the host has no memory left");
        return DEVICE_FAILED;
    }
    m->work.own = w;
    m->work.end = end;
    m->work.copies = 1;
    w->cards = (int)p->size[0];
    w->count = (size_t)(p->size[1] / HALF_BYTES);
    enum device_answer answer = open_cards(m, w, error);
    if (answer == DEVICE_DONE)
        m->work.launch = launch;
    return answer;
}

#else

void cuda_collective_version(char *out, size_t room)
{
    snprintf(out, room, "no nccl");
}

enum device_answer cuda_collective(struct cuda_machine *m, struct error *error)
{
    (void)m;
    error_set(error, "this program was built without NCCL");
    return DEVICE_UNSUPPORTED;
}

#endif
