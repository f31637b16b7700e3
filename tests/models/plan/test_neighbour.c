/* Neighbours of a layout: which moves there are, that each is legal, and that what is said to fit
 * fits, at the speed that is said. */
#include <math.h>
#include <string.h>

#include "models/plan/neighbour.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

static struct configuration sized(uint64_t tp, uint64_t dp, uint64_t pp, uint64_t microbatches)
{
    struct configuration c = lower_case();
    lower_case_size(&c, tp, 1, dp, pp, microbatches);
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.fabric.kind = c.cluster.nodes > 1 ? &topology_rail : &topology_none;
    c.cluster.fabric.options = (struct kind_options){{32, 1}};
    c.cluster.node.pcie.bytes_per_s = 25e9;
    c.cluster.node.nic.efficiency_ratio = 1.0;
    c.cluster.fabric.efficiency_ratio = 1.0;
    return c;
}

static unsigned moves_of(const struct configuration *c, unsigned counts[MOVE_COUNT])
{
    struct neighbour rows[NEIGHBOUR_MAX];
    unsigned count = neighbour_list(c, rows);
    memset(counts, 0, MOVE_COUNT * sizeof counts[0]);
    for (unsigned i = 0; i < count; i++) {
        counts[rows[i].move]++;
        assert_int_equal(lower_case_errors(&rows[i].c), 0);
        assert_true(configuration_ranks(&rows[i].c) == configuration_ranks(c));
        assert_true(rows[i].c.training.global_batch == c->training.global_batch);
    }
    return count;
}

/* One card: nothing to split over, no half of one sequence; all recomputed: nothing more. */
static void test_nothing_impossible(void **state)
{
    unsigned counts[MOVE_COUNT];
    struct configuration c = sized(1, 1, 1, 4);
    assert_int_equal(moves_of(&c, counts), 2);
    assert_int_equal(counts[MOVE_RECOMPUTE], 1); /* the software offers no selective */
    c.software.offers.selective_recompute = true;
    assert_int_equal(moves_of(&c, counts), 3);
    assert_int_equal(counts[MOVE_RECOMPUTE], 2); /* unfused: selective and full */
    assert_int_equal(counts[MOVE_SEGMENTS], 1);
    c.training.attention = ATTENTION_FLASH2;
    assert_int_equal(moves_of(&c, counts), 2);
    assert_int_equal(counts[MOVE_RECOMPUTE], 1); /* full alone */
    c.software.offers.block_recompute = true;
    assert_int_equal(moves_of(&c, counts), 3);
    assert_int_equal(counts[MOVE_RECOMPUTE], 2); /* some layers, and all */
    c.layout.recompute = RECOMPUTE_FULL;
    c.software.memory.expandable_segments = true;
    assert_int_equal(moves_of(&c, counts), 0);
    c.layout.microbatch = 2;
    c.training.global_batch = 4;
    assert_int_equal(moves_of(&c, counts), 1);
    assert_int_equal(counts[MOVE_MICROBATCH], 1);
    c.layout.microbatch = 3;
    c.training.global_batch = 6;
    assert_int_equal(moves_of(&c, counts), 0);
}

static void test_moves(void **state)
{
    unsigned counts[MOVE_COUNT];
    struct configuration c = sized(2, 4, 1, 4);
    c.layout.microbatch = 2;
    moves_of(&c, counts);
    assert_int_equal(counts[MOVE_SHARDING], 5); /* all but zero-0 */
    assert_int_equal(counts[MOVE_MICROBATCH], 1);
    assert_int_equal(counts[MOVE_SEQUENCE_PARALLEL], 1);
    assert_int_equal(counts[MOVE_SCHEDULE], 0);
    assert_int_equal(counts[MOVE_TP], 1);
    assert_int_equal(counts[MOVE_TP_SPLIT], 1);
    assert_int_equal(counts[MOVE_PP], 1);
    assert_int_equal(counts[MOVE_CP], 1);
    c.layout.sequence_parallel = true;
    c.layout.data.sharding = &sharding_zero_2;
    moves_of(&c, counts);
    assert_int_equal(counts[MOVE_SHARDING], 3); /* zero-3, fsdp, and hsdp over the node */
    assert_int_equal(counts[MOVE_SEQUENCE_PARALLEL], 0);
    assert_int_equal(counts[MOVE_TP], 1);
    assert_int_equal(counts[MOVE_TP_SPLIT], 0);
    c = sized(2, 3, 1, 4); /* three replicas have no half */
    moves_of(&c, counts);
    assert_int_equal(counts[MOVE_TP] + counts[MOVE_PP] + counts[MOVE_CP], 0);
    c = sized(8, 2, 1, 4); /* eight heads go to eight ranks at most */
    moves_of(&c, counts);
    assert_int_equal(counts[MOVE_TP], 0);
    c = sized(1, 2, 2, 4);
    c.layout.pipeline.schedule = &schedule_interleaved;
    c.layout.pipeline.vpp = 2;
    moves_of(&c, counts);
    assert_int_equal(counts[MOVE_SCHEDULE], 1);
    assert_int_equal(counts[MOVE_PP], 0); /* four layers are no eight chunks */
}

static struct step *play(const struct configuration *c)
{
    struct step_options options = {0};
    struct step *step = NULL;
    struct error error = {""};
    assert_true(step_run(c, &options, &step, &error));
    return step;
}

/* Nothing is left open. */
static void search(struct arena *arena, const struct configuration *c, struct neighbourhood *out)
{
    neighbour_search(arena, &(struct change_question){.from = c}, out);
}

/* Pairs of moves: those of which the second comes later in the list of moves than the first. */
static unsigned pairs_of(const struct configuration *c)
{
    struct neighbour first[NEIGHBOUR_MAX], second[NEIGHBOUR_MAX];
    unsigned count = neighbour_list(c, first), pairs = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned more = neighbour_list(&first[i].c, second);
        for (unsigned k = 0; k < more; k++)
            pairs += first[i].move < second[k].move;
    }
    return pairs;
}

/* Each is played anew: it fits, as fast and as full as was said; none that fits was left out. */
static void hold_neighbours(const struct configuration *c, const struct neighbourhood *found)
{
    for (unsigned i = 0; i < found->fitting_count; i++) {
        const struct change *n = &found->fitting[i].made;
        struct step *step = play(&n->c);
        assert_true(step->fits && n->timed);
        assert_true(step->rates.tokens_per_s == n->tokens_per_s && step->step_s == n->step_s);
        assert_true(step->peak.reserved_bytes == n->peak_reserved_bytes);
        assert_true(i == 0 || n->tokens_per_s <= found->fitting[i - 1].made.tokens_per_s);
        assert_true(*n->set != '\0' && *n->set != ' ');
        step_destroy(step);
    }
    struct neighbour rows[NEIGHBOUR_MAX];
    unsigned count = neighbour_list(c, rows), fitting = 0;
    for (unsigned i = 0; i < count; i++) {
        struct step *step = play(&rows[i].c);
        fitting += step->fits;
        step_destroy(step);
    }
    assert_int_equal(fitting, found->changes == 1 ? found->fitting_count : 0);
    assert_int_equal(found->tried_count, count + (found->changes == 1 ? 0 : pairs_of(c)));
}

static double needed_bytes(const struct configuration *c)
{
    struct configuration endless = *c;
    endless.gpu.hbm.usable_bytes = 1e15;
    struct step *step = play(&endless);
    double bytes = step->peak.reserved_bytes;
    step_destroy(step);
    return bytes;
}

static void test_search(void **state)
{
    struct configuration c = sized(1, 8, 1, 2);
    c.model.hidden = 1024;
    c.model.attention.head_size = 128;
    c.model.ffn_hidden = 4096;
    double need = needed_bytes(&c);
    unsigned singles = 0, pairs = 0, none = 0;
    for (unsigned percent = 95; percent >= 10; percent -= 5) {
        struct arena *arena = arena_create();
        struct neighbourhood found;
        c.gpu.hbm.usable_bytes = need * percent / 100.0;
        search(arena, &c, &found);
        hold_neighbours(&c, &found);
        singles += found.fitting_count > 0 && found.changes == 1;
        pairs += found.fitting_count > 0 && found.changes == 2;
        none += found.fitting_count == 0;
        arena_destroy(arena);
    }
    assert_true(singles > 0 && pairs > 0 && none > 0);
}

static bool has(const struct neighbourhood *found, const char *set)
{
    for (unsigned i = 0; i < found->fitting_count; i++)
        if (strcmp(found->fitting[i].made.set, set) == 0)
            return true;
    return false;
}

/* Changes are spelt as --set takes them: each key that differs, once. */
static void test_spelling(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = sized(2, 4, 1, 4);
    struct neighbourhood found;
    c.layout.microbatch = 4;
    c.software.offers.selective_recompute = true;
    search(arena, &c, &found); /* all fit */
    assert_int_equal(found.fitting_count, found.tried_count);
    static const char *const wanted[] = {
        "layout.sharding=zero-1",
        "layout.sharding=fsdp",
        "layout.microbatch=2",
        "layout.recompute=selective",
        "layout.recompute=full",
        "layout.sequence_parallel=true",
        "software.expandable_segments=true",
        "layout.tp=4 layout.dp=2",
        "layout.tp=4 layout.dp=2 layout.sequence_parallel=true",
        "layout.pp=2 layout.dp=2",
        "layout.cp=2 layout.dp=2",
    };
    for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        assert_true(has(&found, wanted[i]));
    c.software.offers.block_recompute =
        true; /* the fewest layers that fit: with so much room, one */
    search(arena, &c, &found);
    assert_true(has(&found, "layout.recompute=block layout.recompute_layers=1"));
    c.layout.recompute = RECOMPUTE_BLOCK;
    c.layout.recompute_layers = 3;
    search(arena, &c, &found);
    assert_true(has(&found, "layout.recompute=full layout.recompute_layers=auto"));
    c = sized(1, 2, 2, 4);
    c.layout.pipeline.schedule = &schedule_interleaved;
    c.layout.pipeline.vpp = 2;
    search(arena, &c, &found);
    assert_true(has(&found, "layout.schedule=1f1b layout.vpp=1"));
    c = sized(1, 2, 2, 4); /* all microbatches in flight */
    c.layout.pipeline.schedule = &schedule_gpipe;
    search(arena, &c, &found);
    assert_true(has(&found, "layout.schedule=1f1b"));
    c.layout.pp = 1; /* all of them still */
    search(arena, &c, &found);
    assert_true(has(&found, "layout.schedule=1f1b"));
    c.layout.pipeline.schedule = &schedule_zb_h1; /* which has no order of one stage */
    search(arena, &c, &found);
    assert_false(has(&found, "layout.schedule=1f1b"));
    arena_destroy(arena);
}

/* With jitter every rank is played apart: what takes too many ops is listed without a speed. */
static void test_untimed(void **state)
{
    struct arena *arena = arena_create();
    struct configuration c = sized(1, 8, 1, 2);
    struct neighbourhood found;
    c.kernel_jitter_sigma = 0.01;
    search(arena, &c, &found);
    assert_true(found.fitting_count > 0 && found.fitting[0].made.timed);
    c = sized(1, 1024, 1, 2048);
    c.kernel_jitter_sigma = 0.01;
    search(arena, &c, &found);
    assert_true(found.fitting_count > 0 && !found.fitting[0].made.timed);
    assert_true(found.fitting[0].made.tokens_per_s == 0.0);
    for (unsigned i = 1; i < found.fitting_count;
         i++) /* then the one that holds less comes first */
        assert_true(found.fitting[i - 1].made.peak_reserved_bytes <=
                    found.fitting[i].made.peak_reserved_bytes);
    assert_true(found.fitting[0].made.peak_reserved_bytes <
                found.fitting[found.fitting_count - 1].made.peak_reserved_bytes);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_impossible),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_untimed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
