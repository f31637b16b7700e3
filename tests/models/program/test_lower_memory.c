/* What each switch of the software and the layout allocates: by name, how often, how many bytes,
 * and how many of them at once, against counts made by hand from the shape. A switch that is off
 * leaves nothing behind. What must come back does. */
#include <math.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

/* Entries of one name in one program: setup and step. */
struct named {
    unsigned allocated, freed;
    double bytes, peak_bytes, setup_bytes;
};
static struct named find(const struct program *p, const char *name)
{
    struct named n = {0};
    double now = 0.0;
    for (uint32_t i = 0; i < p->setup_count; i++) {
        if (strcmp(p->setup[i].name, name) == 0) {
            n.allocated++;
            n.bytes += p->setup[i].bytes;
            n.setup_bytes += p->setup[i].bytes;
        }
    }
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        const struct ledger_entry *e = &p->ledger[i];
        if (strcmp(e->name, name) != 0)
            continue;
        bool in = e->action == LEDGER_ALLOCATE;
        n.allocated += in;
        n.freed += !in;
        n.bytes += in ? e->bytes : 0.0;
        now += in ? e->bytes : -e->bytes;
        n.peak_bytes = fmax(n.peak_bytes, now);
    }
    return n;
}

static struct named of(const struct configuration *c, uint32_t stage, const char *name)
{
    assert_int_equal(lower_case_errors(c), 0);
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, c, &lowered);
    struct named n = find(lowered.programs[stage], name);
    arena_destroy(arena);
    return n;
}

static void is(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 * fmin(fabs(value), fabs(wanted)))) {
        print_message("%.17g instead of %.17g\n", value, wanted);
        fail();
    }
}

/* The shape of lower_case: 4 layers, h 64, 8 heads of 8, swiglu f 256, V 512, s 128, rms norms. */
static const double h = 64, f = 256, vocabulary = 512, sequence = 128, layers = 4;
static double layer_elements(double tp)
{
    return (4 * h * h + 3 * h * f) / tp + 2 * h;
}
static double all_elements(void)
{
    return layers * layer_elements(1) + 2 * vocabulary * h + h;
}

static struct configuration sized(uint64_t tp, uint64_t cp, uint64_t dp, uint64_t pp, uint64_t m,
                                  const struct sharding_kind *sharding)
{
    struct configuration c = lower_case();
    c.layout.data.sharding = sharding;
    c.software.data.gradient_kept_bytes = 4.0;
    c.software.data.gradients_after_pass = c.software.memory.record_streams =
        c.software.data.gradient_copy = false;
    lower_case_size(&c, tp, cp, dp, pp, m);
    return c;
}

static void gradients_by_layout(void **state)
{
    struct configuration c = sized(1, 1, 2, 1, 1, &sharding_zero_1);
    c.software.data.gradients = GRADIENT_BUFFER;
    is(of(&c, 0, "gradient buffer").setup_bytes, 4 * all_elements());
    assert_int_equal(of(&c, 0, "gradients").allocated, 0);
    assert_int_equal(of(&c, 0, "gradient buckets").allocated, 0);
    c.software.data.gradient_copy = true;
    is(of(&c, 0, "gradient buckets").setup_bytes, 2 * all_elements());
    c.layout.data.sharding = &sharding_zero_2; /* each microbatch's gradients leave at once */
    assert_int_equal(of(&c, 0, "gradient buckets").allocated, 0);
    c = sized(1, 1, 2, 1, 3, &sharding_zero_1);
    c.software.data.gradients = GRADIENT_TENSOR;
    struct named n = of(&c, 0, "gradients");
    assert_int_equal(of(&c, 0, "gradient buffer").allocated, 0);
    assert_int_equal(n.allocated, 6); /* by unit, once for all microbatches */
    assert_int_equal(n.freed, 6);
    is(n.bytes, 4 * all_elements());
    is(n.peak_bytes, 4 * all_elements());
}

static void gradients_of_a_pass(void **state)
{
    struct configuration c = sized(1, 1, 1, 1, 2, &sharding_zero_0);
    assert_int_equal(of(&c, 0, "gradients of a pass").allocated, 0);
    c.software.data.gradients_after_pass = true;
    struct named n = of(&c, 0, "gradients of a pass");
    assert_int_equal(n.allocated, 2 * 6); /* by unit and backward pass */
    assert_int_equal(n.freed, 2 * 6);
    is(n.bytes, 2 * 2 * all_elements());
    is(n.peak_bytes, 2 * all_elements()); /* of one pass: none stays for the next */
    lower_case_size(&c, 1, 1, 2, 1, 2);
    c.layout.data.sharding = &sharding_zero_2;
    assert_int_equal(of(&c, 0, "gradients of a pass").allocated, 0);
}

static void optimizer_by_build(void **state)
{
    for (int build = BUILD_EAGER; build <= BUILD_FIRST_STEP; build++) {
        for (uint64_t dp = 1; dp <= 4; dp *= 2) {
            struct configuration c = sized(1, 1, dp, 1, 1, &sharding_zero_1);
            c.software.memory.build = build;
            const double share = 4 * all_elements() / (double)dp;
            is(of(&c, 0, "master weights").setup_bytes, share);
            static const char *const moments[] = {"exp_avg", "exp_avg_sq"};
            for (unsigned k = 0; k < 2; k++) {
                struct named n = of(&c, 0, moments[k]);
                is(n.bytes, share);
                is(n.setup_bytes, build == BUILD_EAGER ? share : 0.0);
                assert_int_equal(n.allocated, 6);
                assert_int_equal(n.freed, 0);
            }
        }
    }
}

/* One communicator for each group that a stage belongs to, of so many bytes. */
static void communicators(void **state)
{
    static const char *const names[] = {
        "tensor-parallel communicator", "context-parallel communicator",
        "data-parallel communicator",   "replica communicator",
        "embedding communicator",       "world communicator",
        "pipeline communicator"};
    static const struct {
        uint64_t tp, cp, dp, pp;
        const struct sharding_kind *sharding;
        bool tied;
        uint32_t stage;
        const char *has; /* one letter for each name: y or n */
    } rows[] = {
        {1, 1, 1, 1, &sharding_zero_0, false, 0, "nnnnnnn"},
        {2, 1, 1, 1, &sharding_zero_0, false, 0, "ynnnnyn"},
        {1, 2, 1, 1, &sharding_zero_0, false, 0, "nyynnnn"},
        {1, 1, 2, 1, &sharding_zero_0, false, 0, "nnynnnn"},
        {1, 1, 2, 1, &sharding_zero_1, false, 0, "nnynnyn"},
        {1, 1, 2, 1, &sharding_zero_3, false, 0, "nnynnyn"},
        {1, 1, 4, 1, &sharding_hsdp, false, 0, "nnyynyn"},
        {1, 1, 1, 2, &sharding_zero_0, false, 0, "nnnnnyy"},
        {1, 1, 1, 2, &sharding_zero_0, true, 0, "nnnnyyy"},
        {1, 1, 1, 4, &sharding_zero_0, true, 1, "nnnnnyy"},
        {1, 1, 1, 4, &sharding_zero_0, true, 3, "nnnnyyy"},
        {2, 2, 2, 2, &sharding_zero_1, true, 1, "yyynyyy"},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct configuration c =
            sized(rows[i].tp, rows[i].cp, rows[i].dp, rows[i].pp, 4, rows[i].sharding);
        c.model.tied_embeddings = rows[i].tied;
        c.layout.data.shard_group = 2;
        for (unsigned k = 0; k < 7; k++) {
            struct named n = of(&c, rows[i].stage, names[k]);
            if (n.allocated != (rows[i].has[k] == 'y'))
                print_message("row %u, %s: %u\n", i, names[k], n.allocated);
            assert_int_equal(n.allocated, rows[i].has[k] == 'y');
            is(n.setup_bytes, rows[i].has[k] == 'y' ? 1e6 : 0.0);
            c.software.memory.communicator_bytes = 0.0;
            assert_int_equal(of(&c, rows[i].stage, names[k]).allocated, 0);
            c.software.memory.communicator_bytes = 1e6;
        }
    }
}

static void context_and_workspace(void **state)
{
    struct configuration c = sized(1, 1, 1, 1, 3, &sharding_zero_0);
    c.gpu.hbm.context_bytes = 5e8;
    is(of(&c, 0, "CUDA context").setup_bytes, 5e8);
    struct named n = of(&c, 0, "GEMM workspace");
    assert_int_equal(n.allocated, 1);
    assert_int_equal(n.freed, 0);
    is(n.bytes, 1e6);
    c.software.memory.workspace_bytes = c.gpu.hbm.context_bytes = 0.0;
    assert_int_equal(of(&c, 0, "GEMM workspace").allocated, 0);
    assert_int_equal(of(&c, 0, "CUDA context").allocated, 0);
}

/* A message of b s h in 16 bits; with sequence parallelism each rank has its part of it; parts that
 * are sent apart are gathered into the whole. */
static void receive_buffers(void **state)
{
    for (unsigned k = 0; k < 3; k++) {
        struct configuration c = sized(k == 0 ? 1 : 2, 1, 1, 2, 3, &sharding_zero_0);
        c.layout.sequence_parallel = k == 1;
        c.software.pipeline.scatter = k == 2;
        const double message = sequence * h * 2 / (k == 1 ? 2 : 1);
        for (uint32_t stage = 0; stage < 2; stage++) {
            struct named n = of(&c, stage, "receive buffer");
            assert_int_equal(n.allocated, 3); /* gradients on the first, activations on the last */
            assert_int_equal(n.freed, 3);
            is(n.bytes, 3 * message);
            is(n.peak_bytes, message);
        }
    }
    struct configuration c = sized(2, 1, 1, 1, 3, &sharding_zero_0);
    assert_int_equal(of(&c, 0, "receive buffer").allocated, 0);
}

/* Units of ZeRO-3 and FSDP: gathered weights in 16 bits, whole gradients, and what a reduction
 * reads, a bucket of it at most. */
static void units_of_sharded_weights(void **state)
{
    struct configuration c = sized(1, 1, 2, 1, 2, &sharding_zero_3);
    c.software.shards.prefetch = 0;
    const double end = vocabulary * h + h;
    struct named n = of(&c, 0, "gathered weights");
    assert_int_equal(n.allocated, 2 * 2 * 6); /* forward and backward of each microbatch */
    assert_int_equal(n.freed, 2 * 2 * 6);
    is(n.bytes, 2 * 2 * 2 * all_elements());
    is(n.peak_bytes, 2 * fmax(layer_elements(1), end));
    c.software.shards.prefetch = 1;
    is(of(&c, 0, "gathered weights").peak_bytes,
       2 * (layer_elements(1) + fmax(end, layer_elements(1))));
    n = of(&c, 0, "unsharded gradients");
    assert_int_equal(n.allocated, 2 * 6);
    assert_int_equal(n.freed, 2 * 6);
    is(n.bytes, 2 * 2 * all_elements());
    n = of(&c, 0, "reduction buffer");
    assert_int_equal(n.allocated, 2 * 6);
    assert_int_equal(n.freed, 2 * 6);
    is(n.bytes, 2 * 4 * all_elements());
    c.software.data.gradient_reduce_bytes = 2.0;
    is(of(&c, 0, "reduction buffer").bytes, 2 * 2 * all_elements());
    c.software.data.bucket_bytes = 100.0;
    is(of(&c, 0, "reduction buffer").bytes, 2 * 6 * 100.0);
    c = sized(1, 1, 2, 1, 2, &sharding_fsdp);
    c.software.shards.prefetch = 0;
    c.software.shards.reshard = false; /* kept from forward to backward */
    n = of(&c, 0, "gathered weights");
    is(n.bytes, 2 * 2 * all_elements());
    is(n.peak_bytes, 2 * all_elements());
    c.layout.data.fsdp_unit_layers = 3; /* units of 3 and 1 layers between embedding and head */
    assert_int_equal(of(&c, 0, "gathered weights").allocated, 2 * 4);
    c = sized(1, 1, 2, 1, 2, &sharding_zero_1);
    assert_int_equal(of(&c, 0, "gathered weights").allocated, 0);
    assert_int_equal(of(&c, 0, "unsharded gradients").allocated, 0);
    assert_int_equal(of(&c, 0, "reduction buffer").allocated, 0);
}

/* Full recomputation keeps b s h of 16 bits a layer and microbatch in flight, nothing else does. */
static void layer_inputs(void **state)
{
    struct configuration c = sized(1, 1, 1, 2, 4, &sharding_zero_0);
    c.layout.recompute = RECOMPUTE_FULL;
    for (uint32_t stage = 0; stage < 2; stage++) {
        struct named n = of(&c, stage, "layer input");
        assert_int_equal(n.allocated, 4 * 2);
        assert_int_equal(n.freed, 4 * 2);
        is(n.peak_bytes, (2.0 - stage) * 2 * sequence * h * 2);
    }
    c.layout.recompute = RECOMPUTE_NONE;
    assert_int_equal(of(&c, 0, "layer input").allocated, 0);
}

/* Of a layer that is larger than what may be alive, some modules (qkv 3 h h, o h h, gate and up 2 h
 * f, down h f; f = 4 h): nearly all, where the last layer is turned round and nothing was dropped
 * yet; gate and up alone. As many bytes are sent as before. */
static void modules_come_and_go(void **state)
{
    struct configuration c = sized(1, 1, 4, 1, 1, &sharding_zero_3);
    c.software.shards.prefetch = 0;
    const struct named whole = of(&c, 0, "gathered weights");
    c.software.shards.live_parameters = (uint64_t)layer_elements(1) - 1;
    const struct named bound = of(&c, 0, "gathered weights");
    assert_int_equal(whole.allocated, bound.allocated);
    assert_int_equal(bound.freed, bound.allocated);
    const double passes = 2 * layers, norms = 2 * h;
    is(whole.bytes - bound.bytes, passes * norms * 2);
    c.software.shards.live_parameters = (uint64_t)(h * h);
    is(whole.bytes - of(&c, 0, "gathered weights").bytes,
       passes * (layer_elements(1) - 2 * h * f) * 2);
    c.layout.recompute = RECOMPUTE_FULL;
    is(whole.bytes - of(&c, 0, "gathered weights").bytes,
       passes * (layer_elements(1) - 2 * h * f) * 2);
}

/* Unfused: two gradients of the scores, and those of the queries, keys, values and output. */
static void large_temporaries_are_apart(void **state)
{
    const struct configuration c = sized(1, 1, 1, 1, 1, &sharding_zero_0);
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, &c, &lowered);
    const struct program *p = lowered.programs[0];
    const double scores = 8 * sequence * sequence * 2;
    unsigned apart = 0, others = 0;
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        const struct ledger_entry *e = &p->ledger[i];
        if (e->action != LEDGER_ALLOCATE || e->tenant != TENANT_TEMPORARY || e->layer != 1 ||
            strcmp(e->call_site, "backward") != 0)
            continue;
        apart += e->bytes == scores;
        others += e->bytes == 4 * sequence * h * 2;
    }
    assert_int_equal(apart, 2);
    assert_int_equal(others, 1);
    arena_destroy(arena);
}

/* What a collective reads stays until the GPU has passed: a scattered sum is whole, a shard that is
 * gathered is one part; an all-reduce works in place. */
static void recorded_buffers(void **state)
{
    struct configuration c = sized(2, 1, 1, 1, 1, &sharding_zero_0);
    c.layout.sequence_parallel = true;
    c.software.tensor.backward_regather = true;
    assert_int_equal(of(&c, 0, "collective's buffer").allocated, 0);
    c.software.memory.record_streams = true;
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, &c, &lowered);
    const struct program *p = lowered.programs[0];
    double forward = 0.0, backward = 0.0;
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        const struct ledger_entry *e = &p->ledger[i];
        bool here = e->action == LEDGER_ALLOCATE && e->layer == 1 &&
                    strcmp(e->name, "collective's buffer") == 0;
        forward += here && strcmp(e->call_site, "forward") == 0 ? e->bytes : 0.0;
        backward += here && strcmp(e->call_site, "backward") == 0 ? e->bytes : 0.0;
    }
    const double whole = sequence * h * 2;
    is(forward, 2 * whole);                  /* after attention and after the block */
    is(backward, 2 * whole + 2 * whole / 2); /* two scatters, two inputs gathered again */
    arena_destroy(arena);
    struct named n = of(&c, 0, "collective's buffer");
    assert_int_equal(n.allocated, n.freed);
    c.layout.sequence_parallel = false;
    assert_int_equal(of(&c, 0, "collective's buffer").allocated, 0);
}

/* They come back one by one to a host that is slower than its GPU. A faster one holds all of a pass
 * and a backward until it waits for the next message; if it never waits, those of the whole step.
 */
static void recorded_buffers_come_back(void **state)
{
    const uint64_t microbatches = 3;
    struct configuration c = sized(2, 1, 1, 2, microbatches, &sharding_zero_0);
    c.layout.sequence_parallel = true;
    c.software.tensor.backward_regather = true;
    c.software.memory.record_streams = true;
    c.software.pipeline.host_wait = c.software.pipeline.blocking = true;
    c.software.host.launch_s = 1.0;
    struct named slow = of(&c, 1, "collective's buffer");
    c.software.host.launch_s = 0.0;
    struct named waiting = of(&c, 1, "collective's buffer");
    c.software.pipeline.host_wait = false;
    struct named ahead = of(&c, 1, "collective's buffer");
    assert_int_equal(slow.allocated, ahead.allocated);
    assert_int_equal(waiting.freed, ahead.allocated);
    is(waiting.bytes, ahead.bytes);
    is(slow.peak_bytes, sequence * h * 2); /* the largest alone */
    is(waiting.peak_bytes, ahead.bytes / (double)microbatches);
    is(ahead.peak_bytes, ahead.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_by_layout),      cmocka_unit_test(gradients_of_a_pass),
        cmocka_unit_test(optimizer_by_build),       cmocka_unit_test(communicators),
        cmocka_unit_test(context_and_workspace),    cmocka_unit_test(receive_buffers),
        cmocka_unit_test(units_of_sharded_weights), cmocka_unit_test(layer_inputs),
        cmocka_unit_test(modules_come_and_go),      cmocka_unit_test(large_temporaries_are_apart),
        cmocka_unit_test(recorded_buffers),         cmocka_unit_test(recorded_buffers_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
