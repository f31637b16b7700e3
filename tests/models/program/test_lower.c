/* Laws of the lowering: ZeRO's bytes and traffic to the byte, FLOPs, microbatches in flight, ops
 * for each layer, what overlaps what. The swarm of shapes is in tests/laws/test_lower_shapes.c. */
#include <math.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/models/program/lower_sums.h"
#include "tests/test.h"

static bool close_to(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmin(fabs(a), fabs(b));
}

static double parameters_of(const struct configuration *c)
{
    return transformer_parameters(&c->model, c->training.sequence);
}

/* Static bytes of the only stage, by tenant, against weight + gradient + K optimizer bytes. */
static bool zero_bytes_hold(const struct configuration *c, double planted_bytes)
{
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, c, &lowered);
    const struct program *p = lowered.programs[0];
    double sum = planted_bytes;
    static const enum tenant tenants[] = {TENANT_WEIGHTS, TENANT_GRADIENTS, TENANT_MASTER,
                                          TENANT_MOMENTS};
    for (unsigned i = 0; i < 4; i++)
        sum += sum_static_bytes(p, tenants[i]);
    double wanted =
        parameters_of(c) * sharding_bytes_per_parameter(c->layout.data.sharding, 2.0, 2.0, 12.0,
                                                        configuration_shards(c));
    arena_destroy(arena);
    return sum == wanted;
}

static struct configuration zero_case(const struct sharding_kind *kind, uint64_t dp)
{
    struct configuration c = lower_case();
    c.layout.data.sharding = kind;
    c.training.gradient_bytes = 2.0;
    lower_case_size(&c, 1, 1, dp, 1, 1);
    return c;
}

/* arXiv:1910.02054 section 5: (4+K)N, 4N + KN/n, 2N + (2+K)N/n, (4+K)N/n with K = 12. */
static void test_zero_bytes(void **state)
{
    for (unsigned k = 0; k < sharding_kind_count; k++) {
        for (uint64_t dp = 1; dp <= 8; dp *= 2) {
            struct configuration c = zero_case(sharding_kinds[k], dp);
            c.layout.data.shard_group = dp > 2 ? 2 : dp;
            assert_true(zero_bytes_hold(&c, 0.0));
            assert_false(zero_bytes_hold(&c, 1.0)); /* planted: one byte */
        }
    }
    assert_true(sharding_bytes_per_parameter(&sharding_zero_0, 2, 2, 12, 4) == 16.0);
    assert_true(sharding_bytes_per_parameter(&sharding_zero_1, 2, 2, 12, 4) == 7.0);
    assert_true(sharding_bytes_per_parameter(&sharding_zero_2, 2, 2, 12, 4) == 5.5);
    assert_true(sharding_bytes_per_parameter(&sharding_zero_3, 2, 2, 12, 4) == 4.0);
}

/* Elements that a rank sends for data parallelism in a step of one microbatch, over N. */
static double traffic_of(const struct configuration *c)
{
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, c, &lowered);
    const struct program *p = lowered.programs[0];
    double sum = sum_elements(p, STREAM_DP, PHASE_GRADIENTS, 2.0) +
                 sum_elements(p, STREAM_DP, PHASE_PARAMETERS, 2.0) +
                 sum_elements(p, STREAM_GATHER, PHASE_PARAMETERS, 2.0);
    arena_destroy(arena);
    return sum / parameters_of(c);
}

/* 2N, 2N, 2N, 3N elements (section 7), whatever the buckets and overlaps. */
static void test_zero_traffic(void **state)
{
    static const struct {
        const struct sharding_kind *kind;
        double wanted;
    } rows[] = {{&sharding_zero_0, 2.0},
                {&sharding_zero_1, 2.0},
                {&sharding_zero_2, 2.0},
                {&sharding_zero_3, 3.0},
                {&sharding_fsdp, 3.0}};
    static const double buckets[] = {0.0, 1e4, 1e5, 1e9};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (unsigned b = 0; b < 16; b++) {
            struct configuration c = zero_case(rows[i].kind, 4);
            c.software.data.bucket_bytes = buckets[b / 4];
            c.software.data.overlap_gradients = b & 1;
            c.software.data.overlap_parameters = b >> 1 & 1;
            c.software.shards.reshard = true;
            c.software.shards.prefetch = b / 4;
            assert_true(close_to(traffic_of(&c), rows[i].wanted));
        }
    }
    struct configuration c = zero_case(&sharding_fsdp, 4);
    c.software.shards.reshard = false; /* gathered once */
    assert_true(close_to(traffic_of(&c), 2.0));
    c = zero_case(&sharding_zero_3, 4);
    assert_false(close_to(traffic_of(&c), 2.0));
}

/* HSDP: 3N in the shard group, and an all-reduce of N / shards across the groups. */
static void test_hybrid_traffic(void **state)
{
    struct configuration c = zero_case(&sharding_hsdp, 8);
    c.layout.data.shard_group = 4;
    c.software.shards.reshard = true;
    assert_true(close_to(traffic_of(&c), 3.0));
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, &c, &lowered);
    double across = sum_elements(lowered.programs[0], STREAM_REPLICATE, PHASE_GRADIENTS, 2.0);
    assert_true(close_to(across, 2.0 * parameters_of(&c) / 4.0));
    arena_destroy(arena);
}

static double job_flops(const struct lowered *lowered, enum phase phase)
{
    double sum = 0.0;
    for (uint32_t rank = 0; rank < lowered->rank_count; rank++)
        sum += sum_flops(lowered->programs[lowered->program_of_rank[rank]], phase);
    return sum;
}

/* Forward and backward ops of all ranks do just the model's FLOPs (PaLM's convention: the full
 * square, the head, no lookup; norms take no part in 6N, being no products). */
static bool flops_hold(const struct configuration *c, double factor)
{
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, c, &lowered);
    double done = job_flops(&lowered, PHASE_FORWARD) + job_flops(&lowered, PHASE_BACKWARD);
    double tokens = (double)(c->training.global_batch * c->training.sequence);
    double norms = (double)((2 * c->model.layers + 1) * c->model.hidden);
    double wanted = lowered.model_flops - 6.0 * norms * tokens;
    bool holds = close_to(done * factor, wanted);
    double repeated = job_flops(&lowered, PHASE_RECOMPUTE);
    holds &= close_to(lowered.hardware_flops, done + repeated);
    /* Modules of a layer without latent attention are no products. */
    holds &= (repeated > 0.0) ==
             (c->layout.recompute != RECOMPUTE_NONE && c->layout.recompute != RECOMPUTE_MODULES);
    arena_destroy(arena);
    return holds;
}

static void test_flops(void **state)
{
    static const uint64_t sizes[][5] = {{1, 1, 1, 1, 2}, {2, 1, 1, 1, 2}, {4, 1, 2, 2, 4},
                                        {1, 2, 2, 1, 1}, {2, 2, 1, 4, 4}, {8, 1, 1, 2, 2}};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int recompute = RECOMPUTE_NONE; recompute <= RECOMPUTE_FULL; recompute++) {
            const uint64_t *z = sizes[i];
            struct configuration c = lower_case();
            lower_case_size(&c, z[0], z[1], z[2], z[3], z[4]);
            lower_case_recompute(&c, recompute);
            c.layout.sequence_parallel = i % 2 == 1;
            assert_int_equal(lower_case_errors(&c), 0);
            assert_true(flops_hold(&c, 1.0));
            assert_false(flops_hold(&c, 1.0 + 1e-9)); /* planted */
        }
    }
}

/* What stops early leaves out the last product of each layer, and with sequence parallelism its
 * scatter. */
static void test_recompute_stops_early(void **state)
{
    for (uint64_t tp = 1; tp <= 2; tp++) {
        struct configuration c = lower_case();
        lower_case_size(&c, tp, 1, 1, 1, 2);
        c.layout.recompute = RECOMPUTE_FULL;
        struct arena *arena = arena_create();
        struct lowered whole, early;
        lower(arena, &c, &whole);
        c.software.layer.recompute_stops_early = true;
        lower(arena, &c, &early);
        double tokens = (double)(c.training.global_batch * c.training.sequence);
        double product = 2.0 * tokens * (double)(c.model.ffn_hidden * c.model.hidden);
        double left_out = job_flops(&whole, PHASE_RECOMPUTE) - job_flops(&early, PHASE_RECOMPUTE);
        assert_true(close_to(left_out, (double)c.model.layers * product));
        assert_false(close_to(left_out, (double)c.model.layers * product * 1.001)); /* planted */
        uint32_t ops = whole.programs[0]->op_count - early.programs[0]->op_count;
        assert_int_equal(ops, tp == 1 ? 0 : 2 * c.model.layers); /* microbatches x layers */
        arena_destroy(arena);
    }
}

/* Stage i of 1F1B holds min(p - i, m) microbatches of saved tensors. */
static void test_in_flight(void **state)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 1, 1, 1, 4, 3);
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, &c, &lowered);
    double one = sum_peak_bytes(lowered.programs[2], TENANT_ACTIVATIONS) / 2.0;
    double stage0 = sum_peak_bytes(lowered.programs[0], TENANT_ACTIVATIONS);
    double stage1 = sum_peak_bytes(lowered.programs[1], TENANT_ACTIVATIONS);
    assert_true(one > 0.0);
    assert_true(close_to(stage0, 3.0 * one)); /* of 4, but there are only 3 */
    assert_true(close_to(stage1, 3.0 * one));
    struct layer layer;
    struct layer_context context = {.model = &c.model,
                                    .software = &c.software,
                                    .precision = c.training.precision,
                                    .attention = ATTENTION_MATH,
                                    .microbatch = 1,
                                    .sequence = c.training.sequence,
                                    .tp = 1,
                                    .cp = 1};
    transformer_layer(&context, &layer);
    double saved = 0.0;
    for (unsigned i = 0; i < layer.segment_count; i++)
        for (unsigned k = 0; k < layer.segments[i].saved.count; k++)
            saved += layer.segments[i].saved.tensors[k].bytes;
    assert_true(close_to(one, saved));
    c.layout.recompute = RECOMPUTE_FULL; /* the input of each, and one layer rebuilt */
    lower(arena, &c, &lowered);
    stage0 = sum_peak_bytes(lowered.programs[0], TENANT_ACTIVATIONS);
    assert_true(close_to(stage0, 3.0 * layer.input_bytes + saved));
    arena_destroy(arena);
}

/* Compact programs: one op for a layer and pass without communication, at most 8 with it (6 more
 * where the input is gathered again, beside a product of its own, and selective recomputation
 * repeats the core). */
static void test_op_counts(void **state)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 1, 1, 1, 2, 2);
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, &c, &lowered);
    assert_int_equal(count_ops(lowered.programs[0], PHASE_FORWARD, 0, 1), 1);
    assert_int_equal(count_ops(lowered.programs[0], PHASE_BACKWARD, 0, 1), 1);
    for (uint32_t i = 0; i < lowered.programs[0]->op_count; i++) {
        const char *name = lowered.programs[0]->names[lowered.programs[0]->ops[i].name];
        assert_true(lowered.programs[0]->ops[i].layer == UINT16_MAX || strcmp(name, "layer") == 0);
    }
    lower_case_size(&c, 4, 1, 1, 2, 2);
    c.layout.sequence_parallel = true;
    lower(arena, &c, &lowered);
    assert_int_equal(count_ops(lowered.programs[0], PHASE_FORWARD, 1, 1), 8);
    assert_in_range(count_ops(lowered.programs[0], PHASE_BACKWARD, 1, 1), 8, 14);
    assert_true(lowered.programs[0]->cost_count < 24);
    const struct program *p = lowered.programs[0];
    static const char *const names[] = {"norm", "attention", "norm", "mlp"};
    unsigned named = 0; /* a stretch is called after its segment; of several, after the block */
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        bool here = op->kind == OP_COMPUTE && op->phase == PHASE_FORWARD && op->layer == 1;
        if (here && op->microbatch == 0 && named < 4)
            assert_string_equal(p->names[op->name], names[named++]);
    }
    assert_int_equal(named, 4);
    arena_destroy(arena);
}

/* The transfer on the gradient of an input runs beside the weight gradient only where the software
 * overlaps it: the next compute op does not wait for it, the one after does. */
static void test_backward_overlap(void **state)
{
    for (unsigned overlap = 0; overlap < 2; overlap++) {
        struct configuration c = lower_case();
        lower_case_size(&c, 2, 1, 1, 1, 1);
        c.software.tensor.backward_overlap = overlap == 1;
        struct arena *arena = arena_create();
        struct lowered lowered;
        lower(arena, &c, &lowered);
        const struct program *p = lowered.programs[0];
        unsigned beside = 0, exposed = 0;
        for (uint32_t i = 0; i + 1 < p->op_count; i++) {
            const struct op *op = &p->ops[i], *next = &p->ops[i + 1];
            if (op->stream == STREAM_TP && op->phase == PHASE_BACKWARD && op->layer == 2) {
                bool waits = next->wait[0] == i + 1 || next->wait[1] == i + 1;
                beside += !waits;
                exposed += waits;
            }
        }
        assert_int_equal(beside, overlap ? 2 : 0);
        assert_int_equal(exposed, overlap ? 0 : 2);
        arena_destroy(arena);
    }
}

/* Buckets leave during the last backward, and only then. */
static void test_buckets(void **state)
{
    struct configuration c = zero_case(&sharding_zero_0, 2);
    lower_case_size(&c, 1, 1, 2, 1, 3);
    c.software.data.bucket_bytes = 0.0; /* one for each layer, the embedding and the head */
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, &c, &lowered);
    const struct program *p = lowered.programs[0];
    unsigned buckets = 0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        if (p->ops[i].stream == STREAM_DP) {
            buckets++;
            assert_int_equal(p->ops[i].microbatch, 2);
            assert_true(p->ops[i].wait[0] == i); /* for the op that has just made it */
        }
    }
    assert_int_equal(buckets, c.model.layers + 2);
    c.software.data.overlap_gradients = false;
    lower(arena, &c, &lowered);
    p = lowered.programs[0];
    bool reduced = false;
    for (uint32_t i = 0; i < p->op_count; i++) {
        reduced |= p->ops[i].stream == STREAM_DP;
        assert_false(reduced && p->ops[i].phase == PHASE_BACKWARD);
    }
    assert_true(reduced);
    arena_destroy(arena);
}

/* The embedding belongs to the first stage, the head to the last; tied, both hold the table and
 * all-reduce its gradient. */
static void test_tied(void **state)
{
    struct configuration c = lower_case();
    c.model.tied_embeddings = true;
    lower_case_size(&c, 1, 1, 1, 2, 2);
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, &c, &lowered);
    assert_true(lowered.streams >> STREAM_EMBED & 1u);
    double table = (double)(c.model.vocabulary * c.model.hidden);
    for (unsigned s = 0; s < 2; s++) {
        double bytes = sum_elements(lowered.programs[s], STREAM_EMBED, PHASE_GRADIENTS, 4.0);
        assert_true(bytes == 2.0 * table);
    }
    double weights = sum_static_bytes(lowered.programs[0], TENANT_WEIGHTS) +
                     sum_static_bytes(lowered.programs[1], TENANT_WEIGHTS);
    assert_true(weights == 2.0 * (parameters_of(&c) + table));
    lower_case_size(&c, 1, 1, 1, 1, 2);
    lower(arena, &c, &lowered);
    assert_false(lowered.streams >> STREAM_EMBED & 1u);
    assert_true(sum_static_bytes(lowered.programs[0], TENANT_WEIGHTS) == 2.0 * parameters_of(&c));
    arena_destroy(arena);
}

/* While a layer's backward runs its weights and the prefetched ones are there (2 bytes each), its
 * gradients (2), and the flat copy of the layer before that is being reduced, in its type. */
static void test_fsdp_buffers(void **state)
{
    double layer = 4.0 * 64.0 * 64.0 + 3.0 * 64.0 * 256.0 + 2.0 * 64.0;
    for (double wire = 2.0; wire <= 4.0; wire += 2.0) {
        struct configuration c = lower_case();
        c.layout.data.sharding = &sharding_fsdp;
        c.software.shards.prefetch = 1;
        c.software.shards.reshard = true;
        c.software.data.bucket_bytes = 0.0;
        c.software.data.gradient_reduce_bytes = wire;
        lower_case_size(&c, 1, 1, 4, 1, 2);
        struct arena *arena = arena_create();
        struct lowered lowered;
        lower(arena, &c, &lowered);
        double peak = sum_peak_bytes(lowered.programs[0], TENANT_COMMUNICATION);
        assert_true(peak == (2.0 * 2.0 + 2.0 + wire) * layer);
        arena_destroy(arena);
    }
}

static double bytes_of(const struct program *p, enum op_kind kind, const char *name)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        bool counts = op->kind == (uint8_t)kind && (!name || !strcmp(p->names[op->name], name));
        sum += counts ? p->transfers[op->cost].bytes : 0.0;
    }
    return sum;
}

/* arXiv:2104.04473 section 4.1: with t tensor ranks each sends b s h / t elements of a message and
 * gathers the whole; sequence parallelism has it split already, and gathers nothing. */
static void test_scattered_messages(void **state)
{
    for (unsigned variant = 0; variant < 4; variant++) {
        struct configuration c = lower_case();
        c.software.pipeline.scatter = variant & 1;
        c.layout.sequence_parallel = variant & 2;
        lower_case_size(&c, 4, 1, 1, 2, 3);
        struct arena *arena = arena_create();
        struct lowered lowered;
        lower(arena, &c, &lowered);
        double whole = 3.0 * 128.0 * 64.0 * 2.0;
        for (unsigned s = 0; s < 2; s++) {
            const struct program *p = lowered.programs[s];
            double sent = bytes_of(p, OP_SEND, NULL);
            assert_true(sent == (variant == 0 ? whole : whole / 4.0));
            assert_true(bytes_of(p, OP_RECV, NULL) == sent);
            assert_true(bytes_of(p, OP_COLLECTIVE, "gather message") ==
                        (variant == 1 ? whole : 0.0));
        }
        arena_destroy(arena);
    }
}

/* Setup in the order of the software; moments at construction or in the first step. */
static void test_setup_order(void **state)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 2, 1, 1, 1, 1);
    c.gpu.hbm.context_bytes = 1e6;
    struct arena *arena = arena_create();
    struct lowered lowered;
    for (int build = BUILD_EAGER; build <= BUILD_FIRST_STEP; build++) {
        c.software.memory.build = build;
        lower(arena, &c, &lowered);
        const struct program *p = lowered.programs[0];
        static const enum tenant order[] = {TENANT_CONTEXT,       TENANT_WEIGHTS, TENANT_GRADIENTS,
                                            TENANT_COMMUNICATION, TENANT_MASTER,  TENANT_MOMENTS};
        unsigned at = 0;
        for (uint32_t i = 0; i < p->setup_count; i++) {
            while (at < 6 && order[at] != p->setup[i].tenant)
                at++;
            assert_in_range(at, 0, 5);
        }
        assert_int_equal(at, build == BUILD_EAGER ? 5 : 4);
        assert_string_equal(p->setup[2].call_site, "model construction, layer 1 of 4");
        assert_true(sum_static_bytes(p, TENANT_MOMENTS) ==
                    2.0 * sum_static_bytes(p, TENANT_MASTER));
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_zero_traffic),
        cmocka_unit_test(test_hybrid_traffic),
        cmocka_unit_test(test_flops),
        cmocka_unit_test(test_recompute_stops_early),
        cmocka_unit_test(test_in_flight),
        cmocka_unit_test(test_op_counts),
        cmocka_unit_test(test_backward_overlap),
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_tied),
        cmocka_unit_test(test_fsdp_buffers),
        cmocka_unit_test(test_scattered_messages),
        cmocka_unit_test(test_setup_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
