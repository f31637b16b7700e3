/* Sparse attention with an indexer: parameters, FLOPs, kept bytes and transfers against formulas
 * written out here; shares of tensor and context ranks add up to the whole; published rates. */
#include <math.h>
#include <string.h>

#include "models/layout/transformer_formula.h"
#include "models/workload/transformer.h"
#include "sim/units.h"
#include "tests/models/gpu/cards.h"
#include "tests/test.h"

/* Two sequences of 256; 128 heads of 16 + 8 and 12 in latents of 40 and 24; 4 index heads of 20. */
#define T 512.0
#define S 256.0
#define H 96.0
#define A 128.0
#define DN 16.0
#define DR 8.0
#define DV 12.0
#define RQ 40.0
#define RKV 24.0
#define IH 4.0
#define DI 20.0
#define F 320.0
#define KEYS 64.0
#define ROW (RKV + DR)

struct bench {
    struct model_shape model;
    struct software_profile software;
    struct layer_context context;
    struct layer layer;
};

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.17g, not %.17g", value, expected);
}

static void begin(struct bench *b)
{
    memset(b, 0, sizeof *b);
    b->model = (struct model_shape){.name = "bench",
                                    .layers = 8,
                                    .hidden = (uint64_t)H,
                                    .attention = {.heads = (uint64_t)A, .head_size = (uint64_t)DN},
                                    .latent = {.q_rank = (uint64_t)RQ,
                                               .kv_rank = (uint64_t)RKV,
                                               .rope_head_size = (uint64_t)DR,
                                               .v_head_size = (uint64_t)DV,
                                               .indexer = {.heads = (uint64_t)IH,
                                                           .size = (uint64_t)DI,
                                                           .keys = (uint64_t)KEYS}},
                                    .ffn_hidden = (uint64_t)F,
                                    .vocabulary = 512,
                                    .ffn = FFN_SWIGLU,
                                    .norm.kind = NORM_RMS,
                                    .position = POSITION_ROPE};
    transformer_complete(&b->model);
    b->software = profile_fused();
    b->software.layer.sparse_time_ratio = 1.0;
    b->context = (struct layer_context){.model = &b->model,
                                        .software = &b->software,
                                        .precision = precision_find("bf16"),
                                        .attention = ATTENTION_FLASH2,
                                        .microbatch = 2,
                                        .sequence = (uint64_t)S,
                                        .tp = 1,
                                        .cp = 1,
                                        .causal = true};
}

static void write(struct bench *b)
{
    transformer_layer(&b->context, &b->layer);
}

/* Tensors of DeepSeek-V3.2's layers: wq_b, wk, k_norm (weight, bias), weights_proj; and those of
 * latent attention: q_a, its norm, q_b, kv_a, its norm, kv_b, o. */
static double indexer_tensors(void)
{
    return RQ * IH * DI + H * DI + 2 * DI + H * IH;
}

static double latent_tensors(double heads)
{
    return H * RQ + RQ + RQ * heads * (DN + DR) + H * (RKV + DR) + RKV + RKV * heads * (DN + DV) +
           heads * DV * H;
}

static const double block_tensors = 3 * H * F + 2 * H;

static void parameters_are_tensors(void **state)
{
    struct bench b;
    begin(&b);
    const double layer = latent_tensors(A) + indexer_tensors() + block_tensors;
    near(transformer_layer_parameters(&b.model, 0), layer);
    near(transformer_parameters(&b.model, 256), 8 * layer + 2 * 512 * H + H);
    write(&b);
    near(b.layer.parameters, layer);
    double modules = 0.0, matrices = 0.0;
    for (unsigned i = 0; i < b.layer.module_count; i++)
        modules += b.layer.modules[i];
    for (unsigned i = 0; i < b.layer.matrix_count; i++)
        matrices +=
            b.layer.matrices[i].inputs * b.layer.matrices[i].outputs * b.layer.matrices[i].count;
    near(modules, layer - 2 * H - RQ - RKV - 2 * DI); /* all but norms */
    near(matrices, modules);
}

/* Layers 0 and 1, then every third: 4, 7; the others take their choice. A module ahead, whose layer
 * is like the last, has an indexer of its own. */
static void layers_take_turns(void **state)
{
    struct bench b;
    begin(&b);
    b.model.latent.indexer.interval = 3;
    b.model.latent.indexer.first = 2;
    static const bool scores[] = {true, true, false, false, true, false, false, true};
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(transformer_scores_keys(&b.model, i), scores[i]);
    near(transformer_parameters(&b.model, 256),
         8 * (latent_tensors(A) + block_tensors) + 4 * indexer_tensors() + 2 * 512 * H + H);
    b.model.layers = 7; /* the last takes another's */
    b.model.mtp_layers = 1;
    near(transformer_prediction_parameters(&b.model),
         latent_tensors(A) + indexer_tensors() + block_tensors + 2 * H * H + 3 * H);
    b.model.latent.indexer.first = 0; /* the first has nobody before it */
    assert_true(transformer_scores_keys(&b.model, 0));
    b.model.latent.indexer.heads = 0;
    assert_false(transformer_scores_keys(&b.model, 0));
}

static double flops(const struct layer *layer, size_t list, int kind)
{
    double out = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment_kernels *k =
            (const struct segment_kernels *)((const char *)&layer->segments[i] + list);
        for (unsigned j = 0; j < k->count; j++)
            out += (int)k->kernels[j].kind == kind ? k->kernels[j].flops : 0.0;
    }
    return out;
}
#define FORWARD offsetof(struct segment, forward)
#define DGRAD offsetof(struct segment, dgrad)
#define WGRAD offsetof(struct segment, wgrad)

/* Keys that a query attends to, counted one by one: of those before it and half of itself. */
static double chosen(double keys)
{
    double sum = 0.0;
    for (double p = 0.0; p < S; p += 1.0)
        sum += p + 1.0 <= keys ? p + 0.5 : keys;
    return sum / S;
}

static void flops_are_counted(void **state)
{
    struct bench b;
    begin(&b);
    write(&b);
    const double matrices = latent_tensors(A) - RQ - RKV + 3 * H * F;
    const double indexer = indexer_tensors() - 2 * DI;
    const double scores = 2 * IH * DI * T * S / 2;
    near(flops(&b.layer, FORWARD, KERNEL_GEMM), 2 * T * (matrices + indexer) + scores);
    near(flops(&b.layer, DGRAD, KERNEL_GEMM), 2 * T * matrices); /* the indexer's input has none */
    near(flops(&b.layer, WGRAD, KERNEL_GEMM), 2 * T * (matrices + indexer));
    const double pairs = T * chosen(KEYS);
    near(flops(&b.layer, FORWARD, KERNEL_SPARSE),
         2 * A * pairs * (RKV + DR + RKV) + 2 * A * pairs * (RKV + DR));
    near(flops(&b.layer, DGRAD, KERNEL_SPARSE),
         2 * A * pairs * (3 * (RKV + DR) + 2 * RKV) + 3 * 2 * IH * DI * pairs);
    assert_true(flops(&b.layer, FORWARD, KERNEL_ATTENTION) == 0.0);
    assert_true(flops(&b.layer, DGRAD, KERNEL_ATTENTION) == 0.0);
    b.context.keys.taken = true;
    write(&b);
    near(flops(&b.layer, FORWARD, KERNEL_GEMM), 2 * T * matrices);
    near(flops(&b.layer, WGRAD, KERNEL_GEMM), 2 * T * matrices);
    near(flops(&b.layer, FORWARD, KERNEL_SPARSE), 2 * A * pairs * (RKV + DR + RKV));
    near(flops(&b.layer, DGRAD, KERNEL_SPARSE), 2 * A * pairs * (3 * (RKV + DR) + 2 * RKV));
}

/* Above as many keys as a sequence has a query meets all of them. */
static void few_keys_are_all(void **state)
{
    struct bench b;
    begin(&b);
    near(transformer_keys_chosen(&b.model, S, true), chosen(KEYS));
    near(transformer_keys_chosen(&b.model, S, false), KEYS);
    b.model.latent.indexer.keys = 4096;
    near(transformer_keys_chosen(&b.model, S, true), S / 2);
    near(transformer_keys_chosen(&b.model, S, false), S);
    write(&b);
    near(flops(&b.layer, FORWARD, KERNEL_SPARSE), 2 * A * T * S / 2 * (2 * ROW + RKV));
}

/* Six FLOPs a parameter, four where no gradient goes on; the core three times; what it learns from
 * chosen keys alone. */
static void model_flops_are_those_of_the_function(void **state)
{
    struct bench b;
    begin(&b);
    const double active = transformer_active_parameters(&b.model);
    const double core = 3 * 2 * A * (2 * RKV + DR) * chosen(KEYS);
    const double scores = 2 * IH * DI * S / 2 + 2 * 2 * IH * DI * chosen(KEYS);
    near(transformer_flops_per_token(&b.model, 256, true),
         6 * active + 8 * (core + scores - 2 * indexer_tensors()));
    b.model.latent.indexer.interval = 4; /* layers 0, 4 */
    const double fewer = transformer_active_parameters(&b.model);
    near(fewer, active - 6 * indexer_tensors());
    near(transformer_flops_per_token(&b.model, 256, true),
         6 * fewer + 8 * core + 2 * (scores - 2 * indexer_tensors()));
    near(transformer_cache_elements(&b.model, 256), S * (8 * ROW + 2 * DI));
}

/* From there on FLOPs to the chosen keys, with all scores, are fewer; V3.2's by hand. */
static void sparse_wins_from_there_on(void **state)
{
    struct bench b;
    begin(&b);
    for (int causal = 0; causal < 2; causal++) {
        const double worth = transformer_sparse_worth(&b.model, causal);
        assert_true(worth > KEYS);
        for (double s = worth; s <= 2 * worth; s += worth) {
            const double all = causal ? s / 2 : s, keys = KEYS * (causal ? 1 - KEYS / (2 * s) : 1);
            const double ratio = (A * (2 * RKV + DR) * keys / all + IH * DI) / (A * (DN + DR + DV));
            assert_true(s > worth ? ratio < 1.0 : fabs(ratio - 1.0) < 1e-12);
        }
    }
    b.model.attention = (struct model_attention){.heads = 128, .kv_heads = 128, .head_size = 128};
    b.model.latent = (struct model_latent){
        .q_rank = 1536, .kv_rank = 512, .rope_head_size = 64, .v_head_size = 128};
    b.model.latent.indexer = (struct model_indexer){.heads = 64, .size = 128, .keys = 2048};
    assert_true(fabs(transformer_sparse_worth(&b.model, true) - 16315.0) < 1.0);
    b.model.latent.indexer.heads = 4096; /* scores alone take more than dense attention */
    assert_true(isinf(transformer_sparse_worth(&b.model, true)));
}

static const struct kernel *kernel_named(const struct layer *layer, const char *name)
{
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned j = 0; j < layer->segments[i].forward.count; j++)
            if (strcmp(layer->segments[i].forward.kernels[j].name, name) == 0)
                return &layer->segments[i].forward.kernels[j];
    fail_msg("no kernel %s", name);
    return NULL;
}

/* Scores are summed over heads before they are written, and read twice; products by head are one
 * launch. */
static void scores_move_one_number_a_key(void **state)
{
    struct bench b;
    begin(&b);
    write(&b);
    near(kernel_named(&b.layer, "index scores")->bytes,
         2 * IH * (S * DI + S / 2 * DI) * 2 + T * S / 2 * 4);
    near(kernel_named(&b.layer, "choose keys")->bytes, T * S / 2 * 4 * 2 + T * KEYS * 4);
    near(kernel_named(&b.layer, "index loss")->bytes, T * chosen(KEYS) * 12);
    near(kernel_named(&b.layer, "absorb keys")->launches, 1);
    near(kernel_named(&b.layer, "value up")->launches, 1);
}

static double kept(const struct layer *layer)
{
    double out = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned j = 0; j < layer->segments[i].saved.count; j++)
            out += layer->segments[i].saved.tensors[j].bytes;
    return out;
}

/* What backward reads, bytes a token: norms and products of the block; latents and their norms; the
 * queries before and behind the matrix that takes them to the latent, and its output. */
static void kept_is_what_backward_reads(void **state)
{
    struct bench b;
    begin(&b);
    write(&b);
    const double block = 2 * H + 2 * H + 3 * 2 * F;
    const double entry = 2 * H + 2 * H + 2 * (RQ + RKV); /* norm, down-projections, their norms */
    const double core = 2 * RQ + 2 * ROW + 2 * A * (DN + DR) + 2 * A * ROW + 4 * A + 2 * A * RKV;
    const double shared = block + entry + core + 2 * A * DV;
    const double own = 2 * (IH * DI + DI + IH) + 4 * KEYS;
    near(kept(&b.layer), T * (shared + own));
    b.context.keys.taken = true;
    write(&b);
    near(kept(&b.layer), T * shared);
    b.context.keys.taken = false;
    b.model.latent.indexer.keys = 4096; /* indices of as many keys as there are */
    write(&b);
    near(kept(&b.layer), T * (shared + own + 4 * (S - KEYS)));
}

/* A choice that later layers take is there before its own layer runs again. */
static void lent_choices_outlive_recomputation(void **state)
{
    struct bench b;
    begin(&b);
    write(&b);
    near(b.layer.input_bytes, T * H * 2);
    b.model.latent.indexer.interval = 4;
    write(&b);
    near(b.layer.input_bytes, T * (H * 2 + KEYS * 4));
    b.context.keys.taken = true;
    write(&b);
    near(b.layer.input_bytes, T * H * 2);
}

static const struct segment *named(const struct layer *layer, const char *name)
{
    for (unsigned i = 0; i < layer->segment_count; i++)
        if (strcmp(layer->segments[i].name, name) == 0)
            return &layer->segments[i];
    fail_msg("no segment %s", name);
    return NULL;
}

static void sent(const struct segment_transfer *t, enum segment_comm comm, enum comm_op op,
                 double bytes)
{
    assert_int_equal(t->comm, comm);
    if (comm == SEGMENT_NONE)
        return;
    assert_int_equal(t->op, op);
    near(t->bytes, bytes);
}

/* Heads are split, the indexer is whole on each rank. */
static void tensor_ranks_split_heads(void **state)
{
    struct bench one, each;
    begin(&one);
    write(&one);
    begin(&each);
    each.context.tp = 2;
    each.context.sequence_parallel = true;
    write(&each);
    const double attention = latent_tensors(A / 2) + indexer_tensors() + 3 * H * F / 2 + 2 * H;
    near(each.layer.parameters, attention);
    const double target = 2 * IH * DI * 3 * T * chosen(KEYS);
    near(2 * flops(&each.layer, FORWARD, KERNEL_SPARSE), flops(&one.layer, FORWARD, KERNEL_SPARSE));
    near(2 * (flops(&each.layer, DGRAD, KERNEL_SPARSE) - target),
         flops(&one.layer, DGRAD, KERNEL_SPARSE) - target);
    const struct segment *indexer = named(&each.layer, "indexer");
    sent(&indexer->transfers.before, SEGMENT_TP, COMM_ALL_GATHER, T * (H + RQ) * 2);
    sent(&indexer->transfers.backward_after, SEGMENT_NONE, COMM_ALL_GATHER, 0);
    const struct segment *core = named(&each.layer, "attention");
    sent(&core->transfers.before, SEGMENT_TP, COMM_ALL_GATHER, T * (RQ + RKV + DR) * 2);
    sent(&core->transfers.backward_after, SEGMENT_TP, COMM_REDUCE_SCATTER, T * (RQ + ROW) * 2);
    sent(&core->transfers.after, SEGMENT_TP, COMM_ALL_REDUCE, T * KEYS * 4);
    sent(&named(&each.layer, "projection")->transfers.after, SEGMENT_TP, COMM_REDUCE_SCATTER,
         T * H * 2);
    /* The gathered inputs of the indexer are kept as it sees them. */
    double gathered = 0.0;
    for (unsigned i = 0; i < indexer->saved.count; i++)
        gathered += strcmp(indexer->saved.tensors[i].name, "indexer input") == 0
                        ? indexer->saved.tensors[i].bytes
                        : 0.0;
    near(gathered, T * (H + RQ) * 2);
    each.context.keys.taken = true;
    write(&each);
    near(each.layer.parameters, attention - indexer_tensors());
    assert_int_equal(each.layer.segment_count, 4); /* norm, attention, norm, mlp */
}

/* Each rank has its queries and all keys: rows of the latent and of the indexer go round. */
static void context_ranks_gather_latents(void **state)
{
    for (int uneven = 0; uneven < 2; uneven++) {
        struct bench one, each;
        begin(&one);
        write(&one);
        begin(&each);
        each.context.cp = 4;
        each.context.ring.cp_uneven = uneven;
        write(&each);
        const struct segment *core = named(&each.layer, "attention");
        const double bytes = T * (ROW + DI) * 2;
        sent(&core->transfers.before, SEGMENT_CP, COMM_ALL_GATHER, bytes);
        sent(&core->transfers.backward_before, SEGMENT_CP, COMM_ALL_GATHER, bytes);
        sent(&core->transfers.backward_after, SEGMENT_CP, COMM_REDUCE_SCATTER,
             bytes * each.software.context.gradient_bytes / 2);
        const double products =
            2 * T / 4 * (latent_tensors(A) - RQ - RKV + 3 * H * F + indexer_tensors() - 2 * DI);
        const double scored = uneven ? S - S / 8 : S / 2, met = uneven ? KEYS : chosen(KEYS);
        near(flops(&each.layer, FORWARD, KERNEL_GEMM) - products, 2 * IH * DI * T / 4 * scored);
        near(flops(&each.layer, FORWARD, KERNEL_SPARSE), 2 * A * T / 4 * met * (2 * ROW + RKV));
        assert_true(named(&each.layer, "attention")->memory.forward_temporary_bytes >= bytes);
        each.context.keys.taken = true;
        write(&each);
        sent(&named(&each.layer, "attention")->transfers.before, SEGMENT_CP, COMM_ALL_GATHER,
             T * ROW * 2);
    }
}

/* Of a window over the last rank's quarter: what the queries there meet, one by one. */
static void the_last_rank_meets_most(void **state)
{
    struct bench b;
    begin(&b);
    b.model.latent.indexer.keys = 224; /* some of the last 64 queries have fewer */
    b.context.cp = 4;
    b.context.ring.cp_uneven = true;
    write(&b);
    double sum = 0.0;
    for (double p = S - S / 4; p < S; p += 1.0)
        sum += p + 1.0 <= 224 ? p + 0.5 : 224;
    near(flops(&b.layer, FORWARD, KERNEL_SPARSE), 2 * A * 2 * sum * (2 * ROW + RKV));
}

/* Two bytes an element. Of each query and head: its row, its output and a maximum of four bytes;
 * keys once, and the indices of those that are chosen. */
static void traffic_by_hand(void **state)
{
    const double rows = A * ((ROW + RKV) * 2 + 4), keys = ROW * 2, indices = 4 * KEYS;
    struct bench b;
    unsigned met = 0;
    begin(&b);
    write(&b);
    for (unsigned i = 0; i < b.layer.segment_count; i++) {
        const struct segment_kernels *list = &b.layer.segments[i].forward;
        for (unsigned k = 0; k < list->count; k++)
            if (strcmp(list->kernels[k].name, "sparse attention") == 0 && ++met > 0)
                near(list->kernels[k].bytes, T * (rows + keys + indices));
    }
    assert_int_equal(met, 1);
}

static struct gpu_spec card(double peak)
{
    struct gpu_spec out = card_h100();
    out.peak_flops_per_s[PEAK_BF16] = peak;
    out.kernel_start_s = 0.0;
    out.power.cap_w = out.power.tdp_w = 1e6; /* no cap binds */
    return out;
}

static double rate(const struct gpu_spec *gpu, double heads, bool backward, double ratio)
{
    const struct sparse_shape shape = {
        .flops = 1e15, .bytes = 1.0, .heads = heads, .backward = backward, .time_ratio = ratio};
    const struct kernel k = gpu_kernel_sparse("sparse", PEAK_BF16, &shape);
    return k.flops / gpu_kernel_time_s(gpu, NULL, &k);
}

/* deepseek-ai/FlashMLA README.md: sparse prefill forward 640 TFLOP/s on H800, 1,450 on B200. */
static void rates_are_published(void **state)
{
    const struct gpu_spec h800 = card(989e12), b200 = card(2250e12);
    assert_true(fabs(rate(&h800, 128, false, 1) / 640e12 - 1) < 0.01);
    assert_true(fabs(rate(&b200, 128, false, 1) / 1450e12 - 1) < 0.01);
    near(rate(&h800, 128, true, 1), 0.6 * rate(&h800, 128, false, 1));
    near(rate(&h800, 64, false, 1), rate(&h800, 128, false, 1));
    near(rate(&h800, 32, false, 1), 0.5 * rate(&h800, 64, false, 1));
    near(rate(&h800, 96, false, 1), 0.75 * rate(&h800, 64, false, 1));
    near(rate(&h800, 128, false, 2), 0.5 * rate(&h800, 128, false, 1));
}

/* The software's factor is of each of the kernels that have no product for their time. */
static void software_scales_its_kernels(void **state)
{
    struct bench b;
    begin(&b);
    b.software.layer.sparse_time_ratio = 1.5;
    write(&b);
    unsigned seen = 0;
    for (unsigned i = 0; i < b.layer.segment_count; i++) {
        const struct segment_kernels *list = &b.layer.segments[i].dgrad;
        for (unsigned j = 0; j < list->count; j++)
            if (list->kernels[j].kind == KERNEL_SPARSE && ++seen > 0)
                near(list->kernels[j].sparse.time_ratio, 1.5);
    }
    assert_int_equal(seen, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_tensors),
        cmocka_unit_test(layers_take_turns),
        cmocka_unit_test(flops_are_counted),
        cmocka_unit_test(few_keys_are_all),
        cmocka_unit_test(model_flops_are_those_of_the_function),
        cmocka_unit_test(sparse_wins_from_there_on),
        cmocka_unit_test(scores_move_one_number_a_key),
        cmocka_unit_test(kept_is_what_backward_reads),
        cmocka_unit_test(traffic_by_hand),
        cmocka_unit_test(lent_choices_outlive_recomputation),
        cmocka_unit_test(tensor_ranks_split_heads),
        cmocka_unit_test(context_ranks_gather_latents),
        cmocka_unit_test(the_last_rank_meets_most),
        cmocka_unit_test(rates_are_published),
        cmocka_unit_test(software_scales_its_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
