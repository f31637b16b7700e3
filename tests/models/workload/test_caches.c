/* What DeepSeek-V3 keeps of a token in a layer with experts, to the byte (arXiv:2412.19437 sections
 * 3.2.3 and 3.3.3): inputs of products in E4M3 with a scale for every 128, the attention's output
 * in E5M6, inputs of SwiGLU in E4M3; norms, up-projections and SwiGLU made again. And what casting
 * them there and back moves. */
#include <math.h>

#include "models/collective/dispatch/dispatch_kind.h"
#include "tests/models/workload/layer_rows.h"

enum {
    TOKENS = 4096,
    H = 7168,
    HEADS = 128,
    V = 128, /* of a value's head */
    LATENTS = 1536 + 512 + 64,
    E = 2048,
    EXPERTS = 256,
    VISITS = 8,
    ON_RANK = 4
};
#define EIGHT (1.0 + 4.0 / 128.0)
#define TWELVE (1.5 + 4.0 / 128.0)

static void deepseek(struct bench *b)
{
    bench_llama(b);
    b->model = (struct model_shape){.layers = 61,
                                    .hidden = H,
                                    .attention.heads = HEADS,
                                    .attention.kv_heads = HEADS,
                                    .attention.head_size = 128,
                                    .ffn_hidden = 18432,
                                    .vocabulary = 129280,
                                    .ffn = FFN_SWIGLU,
                                    .norm.kind = NORM_RMS,
                                    .position = POSITION_ROPE,
                                    .moe.experts = EXPERTS,
                                    .moe.experts_per_token = VISITS,
                                    .moe.ffn_hidden = E,
                                    .moe.shared_experts = 1,
                                    .latent.q_rank = 1536,
                                    .latent.kv_rank = 512,
                                    .latent.rope_head_size = 64,
                                    .latent.v_head_size = V};
    b->software.layer.save_norm_input = true;
    b->software.layer.activation_saved_factor = 1.0;
    b->software.fp8.activation_cache = b->software.fp8.attention_cache = true;
    b->context.precision = precision_find("fp8");
    b->context.fp8_recipe = FP8_BLOCKWISE;
    b->context.transposed_copies = true;
    b->context.microbatch = 1;
    b->context.sequence = TOKENS;
    b->context.experts.ep = EXPERTS / ON_RANK;
    b->context.experts.etp = 1;
    b->context.experts.imbalance = 1.0;
    b->context.experts.dispatch = &dispatch_alltoall;
    b->context.recompute = RECOMPUTE_MODULES;
}

static double kept(const struct layer *layer)
{
    double bytes = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned k = 0; k < layer->segments[i].saved.count; k++)
            if (!layer->segments[i].saved.tensors[k].rebuilt)
                bytes += layer->segments[i].saved.tensors[k].bytes;
    return bytes;
}

/* Bytes of all kernels of a name, forward or of the gradients of inputs, or of weights. */
static double moved(const struct layer *layer, const char *name)
{
    double bytes = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        for (unsigned k = 0; k < s->forward.count; k++)
            bytes +=
                strcmp(s->forward.kernels[k].name, name) == 0 ? s->forward.kernels[k].bytes : 0.0;
        for (unsigned k = 0; k < s->dgrad.count; k++)
            bytes += strcmp(s->dgrad.kernels[k].name, name) == 0 ? s->dgrad.kernels[k].bytes : 0.0;
        for (unsigned k = 0; k < s->wgrad.count; k++)
            bytes += strcmp(s->wgrad.kernels[k].name, name) == 0 ? s->wgrad.kernels[k].bytes : 0.0;
    }
    return bytes;
}

static void near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g is not %.17g", value, wanted);
}

/* Input and residual 14,336 each, latents 4,224, attention 24,576 + 512 and 512 of its rows'
 * statistics, scores and flags of 256 experts, eight rows of 7,392, nine inputs of SwiGLU of 4,224.
 * The input of the shared expert is a norm's output, which is made again. */
static void test_bytes_of_a_token(void **state)
{
    (void)state;
    static struct bench b;
    deepseek(&b);
    transformer_layer(&b.context, &b.layer);
    const double filled = 7.5 * ON_RANK; /* rows, of the multiple of 16 */
    const double token = 14336 + 14336 + 4224 + 24576 + 512 + 512 + 256 * 5 + 8 * 7392 + 9 * 4224;
    near(kept(&b.layer), TOKENS * token + filled * (7392 + 4224));
    assert_true(token == 164160 - 7392 + 160);
    b.software.fp8.attention_cache = false; /* twice: in 16 bits, and a copy of eight */
    transformer_layer(&b.context, &b.layer);
    const double once = TOKENS * HEADS * V * TWELVE;
    near(kept(&b.layer),
         TOKENS * token + filled * (7392 + 4224) - once + TOKENS * HEADS * V * (2 + EIGHT));
    b.software.fp8.activation_cache = false;
    transformer_layer(&b.context, &b.layer);
    const double inputs = (TOKENS * (VISITS + 1) + filled) * 2 * E;
    near(kept(&b.layer), TOKENS * token + filled * (7392 + 4224) - once +
                             TOKENS * HEADS * V * (2 + EIGHT) + inputs * (2 - EIGHT));
    b.software.fp8.activation_cache = b.software.fp8.attention_cache = true;
    b.context.precision = precision_find("bf16"); /* the flags are of narrow layers */
    transformer_layer(&b.context, &b.layer);
    near(kept(&b.layer),
         TOKENS * (14336.0 * 2 + 4224 + 2 * HEADS * V + 512 + 256 * 5 + 8 * 14336 + 9 * 2 * 2 * E));
}

/* Each is read in 16 bits and written as it is kept, and the other way round behind; the
 * projection's weights read a copy that is made of what was kept, where forward one copy is enough.
 */
static void test_casts(void **state)
{
    (void)state;
    static struct bench b, without;
    deepseek(&b);
    transformer_layer(&b.context, &b.layer);
    const double inputs = (TOKENS * (VISITS + 1) + 7.5 * ON_RANK) * 2 * E;
    const double output = (double)TOKENS * HEADS * V;
    near(moved(&b.layer, "fp8 cache"), inputs * (2 + EIGHT) + output * (2 + TWELVE));
    near(moved(&b.layer, "fp8 cache read"), inputs * (2 + EIGHT) + output * (2 + TWELVE));
    near(moved(&b.layer, "fp8 cast again"), output * (TWELVE + EIGHT));
    deepseek(&without);
    without.software.fp8.activation_cache = without.software.fp8.attention_cache = false;
    transformer_layer(&without.context, &without.layer);
    assert_true(moved(&without.layer, "fp8 cache") == 0 &&
                moved(&without.layer, "fp8 cache read") == 0 &&
                moved(&without.layer, "fp8 cast again") == 0);
    near(moved(&without.layer, "fp8 cast") - moved(&b.layer, "fp8 cast"), output * EIGHT);
    for (unsigned i = 0; i < b.layer.segment_count; i++) /* not repeated with what is */
        for (unsigned k = 0; k < b.layer.segments[i].forward.count; k++)
            assert_false(strcmp(b.layer.segments[i].forward.kernels[k].name, "fp8 cache") == 0 &&
                         b.layer.segments[i].forward.repeated[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_a_token),
        cmocka_unit_test(test_casts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
