/* Parameter counts and FLOPs of published models. */
#include <math.h>

#include "models/layout/transformer_formula.h"
#include "models/workload/transformer.h"
#include "tests/models/gpu/cards.h"
#include "tests/test.h"

static struct model_shape gpt(uint64_t layers, uint64_t hidden, uint64_t heads, uint64_t vocabulary,
                              uint64_t positions)
{
    struct model_shape m = {.layers = layers,
                            .hidden = hidden,
                            .attention.heads = heads,
                            .vocabulary = vocabulary,
                            .positions_max = positions,
                            .ffn = FFN_GELU,
                            .norm.kind = NORM_LAYERNORM,
                            .position = POSITION_LEARNED,
                            .tied_embeddings = true,
                            .biases = true,
                            .dropout_ratio = 0.1};
    transformer_complete(&m);
    return m;
}

static struct model_shape llama(uint64_t layers, uint64_t hidden, uint64_t heads, uint64_t kv_heads,
                                uint64_t ffn, uint64_t vocabulary)
{
    struct model_shape m = {.layers = layers,
                            .hidden = hidden,
                            .attention.heads = heads,
                            .attention.kv_heads = kv_heads,
                            .ffn_hidden = ffn,
                            .vocabulary = vocabulary,
                            .ffn = FFN_SWIGLU,
                            .norm.kind = NORM_RMS,
                            .position = POSITION_ROPE};
    transformer_complete(&m);
    return m;
}

/* Counts of the published checkpoints: tensors of the files on huggingface.co (gpt2; meta-llama).
 */
static void test_published_counts(void **state)
{
    struct {
        struct model_shape shape;
        double parameters;
    } rows[] = {
        {gpt(12, 768, 12, 50257, 1024), 124439808.0},
        {gpt(48, 1600, 25, 50257, 1024), 1557611200.0},
        {llama(32, 4096, 32, 32, 11008, 32000), 6738415616.0},
        {llama(40, 5120, 40, 40, 13824, 32000), 13015864320.0},
        {llama(80, 8192, 64, 8, 28672, 32000), 68976648192.0},
        {llama(32, 4096, 32, 8, 14336, 128256), 8030261248.0},
        {llama(80, 8192, 64, 8, 28672, 128256), 70553706496.0},
        {llama(126, 16384, 128, 8, 53248, 128256), 405853388800.0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_true(transformer_parameters(&rows[i].shape, 2048) == rows[i].parameters);
    rows[0].shape.biases = false; /* a shape that is off by its biases must not pass */
    assert_false(transformer_parameters(&rows[0].shape, 2048) == rows[0].parameters);
}

/* GPT-3 is published as 175.0 billion (arXiv:2005.14165 table 2.1), and by Narayanan et al.'s
 * equation 2 (arXiv:2104.04473): 12 l h^2 (1 + 13/12h + (V + s)/12lh), which leaves out the 2h of
 * the last norm. */
static void test_gpt3(void **state)
{
    struct model_shape m = gpt(96, 12288, 96, 51200, 2048);
    double l = 96, h = 12288, v = 51200, s = 2048;
    double published = 12 * l * h * h * (1 + 13 / (12 * h) + (v + s) / (12 * l * h));
    assert_true(fabs(transformer_parameters(&m, 2048) - 2 * h - published) < 1.0);
    assert_true(fabs(transformer_parameters(&m, 2048) / 174.6e9 - 1.0) < 1e-3);
}

/* MPT has LayerNorms and linear layers without biases; its file has 6,649,286,656 parameters. */
static void test_mpt(void **state)
{
    struct model_shape m = gpt(32, 4096, 32, 50432, 0);
    m.biases = false;
    m.position = POSITION_ALIBI;
    assert_true(transformer_parameters(&m, 2048) == 6649286656.0);
}

/* Bytes of a token in 16 bit as published for Mixtral (2 x 32 layers x 8 heads x 128), DeepSeek-V3
 * (61 layers of 512 + 64) and Llama 3 70B; every other layer of a windowed model keeps its window.
 */
static void test_cache(void **state)
{
    struct model_shape m = llama(32, 4096, 32, 8, 14336, 32000);
    m.attention.head_size = 128;
    assert_true(2.0 * transformer_cache_elements(&m, 1) == 131072.0);
    assert_true(transformer_cache_elements(&m, 100) == 100.0 * transformer_cache_elements(&m, 1));
    m.windows.length = 10;
    m.windows.full_interval = 2;
    assert_true(transformer_cache_elements(&m, 100) == 16.0 * (100 + 10) * 2048.0);
    m = llama(61, 7168, 128, 128, 18432, 129280);
    m.latent.kv_rank = 512;
    m.latent.rope_head_size = 64;
    assert_true(2.0 * transformer_cache_elements(&m, 1) == 70272.0);
    m = llama(80, 8192, 64, 8, 28672, 128256);
    m.attention.head_size = 128;
    assert_true(2.0 * transformer_cache_elements(&m, 1) == 327680.0);
}

/* 671B in all, 37B active for each token (arXiv:2412.19437, section 2 and table of section 4.2). */
static void test_deepseek_v3(void **state)
{
    struct model_shape m = llama(61, 7168, 128, 128, 18432, 129280);
    m.attention.head_size = 128;
    m.moe.experts = 256;
    m.moe.experts_per_token = 8;
    m.moe.ffn_hidden = 2048;
    m.moe.shared_experts = 1;
    m.moe.dense_layers = 3;
    m.latent.q_rank = 1536;
    m.latent.kv_rank = 512;
    m.latent.rope_head_size = 64;
    m.latent.v_head_size = 128;
    assert_int_equal((int)round(transformer_parameters(&m, 4096) / 1e9), 671);
    assert_int_equal((int)round(transformer_active_parameters(&m) / 1e9), 37);
}

/* 6N + 12 L h s, N with the head and without the lookup; tied or not is the same work. */
static void test_flops_per_token(void **state)
{
    struct model_shape m = llama(80, 8192, 64, 8, 28672, 128256);
    double active = 70553706496.0 - 128256.0 * 8192.0;
    assert_true(transformer_active_parameters(&m) == active);
    assert_true(transformer_flops_per_token(&m, 8192, false) ==
                6 * active + 12.0 * 80 * 8192 * 8192);
    m.tied_embeddings = true;
    assert_true(transformer_active_parameters(&m) == active);
    assert_true(transformer_flops_per_token(&m, 8192, true) == 6 * active + 6.0 * 80 * 8192 * 8192);
    assert_true(transformer_flops_per_token(&m, 4096, false) <
                transformer_flops_per_token(&m, 8192, false));
}

static void test_padded_vocabulary(void **state)
{
    struct model_shape m = gpt(12, 768, 12, 50257, 1024);
    struct software_profile software = profile_fused();
    struct layer_context c = {.model = &m, .software = &software, .sequence = 1024, .tp = 8};
    assert_int_equal(transformer_padded_vocabulary(&c), 51200);
    software.head.vocabulary_multiple = 0;
    assert_int_equal(transformer_padded_vocabulary(&c), 50264);
    c.tp = 1;
    assert_int_equal(transformer_padded_vocabulary(&c), 50257);
    double all =
        transformer_embedding_shard(&c) + 12 * transformer_layer_parameters(&m, 0) + 2 * 768;
    assert_true(all == 124439808.0);
    assert_true(transformer_head_shard(&c) == 50257.0 * 768 + 2 * 768);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published_counts),
        cmocka_unit_test(test_gpt3),
        cmocka_unit_test(test_mpt),
        cmocka_unit_test(test_cache),
        cmocka_unit_test(test_deepseek_v3),
        cmocka_unit_test(test_flops_per_token),
        cmocka_unit_test(test_padded_vocabulary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
