/* Moves to which a stated layout is compared: each key has its own, and what it leaves alone stays
 * as it is. The list is written here by hand; whether a move wins is not asked. */
#include <math.h>
#include <string.h>

#include "models/plan/choice_keys.h"
#include "models/plan/price_moves.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

struct split {
    uint64_t tp, pp, cp, dp, microbatch;
    enum recompute recompute;
};

static struct configuration stated(void)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 2, 1, 2, 2, 8);
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.fabric.kind = &topology_rail;
    c.cluster.fabric.options = (struct kind_options){{32, 1}};
    c.cluster.node.pcie.bytes_per_s = 25e9;
    c.cluster.node.nic.efficiency_ratio = 1.0;
    c.cluster.fabric.efficiency_ratio = 1.0;
    c.layout.microbatch = 2;
    c.training.global_batch = 16;
    c.layout.recompute = RECOMPUTE_FULL;
    c.layout.data.sharding = &sharding_zero_1;
    assert_int_equal(lower_case_errors(&c), 0);
    return c;
}

static unsigned moves_of(const struct configuration *c, unsigned open, struct price_move *out)
{
    struct step step = {.step_s = 1.0};
    for (unsigned part = 0; part < PART_COUNT; part++)
        step.parts.breakdown_s[part] = 1.0 / PART_COUNT;
    step.rates.hfu_ratio = 0.3;
    const unsigned count = price_moves(c, open, &step, -1e9, out);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(lower_case_errors(&out[i].c), 0);
    return count;
}

/* Moves of this key that lead to this split, the rest as it was. */
static unsigned count_of(const struct price_move *moves, unsigned count, enum choice_key key,
                         struct split to)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct layout_spec *l = &moves[i].c.layout;
        found += strcmp(moves[i].key, choice_key_path(key)) == 0 && l->tp == to.tp &&
                 l->pp == to.pp && l->cp == to.cp && l->dp == to.dp &&
                 l->microbatch == to.microbatch && (int)l->recompute == (int)to.recompute;
    }
    return found;
}

static unsigned count_key(const struct price_move *moves, unsigned count, enum choice_key key)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++)
        found += strcmp(moves[i].key, choice_key_path(key)) == 0;
    return found;
}

static void test_each_key(void **state)
{
    (void)state;
    const struct configuration c = stated();
    static struct price_move moves[PRICE_MOVES_MAX];
    const unsigned count = moves_of(&c, 0, moves);
    static const struct {
        enum choice_key key;
        struct split to;
    } wanted[] = {
        {CHOICE_TP, {1, 2, 1, 4, 2, RECOMPUTE_FULL}},
        {CHOICE_TP, {1, 4, 1, 2, 2, RECOMPUTE_FULL}},
        {CHOICE_PP, {2, 1, 1, 4, 2, RECOMPUTE_FULL}},
        {CHOICE_PP, {4, 1, 1, 2, 2, RECOMPUTE_FULL}},
        {CHOICE_MICROBATCH, {2, 2, 1, 2, 4, RECOMPUTE_FULL}},
        {CHOICE_MICROBATCH, {2, 2, 1, 2, 1, RECOMPUTE_FULL}},
        {CHOICE_RECOMPUTE, {2, 2, 1, 2, 2, RECOMPUTE_NONE}},
    };
    for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_int_equal(count_of(moves, count, wanted[i].key, wanted[i].to), 1);
    assert_int_equal(count_key(moves, count, CHOICE_TP), 2);
    assert_int_equal(count_key(moves, count, CHOICE_PP), 2);
    assert_int_equal(count_key(moves, count, CHOICE_MICROBATCH), 2);
    assert_int_equal(count_key(moves, count, CHOICE_CP), 0); /* one is all there is */
}

/* What nobody stated is not compared; with an open microbatch less recomputation is tried with
 * smaller ones too. */
static void test_open_keys(void **state)
{
    (void)state;
    const struct configuration c = stated();
    static struct price_move moves[PRICE_MOVES_MAX];
    static const enum choice_key keys[] = {CHOICE_TP, CHOICE_PP, CHOICE_MICROBATCH,
                                           CHOICE_RECOMPUTE};
    for (unsigned i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const unsigned count = moves_of(&c, 1u << keys[i], moves);
        for (unsigned k = 0; k < sizeof keys / sizeof keys[0]; k++)
            assert_true((count_key(moves, count, keys[k]) == 0) == (k == i));
    }
    const struct split smaller = {2, 2, 1, 2, 1, RECOMPUTE_NONE};
    unsigned count = moves_of(&c, 1u << CHOICE_MICROBATCH, moves);
    assert_int_equal(count_of(moves, count, CHOICE_RECOMPUTE, smaller), 1);
    count = moves_of(&c, 0, moves);
    assert_int_equal(count_of(moves, count, CHOICE_RECOMPUTE, smaller), 0);
}

/* Chunks leave 1 / v of the bubble: they are tried where the rest of it is more than is asked. */
static void test_chunks_by_what_they_win(void **state)
{
    (void)state;
    struct configuration c = stated();
    static struct price_move moves[PRICE_MOVES_MAX];
    struct step step = {.step_s = 2.0, .parts = {.breakdown_s = {[PART_BUBBLE] = 1.0}}};
    c.software.pipeline.interleaves = true;
    const unsigned count = price_moves(&c, 0, &step, 0.0, moves);
    double chunks = 0.0;
    for (unsigned i = 0; i < count; i++)
        if (strcmp(moves[i].key, choice_key_path(CHOICE_SCHEDULE)) == 0) {
            assert_true(moves[i].c.layout.pipeline.schedule == &schedule_interleaved);
            chunks = (double)moves[i].c.layout.pipeline.vpp;
        }
    assert_true(chunks > 1.0);
    const double win = 0.5 * (1.0 - 1.0 / chunks);
    for (int more = -1; more <= 1; more += 2) {
        const unsigned tried = price_moves(&c, 0, &step, win * (1.0 + 1e-9 * more), moves);
        assert_int_equal(count_key(moves, tried, CHOICE_SCHEDULE), more < 0 ? 1 : 0);
    }
    c.software.pipeline.interleaves = false;
    assert_int_equal(count_key(moves, price_moves(&c, 0, &step, 0.0, moves), CHOICE_SCHEDULE), 0);
}

/* Two context ranks become replicas, where they are stated. */
static void test_contexts(void **state)
{
    (void)state;
    struct configuration c = stated();
    static struct price_move moves[PRICE_MOVES_MAX];
    lower_case_size(&c, 2, 2, 2, 2, 8);
    assert_int_equal(lower_case_errors(&c), 0);
    const struct split replicas = {2, 2, 1, 4, 2, RECOMPUTE_FULL};
    unsigned count = moves_of(&c, 0, moves);
    assert_int_equal(count_of(moves, count, CHOICE_CP, replicas), 1);
    assert_int_equal(count_key(moves, count, CHOICE_CP), 1);
    count = moves_of(&c, 1u << CHOICE_CP, moves);
    assert_int_equal(count_key(moves, count, CHOICE_CP), 0);
}

/* Four tensor ranks are no more than a node of four has, and more than one of two. */
static void test_tensors_stay_inside_a_node(void **state)
{
    (void)state;
    struct configuration c = stated();
    static struct price_move moves[PRICE_MOVES_MAX];
    const struct split wider = {4, 1, 1, 2, 2, RECOMPUTE_FULL};
    for (unsigned gpus = 2; gpus <= 4; gpus += 2) {
        c.cluster.node.gpus = gpus;
        c.cluster.nodes = 8 / gpus;
        const unsigned count = moves_of(&c, 0, moves);
        assert_int_equal(count_of(moves, count, CHOICE_PP, wider), gpus == 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_key),
        cmocka_unit_test(test_open_keys),
        cmocka_unit_test(test_chunks_by_what_they_win),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_tensors_stay_inside_a_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
