#include "scenarios/import/span.h"

#include <string.h>

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

const char *const span_kind_names[SPAN_KIND_COUNT] = {
    [SPAN_GEMM] = "gemm",
    [SPAN_ATTENTION] = "attention",
    [SPAN_NORM] = "norm",
    [SPAN_ELEMENTWISE] = "elementwise",
    [SPAN_OPTIMIZER] = "optimizer",
    [SPAN_COPY] = "copy",
    [SPAN_OTHER] = "other",
    [SPAN_ALL_REDUCE] = "all_reduce",
    [SPAN_ALL_GATHER] = "all_gather",
    [SPAN_REDUCE_SCATTER] = "reduce_scatter",
    [SPAN_BROADCAST] = "broadcast",
    [SPAN_ALL_TO_ALL] = "all_to_all",
    [SPAN_SEND_RECV] = "send_recv",
    [SPAN_COMMUNICATION] = "communication",
};

struct span_word {
    const char *word; /* small letters */
    enum span_kind kind;
};
/* The first word that a name holds, in small letters and without underscores, decides. */
static const struct span_word words[] = {
    {"nccldevkernelsendrecv", SPAN_SEND_RECV},
    {"ncclkernelsendrecv", SPAN_SEND_RECV},
    {"kernelallreduce", SPAN_ALL_REDUCE},
    {"kernelallgather", SPAN_ALL_GATHER},
    {"kernelreducescatter", SPAN_REDUCE_SCATTER},
    {"kernelbroadcast", SPAN_BROADCAST},
    {"kernelalltoall", SPAN_ALL_TO_ALL},
    {"nccldevkernel", SPAN_COMMUNICATION},
    {"ncclkernel", SPAN_COMMUNICATION},
    {"deepep::", SPAN_ALL_TO_ALL},
    {"hybridep::", SPAN_ALL_TO_ALL},
    {"crossdevicereduce", SPAN_ALL_REDUCE},
    {"userbuffers", SPAN_COMMUNICATION},
    {"nvshmem", SPAN_COMMUNICATION},
    {"memcpy", SPAN_COPY},
    {"memset", SPAN_COPY},
    {"flash", SPAN_ATTENTION},
    {"fmha", SPAN_ATTENTION},
    {"sdpa", SPAN_ATTENTION},
    {"attention", SPAN_ATTENTION},
    {"copyfunctor", SPAN_ELEMENTWISE},
    {"adam", SPAN_OPTIMIZER},
    {"l2norm", SPAN_OPTIMIZER},
    {"lpnorm", SPAN_OPTIMIZER},
    {"normtwoops", SPAN_OPTIMIZER},
    {"multitensorapply", SPAN_OPTIMIZER},
    {"gemm", SPAN_GEMM},
    {"nvjet", SPAN_GEMM},
    {"cutlass", SPAN_GEMM},
    {"xmma", SPAN_GEMM},
    {"splitkreduce", SPAN_GEMM},
    {"gemv", SPAN_GEMM},
    {"tritontem", SPAN_GEMM},
    {"norm", SPAN_NORM},
    {"lnfwd", SPAN_NORM},
    {"lnbwd", SPAN_NORM},
    {"rsqrt", SPAN_NORM},
    {"elementwise", SPAN_ELEMENTWISE},
    {"triton", SPAN_ELEMENTWISE},
    {"reduce", SPAN_ELEMENTWISE},
    {"softmax", SPAN_ELEMENTWISE},
    {"entropy", SPAN_ELEMENTWISE},
    {"loss", SPAN_ELEMENTWISE},
    {"embedding", SPAN_ELEMENTWISE},
    {"index", SPAN_ELEMENTWISE},
    {"dropout", SPAN_ELEMENTWISE},
    {"gelu", SPAN_ELEMENTWISE},
    {"silu", SPAN_ELEMENTWISE},
    {"swiglu", SPAN_ELEMENTWISE},
    {"rope", SPAN_ELEMENTWISE},
    {"rotary", SPAN_ELEMENTWISE},
    {"copy", SPAN_ELEMENTWISE},
    {"cast", SPAN_ELEMENTWISE},
    {"transpose", SPAN_ELEMENTWISE},
    {"permute", SPAN_ELEMENTWISE},
    {"scatter", SPAN_ELEMENTWISE},
    {"gather", SPAN_ELEMENTWISE},
    {"fill", SPAN_ELEMENTWISE},
    {"amax", SPAN_ELEMENTWISE},
    {"quantize", SPAN_ELEMENTWISE},
    {"sort", SPAN_ELEMENTWISE},
    {"topk", SPAN_ELEMENTWISE},
    {"scan", SPAN_ELEMENTWISE},
};

static char small(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Is `word` in `name`, by small letters and without underscores? */
static bool holds(const char *name, const char *word)
{
    for (; *name != '\0'; name++) {
        const char *at = name, *of = word;
        while (*of != '\0' && (*at == '_' || small(*at) == *of)) {
            of += *at != '_';
            at++;
        }
        if (*of == '\0')
            return true;
    }
    return false;
}

enum span_kind span_kind_of_kernel(const char *name)
{
    for (unsigned i = 0; i < COUNT(words); i++)
        if (holds(name, words[i].word))
            return words[i].kind;
    return SPAN_OTHER;
}

enum span_kind span_kind_of_operation(const char *operation)
{
    static const struct span_word operations[] = {
        {"all_reduce", SPAN_ALL_REDUCE},
        {"all_gather", SPAN_ALL_GATHER},
        {"reduce_scatter", SPAN_REDUCE_SCATTER},
        {"broadcast", SPAN_BROADCAST},
        {"all_to_all", SPAN_ALL_TO_ALL},
        {"all_to_allv", SPAN_ALL_TO_ALL},
        {"send", SPAN_SEND_RECV},
        {"recv", SPAN_SEND_RECV},
        {"ring_exchange", SPAN_SEND_RECV},
    };
    for (unsigned i = 0; i < COUNT(operations); i++)
        if (strcmp(operations[i].word, operation) == 0)
            return operations[i].kind;
    return SPAN_COMMUNICATION;
}
