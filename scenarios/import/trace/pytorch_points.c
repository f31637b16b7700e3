#include "scenarios/import/trace/pytorch_points.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(rows) (sizeof(rows) / sizeof(rows)[0])
#define BF16 "bf16"

static const struct pytorch_operand *operand(const struct pytorch_event *event, unsigned index)
{
    static const struct pytorch_operand none = {.type = "", .value = ""};
    return event->operands != NULL && index < event->operands->count ? &event->operands->of[index]
                                                                     : &none;
}

static const char *type_of(const struct pytorch_operand *o)
{
    static const char *const types[][2] = {
        {"c10::BFloat16", BF16}, {"c10::Half", "fp16"}, {"float", "fp32"}};
    for (unsigned i = 0; i < COUNT(types); i++)
        if (strcmp(types[i][0], o->type) == 0)
            return types[i][1];
    return "";
}

static bool is_half(const char *type)
{
    return strcmp(type, BF16) == 0 || strcmp(type, "fp16") == 0;
}

static double elements(const struct pytorch_operand *o)
{
    double count = o->rank > 0 ? 1.0 : 0.0;
    for (unsigned i = 0; i < o->rank; i++)
        count *= o->size[i];
    return count;
}

static bool same_sizes(const struct pytorch_operand *a, const struct pytorch_operand *b)
{
    return a->rank > 0 && a->rank == b->rank &&
           memcmp(a->size, b->size, a->rank * sizeof *a->size) == 0;
}

static void name_point(struct calibrate_point *out, const char *name, const char *type)
{
    snprintf(out->name, sizeof out->name, "%s", name);
    snprintf(out->type, sizeof out->type, "%s", type);
}

static const struct product_form {
    const char *name;
    unsigned first, rank; /* of its operands */
} products[] = {
    {"aten::mm", 0, 2}, {"aten::addmm", 1, 2}, {"aten::bmm", 0, 3}, {"aten::baddbmm", 1, 3}};

/* A product whose sizes fit, of any number format. */
static bool product_of(const struct pytorch_event *event, struct calibrate_point *out)
{
    for (unsigned i = 0; i < COUNT(products); i++) {
        const struct product_form *form = &products[i];
        if (strcmp(form->name, event->name) != 0)
            continue;
        const unsigned x = form->rank - 2;
        const struct pytorch_operand *a = operand(event, form->first);
        const struct pytorch_operand *b = operand(event, form->first + 1);
        if (a->rank != form->rank || b->rank != form->rank || a->size[x + 1] != b->size[x] ||
            (x > 0 && a->size[0] != b->size[0]) || strcmp(type_of(a), type_of(b)) != 0)
            return false;
        *out = (struct calibrate_point){.kind = POINT_GEMM};
        name_point(out, "-", type_of(a));
        memcpy(out->size,
               (double[]){a->size[x], b->size[x + 1], a->size[x + 1], x ? a->size[0] : 1.0},
               4 * sizeof *out->size);
        return true;
    }
    return false;
}

/* Where an operator of attention has its inputs. */
struct attention_form {
    const char *name, *library;
    bool backward, heads_first;      /* batch, heads, tokens, size; else tokens before heads */
    unsigned query, dropout, causal; /* keys and values stand behind the query */
    unsigned absent[3];              /* masks, packed sequences: of no tensor; 0: no more */
    unsigned window;                 /* two behind another, -1: none; 0: it has no such */
};
static const struct attention_form forms[] = {
    {"aten::_flash_attention_forward", "flash2", false, false, 0, 7, 8, {3, 4, 0}, 0},
    {"aten::_flash_attention_backward", "flash2", true, false, 1, 10, 11, {6, 7, 0}, 0},
    {"aten::_scaled_dot_product_cudnn_attention", "cudnn", false, true, 0, 5, 6, {3, 0, 0}, 0},
    {"aten::_cudnn_attention_forward", "cudnn", false, true, 0, 9, 10, {3, 4, 5}, 0},
    {"aten::_scaled_dot_product_cudnn_attention_backward",
     "cudnn",
     true,
     true,
     1,
     13,
     14,
     {8, 9, 10},
     0},
    {"aten::_cudnn_attention_backward", "cudnn", true, true, 1, 13, 14, {8, 9, 10}, 0},
    {"flash_attn::_flash_attn_forward", "flash2", false, false, 0, 3, 5, {9, 0, 0}, 6},
    {"flash_attn::_flash_attn_backward", "flash2", true, false, 1, 9, 11, {15, 0, 0}, 12},
};

static bool is_plain(const struct pytorch_event *event, const struct attention_form *form)
{
    for (unsigned i = 0; i < COUNT(form->absent) && form->absent[i] > 0; i++)
        if (operand(event, form->absent[i])->rank > 0)
            return false;
    for (unsigned i = 0; form->window > 0 && i < 2; i++)
        if (strcmp(operand(event, form->window + i)->value, "-1") != 0)
            return false;
    const char *dropout = operand(event, form->dropout)->value;
    return *dropout != '\0' && strtod(dropout, NULL) == 0.0;
}

static bool attention_sizes(const struct pytorch_event *event, const struct attention_form *form,
                            struct calibrate_point *out)
{
    const struct pytorch_operand *q = operand(event, form->query);
    const struct pytorch_operand *k = operand(event, form->query + 1);
    const struct pytorch_operand *v = operand(event, form->query + 2);
    const unsigned tokens = form->heads_first ? 2 : 1, heads = form->heads_first ? 1 : 2;
    if (q->rank != 4 || k->rank != 4 || v->rank != 4 || q->size[0] != k->size[0] ||
        k->size[0] != v->size[0] || k->size[tokens] != v->size[tokens] ||
        k->size[heads] != v->size[heads] || q->size[3] != k->size[3])
        return false;
    memcpy(out->size,
           (double[]){q->size[0], q->size[tokens], k->size[tokens], q->size[heads], k->size[heads],
                      q->size[3], v->size[3]},
           sizeof out->size);
    return true;
}

static bool attention_of(const struct pytorch_event *event, struct calibrate_point *out)
{
    for (unsigned i = 0; i < COUNT(forms); i++) {
        const struct attention_form *form = &forms[i];
        if (strcmp(form->name, event->name) != 0)
            continue;
        const char *causal = operand(event, form->causal)->value;
        const char *type = type_of(operand(event, form->query));
        const bool masked = strcmp(causal, "True") == 0;
        *out = (struct calibrate_point){
            .kind = POINT_ATTENTION, .causal = masked, .backward = form->backward};
        name_point(out, form->library, type);
        return is_half(type) && (masked || strcmp(causal, "False") == 0) && is_plain(event, form) &&
               attention_sizes(event, form, out);
    }
    return false;
}

/* Operators that stream, and how often they must read or write each element of an input. */
static const struct stream_form {
    const char *name, *operator;
    unsigned input;
    double times;
} streams[] = {
    {"aten::native_layer_norm", "norm", 0, 2.0},
    {"aten::_fused_rms_norm", "norm", 0, 2.0},
    {"aten::native_layer_norm_backward", "norm-gradient", 1, 3.0},
    {"aten::_fused_rms_norm_backward", "norm-gradient", 1, 3.0},
    {"aten::gelu", "activation", 0, 2.0},
    {"aten::silu", "activation", 0, 2.0},
    {"aten::gelu_backward", "activation-gradient", 1, 3.0},
    {"aten::silu_backward", "activation-gradient", 1, 3.0},
};

static bool stream_of(const struct pytorch_event *event, struct calibrate_point *out)
{
    *out = (struct calibrate_point){.kind = POINT_MEMORY};
    for (unsigned i = 0; i < COUNT(streams); i++) {
        const struct pytorch_operand *o = operand(event, streams[i].input);
        if (strcmp(streams[i].name, event->name) != 0 || strcmp(type_of(o), BF16) != 0)
            continue;
        name_point(out, streams[i].operator, BF16);
        out->size[0] = streams[i].times * elements(o) * point_type_bytes(BF16);
        return true;
    }
    return false;
}

/* Those whose traffic hangs on two inputs or on a value. */
static bool mixed_of(const struct pytorch_event *event, struct calibrate_point *out)
{
    const struct pytorch_operand *a = operand(event, 0), *b = operand(event, 1);
    const char *x = type_of(a), *y = type_of(b);
    const bool half = strcmp(x, BF16) == 0;
    *out = (struct calibrate_point){.kind = POINT_MEMORY};
    if (strcmp(event->name, "aten::add") == 0 || strcmp(event->name, "aten::add_") == 0) {
        name_point(out, "add", BF16);
        out->size[0] = 3.0 * elements(a) * point_type_bytes(BF16);
        return half && strcmp(x, y) == 0 && same_sizes(a, b);
    }
    if (strcmp(event->name, "aten::_softmax") == 0) {
        name_point(out, "softmax", BF16);
        out->size[0] = 2.0 * elements(a) * point_type_bytes(BF16);
        return half && strcmp(operand(event, 2)->value, "False") == 0;
    }
    if (strcmp(event->name, "aten::embedding") == 0) {
        name_point(out, "embedding", BF16);
        out->size[0] = 2.0 * elements(b) * a->size[1] * point_type_bytes(BF16);
        return half && a->rank == 2;
    }
    if (strcmp(event->name, "aten::copy_") == 0) {
        name_point(out, "cast", BF16);
        out->size[0] = elements(a) * (point_type_bytes(x) + point_type_bytes(y));
        return (half || strcmp(y, BF16) == 0) && strcmp(x, y) != 0 && *x != '\0' && *y != '\0' &&
               same_sizes(a, b);
    }
    return false;
}

bool pytorch_point_operator(const struct pytorch_event *event, struct calibrate_point *out)
{
    if (event->category != PYTORCH_OPERATOR || event->operands == NULL)
        return false;
    const bool known = product_of(event, out) ? is_half(out->type)
                                              : attention_of(event, out) || stream_of(event, out) ||
                                                    mixed_of(event, out);
    return known && point_problem(out) == NULL;
}

static bool is_ever_point(const char *name)
{
    static const char *const mixed[] = {"aten::add", "aten::add_", "aten::_softmax",
                                        "aten::embedding", "aten::copy_"};
    bool known = false;
    for (unsigned i = 0; i < COUNT(products); i++)
        known = known || strcmp(products[i].name, name) == 0;
    for (unsigned i = 0; i < COUNT(forms); i++)
        known = known || strcmp(forms[i].name, name) == 0;
    for (unsigned i = 0; i < COUNT(streams); i++)
        known = known || strcmp(streams[i].name, name) == 0;
    for (unsigned i = 0; i < COUNT(mixed); i++)
        known = known || strcmp(mixed[i], name) == 0;
    return known;
}

enum pytorch_left pytorch_point_left(const struct pytorch_event *event)
{
    struct calibrate_point point;
    if (!is_ever_point(event->name))
        return PYTORCH_LEFT_NAME;
    if (event->operands == NULL)
        return PYTORCH_LEFT_SIZES;
    return product_of(event, &point) && strcmp(point.type, "fp32") == 0 ? PYTORCH_LEFT_FP32
                                                                        : PYTORCH_LEFT_FORM;
}

double pytorch_flops(const struct pytorch_event *event)
{
    struct calibrate_point point;
    if (event->operands != NULL && (product_of(event, &point) || attention_of(event, &point)))
        return point_flops(&point);
    return 0.0;
}

const char *pytorch_collective_operation(const char *name)
{
    static const char *const known[][2] = {
        {"allreduce", "all_reduce"},
        {"allreduce_coalesced", "all_reduce"},
        {"_allgather_base", "all_gather"},
        {"all_gather", "all_gather"},
        {"allgather", "all_gather"},
        {"allgather_into_tensor_coalesced", "all_gather"},
        {"_reduce_scatter_base", "reduce_scatter"},
        {"reduce_scatter", "reduce_scatter"},
        {"reduce_scatter_tensor_coalesced", "reduce_scatter"},
        {"all_to_all", "all_to_all"},
        {"broadcast", "broadcast"},
    };
    for (unsigned i = 0; i < COUNT(known); i++)
        if (strcmp(known[i][0], name) == 0)
            return known[i][1];
    return "";
}

static const char *element_type(const char *type)
{
    static const char *const types[][2] = {{"BFloat16", BF16},     {"Half", "fp16"},
                                           {"Float", "fp32"},      {"Float8_e4m3fn", "fp8"},
                                           {"Float8_e5m2", "fp8"}, {"Byte", "fp8"}};
    for (unsigned i = 0; i < COUNT(types); i++)
        if (strcmp(types[i][0], type) == 0)
            return types[i][1];
    return "";
}

double pytorch_collective_bytes(const struct pytorch_collective *c)
{
    const double element = point_type_bytes(element_type(c->type));
    return element * (c->in > c->out ? c->in : c->out);
}

/* Over how many nodes the members "[0, 1, 8, 9]" stand, in rising order; 0: not told whole. */
static double nodes_of(const struct pytorch_collective *c, unsigned gpus_per_node)
{
    double ranks = 0.0, nodes = 0.0;
    long last = -1, node = -1;
    const char *at = c->members + (*c->members == '[');
    while (gpus_per_node > 0 && *at != '\0' && *at != ']') {
        char *end;
        const long rank = strtol(at, &end, 10);
        if (end == at || rank <= last)
            return 0.0;
        nodes += rank / (long)gpus_per_node != node;
        node = rank / (long)gpus_per_node;
        last = rank;
        ranks += 1.0;
        at = end + strspn(end, ", ");
    }
    return ranks == c->ranks ? nodes : 0.0;
}

bool pytorch_point_collective(const struct pytorch_collective *c, unsigned gpus_per_node,
                              struct calibrate_point *out)
{
    const char *operation = pytorch_collective_operation(c->name), *type = element_type(c->type);
    const double nodes = nodes_of(c, gpus_per_node);
    *out = (struct calibrate_point){.kind = POINT_COLLECTIVE};
    if (*operation == '\0' || *type == '\0' || nodes == 0.0 || c->ranks < 2.0)
        return false;
    name_point(out, operation, type);
    memcpy(out->size, (double[]){c->ranks, pytorch_collective_bytes(c), nodes > 1.0 ? nodes : 0.0},
           3 * sizeof *out->size);
    return point_problem(out) == NULL;
}
