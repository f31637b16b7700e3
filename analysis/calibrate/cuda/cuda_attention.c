/* cuda_attention.c - the forward pass of fused attention by cuDNN's graph: scores, scale, causal
 * mask, softmax with its statistics for the backward pass, values; one kernel where the library has
 * one (NVIDIA, cuDNN developer guide, Graph API: fused flash attention forward). Tensors lie as
 * batch, sequence, heads, head size. The backward pass is not in this version: such points are
 * answered so, and the model stays for them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/calibrate/cuda/cuda_parts.h"

#ifdef ORRERY_CUDNN
#include <cudnn.h>

enum {
    DESCRIPTORS_MAX = 64,
    OPERATIONS_MAX = 24,
    CONFIGURATIONS_MAX = 4,
    DIMENSIONS = 4
};
/* Unique ids of the tensors that a caller gives; those inside count from VIRTUAL. */
enum tensor_uid {
    TENSOR_QUERY = 1,
    TENSOR_KEY,
    TENSOR_VALUE,
    TENSOR_OUTPUT,
    TENSOR_STATISTICS,
    TENSOR_SCALE,
    TENSOR_LEAST,
    TENSOR_VIRTUAL
};
typedef cudnnBackendDescriptor_t descriptor_ref;

struct cuda_attention_work {
    cudnnHandle_t handle;
    descriptor_ref made[DESCRIPTORS_MAX]; /* to be destroyed, in the order of making */
    unsigned made_count;
    descriptor_ref operations[OPERATIONS_MAX];
    unsigned operation_count;
    descriptor_ref plan;
    int64_t next_uid, workspace_bytes;
    void *workspace;
    float scale, least;
    size_t offsets[TENSOR_STATISTICS + 1], bytes; /* of the tensors in a copy of the operands */
    struct error *error;
    enum device_answer answer; /* the first that was not DEVICE_DONE */
};

void cuda_attention_version(char *out, size_t room)
{
    snprintf(out, room, "cudnn %zu", cudnnGetVersion());
}

/* Keeps the first failure; says whether all is well. */
static bool well(struct cuda_attention_work *w, cudnnStatus_t code, const char *what)
{
    if (w->answer != DEVICE_DONE)
        return false;
    if (code == CUDNN_STATUS_SUCCESS)
        return true;
    error_set(w->error, "cuDNN, %s: %s", what, cudnnGetErrorString(code));
    w->answer = code >= CUDNN_STATUS_NOT_SUPPORTED && code < CUDNN_STATUS_INTERNAL_ERROR
                    ? DEVICE_UNSUPPORTED
                    : DEVICE_FAILED;
    return false;
}

static descriptor_ref make(struct cuda_attention_work *w, cudnnBackendDescriptorType_t type,
                           const char *what)
{
    descriptor_ref out = NULL;
    if (w->made_count == DESCRIPTORS_MAX) {
        well(w, CUDNN_STATUS_INTERNAL_ERROR, "too many descriptors");
        return NULL;
    }
    if (!well(w, cudnnBackendCreateDescriptor(type, &out), what))
        return NULL;
    w->made[w->made_count++] = out;
    return out;
}

static void set(struct cuda_attention_work *w, descriptor_ref of, cudnnBackendAttributeName_t name,
                cudnnBackendAttributeType_t type, int64_t count, const void *value)
{
    if (w->answer == DEVICE_DONE)
        well(w, cudnnBackendSetAttribute(of, name, type, count, value), "an attribute");
}

static void set_one(struct cuda_attention_work *w, descriptor_ref of,
                    cudnnBackendAttributeName_t name, descriptor_ref value)
{
    set(w, of, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value);
}

static void finish(struct cuda_attention_work *w, descriptor_ref of, const char *what)
{
    if (w->answer == DEVICE_DONE)
        well(w, cudnnBackendFinalize(of), what);
}

struct tensor_spec {
    cudnnDataType_t type;
    int64_t uid; /* TENSOR_VIRTUAL: an inner one */
    int64_t sizes[DIMENSIONS], strides[DIMENSIONS];
};

static descriptor_ref tensor(struct cuda_attention_work *w, const struct tensor_spec *spec)
{
    descriptor_ref out = make(w, CUDNN_BACKEND_TENSOR_DESCRIPTOR, "a tensor");
    const bool inner = spec->uid >= TENSOR_VIRTUAL;
    const bool value = spec->uid == TENSOR_SCALE || spec->uid == TENSOR_LEAST;
    const int64_t uid = inner ? w->next_uid++ : spec->uid, alignment = 16;
    set(w, out, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &spec->type);
    set(w, out, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, DIMENSIONS, spec->sizes);
    set(w, out, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, DIMENSIONS, spec->strides);
    set(w, out, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1, &uid);
    set(w, out, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1, &alignment);
    set(w, out, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1, &inner);
    set(w, out, CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, 1, &value);
    finish(w, out, "a tensor");
    return out;
}

/* An inner tensor, packed, of these four sizes. */
static descriptor_ref inner(struct cuda_attention_work *w, cudnnDataType_t type,
                            const int64_t sizes[DIMENSIONS])
{
    struct tensor_spec spec = {.type = type, .uid = TENSOR_VIRTUAL};
    int64_t stride = 1;
    for (int i = DIMENSIONS - 1; i >= 0; i--) {
        spec.sizes[i] = sizes[i];
        spec.strides[i] = stride;
        stride *= sizes[i];
    }
    return tensor(w, &spec);
}

static descriptor_ref scalar(struct cuda_attention_work *w, int64_t uid)
{
    return tensor(w, &(struct tensor_spec){CUDNN_DATA_FLOAT, uid, {1, 1, 1, 1}, {1, 1, 1, 1}});
}

static void operation(struct cuda_attention_work *w, descriptor_ref of, const char *what)
{
    finish(w, of, what);
    if (w->answer == DEVICE_DONE)
        w->operations[w->operation_count++] = of;
}

struct pointwise_operands {
    descriptor_ref x, b, t, y; /* NULL: it takes none */
    int64_t axis;              /* of indices; -1: none */
};

static void pointwise(struct cuda_attention_work *w, cudnnPointwiseMode_t mode,
                      const struct pointwise_operands *o)
{
    const cudnnDataType_t precision = CUDNN_DATA_FLOAT;
    descriptor_ref how = make(w, CUDNN_BACKEND_POINTWISE_DESCRIPTOR, "a pointwise mode");
    set(w, how, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
    set(w, how, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1, &precision);
    if (o->axis >= 0)
        set(w, how, CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, 1, &o->axis);
    finish(w, how, "a pointwise mode");
    descriptor_ref out = make(w, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, "pointwise");
    set_one(w, out, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, how);
    set_one(w, out, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, o->x);
    if (o->b != NULL)
        set_one(w, out, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, o->b);
    if (o->t != NULL)
        set_one(w, out, CUDNN_ATTR_OPERATION_POINTWISE_TDESC, o->t);
    set_one(w, out, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, o->y);
    operation(w, out, "pointwise");
}

static void multiply(struct cuda_attention_work *w, descriptor_ref a, descriptor_ref b,
                     descriptor_ref c)
{
    const cudnnDataType_t precision = CUDNN_DATA_FLOAT;
    descriptor_ref how = make(w, CUDNN_BACKEND_MATMUL_DESCRIPTOR, "a product's mode");
    set(w, how, CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &precision);
    finish(w, how, "a product's mode");
    descriptor_ref out = make(w, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, "a product");
    set_one(w, out, CUDNN_ATTR_OPERATION_MATMUL_ADESC, a);
    set_one(w, out, CUDNN_ATTR_OPERATION_MATMUL_BDESC, b);
    set_one(w, out, CUDNN_ATTR_OPERATION_MATMUL_CDESC, c);
    set_one(w, out, CUDNN_ATTR_OPERATION_MATMUL_DESC, how);
    operation(w, out, "a product");
}

static void reduce(struct cuda_attention_work *w, cudnnReduceTensorOp_t which, descriptor_ref x,
                   descriptor_ref y)
{
    const cudnnDataType_t precision = CUDNN_DATA_FLOAT;
    descriptor_ref how = make(w, CUDNN_BACKEND_REDUCTION_DESCRIPTOR, "a reduction's mode");
    set(w, how, CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &which);
    set(w, how, CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1, &precision);
    finish(w, how, "a reduction's mode");
    descriptor_ref out = make(w, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, "a reduction");
    set_one(w, out, CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x);
    set_one(w, out, CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y);
    set_one(w, out, CUDNN_ATTR_OPERATION_REDUCTION_DESC, how);
    operation(w, out, "a reduction");
}

/* Scores whose key comes behind the query become the least number. */
static descriptor_ref mask(struct cuda_attention_work *w, descriptor_ref scores,
                           const int64_t sizes[DIMENSIONS])
{
    descriptor_ref row = inner(w, CUDNN_DATA_INT32, sizes),
                   column = inner(w, CUDNN_DATA_INT32, sizes),
                   seen = inner(w, CUDNN_DATA_BOOLEAN, sizes),
                   out = inner(w, CUDNN_DATA_FLOAT, sizes), least = scalar(w, TENSOR_LEAST);
    pointwise(w, CUDNN_POINTWISE_GEN_INDEX,
              &(struct pointwise_operands){.x = scores, .y = row, .axis = 2});
    pointwise(w, CUDNN_POINTWISE_GEN_INDEX,
              &(struct pointwise_operands){.x = scores, .y = column, .axis = 3});
    pointwise(w, CUDNN_POINTWISE_CMP_GE,
              &(struct pointwise_operands){.x = row, .b = column, .y = seen, .axis = -1});
    pointwise(
        w, CUDNN_POINTWISE_BINARY_SELECT,
        &(struct pointwise_operands){.x = scores, .b = least, .t = seen, .y = out, .axis = -1});
    return out;
}

/* exp(s - max) / sum, and max + log(sum) for the backward pass. */
static descriptor_ref softmax(struct cuda_attention_work *w, descriptor_ref scores,
                              const int64_t sizes[DIMENSIONS], cudnnDataType_t type,
                              descriptor_ref statistics)
{
    const int64_t rows[DIMENSIONS] = {sizes[0], sizes[1], sizes[2], 1};
    descriptor_ref most = inner(w, CUDNN_DATA_FLOAT, rows), sum = inner(w, CUDNN_DATA_FLOAT, rows),
                   logarithm = inner(w, CUDNN_DATA_FLOAT, rows),
                   shifted = inner(w, CUDNN_DATA_FLOAT, sizes),
                   powers = inner(w, CUDNN_DATA_FLOAT, sizes), out = inner(w, type, sizes);
    reduce(w, CUDNN_REDUCE_TENSOR_MAX, scores, most);
    pointwise(w, CUDNN_POINTWISE_SUB,
              &(struct pointwise_operands){.x = scores, .b = most, .y = shifted, .axis = -1});
    pointwise(w, CUDNN_POINTWISE_EXP,
              &(struct pointwise_operands){.x = shifted, .y = powers, .axis = -1});
    reduce(w, CUDNN_REDUCE_TENSOR_ADD, powers, sum);
    pointwise(w, CUDNN_POINTWISE_LOG,
              &(struct pointwise_operands){.x = sum, .y = logarithm, .axis = -1});
    pointwise(w, CUDNN_POINTWISE_ADD,
              &(struct pointwise_operands){.x = most, .b = logarithm, .y = statistics, .axis = -1});
    pointwise(w, CUDNN_POINTWISE_DIV,
              &(struct pointwise_operands){.x = powers, .b = sum, .y = out, .axis = -1});
    return out;
}

static struct tensor_spec by_head(const struct calibrate_point *p, cudnnDataType_t type,
                                  int64_t uid, int64_t tokens, int64_t heads, int64_t size)
{
    return (struct tensor_spec){type,
                                uid,
                                {(int64_t)p->size[0], heads, tokens, size},
                                {tokens * heads * size, size, heads * size, 1}};
}

static void draw(struct cuda_attention_work *w, const struct calibrate_point *p)
{
    const int64_t queries = (int64_t)p->size[1], keys = (int64_t)p->size[2],
                  heads = (int64_t)p->size[3], kv_heads = (int64_t)p->size[4],
                  size = (int64_t)p->size[5], value = (int64_t)p->size[6];
    const int64_t sizes[DIMENSIONS] = {(int64_t)p->size[0], heads, queries, keys};
    const cudnnDataType_t type =
        strcmp(p->type, "fp16") == 0 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16;
    struct tensor_spec q = by_head(p, type, TENSOR_QUERY, queries, heads, size),
                       k = by_head(p, type, TENSOR_KEY, keys, kv_heads, size),
                       v = by_head(p, type, TENSOR_VALUE, keys, kv_heads, value),
                       o = by_head(p, type, TENSOR_OUTPUT, queries, heads, value),
                       s = {CUDNN_DATA_FLOAT,
                            TENSOR_STATISTICS,
                            {sizes[0], heads, queries, 1},
                            {heads * queries, queries, 1, 1}};
    const int64_t stride = k.strides[2];
    k.sizes[2] = size; /* its transpose */
    k.sizes[3] = keys;
    k.strides[2] = 1;
    k.strides[3] = stride;
    descriptor_ref query = tensor(w, &q), key = tensor(w, &k), values = tensor(w, &v),
                   output = tensor(w, &o), statistics = tensor(w, &s),
                   scale = scalar(w, TENSOR_SCALE), scores = inner(w, CUDNN_DATA_FLOAT, sizes),
                   scaled = inner(w, CUDNN_DATA_FLOAT, sizes);
    multiply(w, query, key, scores);
    pointwise(w, CUDNN_POINTWISE_MUL,
              &(struct pointwise_operands){.x = scores, .b = scale, .y = scaled, .axis = -1});
    if (p->causal)
        scaled = mask(w, scaled, sizes);
    multiply(w, softmax(w, scaled, sizes, type, statistics), values, output);
}

/* The first configuration that the library's heuristic offers and can build. */
static void plan(struct cuda_attention_work *w)
{
    const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
    descriptor_ref found[CONFIGURATIONS_MAX];
    int64_t count = 0;
    descriptor_ref graph = make(w, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, "the graph");
    set(w, graph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1, &w->handle);
    set(w, graph, CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, w->operation_count,
        w->operations);
    finish(w, graph, "the graph");
    descriptor_ref heuristic = make(w, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, "the heuristic");
    set_one(w, heuristic, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
    set(w, heuristic, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
    finish(w, heuristic, "the heuristic");
    for (unsigned i = 0; i < CONFIGURATIONS_MAX; i++)
        found[i] = make(w, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, "a configuration");
    if (w->answer == DEVICE_DONE)
        well(w,
             cudnnBackendGetAttribute(heuristic, CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                      CUDNN_TYPE_BACKEND_DESCRIPTOR, CONFIGURATIONS_MAX, &count,
                                      found),
             "configurations");
    for (int64_t i = 0; i < count && i < CONFIGURATIONS_MAX && w->answer == DEVICE_DONE; i++) {
        descriptor_ref trial = make(w, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, "a plan");
        set(w, trial, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &w->handle);
        set_one(w, trial, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, found[i]);
        if (w->answer == DEVICE_DONE && cudnnBackendFinalize(trial) == CUDNN_STATUS_SUCCESS) {
            w->plan = trial;
            return;
        }
    }
    well(w, CUDNN_STATUS_NOT_SUPPORTED, "no kernel for it on this card");
}

static enum device_answer launch(struct cuda_machine *m, unsigned turn, struct error *error)
{
    struct cuda_attention_work *w = m->work.own;
    char *at = m->work.operand[turn];
    int64_t uids[] = {TENSOR_QUERY,      TENSOR_KEY,   TENSOR_VALUE, TENSOR_OUTPUT,
                      TENSOR_STATISTICS, TENSOR_SCALE, TENSOR_LEAST};
    void *pointers[] = {at + w->offsets[TENSOR_QUERY],
                        at + w->offsets[TENSOR_KEY],
                        at + w->offsets[TENSOR_VALUE],
                        at + w->offsets[TENSOR_OUTPUT],
                        at + w->offsets[TENSOR_STATISTICS],
                        &w->scale,
                        &w->least};
    const int64_t given = m->work.point.causal ? 7 : 6;
    descriptor_ref pack = NULL;
    w->error = error;
    if (!well(w, cudnnBackendCreateDescriptor(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, &pack),
              "a pack"))
        return w->answer;
    set(w, pack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, given, pointers);
    set(w, pack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, given, uids);
    set(w, pack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &w->workspace);
    finish(w, pack, "a pack");
    if (w->answer == DEVICE_DONE)
        well(w, cudnnBackendExecute(w->handle, w->plan, pack), "attention");
    cudnnBackendDestroyDescriptor(pack);
    return w->answer;
}

static void end(struct cuda_machine *m)
{
    struct cuda_attention_work *w = m->work.own;
    while (w->made_count > 0)
        cudnnBackendDestroyDescriptor(w->made[--w->made_count]);
    if (w->handle != NULL)
        cudnnDestroy(w->handle);
    free(w);
}

/* Where each tensor begins in a copy of the operands. */
static void lay_out(struct cuda_attention_work *w, const struct calibrate_point *p)
{
    const double element = point_type_bytes(p->type), *s = p->size;
    const double bytes[] = {0.0,
                            s[0] * s[1] * s[3] * s[5] * element,
                            s[0] * s[2] * s[4] * s[5] * element,
                            s[0] * s[2] * s[4] * s[6] * element,
                            s[0] * s[1] * s[3] * s[6] * element,
                            s[0] * s[1] * s[3] * 4.0};
    for (unsigned i = TENSOR_QUERY; i <= TENSOR_STATISTICS; i++) {
        w->offsets[i] = w->bytes;
        w->bytes += ((size_t)bytes[i] + 255) / 256 * 256;
    }
}

static enum device_answer take_memory(struct cuda_machine *m, struct cuda_attention_work *w,
                                      struct error *error)
{
    int64_t count = 0;
    if (!well(w,
              cudnnBackendGetAttribute(w->plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,
                                       CUDNN_TYPE_INT64, 1, &count, &w->workspace_bytes),
              "the workspace"))
        return w->answer;
    if (w->workspace_bytes > 0) {
        w->workspace = cuda_take(m, (size_t)w->workspace_bytes);
        if (w->workspace == NULL) {
            error_set(error, "the card has no room for a workspace");
            return DEVICE_FAILED;
        }
    }
    lay_out(w, &m->work.point);
    return cuda_operands(m, w->bytes, m->work.point.type, error);
}

enum device_answer cuda_attention(struct cuda_machine *m, struct error *error)
{
    const struct calibrate_point *p = &m->work.point;
    bool half = strcmp(p->type, "bf16") == 0 || strcmp(p->type, "fp16") == 0;
    if (strcmp(p->name, "cudnn") != 0 || !half || p->backward) {
        error_set(error, "of attention this version measures cuDNN's forward pass in 16 bit alone");
        return DEVICE_UNSUPPORTED;
    }
    struct cuda_attention_work *w = calloc(1, sizeof *w);
    if (w == NULL) {
        error_set(error, "the host has no memory left");
        return DEVICE_FAILED;
    }
    m->work.own = w;
    m->work.end = end;
    m->work.by_graph = true;
    *w = (struct cuda_attention_work){.next_uid = TENSOR_VIRTUAL,
                                      .scale = 1.0f / sqrtf((float)p->size[5]),
                                      .least = -INFINITY,
                                      .error = error};
    if (well(w, cudnnCreate(&w->handle), "opening it") &&
        well(w, cudnnSetStream(w->handle, m->stream), "its stream")) {
        draw(w, p);
        plan(w);
    }
    if (w->answer == DEVICE_DONE)
        w->answer = take_memory(m, w, error);
    if (w->answer == DEVICE_DONE)
        m->work.launch = launch;
    return w->answer;
}

#else

void cuda_attention_version(char *out, size_t room)
{
    snprintf(out, room, "no cudnn");
}

enum device_answer cuda_attention(struct cuda_machine *m, struct error *error)
{
    (void)m;
    error_set(error, "this program was built without cuDNN");
    return DEVICE_UNSUPPORTED;
}

#endif
