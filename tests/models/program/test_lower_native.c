/* What PyTorch's own training does: recomputation per operator and of every other layer, separate
 * projections, and FSDP units that pass through buffers of their own streams. FLOPs and bytes are
 * counted by hand from the shape. */
#include <math.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/memory/ledger.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

struct sums {
    double flops, bytes;
};

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmin(fabs(a), fabs(b));
}

/* Of the only stage: ops of a phase, of all names or of one. */
static struct sums sum(const struct program *p, enum phase phase, const char *name)
{
    struct sums out = {0};
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        if (op->kind != OP_COMPUTE || op->phase != phase ||
            (name != NULL && strcmp(p->names[op->name], name) != 0))
            continue;
        out.flops += p->costs[op->cost].flops;
        out.bytes += p->costs[op->cost].bytes;
    }
    return out;
}

static double peak_bytes(struct arena *arena, const struct program *p)
{
    struct ledger_limits limits = {INFINITY, false};
    struct ledger_result result;
    ledger_play(arena, p, &limits, false, &result);
    return result.peak_allocated_bytes;
}

static struct configuration gated_case(void)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 1, 1, 1, 1, 1);
    c.model.ffn = FFN_SWIGLU;
    c.training.attention = ATTENTION_FLASH2;
    c.software.layer.separate_projections = true;
    c.software.layer.recompute_stops_early = true;
    c.software.layer.save_norm_input = true;
    c.software.layer.activation_saved_factor = 1.0;
    return c;
}

static double tokens_of(const struct configuration *c)
{
    return (double)(c->training.global_batch * c->training.sequence);
}

/* Products in order: q k v o gate up down. The second ones are k, o and up. */
static void test_every_second_product(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = gated_case();
    const struct model_shape *m = &c.model;
    struct lowered lowered;
    c.layout.recompute = RECOMPUTE_PER_OPERATOR;
    lower(arena, &c, &lowered);
    const double hidden = (double)m->hidden,
                 query = (double)(m->attention.heads * m->attention.head_size),
                 key = (double)(m->attention.kv_heads * m->attention.head_size),
                 ffn = (double)m->ffn_hidden;
    const double again = 2.0 * hidden * (key + query + ffn);
    const double wanted = tokens_of(&c) * (double)m->layers * again;
    assert_true(close_to(sum(lowered.programs[0], PHASE_RECOMPUTE, NULL).flops, wanted));
    c.software.layer.separate_projections =
        false; /* qkv, o, up, down: o alone, as down is the last */
    lower(arena, &c, &lowered);
    const double whole = tokens_of(&c) * (double)m->layers * 2.0 * query * hidden;
    assert_true(close_to(sum(lowered.programs[0], PHASE_RECOMPUTE, NULL).flops, whole));
    arena_destroy(arena);
}

/* Separate products do the FLOPs of the joint ones: the sum of their widths is the same. */
static void test_separate_products_do_the_same(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = gated_case();
    struct lowered apart, joint;
    lower(arena, &c, &apart);
    c.software.layer.separate_projections = false;
    lower(arena, &c, &joint);
    for (enum phase phase = PHASE_FORWARD; phase <= PHASE_BACKWARD; phase++)
        assert_true(close_to(sum(apart.programs[0], phase, NULL).flops,
                             sum(joint.programs[0], phase, NULL).flops));
    assert_true(sum(apart.programs[0], PHASE_FORWARD, NULL).bytes >
                sum(joint.programs[0], PHASE_FORWARD, NULL).bytes); /* the input is read again */
    arena_destroy(arena);
}

/* Layers 2, 4, ... of an even number: half of what full recomputation repeats. */
static void test_every_other_layer(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = gated_case();
    struct lowered other, full;
    assert_true(c.model.layers % 2 == 0);
    c.layout.recompute = RECOMPUTE_EVERY_OTHER_LAYER;
    lower(arena, &c, &other);
    c.layout.recompute = RECOMPUTE_FULL;
    lower(arena, &c, &full);
    const double half = sum(other.programs[0], PHASE_RECOMPUTE, NULL).flops;
    assert_true(half > 0.0);
    assert_true(close_to(2.0 * half, sum(full.programs[0], PHASE_RECOMPUTE, NULL).flops));
    for (uint32_t i = 0; i < other.programs[0]->op_count; i++)
        if (other.programs[0]->ops[i].phase == PHASE_RECOMPUTE)
            assert_int_equal(other.programs[0]->ops[i].layer % 2, 1);
    arena_destroy(arena);
}

/* The kinds stand in the order of what they free, and FLOPs repeated grow from one layer of two to
 * all. Enough layers that what one layer needs while it is rebuilt does not decide. */
static void test_kinds_stand_in_order(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = gated_case();
    c.model.layers = 32;
    double peaks[RECOMPUTE_FULL + 1];
    for (int kind = RECOMPUTE_NONE; kind <= RECOMPUTE_FULL; kind++) {
        struct lowered lowered;
        lower_case_recompute(&c, kind);
        lower(arena, &c, &lowered);
        peaks[kind] = peak_bytes(arena, lowered.programs[0]);
    }
    assert_true(peaks[RECOMPUTE_NONE] > peaks[RECOMPUTE_PER_OPERATOR]);
    assert_true(peaks[RECOMPUTE_PER_OPERATOR] > peaks[RECOMPUTE_FULL]);
    assert_true(peaks[RECOMPUTE_NONE] > peaks[RECOMPUTE_MODULES]);
    assert_true(peaks[RECOMPUTE_MODULES] > peaks[RECOMPUTE_FULL]);
    assert_true(peaks[RECOMPUTE_NONE] > peaks[RECOMPUTE_EVERY_OTHER_LAYER]);
    assert_true(peaks[RECOMPUTE_EVERY_OTHER_LAYER] > peaks[RECOMPUTE_FULL]);
    assert_true(peaks[RECOMPUTE_NONE] > peaks[RECOMPUTE_BLOCK]);
    assert_true(peaks[RECOMPUTE_BLOCK] > peaks[RECOMPUTE_FULL]);
    arena_destroy(arena);
}

/* Of one layer and one microbatch, 16-bit: input, q, v, what flash keeps, gate. */
static void test_what_per_operator_keeps(void **state)
{
    struct configuration c = gated_case();
    struct layer layer;
    const struct layer_context context = {.model = &c.model,
                                          .software = &c.software,
                                          .precision = c.training.precision,
                                          .attention = ATTENTION_FLASH2,
                                          .microbatch = 1,
                                          .sequence = c.training.sequence,
                                          .tp = 1,
                                          .cp = 1,
                                          .recompute = RECOMPUTE_PER_OPERATOR};
    transformer_layer(&context, &layer);
    double kept = 0.0;
    for (unsigned i = 0; i < layer.segments[0].saved.count; i++)
        kept += layer.segments[0].saved.tensors[i].rebuilt
                    ? 0.0
                    : layer.segments[0].saved.tensors[i].bytes;
    const struct model_shape *m = &c.model;
    const double query = (double)(m->attention.heads * m->attention.head_size),
                 key = (double)(m->attention.kv_heads * m->attention.head_size);
    const double each = 2.0 * ((double)m->hidden + 2.0 * query + key + (double)m->ffn_hidden) +
                        4.0 * (double)m->attention.heads;
    assert_true(close_to(kept, (double)c.training.sequence * each));
    c.software.layer.recompute_keeps_last = true; /* and what the last product wrote */
    transformer_layer(&context, &layer);
    double more = 0.0;
    for (unsigned i = 0; i < layer.segments[0].saved.count; i++)
        more += layer.segments[0].saved.tensors[i].rebuilt
                    ? 0.0
                    : layer.segments[0].saved.tensors[i].bytes;
    assert_true(close_to(more - kept, 2.0 * (double)(c.training.sequence * m->hidden)));
}

/* Of a layer on one rank, a token of its tensor group: bytes that it keeps, and of what runs again
 * FLOPs and bytes gathered. */
struct repeated {
    double flops, gathered;
};
static double kept_of_modules(const struct configuration *c, bool modules, struct repeated *again)
{
    struct layer layer;
    const double tokens = (double)c->training.sequence;
    const struct layer_context context = {.model = &c->model,
                                          .software = &c->software,
                                          .precision = c->training.precision,
                                          .attention = ATTENTION_FLASH2,
                                          .microbatch = 1,
                                          .sequence = c->training.sequence,
                                          .tp = c->layout.tp,
                                          .sequence_parallel = c->layout.sequence_parallel,
                                          .cp = 1,
                                          .experts.ep = 1,
                                          .experts.etp = 1,
                                          .experts.imbalance = 1.0,
                                          .experts.dispatch = &dispatch_alltoall,
                                          .recompute =
                                              modules ? RECOMPUTE_MODULES : RECOMPUTE_NONE};
    transformer_layer(&context, &layer);
    double kept = 0.0;
    *again = (struct repeated){0};
    for (unsigned i = 0; i < layer.segment_count; i++) {
        const struct segment *g = &layer.segments[i];
        for (unsigned k = 0; k < g->saved.count; k++)
            kept += g->saved.tensors[k].rebuilt ? 0.0 : g->saved.tensors[k].bytes / tokens;
        for (unsigned k = 0; k < g->forward.count; k++)
            again->flops += g->forward.repeated[k] ? g->forward.kernels[k].flops / tokens : 0.0;
        again->gathered += g->transfers.again.bytes / tokens;
        assert_true(g->transfers.again.comm == SEGMENT_NONE ||
                    (g->transfers.again.comm == SEGMENT_TP && modules &&
                     g->transfers.again.op == COMM_ALL_GATHER));
    }
    return kept;
}

static struct configuration latent_case(void)
{
    struct configuration c = gated_case();
    struct model_shape *m = &c.model;
    c.software.layer.separate_projections = false;
    *m = (struct model_shape){.layers = 2,
                              .hidden = 7168,
                              .attention.heads = 128,
                              .attention.kv_heads = 128,
                              .attention.head_size = 128,
                              .ffn_hidden = 18432,
                              .vocabulary = 1024,
                              .ffn = FFN_SWIGLU,
                              .norm.kind = NORM_RMS,
                              .position = POSITION_ROPE,
                              .moe.experts = 16,
                              .moe.experts_per_token = 8,
                              .moe.ffn_hidden = 2048,
                              .moe.shared_experts = 1,
                              .latent.q_rank = 1536,
                              .latent.kv_rank = 512,
                              .latent.rope_head_size = 64,
                              .latent.v_head_size = 128};
    transformer_complete(m);
    return c;
}

/* A layer with latents and experts, 16-bit (arXiv:2412.19437, section 3.2.3): not kept are the
 * outputs of both norms and of those of the latents, queries, keys and values of every head, and
 * what the activations of the shared and the chosen experts give; the up-projections run again. */
static void test_what_modules_keep(void **state)
{
    struct configuration c = latent_case();
    struct repeated none_again, again;
    const double none = kept_of_modules(&c, false, &none_again);
    const double kept = kept_of_modules(&c, true, &again);
    const double heads = 128.0 * (192.0 + 192.0 + 128.0), latents = 1536.0 + 512.0;
    assert_true(
        /* The part of a key that all heads share is kept instead, 64 wide. */
        close_to(none - kept,
                 2.0 * (2.0 * 7168.0 + latents + heads - 64.0 + (1.0 + 8.0) * 2048.0)));
    assert_true(none_again.flops == 0.0 && again.gathered == 0.0);
    assert_true(close_to(again.flops, 2.0 * 128.0 * (1536.0 * 192.0 + 512.0 * (128.0 + 128.0))));
    c.software.layer.save_norm_input =
        false; /* nothing is left of which norms could be made again */
    assert_true(
        close_to(kept_of_modules(&c, false, &none_again) - kept_of_modules(&c, true, &again),
                 2.0 * (heads + (1.0 + 8.0) * 2048.0)));
}

/* The same over tensor ranks. With sequence parallelism norms have 1/t of the tokens, heads and
 * widths are split, and up-projections read latents that are gathered again (without the shared
 * part of the keys, which each rank keeps of all tokens); without it nothing is gathered, and
 * whoever keeps gathered inputs does not make norms again. */
static void test_modules_of_tensor_ranks(void **state)
{
    for (unsigned at = 0; at < 3 * 3; at++) {
        struct configuration c = latent_case();
        const double t = (double)(2u << at % 3);
        c.layout.tp = 2u << at % 3;
        c.layout.sequence_parallel = at / 3 > 0;
        c.software.tensor.backward_regather = at / 3 == 1;
        struct repeated none_again, again;
        const double none = kept_of_modules(&c, false, &none_again);
        const double kept = kept_of_modules(&c, true, &again);
        const double heads = 128.0 * (192.0 + 192.0 + 128.0) / t, latents = 1536.0 + 512.0;
        const double rows = at / 3 == 1 ? 1.0 / t : 1.0; /* of a token that norms see */
        const bool norms = at / 3 < 2;
        const double experts = 8.0 * (c.layout.sequence_parallel ? 1.0 / t : 1.0);
        /* With regathered inputs the router reads the shared experts' part of the sequence. */
        const double of_norms = norms ? rows * (2.0 * 7168.0 + latents) : 0.0;
        assert_true(
            close_to(none - kept, 2.0 * (of_norms + heads - 64.0 + (1.0 / t + experts) * 2048.0)));
        assert_true(none_again.flops == 0.0 && none_again.gathered == 0.0);
        assert_true(
            close_to(again.flops, 2.0 * 128.0 / t * (1536.0 * 192.0 + 512.0 * (128.0 + 128.0))));
        assert_true(close_to(1.0 + again.gathered, 1.0 + (at / 3 == 1 ? 2.0 * latents : 0.0)));
    }
}

/* Each layer of each microbatch gathers its latents once more, and nothing else for what runs
 * again. */
static void test_modules_gather_latents(void **state)
{
    for (int regathers = 0; regathers < 2; regathers++) {
        struct arena *arena = arena_create();
        struct configuration c = latent_case();
        c.model.moe.experts = 0;
        lower_case_size(&c, 2, 1, 1, 1, 1);
        lower_case_recompute(&c, RECOMPUTE_MODULES);
        c.layout.sequence_parallel = true;
        c.software.tensor.backward_regather = regathers == 1;
        struct lowered lowered;
        lower(arena, &c, &lowered);
        const struct program *p = lowered.programs[0];
        double gathered = 0.0, again = 0.0;
        for (uint32_t i = 0; i < p->op_count; i++) {
            const struct op *op = &p->ops[i];
            if (op->phase != PHASE_RECOMPUTE)
                continue;
            gathered += op->stream == STREAM_TP ? p->transfers[op->cost].bytes : 0.0;
            again += op->kind == OP_COMPUTE ? p->costs[op->cost].flops : 0.0;
        }
        const double rows = (double)(configuration_microbatches(&c) * c.layout.microbatch *
                                     c.training.sequence * c.model.layers);
        assert_true(close_to(1.0 + gathered, 1.0 + regathers * rows * 2.0 * (1536.0 + 512.0)));
        assert_true(close_to(again, rows * 128.0 * (1536.0 * 192.0 + 512.0 * 256.0)));
        arena_destroy(arena);
    }
}

static double weights_of(const struct lowered *lowered, const char *name, enum phase phase)
{
    return sum(lowered->programs[0], phase, name).bytes;
}

/* Everything is copied out for the forward; for the backward all but embedding, head and the last
 * layer, which stay. Every gradient is copied into what is reduced: 2 bytes read, 4 written. */
static void test_buffers_of_streams(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = gated_case();
    lower_case_size(&c, 1, 1, 4, 1, 1);
    c.layout.data.sharding = &sharding_fsdp;
    c.layout.recompute = RECOMPUTE_NONE;
    c.software.shards.reshard = c.software.shards.buffers = true;
    c.training.gradient_bytes = 4.0;
    struct lowered lowered;
    lower(arena, &c, &lowered);
    const struct model_shape *m = &c.model;
    const double all = transformer_parameters(m, c.training.sequence);
    const double layers = (double)(m->layers - 1) * transformer_layer_parameters(m, 0);
    assert_true(close_to(weights_of(&lowered, "copy gathered weights", PHASE_PARAMETERS),
                         4.0 * (all + layers)));
    assert_true(
        close_to(weights_of(&lowered, "copy gradients", PHASE_GRADIENTS), (2.0 + 4.0) * all));
    c.software.shards.buffers = false;
    lower(arena, &c, &lowered);
    assert_true(weights_of(&lowered, "copy gathered weights", PHASE_PARAMETERS) == 0.0);
    assert_true(weights_of(&lowered, "copy gradients", PHASE_GRADIENTS) == 0.0);
    arena_destroy(arena);
}

static double setup_bytes(const struct program *p, enum tenant tenant)
{
    double bytes = 0.0;
    for (uint32_t i = 0; i < p->setup_count; i++)
        bytes += p->setup[i].tenant == tenant ? p->setup[i].bytes : 0.0;
    return bytes;
}

/* Sharded fp32 weights are the master copy: no 16-bit shard beside them. Unsharded ones are. */
static void test_weights_are_the_master_copy(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = gated_case();
    lower_case_size(&c, 1, 1, 4, 1, 1);
    c.software.shards.weights_are_master = true;
    struct lowered lowered;
    c.layout.data.sharding = &sharding_fsdp;
    lower(arena, &c, &lowered);
    assert_true(setup_bytes(lowered.programs[0], TENANT_WEIGHTS) == 0.0);
    assert_true(setup_bytes(lowered.programs[0], TENANT_MASTER) > 0.0);
    c.layout.data.sharding = &sharding_zero_1;
    lower(arena, &c, &lowered);
    assert_true(setup_bytes(lowered.programs[0], TENANT_WEIGHTS) > 0.0);
    arena_destroy(arena);
}

/* What a context rank does of the attention forward, and the traffic of merging it. */
static struct sums attention_of(const struct configuration *c, uint64_t cp, uint64_t inner,
                                bool ring, bool uneven)
{
    struct layer layer;
    struct sums out = {0};
    const struct layer_context context = {.model = &c->model,
                                          .software = &c->software,
                                          .precision = c->training.precision,
                                          .attention = ATTENTION_FLASH2,
                                          .microbatch = 1,
                                          .sequence = c->training.sequence,
                                          .tp = 1,
                                          .cp = cp,
                                          .causal = true,
                                          .ring.cp_ring = ring,
                                          .ring.cp_heads = inner > 1,
                                          .ring.cp_inner = inner,
                                          .ring.cp_uneven = uneven};
    transformer_layer(&context, &layer);
    for (unsigned i = 0; i < layer.segment_count; i++)
        for (unsigned k = 0; k < layer.segments[i].forward.count; k++) {
            const struct kernel *kernel = &layer.segments[i].forward.kernels[k];
            out.flops += kernel->kind == KERNEL_ATTENTION ? kernel->flops : 0.0;
            out.bytes += strcmp(kernel->name, "merge blocks") == 0 ? kernel->bytes : 0.0;
        }
    return out;
}

/* Of n blocks the last rank meets n - 1 whole ones and half of its own, the mean rank n / 2: 2 -
 * 1/n times as much, gathered or in a ring; one rank alone has nothing to balance. */
static void test_neighbours_against_zig_zag(void **state)
{
    const struct configuration c = gated_case();
    for (uint64_t cp = 1; cp <= 8; cp *= 2) {
        const double n = (double)cp, even = attention_of(&c, cp, 1, true, false).flops;
        assert_true(close_to(attention_of(&c, cp, 1, false, false).flops, even));
        for (int ring = 0; ring < 2; ring++)
            assert_true(
                close_to(attention_of(&c, cp, 1, ring, true).flops, even * (2.0 - 1.0 / n)));
        assert_true(close_to(even * n, attention_of(&c, 1, 1, false, false).flops));
        for (uint64_t inner = 2; inner < cp;
             inner *= 2) { /* o groups go round, each of one place */
            assert_true(close_to(attention_of(&c, cp, inner, true, false).flops, even));
            assert_true(close_to(attention_of(&c, cp, inner, true, true).flops,
                                 even * (2.0 - (double)inner / n)));
        }
    }
}

static void test_blocks_are_merged(void **state)
{
    struct configuration c = gated_case();
    c.software.context.merge_forward_bytes = 18.0;
    const double elements =
        (double)(c.training.sequence * c.model.attention.heads * c.model.attention.head_size);
    for (uint64_t cp = 1; cp <= 8; cp *= 2)
        assert_true(attention_of(&c, cp, 1, false, false).bytes ==
                    18.0 * elements / (double)cp * (double)(cp - 1));
    assert_true(attention_of(&c, 8, 2, true, false).bytes == 18.0 * elements / 8.0 * (4.0 - 1.0));
    assert_true(attention_of(&c, 8, 8, false, false).bytes == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_second_product),
        cmocka_unit_test(test_separate_products_do_the_same),
        cmocka_unit_test(test_every_other_layer),
        cmocka_unit_test(test_kinds_stand_in_order),
        cmocka_unit_test(test_what_per_operator_keeps),
        cmocka_unit_test(test_what_modules_keep),
        cmocka_unit_test(test_modules_of_tensor_ranks),
        cmocka_unit_test(test_modules_gather_latents),
        cmocka_unit_test(test_buffers_of_streams),
        cmocka_unit_test(test_weights_are_the_master_copy),
        cmocka_unit_test(test_neighbours_against_zig_zag),
        cmocka_unit_test(test_blocks_are_merged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
