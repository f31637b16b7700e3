/* A better machine and the step: what holds to the bit, and what shared wires bend.
 *
 * Random scenarios against their changes (the target laws-exhaustive walks thousands), the smallest
 * known anomaly, and lock-step in closed form: n rounds of compute C and a transfer D of two alike
 * groups on one wire take n (C + 2 D) together; apart by D, with C >= D, they never meet, and the
 * later one ends at n (C + D) + D. Graham, SIAM J. Appl. Math. 17, 1969, has the first such. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/step/simulate/stagger.h"
#include "tests/laws/law_monotony.h"
#include "tests/laws/random_scenario.h"
#include "tests/models/step/world.h"
#include "tests/test.h"

enum {
    SCENARIOS = 90
};

struct sums {
    unsigned legal, pairs[CHANGE_COUNT], moved[CHANGE_COUNT], anomalies, faults;
    double worst_better, worst_worse;
};

static void compare(const struct law_pair *pair, const struct configuration *c,
                    enum law_change change, struct sums *sums)
{
    struct law_monotony m;
    if (!law_monotony_of(pair, c, change, &m))
        return;
    double *worst = law_change_is_better(change) ? &sums->worst_better : &sums->worst_worse;
    *worst = fmax(*worst, m.anomaly_ratio);
    sums->pairs[change]++;
    sums->moved[change] += m.apart_ratio < -1e-6;
    sums->anomalies += m.anomaly_ratio > 1e-9;
    sums->faults += !law_monotony_holds(&m);
}

/* Every op of every rank, to the bit, where no wire is shared; with shared wires what was measured
 * over 2,963 scenarios (players.md), and a little room: scenarios change with the catalogue. */
static void random_scenarios_keep_the_law(void **state)
{
    struct sums sums = {0};
    for (uint64_t number = 0; number < SCENARIOS; number++) {
        struct scenario *scenario = random_scenario(number);
        if (scenario == NULL)
            continue;
        struct law_pair pair;
        const unsigned before = sums.faults;
        law_pair_begin(&pair, &scenario->configuration);
        for (unsigned change = 0; change < CHANGE_COUNT; change++)
            compare(&pair, &scenario->configuration, (enum law_change)change, &sums);
        if (sums.faults > before) {
            print_message("scenario %u: see laws_monotony 1 %u\n%s", (unsigned)number,
                          (unsigned)number, scenario->file.text);
        }
        law_pair_end(&pair);
        scenario_destroy(scenario);
        sums.legal++;
    }
    assert_int_equal(sums.faults, 0);
    assert_true(sums.legal > SCENARIOS / 2 && sums.anomalies > 0);
    assert_true(sums.worst_better < 0.10 && sums.worst_worse < 0.25);
    for (unsigned change = 0; change < CHANGE_COUNT; change++)
        assert_true(sums.pairs[change] > 0 && sums.moved[change] > 0);
}

/* Every change is what its name says, and nothing else. */
static void changes_change_what_they_say(void **state)
{
    struct scenario *scenario = NULL;
    for (uint64_t n = 0; scenario == NULL || scenario->configuration.cluster.nodes == 1; n++) {
        scenario_destroy(scenario);
        scenario = random_scenario(n);
    }
    const struct configuration *c = &scenario->configuration;
    struct law_changed to;
    assert_true(law_change(c, CHANGE_NIC, &to));
    assert_true(to.c.cluster.node.nic.bytes_per_s == 2 * c->cluster.node.nic.bytes_per_s);
    assert_true(law_change(c, CHANGE_NIC_HALF, &to));
    assert_true(to.c.cluster.node.nic.bytes_per_s == c->cluster.node.nic.bytes_per_s / 2);
    assert_true(law_change(c, CHANGE_HBM, &to));
    assert_true(to.c.gpu.hbm.bytes_per_s == 2 * c->gpu.hbm.bytes_per_s);
    assert_true(law_change(c, CHANGE_HOST, &to));
    assert_true(to.c.software.host.launch_s == c->software.host.launch_s / 2);
    assert_true(law_change(c, CHANGE_STRAGGLER, &to));
    assert_int_equal(to.c.perturbation_count, c->perturbation_count + 1);
    assert_true(to.c.perturbations[c->perturbation_count].ratio == 0.7);
    scenario_destroy(scenario);
}

/* The law must see: a kernel that takes longer on the better machine, and a transfer. */
static void planted_faults_are_seen(void **state)
{
    struct scenario *scenario = NULL;
    for (uint64_t n = 0; scenario == NULL; n++)
        scenario = random_scenario(n);
    const struct configuration *c = &scenario->configuration;
    struct law_pair plain, same;
    struct law_monotony m;
    law_pair_begin(&plain, c);
    law_pair_begin(&same, c);
    law_monotony(&same, &plain, true, &m);
    assert_true(law_monotony_holds(&m) && m.anomaly_ratio == 0.0 && m.apart_ratio == 0.0);
    law_pair_end(&same);

    struct law_changed slow;
    assert_true(law_change(c, CHANGE_STRAGGLER, &slow));
    law_pair_begin(&same, &slow.c);
    law_monotony(&same, &plain, true, &m); /* slower, called better */
    assert_true(m.late_ops > 0 && m.misplaced_count == 0 && !law_monotony_holds(&m));
    law_pair_end(&same);

    law_pair_begin(&same, c);
    for (uint32_t i = 0; i < same.apart.symmetry.plan_count; i++)
        same.apart.symmetry.plans[i].latency_s *= 2.0;
    law_monotony(&same, &plain, true, &m);
    assert_true(m.late_ops == 0 && m.misplaced_count > 0 && !law_monotony_holds(&m));
    same.apart.symmetry.plans[0].tuned.protocol ^= 1;
    same.apart.symmetry.plans[0].latency_s *= 4.0;
    law_monotony(&same, &plain, true, &m);
    assert_true(m.retuned_count == 1 && m.misplaced_count > 0);
    law_pair_end(&same);
    law_pair_end(&plain);
    scenario_destroy(scenario);
}

enum {
    ROUNDS = 8
};

/* Two pairs on one wire of 1 byte/s; the first op of the first pair takes `late_s` longer, or a
 * rank of that pair starts so late. */
static double rounds_s(double compute_s, double transfer_s, double late_s, bool starts)
{
    struct world w;
    const double start_s[] = {0.0, starts ? late_s : 0.0, 0.0, 0.0};
    world_begin(&w);
    w.options.start_s = start_s;
    const struct wire wire = {world_link(&w, 1.0), 1.0};
    for (unsigned group = 0; group < 2; group++) {
        struct program_writer *p = program_begin(w.arena, 0);
        world_transfers(p, 1);
        uint32_t wait = OP_NONE;
        for (unsigned round = 0; round < ROUNDS; round++) {
            const double extra_s = !starts && group == 0 && round == 0 ? late_s : 0.0;
            wait = program_op(p, world_compute(p, compute_s + extra_s, wait));
            wait = program_op(p, world_comm(p, OP_COLLECTIVE, STREAM_TP, 0, wait));
        }
        const uint32_t program = world_program(&w, program_end(p));
        const uint32_t ranks[] = {world_rank(&w, program, 1.0), world_rank(&w, program, 1.0)};
        const uint32_t pair = world_group(&w, STREAM_TP, 1, ranks, 2);
        world_plan(&w, pair, 0, transfer_s, 0.0, INFINITY, 1.0, &wire, 1);
    }
    world_play(&w);
    const double step_s = world_step_s(&w);
    world_end(&w);
    return step_s;
}

static void lock_step_has_a_closed_form(void **state)
{
    for (unsigned starts = 0; starts < 2; starts++) {
        assert_true(rounds_s(8.0, 4.0, 0.0, starts) == ROUNDS * (8.0 + 2 * 4.0));
        assert_true(rounds_s(8.0, 4.0, 4.0, starts) == ROUNDS * (8.0 + 4.0) + 4.0);
        /* A little apart is a little gained: the first on the wire keeps its lead of 1. */
        assert_true(rounds_s(8.0, 4.0, 1.0, starts) == ROUNDS * (8.0 + 2 * 4.0 - 1.0) + 1.0);
        /* Compute shorter than the transfer: the wire is the bottleneck however they stand. */
        assert_true(rounds_s(2.0, 4.0, 4.0, starts) >= ROUNDS * 2 * 4.0);
    }
}

static struct scenario *smallest(void)
{
    static const char text[] =
        "model: {layers: 1, hidden: 2048, heads: 16, vocabulary: 1000}\n"
        "cluster: {gpu: a100-40gb-sxm, node: hgx-a100-4nic, nodes: 2, fabric: {kind: fat_tree}}\n"
        "training: {sequence: 1024, global_batch: 24}\n"
        "layout: {tp: 8, microbatch: 3, sequence_parallel: true, order: dp-tp-cp-pp}\n";
    const struct scenario_options options = {0};
    struct error error;
    struct scenario *s = scenario_read("smallest.yaml", text, sizeof text - 1, &options, &error);
    assert_true(s != NULL && s->diagnostics.error_count == 0);
    return s;
}

/* A slow GPU makes the step shorter, so does noise; but only while wires are shared. */
static void the_smallest_anomaly_is_lock_step(void **state)
{
    struct scenario *scenario = smallest();
    struct configuration noisy = scenario->configuration;
    struct law_pair pair, noise;
    struct law_monotony m;
    law_pair_begin(&pair, &scenario->configuration);
    assert_true(law_monotony_of(&pair, &scenario->configuration, CHANGE_STRAGGLER, &m));
    assert_true(m.anomaly_ratio > 0.05 && m.apart_ratio < 0.0 && law_monotony_holds(&m));
    noisy.kernel_jitter_sigma = 0.02;
    law_pair_begin(&noise, &noisy);
    assert_true(noise.shared.step_s < pair.shared.step_s);
    assert_true(noise.apart.step_s > pair.apart.step_s);
    law_pair_end(&noise);
    law_pair_end(&pair);
    scenario_destroy(scenario);
}

struct staggered {
    struct stagger stagger;
    double step_s;
    uint64_t ops; /* of all ranks */
};

static struct staggered stagger_of(const struct configuration *c)
{
    const struct step_options options = {.ignore_memory = true};
    struct staggered out = {.ops = 0};
    struct step *step;
    struct error error;
    assert_true(step_run(c, &options, &step, &error));
    stagger_try(c, step, &out.stagger);
    out.step_s = step->step_s;
    for (uint32_t rank = 0; rank < step->lowered.rank_count; rank++)
        out.ops += step->lowered.programs[step->lowered.program_of_rank[rank]]->op_count;
    if (out.stagger.draws > 0) {
        const double spared_s = out.stagger.spared_ratio * step->step_s;
        assert_true(fabs(out.stagger.shortest_s + spared_s - step->step_s) < 1e-12 * step->step_s);
    }
    step_destroy(step);
    return out;
}

/* Ranks that start apart show it, again and again the same; where wires are wide, where kernels
 * vary already and where nothing is shared, nothing is tried. */
static void starts_apart_show_lock_step(void **state)
{
    struct scenario *scenario = smallest();
    struct configuration *c = &scenario->configuration;
    const struct stagger found = stagger_of(c).stagger, again = stagger_of(c).stagger;
    assert_int_equal(found.draws, STAGGER_DRAWS_MAX);
    assert_true(stagger_matters(&found) && found.spared_ratio > 0.1 && found.spared_ratio < 0.25);
    assert_true(found.lost_s > found.apart_s && found.apart_s > 0.0);
    assert_true(found.shortest_s == again.shortest_s && found.apart_s == again.apart_s);
    struct configuration other = *c;
    other.seed++;
    assert_true(stagger_of(&other).stagger.shortest_s != found.shortest_s);
    other = *c;
    other.kernel_jitter_sigma = 0.02;
    assert_int_equal(stagger_of(&other).stagger.draws, 0);
    other = *c;
    other.cluster.node.nic.bytes_per_s *= 1024;
    other.cluster.node.pcie.bytes_per_s *= 1024;
    assert_int_equal(stagger_of(&other).stagger.draws, 0);
    other = *c;
    other.layout.order = "tp-cp-dp-pp";
    other.cluster.nodes = other.layout.dp = 1;
    const struct stagger alone = stagger_of(&other).stagger;
    assert_true(alone.lost_s == 0.0 && alone.apart_s == 0.0 && !stagger_matters(&alone));
    scenario_destroy(scenario);
}

/* One microbatch, tensor parallelism inside a node: groups share wires once, at the end. Starting
 * later is no help then, and costs no more than the latest start. */
static void starts_apart_cost_what_they_are(void **state)
{
    struct scenario *scenario = smallest();
    struct configuration *c = &scenario->configuration;
    c->layout.order = "tp-cp-dp-pp";
    c->training.global_batch = c->layout.dp * c->layout.microbatch;
    const struct staggered s = stagger_of(c);
    assert_int_equal(s.stagger.draws, STAGGER_DRAWS_MAX);
    assert_true(s.stagger.shortest_s > s.step_s);
    assert_true(s.stagger.shortest_s < s.step_s + 0.25 * s.stagger.apart_s); /* a smaller draw */
    c->gpu.speed_spread_ratio = 1.0; /* the slowest card's pace is in the step: in the draws too */
    c->software.host.launch_s = 0.0;
    const struct staggered slow = stagger_of(c);
    assert_true(slow.stagger.draws > 0 && slow.stagger.shortest_s > slow.step_s);
    scenario_destroy(scenario);
}

/* As many draws as the limit affords, and none beyond it. */
static void large_steps_are_not_tried(void **state)
{
    struct scenario *scenario = smallest();
    struct configuration *c = &scenario->configuration;
    const uint64_t replica = c->layout.dp * c->layout.microbatch;
    const uint64_t ops = stagger_of(c).ops / configuration_microbatches(c);
    c->training.global_batch = replica * (STAGGER_OPS_MAX * 2 / 5 / ops);
    const struct staggered two = stagger_of(c);
    assert_int_equal(two.stagger.draws, STAGGER_OPS_MAX / two.ops);
    assert_int_equal(two.stagger.draws, 2);
    c->training.global_batch = replica * (STAGGER_OPS_MAX * 5 / 4 / ops);
    const struct stagger none = stagger_of(c).stagger;
    assert_true(none.draws == 0 && none.spared_ratio == 0.0 && none.lost_s > 0.0);
    assert_false(stagger_matters(&none));
    scenario_destroy(scenario);
}

/* What is reported as worth a warning, to the bound. */
static void what_matters(void **state)
{
    struct stagger stagger = {.draws = 1, .spared_ratio = STAGGER_WORTH_RATIO};
    assert_true(stagger_matters(&stagger));
    stagger.spared_ratio = STAGGER_WORTH_RATIO * 0.999;
    assert_false(stagger_matters(&stagger));
    stagger = (struct stagger){.draws = 0, .spared_ratio = 0.5};
    assert_false(stagger_matters(&stagger));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_scenarios_keep_the_law),
        cmocka_unit_test(changes_change_what_they_say),
        cmocka_unit_test(planted_faults_are_seen),
        cmocka_unit_test(lock_step_has_a_closed_form),
        cmocka_unit_test(the_smallest_anomaly_is_lock_step),
        cmocka_unit_test(starts_apart_show_lock_step),
        cmocka_unit_test(starts_apart_cost_what_they_are),
        cmocka_unit_test(large_steps_are_not_tried),
        cmocka_unit_test(what_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
