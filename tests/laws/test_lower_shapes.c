/* The lowering over all small shapes, with software and sharding going round: every program is
 * sound (its writer CHECKs that), every stage finishes, messages of both ends agree in size,
 * collectives across stages agree in number, and time and FLOPs do not depend on how a stage is cut
 * into ops. */
#include <math.h>

#include "models/lower/stage/lower.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "schedule_player.h"
#include "tests/kind_defaults.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

struct tally {
    unsigned count[STREAM_COUNT];
    double bytes[STREAM_COUNT];
};

static struct tally tally_of(const struct program *p)
{
    struct tally t = {{0}, {0}};
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        t.count[op->stream]++;
        t.bytes[op->stream] += op->kind == OP_COMPUTE ? 0.0 : p->transfers[op->cost].bytes;
    }
    return t;
}

/* What a stage sends its neighbour receives; members of a communicator join as often. */
static bool ends_agree(const struct configuration *c, const struct lowered *lowered)
{
    uint32_t stages = lowered->program_count;
    struct tally t[8] = {0};
    for (uint32_t s = 0; s < stages; s++)
        t[s] = tally_of(lowered->programs[s]);
    bool agree = t[0].count[STREAM_EMBED] == t[stages - 1].count[STREAM_EMBED];
    for (uint32_t s = 0; s < stages; s++) {
        uint32_t next = (s + 1) % stages;
        bool joined = next != 0 || c->layout.pipeline.vpp > 1;
        unsigned sent = joined ? t[s].count[STREAM_SEND_NEXT] : 0;
        unsigned back = joined ? t[next].count[STREAM_SEND_PREV] : 0;
        agree &= sent == t[next].count[STREAM_RECV_PREV];
        agree &= t[s].bytes[STREAM_SEND_NEXT] == t[next].bytes[STREAM_RECV_PREV] || !joined;
        agree &= back == t[s].count[STREAM_RECV_NEXT];
        agree &= t[s].count[STREAM_WORLD] == t[0].count[STREAM_WORLD];
    }
    return agree;
}

/* Planted: a stage that sends once less, or joins the world once less. */
static void plant_fault(const struct configuration *c, const struct lowered *lowered)
{
    struct program *last = lowered->programs[lowered->program_count - 1];
    while (last->op_count > 0 && last->ops[last->op_count - 1].kind == OP_COMPUTE)
        last->op_count--;
    if (lowered->program_count == 1 || last->op_count == 0)
        return;
    unsigned stream = last->ops[--last->op_count].stream;
    if (stream == STREAM_WORLD || stream == STREAM_SEND_PREV)
        assert_false(ends_agree(c, lowered));
}

static void check(const struct configuration *c)
{
    assert_int_equal(lower_case_errors(c), 0);
    struct arena *arena = arena_create();
    struct lowered lowered;
    lower(arena, c, &lowered);
    assert_int_equal(lowered.rank_count, configuration_ranks(c));
    assert_true(ends_agree(c, &lowered));
    assert_true(programs_play(&lowered) > 0.0);
    for (uint32_t s = 0; s < lowered.program_count; s++) {
        const struct program *p = lowered.programs[s];
        assert_int_equal(p->stage, s);
        for (uint32_t i = 0; i < p->op_count; i++) {
            bool wire = p->ops[i].kind != OP_COMPUTE;
            assert_true(!wire || (lowered.streams >> p->ops[i].stream & 1u));
        }
    }
    plant_fault(c, &lowered);
    arena_destroy(arena);
}

/* Every switch of the software takes both values over the run: `turn` goes round. */
static void set_software(struct configuration *c, unsigned turn)
{
    struct software_profile *s = &c->software;
    s->data.overlap_gradients = turn & 1;
    s->data.overlap_parameters = turn >> 1 & 1;
    s->tensor.backward_overlap = turn >> 2 & 1;
    s->tensor.backward_regather = turn % 3 == 0;
    s->pipeline.blocking = turn % 5 < 2;
    s->pipeline.blocking_interleaved = turn % 5 > 2;
    s->pipeline.host_wait = turn % 3 == 1;
    s->pipeline.scatter = turn % 4 == 1;
    s->shards.prefetch = turn % 4;
    s->shards.reshard = turn % 3 != 1;
    s->data.gradients = turn % 2 == 0 ? GRADIENT_TENSOR : GRADIENT_BUFFER;
    s->data.gradient_copy = turn % 7 == 0;
    s->data.gradients_after_pass = turn % 3 == 0;
    s->memory.record_streams = turn % 2 == 0;
    s->layer.recompute_stops_early = turn % 5 == 0;
    s->memory.build = turn % 3 == 0 ? BUILD_EAGER : BUILD_FIRST_STEP;
    s->data.bucket_bytes = turn % 3 == 2 ? 1e5 : 0.0;
    s->memory.clip_gradients = turn % 5 != 0;
    s->data.interference_ratio = turn % 4 == 0 ? 0.3 : 0.0;
    s->tensor.overlap_cost_ratio = turn % 3 ? 0.5 : 0.0;
    s->pxn = turn % 2;
    s->memory.optimizer_extra_bytes = turn % 3 ? 28.0 : 0.0;
    s->pipeline.split = turn % 6 == 0 ? SPLIT_COST : SPLIT_EVEN;
    s->tensor.exposed_host_s = turn % 2 ? 1e-6 : 0.0;
}

/* The next one that this shape can be scheduled by. */
static void set_schedule(struct configuration *c, unsigned turn)
{
    const char *refusal = "";
    for (; refusal != NULL; turn++) {
        c->layout.pipeline.schedule = schedule_kinds[turn % schedule_kind_count];
        c->layout.pipeline.schedule_options = kind_defaults(&c->layout.pipeline.schedule->head);
        c->layout.pipeline.vpp =
            c->layout.pipeline.schedule->interleaved && c->layout.pp > 1 ? 2 : 1;
        const struct schedule_shape shape = {
            (uint32_t)c->layout.pp, (uint32_t)c->layout.pipeline.vpp,
            (uint32_t)configuration_microbatches(c), &c->layout.pipeline.schedule_options};
        refusal = c->layout.pipeline.schedule->placement == PLACED_BOTH_WAYS &&
                          c->layout.data.sharding->gather == GATHER_UNITS
                      ? "weights of two stages"
                      : c->layout.pipeline.schedule->refuse(&shape);
    }
}

static void test_shapes(void **state)
{
    unsigned turn = 0;
    for (uint64_t tp = 1; tp <= 4; tp *= 2) {
        for (uint64_t cp = 1; cp <= 2; cp++) {
            for (uint64_t dp = 1; dp <= 4; dp *= 2) {
                for (uint64_t pp = 1; pp <= 4; pp++) {
                    for (unsigned k = 0; k < sharding_kind_count; k++, turn++) {
                        struct configuration c = lower_case();
                        c.model.layers = 8;
                        lower_case_size(&c, tp, cp, dp, pp, turn % 3 ? pp : 2 * pp);
                        set_software(&c, turn);
                        c.layout.data.sharding = sharding_kinds[k];
                        set_schedule(&c, turn);
                        c.layout.recompute = (int)(turn / 2 % 3);
                        c.layout.sequence_parallel = tp > 1 && turn % 2;
                        c.layout.context.method = turn % 2 ? CP_RING : CP_ALL_GATHER;
                        c.layout.data.fsdp_unit_layers = 1 + turn % 2;
                        c.layout.data.shard_group = dp > 1 ? 2 : cp;
                        c.model.tied_embeddings = turn % 4 == 1;
                        check(&c);
                    }
                }
            }
        }
    }
    assert_int_equal(turn, 3 * 2 * 3 * 4 * sharding_kind_count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
