/* Happens-before: every op of every program waits for what it reads, over shapes, shardings and
 * software in all pairs; and each wait that is taken away is noticed (law_before.h). */
#include <stdio.h>
#include <string.h>

#include "law_before.h"
#include "models/lower/stage/lower.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

struct tally {
    unsigned programs, waits, redundant, unnoticed;
};

/* Layers as the contract of transformer.h gives them, by block. */
static const struct layer *layers_of(struct arena *arena, const struct configuration *c)
{
    struct layer *layers = ARENA_ARRAY(arena, struct layer, 3);
    const struct layer_context context = {
        .model = &c->model,
        .software = &c->software,
        .precision = c->training.precision,
        .attention = (enum attention_kernel)c->training.attention,
        .microbatch = c->layout.microbatch,
        .sequence = c->training.sequence,
        .tp = c->layout.tp,
        .cp = c->layout.cp,
        .sequence_parallel = c->layout.sequence_parallel,
        .causal = c->training.causal,
        .ring.cp_ring = c->layout.context.method == CP_RING,
        .fp8_recipe = fp8_recipe_on((enum fp8_recipe)c->software.fp8.recipe,
                                    c->training.precision->gemm_peak, c->gpu.gemm.block_scaling),
    };
    layers[0].segment_count = 1;
    transformer_embedding(&context, &layers[0].segments[0]);
    transformer_layer(&context, &layers[1]);
    transformer_head(&context, &layers[2]);
    return layers;
}

/* The last op of compute up to `end` that is no empty op, which only joins waits. */
static uint32_t worked(const struct program *p, uint32_t end)
{
    while (end > 0 && p->ops[end - 1].stream == STREAM_COMPUTE && !before_works(p, end - 1)) {
        end--;
        while (end > 0 && p->ops[end - 1].stream != STREAM_COMPUTE)
            end--;
    }
    return end;
}

/* Does any op that works or sends begin after less? */
static bool differs(const struct program *p, const uint32_t *whole, const uint32_t *less)
{
    bool found = false;
    for (uint32_t i = 0; i < p->op_count; i++) {
        bool works = before_works(p, i) || p->ops[i].stream != STREAM_COMPUTE;
        for (unsigned s = 0; works && s < STREAM_COUNT; s++) {
            const uint32_t a = whole[i * STREAM_COUNT + s], b = less[i * STREAM_COUNT + s];
            bool reduced = s == STREAM_COPY || s == STREAM_DP || s == STREAM_REPLICATE;
            if (reduced && (p->ops[i].stream == STREAM_GATHER || p->ops[i].kind == OP_RECV))
                continue; /* weights and messages may come while gradients leave */
            found |= s == STREAM_COMPUTE ? worked(p, a) != worked(p, b) : a != b;
        }
    }
    return found;
}

/* Takes every wait away in turn: one that orders anything else must be missed. */
static void plant(struct arena *arena, const struct configuration *c, const struct layer *layers,
                  struct program *p, struct tally *tally)
{
    const size_t size = sizeof(uint32_t) * STREAM_COUNT * p->op_count;
    uint32_t *whole = arena_array(arena, 1, size, 8), *less = arena_array(arena, 1, size, 8);
    char text[256];
    before_clocks(p, whole);
    for (uint32_t i = 0; i < p->op_count; i++) {
        for (unsigned k = 0; k < 2; k++) {
            const uint32_t wait = p->ops[i].wait[k];
            if (wait == OP_NONE)
                continue;
            struct arena_mark mark = arena_mark(arena);
            p->ops[i].wait[k] = OP_NONE;
            before_clocks(p, less);
            bool orders = differs(p, whole, less);
            bool noticed = law_before(arena, c, layers, p, text, sizeof text) > 0;
            p->ops[i].wait[k] = wait;
            arena_rewind(arena, mark);
            tally->waits++;
            tally->redundant += !orders;
            if (orders && !noticed) {
                const struct op *op = &p->ops[i], *of = &p->ops[wait - 1];
                if (tally->unnoticed++ < 20) {
                    print_message("unnoticed: stage %u op %u (microbatch %u, chunk %u, layer %u, "
                                  "phase %u) %s/%s without %u %s/%s\n",
                                  p->stage, i, op->microbatch, op->chunk, op->layer, op->phase,
                                  p->names[op->name], stream_names[op->stream], wait - 1,
                                  p->names[of->name], stream_names[of->stream]);
                }
            }
        }
    }
}

/* Factors of a case, each drawn alone: some hundreds of cases meet every pair of levels. */
struct draw {
    uint64_t state;
};
static unsigned of(struct draw *d, unsigned levels)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(d->state >> 33) % levels;
}

static void draw_software(struct draw *d, struct software_profile *s)
{
    s->data.overlap_gradients = of(d, 2);
    s->data.overlap_parameters = of(d, 2);
    s->tensor.backward_overlap = of(d, 2);
    s->tensor.backward_regather = of(d, 2);
    s->pipeline.blocking = of(d, 2);
    s->pipeline.blocking_interleaved = of(d, 2);
    s->pipeline.host_wait = of(d, 2);
    s->pipeline.scatter = of(d, 2);
    s->shards.prefetch = of(d, 4);
    s->shards.reshard = of(d, 2);
    s->layer.recompute_stops_early = of(d, 2);
    s->data.bucket_bytes = (double[]){0.0, 2e4, 1e5, 1e9}[of(d, 4)];
    s->memory.clip_gradients = of(d, 4) > 0;
    s->data.interference_ratio = of(d, 2) ? 0.3 : 0.0;
    s->data.copy_bytes_per_s = of(d, 3) == 0 ? 1e11 : 0.0;
    s->data.partition_copy_s = s->data.copy_bytes_per_s > 0.0 && of(d, 2) ? 1e-6 : 0.0;
    s->data.gradient_reduce_bytes = of(d, 3) == 0 ? 2.0 : 0.0;
}

static struct configuration draw_case(struct draw *d, uint64_t layers)
{
    struct configuration c = lower_case();
    static const uint64_t sizes[] = {1, 2, 4};
    uint64_t pp = sizes[of(d, 3)];
    c.model.layers = pp == 4 ? 2 * layers : layers;
    c.layout.data.sharding = sharding_kinds[of(d, sharding_kind_count)];
    c.layout.pipeline.schedule = of(d, 2) ? &schedule_one_f_one_b : &schedule_gpipe;
    if (pp > 1 && c.model.layers % (2 * pp) == 0 && of(d, 2)) {
        c.layout.pipeline.vpp = 2;
        c.layout.pipeline.schedule = &schedule_interleaved;
    }
    uint64_t rounds = 1 + of(d, 2);
    lower_case_size(&c, sizes[of(d, 3)], sizes[of(d, 2)], sizes[of(d, 3)], pp,
                    c.layout.pipeline.vpp > 1 ? pp * rounds : 1 + of(d, 4));
    const int kinds[] = {RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_BLOCK, RECOMPUTE_UNIFORM,
                         RECOMPUTE_FULL};
    lower_case_recompute(&c, kinds[of(d, 5)]);
    c.layout.sequence_parallel = c.layout.tp > 1 && of(d, 2);
    c.layout.context.method = of(d, 2) ? CP_RING : CP_ALL_GATHER;
    c.layout.data.fsdp_unit_layers = 1 + of(d, 3);
    if (c.layout.recompute == RECOMPUTE_UNIFORM && c.layout.data.fsdp_unit_layers % 2 == 0 &&
        c.layout.data.sharding->units) /* zero-3 gathers layer by layer */
        c.layout.recompute_layers = 2;
    c.layout.data.shard_group = c.layout.dp > 1 ? 2 : c.layout.cp;
    c.model.tied_embeddings = of(d, 2);
    c.model.attention.kv_heads =
        (uint64_t[]){8, 2, 1}[of(d, 3)]; /* fewer than the ranks that share them */
    static const char *const precisions_of[] = {"bf16", "fp8", "fp32", "nvfp4"};
    c.training.precision = precision_find(precisions_of[of(d, 4)]);
    c.gpu.peak_flops_per_s[PEAK_FP8] = 2 * c.gpu.peak_flops_per_s[PEAK_BF16];
    c.gpu.peak_flops_per_s[PEAK_FP4] = 4 * c.gpu.peak_flops_per_s[PEAK_BF16];
    draw_software(d, &c.software);
    return c;
}

static void check(const struct configuration *c, bool planted, struct tally *tally)
{
    if (lower_case_errors(c) > 0)
        return;
    struct arena *arena = arena_create();
    struct lowered lowered;
    char text[256];
    lower(arena, c, &lowered);
    const struct layer *layers = layers_of(arena, c);
    for (uint32_t s = 0; s < lowered.program_count; s++, tally->programs++) {
        unsigned problems = law_before(arena, c, layers, lowered.programs[s], text, sizeof text);
        if (problems > 0) {
            print_message("%u problems, tp %u cp %u dp %u pp %u vpp %u %s %s: %s\n", problems,
                          (unsigned)c->layout.tp, (unsigned)c->layout.cp, (unsigned)c->layout.dp,
                          (unsigned)c->layout.pp, (unsigned)c->layout.pipeline.vpp,
                          c->layout.data.sharding->head.name,
                          c->layout.pipeline.schedule->head.name, text);
        }
        assert_int_equal(problems, 0);
        if (planted)
            plant(arena, c, layers, lowered.programs[s], tally);
    }
    arena_destroy(arena);
}

static void every_op_waits_for_what_it_reads(void **state)
{
    struct draw draw = {1};
    struct tally tally = {0};
    for (unsigned i = 0; i < 600; i++) {
        struct configuration c = draw_case(&draw, 4);
        check(&c, false, &tally);
    }
    assert_true(tally.programs > 800);
}

static void a_wait_that_is_missing_is_noticed(void **state)
{
    struct draw draw = {7};
    struct tally tally = {0};
    for (unsigned i = 0; i < 150; i++) {
        struct configuration c = draw_case(&draw, 2);
        check(&c, true, &tally);
    }
    print_message("%u programs, %u waits, %u of them implied by others, %u unnoticed\n",
                  tally.programs, tally.waits, tally.redundant, tally.unnoticed);
    assert_int_equal(tally.unnoticed, 0);
}

/* Every transfer of a step that is one in a hundred too large is noticed, and so is every join that
 * is not marked. */
static void a_wrong_size_or_flag_is_noticed(void **state)
{
    struct draw draw = {11};
    char text[256];
    unsigned sizes = 0, joins = 0;
    for (unsigned k = 0; k < 60; k++) {
        struct configuration c = draw_case(&draw, 2);
        struct arena *arena = arena_create();
        struct lowered lowered = {0};
        if (lower_case_errors(&c) == 0)
            lower(arena, &c, &lowered);
        for (uint32_t s = 0; s < lowered.program_count; s++) {
            struct program *p = lowered.programs[s];
            for (uint32_t i = 0; i < p->op_count; i++) {
                const enum stream stream = p->ops[i].stream;
                bool owed = stream != STREAM_WORLD && p->ops[i].kind == OP_COLLECTIVE &&
                            strcmp(p->names[p->ops[i].name], "gather message") != 0;
                if (owed) {
                    double *bytes = &p->transfers[p->ops[i].cost].bytes, was = *bytes;
                    *bytes *= 1.01;
                    assert_true(law_before(arena, &c, layers_of(arena, &c), p, text, 256) > 0);
                    *bytes = was;
                    sizes++;
                }
                if (p->ops[i].flags & OP_JOIN && before_works(p, i)) {
                    p->ops[i].flags = (uint8_t)(p->ops[i].flags & ~OP_JOIN);
                    assert_true(law_before(arena, &c, layers_of(arena, &c), p, text, 256) > 0);
                    p->ops[i].flags |= OP_JOIN;
                    joins++;
                }
            }
        }
        arena_destroy(arena);
    }
    assert_true(sizes > 1000 && joins > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_waits_for_what_it_reads),
        cmocka_unit_test(a_wait_that_is_missing_is_noticed),
        cmocka_unit_test(a_wrong_size_or_flag_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
