/* cuda_parts.h - what the files of this folder share: one card, its memory, the point that is
 * prepared on it. Each family of points has a file and a maker, which fills struct cuda_work. */
#ifndef ORRERY_ANALYSIS_CALIBRATE_CUDA_CUDA_PARTS_H
#define ORRERY_ANALYSIS_CALIBRATE_CUDA_CUDA_PARTS_H

#include <cuda_runtime_api.h>

#include "models/profile/device.h"

enum {
    CUDA_COPIES_MAX = 64,
    CUDA_SIDE_STREAMS = 4,
    CUDA_ALIGNMENT = 4096 /* of operands in the pool */
};
struct cuda_machine;
/* The point under way: how one launch of it is made, on operands number `turn`. */
struct cuda_work {
    struct calibrate_point point;
    enum device_answer (*launch)(struct cuda_machine *m, unsigned turn, struct error *error);
    void (*end)(struct cuda_machine *m); /* NULL: nothing of its own is to be freed */
    void *own;
    unsigned copies;                /* of the operands */
    char *operand[CUDA_COPIES_MAX]; /* where each copy begins */
    /* The card's time is asked for and not the host's: a round of launches, one for each copy of
     * the operands, is captured and run as one graph. A maker says so; NULL until it is made. */
    bool by_graph;
    cudaGraphExec_t round;
};
struct cuda_machine {
    int device, cards;
    cudaStream_t stream, sides[CUDA_SIDE_STREAMS];
    cudaEvent_t start, stop, fork, join[CUDA_SIDE_STREAMS];
    char *pool; /* most of the card's free memory */
    size_t pool_bytes, used_bytes, l2_bytes;
    struct cudaDeviceProp properties;
    struct cuda_work work;
    void *blas;  /* of cuda_gemm.c */
    void *sense; /* of cuda_sense.c */
};

/* DEVICE_DONE, or the answer that the code stands for with a sentence that names the call. */
enum device_answer cuda_answer(cudaError_t code, const char *call, struct error *error);
#define CUDA_TRY(call, error)                                                                      \
    do {                                                                                           \
        enum device_answer answer_ = cuda_answer((call), #call, (error));                          \
        if (answer_ != DEVICE_DONE)                                                                \
            return answer_;                                                                        \
    } while (0)
/* Aligned bytes of the pool until the next point; NULL: there are not so many. */
void *cuda_take(struct cuda_machine *m, size_t bytes);
/* So many copies of operands of `bytes` that together they exceed the second-level cache twice, and
 * fills them with random numbers of `type`. */
enum device_answer cuda_operands(struct cuda_machine *m, size_t bytes, const char *type,
                                 struct error *error);

/* Captures `count` launches of the work, on its operands in turn, into a graph that the caller
 * destroys. */
enum device_answer cuda_capture(struct cuda_machine *m, unsigned count, cudaGraphExec_t *out,
                                struct error *error);

/* Makers, one for each family. */
enum device_answer cuda_gemm(struct cuda_machine *m, struct error *error);
enum device_answer cuda_attention(struct cuda_machine *m, struct error *error);
enum device_answer cuda_stream(struct cuda_machine *m, struct error *error);
enum device_answer cuda_copy(struct cuda_machine *m, struct error *error);
enum device_answer cuda_launches(struct cuda_machine *m, struct error *error);
enum device_answer cuda_collective(struct cuda_machine *m, struct error *error);
/* Libraries of this build with their versions, as text. */
void cuda_gemm_version(char *out, size_t room);
void cuda_attention_version(char *out, size_t room);
void cuda_collective_version(char *out, size_t room);
void cuda_gemm_close(struct cuda_machine *m);

/* cuda_sense.c: the driver's own view, by NVML where it can be loaded; without it nothing is known
 * of clock, power and throttling, which is no failure. */
void cuda_sense_open(struct cuda_machine *m);
void cuda_sense_close(struct cuda_machine *m);
void cuda_sense_facts(struct cuda_machine *m, struct device_facts *out);
enum device_answer cuda_sense(struct cuda_machine *m, struct device_state *out,
                              struct error *error);

#endif
