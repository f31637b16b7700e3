/* What families of models differ in: the number of norms, norms of queries and keys, biases of the
 * attention alone, the gate. Shapes are of Llama 3 70B but for that. */
#include <math.h>
#include <string.h>

#include "models/workload/transformer.h"
#include "tests/models/gpu/cards.h"
#include "tests/test.h"

struct bench {
    struct model_shape model;
    struct software_profile software;
    struct layer_context context;
    struct layer layer;
};

static void bench_llama(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->model = (struct model_shape){.layers = 4,
                                    .hidden = 8192,
                                    .attention.heads = 64,
                                    .attention.kv_heads = 8,
                                    .ffn_hidden = 28672,
                                    .vocabulary = 51200,
                                    .ffn = FFN_SWIGLU,
                                    .norm.kind = NORM_RMS,
                                    .position = POSITION_ROPE};
    transformer_complete(&b->model);
    b->software = profile_fused();
    b->context = (struct layer_context){.model = &b->model,
                                        .software = &b->software,
                                        .precision = precision_find("bf16"),
                                        .attention = ATTENTION_FLASH2,
                                        .microbatch = 1,
                                        .sequence = 8192,
                                        .tp = 1,
                                        .cp = 1,
                                        .causal = true};
}

static double saved_bytes(const struct layer *layer)
{
    double sum = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned j = 0; j < layer->segments[i].saved.count; j++)
            sum += layer->segments[i].saved.tensors[j].bytes;
    return sum;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static const struct kernel *kernel_named(const struct layer *layer, const char *name, bool dgrad)
{
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        const struct kernel *rows = dgrad ? s->dgrad.kernels : s->forward.kernels;
        unsigned count = dgrad ? s->dgrad.count : s->forward.count;
        for (unsigned j = 0; j < count; j++)
            if (strcmp(rows[j].name, name) == 0)
                return &rows[j];
    }
    return NULL;
}

/* Norms beyond two, and those of queries and keys: parameters, traffic, launches, what is kept. */
static void test_norms(void **state)
{
    struct bench b;
    bench_llama(&b);
    transformer_layer(&b.context, &b.layer);
    double tokens = 8192, hidden = 8192, query = 8192, key = 1024;
    double kept = saved_bytes(&b.layer), parameters = b.layer.parameters;
    double one_norm = kernel_named(&b.layer, "norm", false)->bytes;
    double launches = kernel_named(&b.layer, "norm", false)->launches;
    assert_true(near(one_norm, tokens * hidden * b.software.block.norm_forward_bytes));
    assert_true(near(parameters, transformer_layer_parameters(&b.model, 0)));
    b.model.norm.count = 4;
    b.model.norm.qk_norms = true;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(b.layer.parameters, parameters + 2 * hidden + 2 * 128));
    assert_true(near(b.layer.parameters, transformer_layer_parameters(&b.model, 0)));
    assert_true(near(kernel_named(&b.layer, "norm", false)->bytes, 2 * one_norm));
    assert_true(near(kernel_named(&b.layer, "norm", false)->launches, 2 * launches));
    const struct software_profile *p = &b.software;
    const struct kernel *forward = kernel_named(&b.layer, "qk norm and rope", false);
    const struct kernel *back = kernel_named(&b.layer, "qk norm and rope gradient", true);
    assert_true(forward != NULL && back != NULL);
    double both = tokens * (query + key);
    assert_true(
        near(forward->bytes, both * (p->block.rope_forward_bytes + p->block.norm_forward_bytes)));
    assert_true(
        near(back->bytes, both * (p->block.rope_backward_bytes + p->block.norm_backward_bytes)));
    assert_true(near(forward->launches, p->block.rope_launches + 2 * p->block.norm_launches));
    assert_true(p->layer.save_norm_input);
    assert_true(near(saved_bytes(&b.layer), kept + 2 * tokens * (2 * hidden + query + key)));
}

/* Norms of whole queries and keys have a scale for each element, split with the heads; what they
 * move does not change. */
static void test_whole_norms(void **state)
{
    struct bench b;
    bench_llama(&b);
    transformer_layer(&b.context, &b.layer);
    const double without = b.layer.parameters;
    b.model.norm.qk_norms_whole = true;
    transformer_complete(&b.model);
    transformer_layer(&b.context, &b.layer);
    assert_true(b.model.norm.qk_norms && near(b.layer.parameters, without + 8192 + 1024));
    assert_true(near(b.layer.parameters, transformer_layer_parameters(&b.model, 0)));
    const double moved = kernel_named(&b.layer, "qk norm and rope", false)->bytes;
    b.context.tp = 4;
    transformer_layer(&b.context, &b.layer);
    const double split = b.layer.parameters;
    b.model.norm.qk_norms_whole = false;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(split, b.layer.parameters + (8192 + 1024) / 4.0 - 2 * 128));
    b.context.tp = 1;
    transformer_layer(&b.context, &b.layer);
    assert_true(kernel_named(&b.layer, "qk norm and rope", false)->bytes == moved);
}

/* A rank of a tensor parallel group holds its part of column biases, and all of the others. */
static void test_attention_biases(void **state)
{
    struct bench b;
    bench_llama(&b);
    transformer_layer(&b.context, &b.layer);
    double without = b.layer.parameters;
    b.model.attention.biases = ATTENTION_BIASES_QKV;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(b.layer.parameters, without + 8192 + 2 * 1024));
    b.model.attention.biases = ATTENTION_BIASES_ALL;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(b.layer.parameters, without + 2 * 8192 + 2 * 1024));
    assert_true(near(b.layer.parameters, transformer_layer_parameters(&b.model, 0)));
    b.context.tp = 4;
    transformer_layer(&b.context, &b.layer);
    double split = b.layer.parameters;
    b.model.attention.biases = ATTENTION_BIASES_NONE;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(split, b.layer.parameters + (8192 + 2 * 1024) / 4.0 + 8192));
}

/* A gated block with gelu is one with silu to everything that is counted. */
static void test_geglu(void **state)
{
    struct bench b;
    bench_llama(&b);
    transformer_layer(&b.context, &b.layer);
    double parameters = b.layer.parameters, kept = saved_bytes(&b.layer);
    b.model.ffn = FFN_GEGLU;
    transformer_layer(&b.context, &b.layer);
    assert_true(b.layer.parameters == parameters && saved_bytes(&b.layer) == kept);
    b.model.ffn = FFN_GELU;
    transformer_layer(&b.context, &b.layer);
    assert_true(near(b.layer.parameters, parameters - 8192.0 * 28672.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norms),
        cmocka_unit_test(test_whole_norms),
        cmocka_unit_test(test_attention_biases),
        cmocka_unit_test(test_geglu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
