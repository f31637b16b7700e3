#include "scenarios/import/trace/span.h"

#include <string.h>

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])

enum {
    NAME_BYTES = 1024 /* of a kernel that decide */
};

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
/* The first word that a name holds, in small letters and without underscores, decides. What moves
 * data between GPUs stands first, then what is told by its library; words of whole groups of
 * kernels stand behind those of their exceptions. */
static const struct span_word words[] = {
    /* traces that this program writes */
    {"orrery::gemm", SPAN_GEMM},
    {"orrery::moegemm", SPAN_GEMM},
    {"orrery::attention", SPAN_ATTENTION},
    {"orrery::norm", SPAN_NORM},
    {"orrery::elementwise", SPAN_ELEMENTWISE},
    {"orrery::optimizer", SPAN_OPTIMIZER},
    /* compute that names a collective */
    {"getdispatchlayout", SPAN_ELEMENTWISE},
    {"blockallreduce", SPAN_ELEMENTWISE},
    /* DeepEP in any namespace, Hybrid-EP, MORI */
    {"internode", SPAN_ALL_TO_ALL},
    {"intranode", SPAN_ALL_TO_ALL},
    {"deepep", SPAN_ALL_TO_ALL},
    {"hybridep", SPAN_ALL_TO_ALL},
    {"nixlep", SPAN_ALL_TO_ALL},
    {"epdispatch", SPAN_ALL_TO_ALL},
    {"epcombine", SPAN_ALL_TO_ALL},
    /* NCCL, RCCL, MSCCL, one-shot and two-shot kernels of inference engines and of PyTorch */
    {"kernelsendrecv", SPAN_SEND_RECV},
    {"ncclsendrecv", SPAN_SEND_RECV},
    {"kernelbroadcast", SPAN_BROADCAST},
    {"ncclbroadcast", SPAN_BROADCAST},
    {"allreduce", SPAN_ALL_REDUCE},
    {"crossdevicereduce", SPAN_ALL_REDUCE},
    {"allgather", SPAN_ALL_GATHER},
    {"reducescatter", SPAN_REDUCE_SCATTER},
    {"alltoall", SPAN_ALL_TO_ALL},
    {"nccl", SPAN_COMMUNICATION},
    {"rccl", SPAN_COMMUNICATION},
    {"msccl", SPAN_COMMUNICATION},
    {"userbuffers", SPAN_COMMUNICATION},
    {"nvshmem", SPAN_COMMUNICATION},
    {"symmetricmemory", SPAN_COMMUNICATION},
    {"memcpy", SPAN_COPY},
    {"memset", SPAN_COPY},
    {"rocclr", SPAN_COPY},
    /* what its library or a word inside would give away wrongly */
    {"flashinfernorm", SPAN_NORM},
    {"flashinfer::norm", SPAN_NORM},
    {"flashinfer::activation", SPAN_ELEMENTWISE},
    {"flashinfer::sampling", SPAN_ELEMENTWISE},
    {"flashinfer::gemm", SPAN_GEMM},
    {"appendpagedkv", SPAN_ELEMENTWISE},
    {"rotary", SPAN_ELEMENTWISE},
    {"reshapeandcache", SPAN_ELEMENTWISE},
    {"hadamard", SPAN_ELEMENTWISE},
    {"causalconv", SPAN_ELEMENTWISE},
    {"distribution", SPAN_ELEMENTWISE},
    {"utils::transpose", SPAN_ELEMENTWISE},
    {"layout::transpose", SPAN_ELEMENTWISE},
    {"tensormap", SPAN_ELEMENTWISE},
    {"subtensorop", SPAN_ELEMENTWISE},
    {"copyfunctor", SPAN_ELEMENTWISE},
    {"embedding", SPAN_ELEMENTWISE}, /* of FBGEMM, too */
    /* FlashAttention, FlashMLA, cuDNN, xFormers, Composable Kernel, AITER, AOTriton, Triton */
    {"flash", SPAN_ATTENTION},
    {"fmha", SPAN_ATTENTION},
    {"attention", SPAN_ATTENTION},
    {"attn", SPAN_ATTENTION},
    {"kernelstage1", SPAN_ATTENTION}, /* SGLang's decoding, split along the keys */
    {"kernelstage2", SPAN_ATTENTION},
    {"dkdv", SPAN_ATTENTION},
    {"dotdoo", SPAN_ATTENTION},
    {"convertdq", SPAN_ATTENTION},
    {"bwdkerneldq", SPAN_ATTENTION},
    {"bwdkernelfuse", SPAN_ATTENTION},
    {"bwdpreprocess", SPAN_ATTENTION},
    {"bwdpostprocess", SPAN_ATTENTION},
    /* apex, Transformer Engine, PyTorch */
    {"adam", SPAN_OPTIMIZER},
    {"koptimizer", SPAN_OPTIMIZER}, /* bitsandbytes */
    {"tritonfor", SPAN_OPTIMIZER},  /* of lists of tensors, as optimizers have */
    {"lpnorm", SPAN_OPTIMIZER},
    {"normtwoops", SPAN_OPTIMIZER},
    {"multitensor", SPAN_OPTIMIZER},
    /* cuBLAS, CUTLASS, cuDNN, DeepGEMM, Tensile and hipBLASLt, MIOpen, Triton, fused experts */
    {"gemm", SPAN_GEMM},
    {"nvjet", SPAN_GEMM},
    {"cijk", SPAN_GEMM},
    {"splitk", SPAN_GEMM},
    {"gemv", SPAN_GEMM},
    {"tritontem", SPAN_GEMM},
    {"s1688", SPAN_GEMM},
    {"s884", SPAN_GEMM},
    {"matmul", SPAN_GEMM},
    {"bmm", SPAN_GEMM},
    {"fmoe", SPAN_GEMM},
    {"fusedmoekernel", SPAN_GEMM},
    {"mfmamoe", SPAN_GEMM},
    {"marlin", SPAN_GEMM},
    {"winograd", SPAN_GEMM},
    {"cudnn128", SPAN_GEMM}, /* scudnn_128x64: tiles of a convolution */
    {"convert", SPAN_ELEMENTWISE},
    {"conv", SPAN_GEMM},
    {"norm", SPAN_NORM},
    {"rsqrt", SPAN_NORM},
    {"gammabeta", SPAN_NORM},
    {"cucomputegradinput", SPAN_NORM},
    {"rowwisemoments", SPAN_NORM},
    {"bnfw", SPAN_NORM}, /* cuDNN's batch norm */
    {"bnbw", SPAN_NORM},
    {"dgrad", SPAN_GEMM},
    {"wgrad", SPAN_GEMM},
    {"fprop", SPAN_GEMM},
    {"elementwise", SPAN_ELEMENTWISE},
    {"triton", SPAN_ELEMENTWISE},
    {"reduce", SPAN_ELEMENTWISE},
    {"reduction", SPAN_ELEMENTWISE},
    {"softmax", SPAN_ELEMENTWISE},
    {"entropy", SPAN_ELEMENTWISE},
    {"loss", SPAN_ELEMENTWISE},
    {"indices", SPAN_ELEMENTWISE},
    {"dropout", SPAN_ELEMENTWISE},
    {"gelu", SPAN_ELEMENTWISE},
    {"silu", SPAN_ELEMENTWISE},
    {"relu", SPAN_ELEMENTWISE},
    {"glu", SPAN_ELEMENTWISE},
    {"rope", SPAN_ELEMENTWISE},
    {"copy", SPAN_ELEMENTWISE},
    {"concat", SPAN_ELEMENTWISE},
    {"cast", SPAN_ELEMENTWISE},
    {"transpose", SPAN_ELEMENTWISE},
    {"swizzle", SPAN_ELEMENTWISE},
    {"permute", SPAN_ELEMENTWISE},
    {"expand", SPAN_ELEMENTWISE},
    {"mapping", SPAN_ELEMENTWISE},
    {"scatter", SPAN_ELEMENTWISE},
    {"gather", SPAN_ELEMENTWISE},
    {"amax", SPAN_ELEMENTWISE},
    {"quant", SPAN_ELEMENTWISE},
    {"sort", SPAN_ELEMENTWISE},
    {"topk", SPAN_ELEMENTWISE},
    {"scan", SPAN_ELEMENTWISE},
    {"cumsum", SPAN_ELEMENTWISE},
    {"expert", SPAN_ELEMENTWISE}, /* counts and places of their tokens */
    {"routing", SPAN_ELEMENTWISE},
    {"moealign", SPAN_ELEMENTWISE},
    {"finalize", SPAN_ELEMENTWISE},
    {"bitmatrix", SPAN_ELEMENTWISE},
    {"rowidmap", SPAN_ELEMENTWISE},
    {"correction", SPAN_ELEMENTWISE}, /* of parts of attention, context parallel */
    {"nchw", SPAN_ELEMENTWISE},
    {"pool", SPAN_ELEMENTWISE},
    {"1dtensor", SPAN_ELEMENTWISE}, /* MIOpen's */
    {"cublas", SPAN_GEMM},
    {"at::native", SPAN_ELEMENTWISE},
    {"2at6native", SPAN_ELEMENTWISE}, /* mangled */
    {"cub::", SPAN_ELEMENTWISE},
};
/* Kernels that Inductor fused are named after all operators that they take part in, products and
 * collectives among them; they stream, and templates (triton_tem_) alone do more. */
static const char *const fused[] = {"tritonpoi", "tritonred", "tritonper", "tritonspl"};
static const struct span_word fused_words[] = {{"norm", SPAN_NORM}, {"rsqrt", SPAN_NORM}};

struct direction_word {
    const char *word;
    enum span_direction direction;
};
/* The first word decides, as above: what runs both ways in one kernel is of the backward pass. A
 * letter before "dgelu" may be of another word ("fused_gelu"). */
static const struct direction_word direction_words[] = {
    {"bwd", SPAN_BACKWARD},        {"backward", SPAN_BACKWARD},    {"bprop", SPAN_BACKWARD},
    {"dgrad", SPAN_BACKWARD},      {"wgrad", SPAN_BACKWARD},       {"dkdv", SPAN_BACKWARD},
    {"dotdoo", SPAN_BACKWARD},     {"convertdq", SPAN_BACKWARD},   {"gradinput", SPAN_BACKWARD},
    {"gradweight", SPAN_BACKWARD}, {"gradgamma", SPAN_BACKWARD},   {"fmhacutlassb", SPAN_BACKWARD},
    {"::dgelu", SPAN_BACKWARD},    {"::dsilu", SPAN_BACKWARD},     {"::drelu", SPAN_BACKWARD},
    {"fwd", SPAN_FORWARD},         {"forward", SPAN_FORWARD},      {"wrw", SPAN_BACKWARD},
    {"fprop", SPAN_FORWARD},       {"fmhacutlassf", SPAN_FORWARD},
};

struct role_word {
    const char *word;
    enum span_role role;
};
/* As above, of products and of all-to-alls. A namespace or a library for groups ("grouped_gemm::",
 * cuDNN's grouped convolutions) has products of all sorts; a kernel of it may say more. What only
 * counts rows for a dispatch is compute. */
static const struct role_word product_roles[] = {
    {"mgrouped", SPAN_GROUPED},          {"kgrouped", SPAN_GROUPED},  {"groupedgemm::", SPAN_ANY},
    {"groupeddirect", SPAN_ANY},         {"groupedconv", SPAN_ANY},   {"grouped", SPAN_GROUPED},
    {"groupproblemshape", SPAN_GROUPED}, {"groupgemm", SPAN_GROUPED}, {"moe", SPAN_GROUPED},
};
static const struct role_word exchange_roles[] = {
    {"epcombine", SPAN_COMBINE}, /* MORI; its arguments are EpDispatchCombineArgs of both */
    {"dispatch", SPAN_DISPATCH},
    {"combine", SPAN_COMBINE},
};

static char small(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* In small letters and without underscores, as far as it has room. */
static void plain(const char *name, char out[NAME_BYTES])
{
    unsigned count = 0;
    for (; *name != '\0' && count + 1 < NAME_BYTES; name++)
        if (*name != '_')
            out[count++] = small(*name);
    out[count] = '\0';
}

static enum span_kind kind_by(const struct span_word *of, unsigned count, const char *name,
                              enum span_kind otherwise)
{
    for (unsigned i = 0; i < count; i++)
        if (strstr(name, of[i].word) != NULL)
            return of[i].kind;
    return otherwise;
}

enum span_kind span_kind_of_kernel(const char *name)
{
    char text[NAME_BYTES];
    plain(name, text);
    for (unsigned i = 0; i < COUNT(fused); i++)
        if (strstr(text, fused[i]) != NULL)
            return kind_by(fused_words, COUNT(fused_words), text, SPAN_ELEMENTWISE);
    return kind_by(words, COUNT(words), text, SPAN_OTHER);
}

enum span_direction span_direction_of_kernel(const char *name)
{
    char text[NAME_BYTES];
    plain(name, text);
    for (unsigned i = 0; i < COUNT(direction_words); i++)
        if (strstr(text, direction_words[i].word) != NULL)
            return direction_words[i].direction;
    return SPAN_EITHER;
}

static enum span_role role_by(const struct role_word *of, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strstr(name, of[i].word) != NULL)
            return of[i].role;
    return SPAN_ANY;
}

enum span_role span_role_of_kernel(const char *name)
{
    const enum span_kind kind = span_kind_of_kernel(name);
    char text[NAME_BYTES];
    plain(name, text);
    if (kind == SPAN_GEMM)
        return role_by(product_roles, COUNT(product_roles), text);
    if (kind == SPAN_ALL_TO_ALL)
        return role_by(exchange_roles, COUNT(exchange_roles), text);
    return SPAN_ANY;
}

const struct span_told *span_told(struct span_names *names, const char *name)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    struct span_told *told = &names->told[hash % SPAN_NAMES_KEPT];
    if (told->name == NULL || strcmp(told->name, name) != 0)
        *told = (struct span_told){name, span_kind_of_kernel(name), span_direction_of_kernel(name),
                                   span_role_of_kernel(name)};
    return told;
}

enum span_kind span_kind_of_simulated(const char *name, double flops)
{
    static const struct span_word simulated[] = {
        {"gradient norm", SPAN_OPTIMIZER}, /* beside "norm gradient", of a layer */
        {"optimizer", SPAN_OPTIMIZER},
        {"norm", SPAN_NORM}};
    if (flops > 0.0)
        return strstr(name, "attention") != NULL ? SPAN_ATTENTION : SPAN_GEMM;
    return kind_by(simulated, COUNT(simulated), name, SPAN_ELEMENTWISE);
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
        {"expert_exchange", SPAN_ALL_TO_ALL}, /* relayed by nodes, as DeepEP does */
    };
    for (unsigned i = 0; i < COUNT(operations); i++)
        if (strcmp(operations[i].word, operation) == 0)
            return operations[i].kind;
    return SPAN_COMMUNICATION;
}
