/* Starts apart: the draws against the same ranks played one by one here, and the bounds at which
 * nothing is drawn. */
#include <math.h>

#include "models/step/simulate/stagger.h"
#include "sim/random.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

/* Two tensor-parallel pairs (of each of two stages) across two nodes, whose GPUs share one NIC. */
static struct configuration sharing(uint64_t seed)
{
    struct configuration c = lower_case();
    lower_case_size(&c, 2, 1, 2, 2, 4);
    c.seed = seed;
    c.layout.order = "dp-pp-tp-cp";
    c.cluster.nodes = 2;
    c.cluster.node.gpus = 4;
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.node.nic.count = 1;
    c.software.memory.clip_gradients = false; /* which would make all ranks end together */
    c.model.hidden = 512;
    c.model.attention.head_size = 64;
    c.training.sequence = 1024;
    c.cluster.node.pcie.bytes_per_s = 25e9;
    c.cluster.node.nic.efficiency_ratio = 1.0;
    c.cluster.fabric.kind = &topology_rail;
    c.cluster.fabric.options = (struct kind_options){{32, 1}};
    c.cluster.fabric.efficiency_ratio = 1.0;
    c.gpu.speed_spread_ratio = 0.05;
    return c;
}

static struct step *played(const struct configuration *c)
{
    const struct step_options options = {.ignore_memory = true};
    struct step *step = NULL;
    struct error error;
    assert_int_equal(lower_case_errors(c), 0);
    assert_true(step_run(c, &options, &step, &error));
    return step;
}

/* One draw: rank r starts random_at(key, r) of `apart_s` late, all at the slowest card's pace. */
struct outcome {
    double longest_s;
    uint32_t last; /* the rank that is longest under way */
};

static struct outcome drawn(const struct configuration *c, const struct step *step, double apart_s,
                            uint64_t key)
{
    struct sim *sim = sim_create(c->seed);
    struct symmetry symmetry;
    symmetry_build(sim_arena(sim),
                   &(struct symmetry_input){c, &step->topology, &step->layout, &step->lowered},
                   true, &symmetry);
    assert_int_equal(symmetry.rank_class_count, 8);
    double start_s[8];
    for (uint32_t rank = 0; rank < 8; rank++)
        start_s[symmetry.class_of_rank[rank]] = apart_s * random_at(key, rank);
    const struct worker_options options = {
        .excess_ratio = gpu_slowest_excess_ratio(&c->gpu, 8), .seed = c->seed, .start_s = start_s};
    struct worker *worker = worker_create(sim, &symmetry, &step->lowered, &step->layout, &options);
    worker_start(worker);
    sim_run(sim);
    struct outcome out = {0.0, 0};
    for (uint32_t rank = 0; rank < 8; rank++) {
        const double finish_s = worker_finish_s(worker, symmetry.class_of_rank[rank]);
        if (finish_s > out.longest_s)
            out = (struct outcome){finish_s, rank};
    }
    sim_destroy(sim);
    return out;
}

/* The shortest of eight draws, wide and narrow in turn: over the seeds most of the eight are the
 * shortest at least once, and a slow rank of either node is the last to finish. */
static void the_shortest_draw_is_kept(void **state)
{
    bool decided[STAGGER_DRAWS_MAX] = {false}, last[8] = {false};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct perturbation slow = {
            .what = PERTURB_GPU_SPEED, .gpu = seed % 2 == 0 ? 0 : 5, .ratio = 0.95};
        struct configuration c = sharing(seed);
        c.perturbations = &slow;
        c.perturbation_count = 1;
        struct step *step = played(&c);
        struct stagger found;
        stagger_try(&c, step, &found);
        assert_int_equal(found.draws, 8);
        assert_true(found.apart_s > 0.0 && found.lost_s > 0.01 * step->step_s);
        const uint64_t key = random_key(seed, "stagger");
        struct outcome best = {INFINITY, 0};
        unsigned decides = 0;
        for (unsigned draw = 0; draw < 8; draw++) {
            const double wide[] = {1.0, 0.25, 1.0, 0.25, 1.0, 0.25, 1.0, 0.25};
            const struct outcome o =
                drawn(&c, step, wide[draw] * found.apart_s, random_hash(key, draw));
            if (o.longest_s < best.longest_s) {
                best = o;
                decides = draw;
            }
        }
        decided[decides] = last[best.last] = true;
        assert_true(found.shortest_s == best.longest_s);
        assert_true(found.spared_ratio == 1.0 - best.longest_s / step->step_s);
        step_destroy(step);
    }
    unsigned kinds = 0;
    for (unsigned draw = 0; draw < STAGGER_DRAWS_MAX; draw++)
        kinds += decided[draw];
    assert_true(kinds >= 6 && last[0] && last[5]);
}

/* What is lost to sharing must be a hundredth of the step: to the last bit. */
static void a_hundredth_is_worth_it(void **state)
{
    struct configuration c = sharing(1);
    struct step *step = played(&c);
    const double lost_s = network_contention(step->network).lost_s;
    struct stagger found;
    step->step_s = lost_s / STAGGER_WORTH_RATIO;
    while (STAGGER_WORTH_RATIO * step->step_s < lost_s)
        step->step_s = nextafter(step->step_s, INFINITY);
    while (STAGGER_WORTH_RATIO * step->step_s > lost_s)
        step->step_s = nextafter(step->step_s, 0.0);
    assert_true(STAGGER_WORTH_RATIO * step->step_s == lost_s);
    stagger_try(&c, step, &found);
    assert_int_equal(found.draws, 8);
    while (STAGGER_WORTH_RATIO * step->step_s == lost_s)
        step->step_s = nextafter(step->step_s, INFINITY);
    stagger_try(&c, step, &found);
    assert_true(found.draws == 0 && found.shortest_s == 0.0 && found.spared_ratio == 0.0);
    assert_true(found.lost_s == lost_s);
    step_destroy(step);
}

/* Ranks of both stages so many that they play `ops` (a multiple of 8, as both programs have) in one
 * draw. */
static bool pretend_ops(struct step *step, uint64_t ops)
{
    const uint64_t first = step->lowered.programs[0]->op_count;
    const uint64_t second = step->lowered.programs[1]->op_count;
    for (uint64_t ranks = 1; ranks * first < ops; ranks++) {
        if ((ops - ranks * first) % second == 0) {
            step->memory[0].rank_count = (uint32_t)ranks;
            step->memory[1].rank_count = (uint32_t)((ops - ranks * first) / second);
            return true;
        }
    }
    return false;
}

/* As many draws as the limit affords, whole ones, at most eight. */
static void draws_to_the_limit(void **state)
{
    static const struct {
        uint64_t ops;
        uint32_t draws;
    } cases[] = {
        {STAGGER_OPS_MAX + 8, 0}, {STAGGER_OPS_MAX, 1},      {STAGGER_OPS_MAX / 2 + 8, 1},
        {STAGGER_OPS_MAX / 2, 2}, {STAGGER_OPS_MAX / 4, 4},  {STAGGER_OPS_MAX / 8 + 8, 7},
        {STAGGER_OPS_MAX / 8, 8}, {STAGGER_OPS_MAX / 16, 8},
    };
    struct configuration c = sharing(1);
    struct step *step = played(&c);
    assert_int_equal(step->memory_count, 2);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stagger found;
        assert_true(pretend_ops(step, cases[i].ops));
        stagger_try(&c, step, &found);
        assert_int_equal(found.draws, cases[i].draws);
        assert_true((found.draws > 0) == (found.shortest_s < INFINITY));
        const double spared = 1.0 - found.shortest_s / step->step_s;
        assert_true(found.spared_ratio == (found.draws > 0 ? spared : 0.0));
    }
    step_destroy(step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shortest_draw_is_kept),
        cmocka_unit_test(a_hundredth_is_worth_it),
        cmocka_unit_test(draws_to_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
