/* pytorch_events.h - the events of a trace of the PyTorch profiler, as plain data.
 *
 * The trace is the Chrome JSON that torch.profiler exports (pytorch/kineto
 * libkineto/src/output_json.cpp): operators of the host, launches, kernels and copies of the GPU,
 * marks of steps; microseconds. A kernel belongs to the launch of its `correlation` and to the
 * operator of its `External id`; operators have the sizes, types and values of their inputs where
 * the trace was recorded with record_shapes=True, kernels of NCCL what they moved. Categories
 * before PyTorch 2.0 ("Kernel", "Operator") are read as those of today ("kernel", "cpu_op"). What
 * is no trace, or holds times that are none, is refused with its place. One event after the other
 * is parsed, so that memory goes with what is kept. It knows no kernel. */
#ifndef ORRERY_SCENARIOS_IMPORT_TRACE_PYTORCH_EVENTS_H
#define ORRERY_SCENARIOS_IMPORT_TRACE_PYTORCH_EVENTS_H

#include <stdint.h>

#include "models/profile/device.h"
#include "scenarios/import/reader/import_text.h"

enum {
    PYTORCH_BYTES_MAX = 1 << 28,  /* unpacked */
    PYTORCH_EVENTS_MAX = 1 << 20, /* of those that are kept */
    PYTORCH_OPERANDS_MAX = 24,
    PYTORCH_SIZES_MAX = 5,
    PYTORCH_SIZE_MOST = 1 << 30
};
#define PYTORCH_UNTOLD INT64_MIN
enum pytorch_category {
    PYTORCH_OPERATOR, /* cpu_op */
    PYTORCH_LAUNCH,   /* cuda_runtime, cuda_driver */
    PYTORCH_KERNEL,
    PYTORCH_COPY, /* gpu_memcpy, gpu_memset */
    PYTORCH_STEP  /* a user_annotation ProfilerStep#N */
};
struct pytorch_operand {
    unsigned rank; /* 0: no tensor, an empty one, or one whose sizes cannot be */
    double size[PYTORCH_SIZES_MAX];
    const char *type;  /* "c10::BFloat16"; "": not told */
    const char *value; /* of what is no tensor: "True", "-1"; "": not told */
};
struct pytorch_operands {
    unsigned count;
    const struct pytorch_operand *of;
};
struct pytorch_collective {
    const char *name;    /* as torch.distributed calls it; "": not told */
    const char *type;    /* of an element, "BFloat16" */
    double in, out;      /* elements */
    double ranks;        /* 0: not told */
    const char *members; /* "[0, 1, 2, 3]", perhaps cut with "..."; "": not told */
};
struct pytorch_event {
    enum pytorch_category category;
    const char *name;
    double begin_s, dur_s;                       /* since the trace's own zero */
    int64_t external, correlation;               /* PYTORCH_UNTOLD: none */
    int64_t stream, thread;                      /* of the GPU; of the host */
    int64_t step;                                /* of PYTORCH_STEP */
    const struct pytorch_operands *operands;     /* of operators; NULL: not told */
    const struct pytorch_collective *collective; /* of kernels; NULL: none */
};
/* The card of a trace. */
struct pytorch_device {
    char name[DEVICE_TEXT_BYTES]; /* as its driver names it; "": not told */
    double memory_bytes;          /* 0: not told */
    unsigned sm_count;            /* 0: not told */
};
struct pytorch_events {
    struct pytorch_event *rows; /* in the order of the file */
    unsigned count;
    struct pytorch_device device;
    unsigned devices;         /* cards that the process sees; 0: not told */
    int64_t rank, world_size; /* PYTORCH_UNTOLD: not told */
    unsigned mended;          /* bytes that are no text, read as '?' */
};
/* False with a sentence. Texts live in the arena. */
bool pytorch_events_read(struct arena *arena, struct import_file file, struct pytorch_events *out,
                         struct error *error);
/* Of a trace without a kernel: what is the matter. False. */
bool pytorch_events_idle(const char *path, const struct pytorch_events *events,
                         struct error *error);

#endif
