/* The ops that data parallelism adds to a step: sizes of buckets, copies beside collectives, what
 * the update moves, what traffic may slow, where the host waits. One stage of 328,256 parameters:
 * four layers of 65,664, an embedding of 32,768, a head with its norm of 32,832. */
#include <math.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

#define LAYER 65664.0
#define EMBEDDING 32768.0
#define HEAD 32832.0
#define ALL (4.0 * LAYER + EMBEDDING + HEAD)

enum {
    FOUND_MAX = 256
};
static struct configuration job(const struct sharding_kind *kind, uint64_t dp,
                                uint64_t microbatches)
{
    struct configuration c = lower_case();
    c.layout.data.sharding = kind;
    c.training.gradient_bytes = 2.0;
    lower_case_size(&c, 1, 1, dp, 1, microbatches);
    return c;
}

/* Indices of the ops of this name, in their order. */
static unsigned find(const struct written *w, const char *name, uint32_t out[FOUND_MAX])
{
    unsigned count = 0;
    for (uint32_t i = 0; i < w->p->op_count; i++) {
        if (strcmp(w->p->names[w->p->ops[i].name], name) == 0) {
            assert_true(count < FOUND_MAX);
            out[count++] = i;
        }
    }
    return count;
}

static const struct op *one(const struct written *w, const char *name)
{
    uint32_t found[FOUND_MAX];
    assert_int_equal(find(w, name, found), 1);
    return &w->p->ops[found[0]];
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

/* Gradients leave from the head down to the embedding in buckets of a whole number of elements; a
 * unit that fills more than sixteen of them leaves in sixteen. */
static void test_bucket_sizes(void **state)
{
    static const double units[] = {HEAD, LAYER, LAYER, LAYER, LAYER, EMBEDDING};
    static const double rooms[] = {1e9,  328256, 200000, 65664, 50001, 32768,
                                   8208, 4104,   4103,   3863,  2000,  1e3};
    for (unsigned i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        struct configuration c = job(&sharding_zero_0, 2, 2);
        c.software.data.bucket_bytes = 2.0 * rooms[i] + 1.0; /* half an element is none */
        c.software.data.gradient_reduce_bytes = 4.0;
        struct written w = lower_case_write(&c);
        uint32_t found[FOUND_MAX];
        unsigned count = find(&w, "reduce gradients", found), at = 0;
        double open = 0.0;
        for (unsigned u = 0; u < 6; u++) {
            open += units[u];
            double whole = floor(open / rooms[i]), times = fmin(whole, 16.0);
            open = fmod(open, rooms[i]);
            for (unsigned k = 0; k < times; k++) {
                const struct op *op = &w.p->ops[found[at++]];
                near(w.p->transfers[op->cost].bytes, 4.0 * rooms[i] * whole / times);
                assert_int_equal(op->microbatch, 1);
                assert_int_equal(op->phase, PHASE_GRADIENTS);
            }
        }
        if (open > 0.0)
            near(w.p->transfers[w.p->ops[found[at++]].cost].bytes, 4.0 * open);
        assert_int_equal(at, count);
        arena_destroy(w.arena);
    }
}

/* Packing moves each byte twice; a copy follows its transfer, and what needs it waits for the copy;
 * a launch each. */
static void test_copies(void **state)
{
    static const struct {
        const struct sharding_kind *kind;
        bool overlap;
        const char *transfer;
        unsigned count;
    } cases[] = {
        {&sharding_zero_0, true, "reduce gradients", 6},
        {&sharding_zero_0, false, "reduce gradients", 1},
        {&sharding_zero_1, false, "gather parameters", 1},
        {&sharding_zero_1, true, "gather parameters", 6},
        {&sharding_zero_3, true, "reduce gradients", 6},
        {&sharding_zero_3, true, "gather weights", 12}, /* before each forward and backward */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = job(cases[i].kind, 4, 1);
        const bool lists = cases[i].kind != &sharding_zero_0; /* an all-reduce has no parts */
        const double partitions_s = lists ? 8e-6 : 0.0;
        c.software.data.bucket_bytes = 0.0;
        c.software.shards.reshard = true;
        c.software.data.overlap_gradients = c.software.data.overlap_parameters = cases[i].overlap;
        c.software.data.copy_bytes_per_s = 5e9;
        c.software.data.partition_copy_s = 2e-6; /* of four ranks */
        c.software.host.launch_s = 3e-6;
        struct written w = lower_case_write(&c);
        uint32_t transfers[FOUND_MAX], copies[FOUND_MAX];
        unsigned count = find(&w, cases[i].transfer, transfers),
                 all = find(&w, "copy buffer", copies);
        unsigned met = 0;
        for (unsigned k = 0; k < count; k++) {
            const struct op *transfer = &w.p->ops[transfers[k]], *copy = transfer + 1;
            const struct op_cost *cost = &w.p->costs[copy->cost];
            double bytes = w.p->transfers[transfer->cost].bytes;
            assert_string_equal(w.p->names[copy->name], "copy buffer");
            assert_int_equal(copy->stream, STREAM_COPY);
            assert_int_equal(copy->phase, transfer->phase);
            assert_true(copy->layer == transfer->layer && copy->microbatch == transfer->microbatch);
            assert_true(copy->wait[0] == transfers[k] + 1 && copy->wait[1] == OP_NONE);
            near(cost->gpu_s, bytes / 5e9 + partitions_s);
            near(cost->bytes, 2.0 * bytes);
            near(cost->peak_s, 2.0 * bytes / c.gpu.hbm.bytes_per_s);
            near(w.p->kernels[cost->kernel_first].bytes, 2.0 * bytes);
            near(w.p->hosts[copy->host], 3e-6);
            met++;
        }
        assert_int_equal(met, cases[i].count);
        assert_true(all >= met);
        c.software.data.copy_bytes_per_s = 0.0;
        arena_destroy(w.arena);
        w = lower_case_write(&c);
        assert_true(find(&w, "copy buffer", copies) == (lists ? all : 0)); /* part by part */
        if (lists)
            near(w.p->costs[w.p->ops[copies[0]].cost].gpu_s, 8e-6);
        c.software.data.partition_copy_s = 0.0;
        arena_destroy(w.arena);
        w = lower_case_write(&c);
        assert_int_equal(find(&w, "copy buffer", copies), 0); /* in place */
        arena_destroy(w.arena);
    }
}

/* The norm reads the gradients that a rank answers for. The update reads them, moves the state (16
 * bytes of moments and 8 of a master copy with AdamW) and writes the weight; without a master copy
 * the weight is read and written in its place. A buffer of gradients is cleared; some optimizers
 * move more beside. */
static void test_update(void **state)
{
    static const struct {
        const struct sharding_kind *kind;
        const char *precision, *optimizer;
        double kept, extra;
        int gradients;
        double part, moved, cleared; /* of all; bytes an element */
    } cases[] = {
        {&sharding_zero_0, "bf16", "adamw", 2, 0, GRADIENT_TENSOR, 1, 2 + 2 + 24, 0},
        {&sharding_zero_0, "bf16", "adamw", 4, 0, GRADIENT_TENSOR, 1, 4 + 2 + 24, 0},
        {&sharding_zero_0, "bf16", "adamw", 4, 0, GRADIENT_BUFFER, 1, 4 + 2 + 24, 4},
        {&sharding_zero_1, "bf16", "adamw", 4, 0, GRADIENT_BUFFER, 0.25, 4 + 2 + 24, 4},
        {&sharding_zero_2, "bf16", "adamw", 4, 0, GRADIENT_BUFFER, 0.25, 4 + 2 + 24, 1},
        {&sharding_zero_1, "bf16", "adamw", 2, 11, GRADIENT_TENSOR, 0.25, 2 + 2 + 24 + 11, 0},
        {&sharding_zero_0, "bf16", "adam8bit", 2, 0, GRADIENT_TENSOR, 1,
         2 + 2 + 8 + 4 * (1 + 4 / 256.0), 0},
        {&sharding_zero_0, "bf16", "sgd", 2, 0, GRADIENT_TENSOR, 1, 2 + 2 + 8, 0},
        {&sharding_zero_0, "fp32", "adamw", 4, 0, GRADIENT_TENSOR, 1, 4 + 8 + 16, 0},
        {&sharding_zero_0, "fp32", "sgd", 4, 0, GRADIENT_TENSOR, 1, 4 + 8, 0},
        {&sharding_zero_0, "fp32", "momentum", 4, 0, GRADIENT_TENSOR, 1, 4 + 8 + 8, 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = job(cases[i].kind, 4, 1);
        c.training.precision = precision_find(cases[i].precision);
        c.training.optimizer = optimizer_find(cases[i].optimizer);
        c.training.gradient_bytes = cases[i].kept;
        c.software.data.gradients = cases[i].gradients;
        c.software.memory.optimizer_extra_bytes = cases[i].extra;
        c.software.host.optimizer_s = 5e-3;
        c.software.host.launch_s = 2e-6;
        struct written w = lower_case_write(&c);
        const struct op *norm = one(&w, "gradient norm"), *update = one(&w, "optimizer update");
        double elements = cases[i].part * ALL;
        near(w.p->costs[norm->cost].bytes, elements * cases[i].kept);
        near(w.p->costs[update->cost].bytes, elements * cases[i].moved + ALL * cases[i].cleared);
        near(w.p->hosts[update->host], 5e-3 + 2e-6);
        assert_true(norm->phase == PHASE_OPTIMIZER && update->phase == PHASE_OPTIMIZER);
        assert_true(update->layer == UINT16_MAX && update->microbatch == UINT16_MAX);
        arena_destroy(w.arena);
    }
    struct configuration c = job(&sharding_zero_0, 4, 1);
    c.software.memory.clip_gradients = false;
    struct written w = lower_case_write(&c);
    uint32_t found[FOUND_MAX];
    assert_int_equal(find(&w, "gradient norm", found), 0);
    arena_destroy(w.arena);
}

/* Where the norm meets that of other ranks: wherever the model or its state is in parts. */
static void test_norm_over_ranks(void **state)
{
    static const struct {
        const struct sharding_kind *kind;
        uint64_t tp, dp, pp;
        unsigned count;
    } cases[] = {{&sharding_zero_0, 1, 4, 1, 0}, {&sharding_zero_1, 1, 4, 1, 1},
                 {&sharding_zero_0, 2, 1, 1, 1}, {&sharding_zero_0, 1, 2, 2, 1},
                 {&sharding_zero_1, 1, 1, 1, 0}, {&sharding_fsdp, 1, 2, 1, 1}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = job(cases[i].kind, 1, 1);
        lower_case_size(&c, cases[i].tp, 1, cases[i].dp, cases[i].pp, 2);
        struct written w = lower_case_write(&c);
        uint32_t found[FOUND_MAX];
        unsigned count = find(&w, "reduce gradient norm", found);
        assert_int_equal(count, cases[i].count);
        if (count > 0) {
            const struct op *op = &w.p->ops[found[0]];
            assert_int_equal(op->stream, STREAM_WORLD);
            assert_true(w.p->transfers[op->cost].bytes == 4.0);
            assert_int_equal(w.p->transfers[op->cost].op, COMM_ALL_REDUCE);
        }
        arena_destroy(w.arena);
    }
}

/* What may be slowed: all compute of passes where gathers or scatters run all the time, else what
 * comes after the first bucket has left, and the forwards that gathers still run beside. */
static void test_what_may_be_slowed(void **state)
{
    enum from {
        NEVER,
        ALWAYS,
        AFTER_A_BUCKET,
        AFTER_A_BUCKET_AND_FIRST
    };
    static const struct {
        const struct sharding_kind *kind;
        bool overlap;
        double ratio;
        enum from from;
    } cases[] = {
        {&sharding_zero_0, true, 0.1, AFTER_A_BUCKET},
        {&sharding_zero_0, false, 0.1, NEVER},
        {&sharding_zero_1, true, 0.1, AFTER_A_BUCKET_AND_FIRST},
        {&sharding_zero_1, false, 0.1, NEVER},
        {&sharding_zero_2, true, 0.1, ALWAYS},
        {&sharding_zero_2, false, 0.1, ALWAYS},
        {&sharding_zero_3, true, 0.1, ALWAYS},
        {&sharding_fsdp, true, 0.1, ALWAYS},
        {&sharding_fsdp, true, 0.0, NEVER},
        {&sharding_zero_1, true, 0.0, NEVER},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = job(cases[i].kind, 4, 3);
        c.software.data.bucket_bytes = 0.0;
        c.software.data.interference_ratio = cases[i].ratio;
        c.software.data.overlap_gradients = c.software.data.overlap_parameters = cases[i].overlap;
        struct written w = lower_case_write(&c);
        bool reduced = false;
        assert_true(w.p->interference.ratio == cases[i].ratio);
        for (unsigned stream = 0; stream < STREAM_COUNT; stream++) {
            const bool traffic = stream == STREAM_DP || stream == STREAM_GATHER ||
                                 stream == STREAM_REPLICATE || stream == STREAM_EP_DATA ||
                                 stream == STREAM_EP_GATHER || stream == STREAM_EP_REPLICATE;
            assert_int_equal(w.p->interference.streams >> stream & 1u, traffic);
        }
        for (uint32_t k = 0; k < w.p->op_count; k++) {
            const struct op *op = &w.p->ops[k];
            bool pass = op->phase == PHASE_FORWARD || op->phase == PHASE_BACKWARD;
            bool first = op->phase == PHASE_FORWARD && op->microbatch == 0;
            bool may = cases[i].from == ALWAYS;
            may |= cases[i].from >= AFTER_A_BUCKET && reduced;
            may |= cases[i].from == AFTER_A_BUCKET_AND_FIRST && first;
            reduced |= op->kind == OP_COLLECTIVE && op->phase == PHASE_GRADIENTS;
            if (op->kind == OP_COMPUTE)
                assert_int_equal((op->flags & OP_SENSITIVE) != 0, may && pass);
        }
        arena_destroy(w.arena);
    }
}

/* Layers are gathered so many at a time, the rest of them together; embedding and head by
 * themselves. 0 is one. In what order: the forward up, the backward down. */
static void test_units(void **state)
{
    static const struct {
        uint64_t size;
        unsigned count;
        double layers[4];
    } cases[] = {{0, 4, {1, 1, 1, 1}}, {1, 4, {1, 1, 1, 1}}, {2, 2, {2, 2}},
                 {3, 2, {3, 1}},       {4, 1, {4}},          {9, 1, {4}}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = job(&sharding_fsdp, 4, 1);
        c.layout.data.fsdp_unit_layers = cases[i].size;
        c.software.shards.reshard = true;
        struct written w = lower_case_write(&c);
        uint32_t gathers[FOUND_MAX], reduces[FOUND_MAX];
        const unsigned units = cases[i].count + 2;
        assert_int_equal(find(&w, "gather weights", gathers), 2 * units);
        assert_int_equal(find(&w, "reduce gradients", reduces), units);
        for (unsigned k = 0; k < units; k++) {
            double size = k == 0           ? EMBEDDING
                          : k + 1 == units ? HEAD
                                           : LAYER * cases[i].layers[k - 1];
            const uint32_t same[] = {gathers[k], gathers[2 * units - 1 - k],
                                     reduces[units - 1 - k]};
            for (unsigned m = 0; m < 3; m++)
                near(w.p->transfers[w.p->ops[same[m]].cost].bytes, 2.0 * size);
        }
        arena_destroy(w.arena);
    }
}

/* Gradients by tensor: there from the first backward of their unit to the update, which lets them
 * go from the embedding up. */
static void test_gradient_tensors(void **state)
{
    static const uint16_t layers[] = {UINT16_MAX, 0, 1, 2, 3, UINT16_MAX};
    static const double sizes[] = {EMBEDDING, LAYER, LAYER, LAYER, LAYER, HEAD};
    struct configuration c = job(&sharding_zero_0, 2, 3);
    c.software.data.gradients = GRADIENT_TENSOR;
    struct written w = lower_case_write(&c);
    const uint32_t update = (uint32_t)(one(&w, "optimizer update") - w.p->ops);
    uint32_t tensors[6];
    unsigned taken = 0, given = 0;
    for (uint32_t i = 0; i < w.p->ledger_count; i++) {
        const struct ledger_entry *e = &w.p->ledger[i];
        if (e->tenant != TENANT_GRADIENTS)
            continue;
        const bool takes = e->action == LEDGER_ALLOCATE;
        const unsigned unit = takes ? 5 - taken++ : given++;
        assert_true(unit < 6);
        tensors[unit] = takes ? e->tensor : tensors[unit];
        assert_int_equal(e->tensor, tensors[unit]);
        assert_int_equal(e->layer, layers[unit]);
        assert_true(e->bytes == 2.0 * sizes[unit]);
        assert_string_equal(e->call_site, takes ? "backward" : "gradients set to none");
        assert_true(takes ? e->microbatch == 0 : i >= w.p->ops[update].ledger);
    }
    assert_true(taken == 6 && given == 6);
    arena_destroy(w.arena);
}

/* Moments that the first update makes are of the layer whose they are, unit by unit. */
static void test_moments_of_the_first_step(void **state)
{
    static const uint16_t layers[] = {UINT16_MAX, 0, 1, 2, 3, UINT16_MAX};
    struct configuration c = job(&sharding_zero_1, 4, 1);
    c.software.memory.build = BUILD_FIRST_STEP;
    struct written w = lower_case_write(&c);
    unsigned met = 0;
    double bytes = 0.0;
    for (uint32_t i = 0; i < w.p->ledger_count; i++) {
        const struct ledger_entry *e = &w.p->ledger[i];
        if (e->tenant == TENANT_MOMENTS) {
            assert_string_equal(e->name, met % 2 ? "exp_avg_sq" : "exp_avg");
            assert_int_equal(e->layer, layers[met++ / 2]);
            assert_int_equal(e->flags, LEDGER_FIRST_STEP | LEDGER_STAYS);
            bytes += e->bytes;
        }
    }
    assert_int_equal(met, 12);
    assert_true(bytes == 8.0 * ALL / 4.0);
    arena_destroy(w.arena);
}

/* Updated weights arrive beside the first forward: it waits for them, and nobody after it. */
static void test_gathers_are_awaited_once(void **state)
{
    struct configuration c = job(&sharding_zero_1, 4, 3);
    c.software.data.overlap_parameters = true;
    c.software.data.bucket_bytes = 0.0;
    struct written w = lower_case_write(&c);
    unsigned waits = 0;
    for (uint32_t i = 0; i < w.p->op_count; i++) {
        const struct op *op = &w.p->ops[i];
        for (unsigned k = 0; k < 2; k++) {
            if (op->kind != OP_COMPUTE || op->wait[k] == OP_NONE ||
                w.p->ops[op->wait[k] - 1].phase != PHASE_PARAMETERS)
                continue;
            assert_true(op->phase == PHASE_FORWARD && op->microbatch == 0);
            assert_int_equal(op->wait[k] - 1, waits); /* the gathers stand first */
            waits++;
        }
    }
    assert_int_equal(waits, 6);
    arena_destroy(w.arena);
}

/* A table tied across stages is reduced between its two ends: whole where gradients stay, the shard
 * where they are scattered each microbatch. */
static void test_tied_table(void **state)
{
    static const struct {
        const struct sharding_kind *kind;
        double part;
    } cases[] = {{&sharding_zero_0, 1.0}, {&sharding_zero_1, 1.0}, {&sharding_zero_2, 0.25}};
    for (unsigned i = 0; i < 3; i++) {
        struct configuration c = job(cases[i].kind, 1, 1);
        lower_case_size(&c, 2, 1, 4, 4, 4);
        c.model.tied_embeddings = true;
        struct arena *arena = arena_create();
        struct lowered lowered;
        lower(arena, &c, &lowered);
        for (unsigned stage = 0; stage < 4; stage++) {
            struct written w = {arena, lowered.programs[stage]};
            uint32_t found[FOUND_MAX];
            unsigned count = find(&w, "reduce tied embedding", found);
            assert_int_equal(count, stage == 0 || stage == 3);
            if (count > 0)
                near(w.p->transfers[w.p->ops[found[0]].cost].bytes,
                     2.0 * EMBEDDING / 2.0 * cases[i].part);
        }
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bucket_sizes),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_norm_over_ranks),
        cmocka_unit_test(test_what_may_be_slowed),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_gathers_are_awaited_once),
        cmocka_unit_test(test_gradient_tensors),
        cmocka_unit_test(test_moments_of_the_first_step),
        cmocka_unit_test(test_tied_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
