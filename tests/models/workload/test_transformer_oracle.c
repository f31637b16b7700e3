/* Parameters and FLOPs of many shapes against a list of tensors as model files hold them, and each
 * rank's share of a layer. */
#include <math.h>
#include <string.h>

#include "models/layout/transformer_formula.h"
#include "models/workload/transformer.h"
#include "tests/models/gpu/cards.h"
#include "tests/test.h"

/* The oracle: tensors of one rank of `tp`, as rows times columns. Split are the outputs of queries,
 * keys and values (a key head no further than whole), of the block's inputs, and their biases. */
static uint64_t layer_tensors(const struct model_shape *m, uint64_t tp)
{
    uint64_t h = m->hidden, d = m->attention.head_size, f = m->ffn_hidden / tp,
             q = m->attention.heads * d / tp;
    uint64_t kv = (m->attention.kv_heads > tp ? m->attention.kv_heads / tp : 1) * d, sum = 0;
    bool gate = m->ffn == FFN_SWIGLU || m->ffn == FFN_GEGLU;
    sum += h * q + h * kv + h * kv + q * h;    /* q_proj, k_proj, v_proj, o_proj */
    sum += h * f + f * h + (gate ? h * f : 0); /* up_proj, down_proj, gate_proj */
    if (m->biases)
        sum += q + kv + kv + h + f + h + (gate ? f : 0);
    else if (m->attention.biases == ATTENTION_BIASES_ALL)
        sum += q + kv + kv + h;
    else if (m->attention.biases == ATTENTION_BIASES_QKV)
        sum += q + kv + kv;
    uint64_t norm = h;
    if (m->norm.kind == NORM_LAYERNORM && (m->biases || m->norm.biases))
        norm += h;
    sum += (m->norm.count ? m->norm.count : 2) * norm;
    if (m->norm.qk_norms_whole)
        return sum + q + kv;
    return sum + (m->norm.qk_norms ? 2 * d : 0);
}

static uint64_t last_norm(const struct model_shape *m)
{
    bool shift = m->norm.kind == NORM_LAYERNORM && (m->biases || m->norm.biases);
    return shift ? 2 * m->hidden : m->hidden;
}

static void check_shape(const struct model_shape *m)
{
    struct software_profile software = profile_fused();
    struct layer_context c = {.model = m,
                              .software = &software,
                              .precision = precision_find("bf16"),
                              .attention = ATTENTION_FLASH2,
                              .microbatch = 1,
                              .sequence = 16,
                              .cp = 1};
    uint64_t table = m->vocabulary * m->hidden, layers = m->layers * layer_tensors(m, 1);
    uint64_t positions = m->positions_max ? m->positions_max : 16;
    positions = m->position == POSITION_LEARNED ? positions * m->hidden : 0;
    uint64_t head = m->tied_embeddings ? 0 : table, all = table + positions + layers;
    assert_true(transformer_parameters(m, 16) == (double)(all + last_norm(m) + head));
    assert_true(transformer_embedding_parameters(m, 16) == (double)(table + positions));
    assert_true(transformer_final_parameters(m) == (double)(last_norm(m) + head));
    uint64_t active = layers + last_norm(m) + table;
    assert_true(transformer_active_parameters(m) == (double)active);
    uint64_t products = 12 * m->layers * m->attention.heads * m->attention.head_size * 16;
    assert_true(transformer_flops_per_token(m, 16, false) == (double)(6 * active + products));
    assert_true(transformer_flops_per_token(m, 16, true) == (double)(6 * active + products / 2));
    static struct layer layer;
    for (c.tp = 1; c.tp <= 8; c.tp *= 2) {
        transformer_layer(&c, &layer);
        assert_true(layer.parameters == (double)layer_tensors(m, c.tp));
    }
}

/* Every combination of what families differ in. */
static void test_dense_shapes(void **state)
{
    static const uint64_t kv_heads[] = {1, 2, 8};
    unsigned count = 0;
    for (unsigned bits = 0; bits < 1 << 7; bits++) {
        for (unsigned i = 0; i < 4 * 3 * 3 * 3; i++, count++) {
            struct model_shape m = {.layers = 3,
                                    .hidden = 40,
                                    .attention.heads = 8,
                                    .attention.kv_heads = kv_heads[i / 36],
                                    .attention.head_size = 6,
                                    .ffn_hidden = 56,
                                    .vocabulary = 101,
                                    .positions_max = bits & 1 ? 23 : 0,
                                    .ffn = (int)(i % 4),
                                    .norm.kind = bits & 2 ? NORM_RMS : NORM_LAYERNORM,
                                    .position = (int)(i / 4 % 3),
                                    .tied_embeddings = bits & 4,
                                    .biases = bits & 8,
                                    .attention.biases = (int)(i / 12 % 3),
                                    .norm.count = bits & 16 ? 4 : 0,
                                    .norm.biases = bits & 32,
                                    .norm.qk_norms = bits & 64,
                                    .norm.qk_norms_whole = bits & 32 && bits & 64};
            check_shape(&m);
        }
    }
    assert_int_equal(count, 128 * 108);
}

/* What a shape leaves out is the usual: as many key heads, heads that fill the width, 4 h. */
static void test_completion(void **state)
{
    struct model_shape m = {.layers = 1, .hidden = 48, .attention.heads = 6, .vocabulary = 10};
    transformer_complete(&m);
    assert_int_equal(m.attention.kv_heads, 6);
    assert_int_equal(m.attention.head_size, 8);
    assert_int_equal(m.ffn_hidden, 192);
    assert_int_equal(m.latent.v_head_size, 0);
    struct model_shape given = {.hidden = 48,
                                .attention.heads = 6,
                                .attention.kv_heads = 2,
                                .attention.head_size = 16,
                                .ffn_hidden = 7,
                                .latent.kv_rank = 5};
    transformer_complete(&given);
    assert_int_equal(given.attention.kv_heads, 2);
    assert_int_equal(given.attention.head_size, 16);
    assert_int_equal(given.ffn_hidden, 7);
    assert_int_equal(given.latent.v_head_size, 16);
    given.latent.v_head_size = 3;
    transformer_complete(&given);
    assert_int_equal(given.latent.v_head_size, 3);
    assert_int_equal(transformer_norms(&given), 2);
    given.norm.count = 3;
    assert_int_equal(transformer_norms(&given), 3);
}

/* Latent attention and experts: tensors of the files of DeepSeek-V2 and V3 (q_a_proj, q_b_proj,
 * kv_a_proj_with_mqa, kv_b_proj, o_proj and two norms; gate, experts, shared experts). */
static uint64_t deepseek_attention(const struct model_shape *m)
{
    uint64_t h = m->hidden,
             query = m->attention.heads * (m->attention.head_size + m->latent.rope_head_size);
    uint64_t q = m->latent.q_rank
                     ? h * m->latent.q_rank + m->latent.q_rank + m->latent.q_rank * query
                     : h * query;
    uint64_t kv_a = h * (m->latent.kv_rank + m->latent.rope_head_size) + m->latent.kv_rank;
    uint64_t kv_b =
        m->latent.kv_rank * m->attention.heads * (m->attention.head_size + m->latent.v_head_size);
    return q + kv_a + kv_b + m->attention.heads * m->latent.v_head_size * h;
}

static void test_deepseek(void **state)
{
    for (uint64_t q_rank = 0; q_rank <= 24; q_rank += 12) {
        for (uint64_t shared = 0; shared <= 2; shared++) {
            for (uint64_t dense = 0; dense <= 5; dense++) {
                struct model_shape m = {.layers = 5,
                                        .hidden = 32,
                                        .attention.heads = 4,
                                        .attention.kv_heads = 4,
                                        .attention.head_size = 8,
                                        .ffn_hidden = 80,
                                        .vocabulary = 99,
                                        .ffn = FFN_SWIGLU,
                                        .norm.kind = NORM_RMS,
                                        .position = POSITION_ROPE,
                                        .moe.experts = 16,
                                        .moe.experts_per_token = 3,
                                        .moe.ffn_hidden = 20,
                                        .moe.shared_experts = shared,
                                        .moe.dense_layers = dense,
                                        .latent.q_rank = q_rank,
                                        .latent.kv_rank = 7,
                                        .latent.rope_head_size = 2,
                                        .latent.v_head_size = 5};
                uint64_t h = 32, attention = deepseek_attention(&m) + 2 * h;
                uint64_t expert = 3 * h * 20, sparse = 5 - dense;
                uint64_t common = 5 * attention + dense * 3 * h * 80 + h + 99 * h;
                uint64_t all = common + 99 * h + sparse * (16 * h + (16 + shared) * expert);
                uint64_t active = common + sparse * (16 * h + (3 + shared) * expert);
                assert_true(transformer_parameters(&m, 64) == (double)all);
                assert_true(transformer_active_parameters(&m) == (double)active);
                /* Scores over 8 + 2, values over 5: 2 FLOPs each, three times, for 64 keys. */
                uint64_t products = 6 * 5 * 4 * 64 * (10 + 5);
                double flops = (double)(6 * active + products);
                assert_true(transformer_flops_per_token(&m, 64, false) == flops);
            }
        }
    }
}

/* Rows of the table on a rank: the vocabulary up to a multiple of so many times tp, over tp. */
static void test_padding(void **state)
{
    struct model_shape m = {.hidden = 4, .norm.kind = NORM_RMS, .position = POSITION_ROPE};
    struct software_profile software = profile_fused();
    struct layer_context c = {.model = &m, .software = &software, .sequence = 8};
    static const uint64_t vocabularies[] = {1, 127, 128, 129, 255, 256, 257, 32000, 50257};
    static const uint64_t multiples[] = {0, 1, 64, 128};
    for (unsigned v = 0; v < sizeof vocabularies / sizeof *vocabularies; v++) {
        for (unsigned i = 0; i < 4; i++) {
            for (c.tp = 1; c.tp <= 8; c.tp++) {
                m.vocabulary = vocabularies[v];
                software.head.vocabulary_multiple = multiples[i];
                uint64_t padded = m.vocabulary;
                while (padded % ((multiples[i] ? multiples[i] : 1) * c.tp) != 0)
                    padded++;
                assert_int_equal(transformer_padded_vocabulary(&c), padded);
                double shard = (double)(padded / c.tp * 4);
                m.position = POSITION_ROPE;
                assert_true(transformer_embedding_shard(&c) == shard);
                m.position = POSITION_LEARNED;
                assert_true(transformer_embedding_shard(&c) == shard + 8 * 4);
                assert_true(transformer_head_shard(&c) == shard + 4);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dense_shapes),
        cmocka_unit_test(test_completion),
        cmocka_unit_test(test_deepseek),
        cmocka_unit_test(test_padding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
