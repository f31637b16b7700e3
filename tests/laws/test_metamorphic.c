/* Laws of change. All times times 2^k: every time of every op is exactly that. Node numbers
 * permuted under one switch: nothing changes (but for trees, which choose by number). Double
 * bandwidth: one flow with a fixed algorithm is strictly faster; a whole step is never slower by
 * more than 1e-3 (under contention, and with a tuner, small anomalies are real: Graham, SIAM J.
 * Appl. Math. 17, 1969; they are listed). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "sim/units.h"
#include "tests/laws/law_case.h"
#include "tests/laws/law_cluster.h"
#include "tests/laws/law_lone.h"
#include "tests/laws/law_play.h"
#include "tests/test.h"

enum {
    RANK_MAX = 16
};

typedef unsigned case_fn(const struct law_case *k);
/* The sum of what `visit` returns over the pairwise cases. */
static unsigned each_case(case_fn *visit)
{
    struct arena *arena = arena_create();
    struct law_cover cover;
    unsigned sum = 0;
    law_cover(arena, RANK_MAX, &cover);
    for (unsigned i = 0; i < cover.count; i++)
        sum += visit(&cover.cases[i]);
    arena_destroy(arena);
    return sum;
}

static void begin(struct law_play *p, const struct configuration *c)
{
    law_begin(p, c);
    lower(p->arena, c, &p->lowered);
}

/* Everything with a time in it, after law_fold; one latency is left out if asked. */
static void scale_times(struct law_play *p, double factor, bool forget_one)
{
    for (uint32_t i = 0; i < p->lowered.program_count; i++) {
        struct program *program = p->lowered.programs[i];
        for (uint32_t j = 0; j < program->cost_count; j++)
            program->costs[j].gpu_s *= factor;
        for (uint32_t j = 0; j < program->host_count; j++)
            program->hosts[j] *= factor;
    }
    for (uint32_t i = 0; i < p->symmetry.plan_count; i++) {
        struct played_plan *plan = &p->symmetry.plans[i];
        plan->latency_s *= forget_one && i == 0 ? 1.0 : factor;
        plan->cap_bytes_per_s /= factor;
    }
    for (uint32_t i = 0; i < p->symmetry.link_class_count; i++)
        p->symmetry.links[i].bytes_per_s /= factor;
}

/* Ops whose times are not exactly `factor` times those of the other play. */
static unsigned misscaled(const struct law_play *p, const struct law_play *scaled, double factor)
{
    unsigned count = 0;
    for (uint32_t rank = 0; rank < p->lowered.rank_count; rank++) {
        for (uint32_t op = 0; op < law_program(p, rank)->op_count; op++) {
            const struct op_times x = law_times(p, rank, op), y = law_times(scaled, rank, op);
            count += x.post_s * factor != y.post_s || x.begin_s * factor != y.begin_s ||
                     x.finish_s * factor != y.finish_s;
        }
    }
    return count;
}

static unsigned scaling_faults(const struct law_case *k, double factor, bool forget_one)
{
    struct law_setup setup;
    struct law_play plain, scaled;
    assert_true(law_configure(k, RANK_MAX, &setup));
    begin(&plain, &setup.c);
    law_fold(&plain, false);
    law_run(&plain);
    begin(&scaled, &setup.c);
    law_fold(&scaled, false);
    scale_times(&scaled, factor, forget_one);
    law_run(&scaled);
    const unsigned count = misscaled(&plain, &scaled, factor);
    if (count > 0 && !forget_one) {
        char text[400];
        law_describe(k, text, sizeof text);
        print_message("%s: %u ops not times %g\n", text, count, factor);
    }
    law_end(&plain);
    law_end(&scaled);
    return count;
}

static unsigned visit_scaling(const struct law_case *k)
{
    return scaling_faults(k, 32.0, false) + scaling_faults(k, 0.125, false);
}

static void powers_of_two_scale_exactly(void **state)
{
    assert_int_equal(each_case(visit_scaling), 0);
    const struct law_case k = {.level = {[LAW_GPUS] = 1, [LAW_TP] = 1, [LAW_DP] = 1}};
    assert_int_equal(scaling_faults(&k, 32.0, false), 0);
    assert_true(scaling_faults(&k, 32.0, true) > 0); /* planted: one latency keeps its length */
}

/* Is every path between two nodes one switch, so that nodes are interchangeable? */
static bool is_star(const struct topology *t)
{
    for (uint32_t a = 0; a < t->node_count; a++) {
        for (uint32_t b = 0; b < t->node_count; b++) {
            for (uint32_t i = 0; a != b && i < t->gpus_per_node; i++) {
                struct route route;
                topology_route(t, a * t->gpus_per_node + i, b * t->gpus_per_node + i, 0, &route);
                for (uint32_t l = 0; l < route.link_count; l++) {
                    const struct link_type *link = graph_link_type(&t->graph, route.links[l]);
                    if (link->kind == LINK_FABRIC)
                        return false;
                }
            }
        }
    }
    return t->node_count > 1;
}

/* Does an unfolded play load the NICs of a group's nodes unevenly? A tree does: whose number makes
 * it an inner node sends more, so numbers matter where such wires are shared. */
static bool prefers_nodes(const struct law_play *p)
{
    for (uint32_t i = 0; i < p->symmetry.plan_count; i++) {
        const struct played_plan *plan = &p->symmetry.plans[i];
        const uint32_t firsts[] = {plan->use_first, plan->own_first};
        const uint32_t counts[] = {plan->use_count, plan->own_count};
        double weight = 0.0;
        for (uint32_t u = 0; u < counts[0] + counts[1]; u++) {
            const uint32_t row = u < counts[0] ? firsts[0] + u : firsts[1] + u - counts[0];
            const struct share_use *use = &p->symmetry.uses[row];
            const struct link_id link = {p->symmetry.links[use->link].representative};
            if (graph_link_type(&p->topology.graph, link)->kind != LINK_NIC)
                continue;
            if (weight > 0.0 && use->weight != weight)
                return true;
            weight = use->weight;
        }
    }
    return false;
}

/* Node n becomes node (n + 1) mod N, and what stands in it moves with it. */
static uint32_t moved(const struct configuration *c, uint64_t gpu)
{
    const uint64_t per_node = c->cluster.node.gpus;
    const uint64_t node = (gpu / per_node + 1) % c->cluster.nodes;
    return (uint32_t)(node * per_node + gpu % per_node);
}

static void move_nodes(struct law_play *p, struct law_setup *setup, bool leave_one)
{
    for (uint32_t i = 0; i < setup->c.perturbation_count; i++) {
        setup->perturbations[i].gpu =
            leave_one ? setup->perturbations[i].gpu : moved(&setup->c, setup->perturbations[i].gpu);
    }
    begin(p, &setup->c);
    law_place(p);
    for (uint32_t rank = 0; rank < p->layout.rank_count; rank++)
        p->layout.gpu_of_rank[rank] = moved(&setup->c, p->layout.gpu_of_rank[rank]);
    law_fold(p, false);
    law_run(p);
}

/* Compares a play with that on renumbered nodes; sets `star` false where it does not apply. */
static const char *renumbering_fault(const struct law_case *k, bool leave_one, bool *star,
                                     char text[200])
{
    struct law_setup setup, other;
    struct law_play plain, renumbered;
    assert_true(law_configure(k, RANK_MAX, &setup) && law_configure(k, RANK_MAX, &other));
    begin(&plain, &setup.c);
    *star = is_star(&plain.topology);
    const char *fault = NULL;
    if (*star) {
        law_fold(&plain, true);
        *star = !prefers_nodes(&plain);
        law_run(&plain);
    }
    if (*star) {
        move_nodes(&renumbered, &other, leave_one);
        fault = law_difference(&plain, &renumbered, text);
        law_end(&renumbered);
    }
    law_end(&plain);
    return fault;
}

static unsigned star_count(const struct law_case *k)
{
    char text[200], description[400];
    bool star;
    const char *fault = renumbering_fault(k, false, &star, text);
    if (fault != NULL) {
        law_describe(k, description, sizeof description);
        print_message("%s: %s\n", description, fault);
    }
    assert_null(fault);
    return star;
}

static void node_numbers_change_nothing(void **state)
{
    assert_true(each_case(star_count) > 0);
    /* Planted: the slow GPU does not move with its node. */
    struct law_case k = {.level = {[LAW_DP] = 2, [LAW_PP] = 1, [LAW_TROUBLE] = LAW_STRAGGLER}};
    bool star = false;
    char text[200];
    const char *fault = NULL;
    for (; !star && k.level[LAW_FABRIC] < law_level_count(LAW_FABRIC, RANK_MAX);
         k.level[LAW_FABRIC]++) {
        struct law_setup setup;
        if (law_configure(&k, RANK_MAX, &setup))
            fault = renumbering_fault(&k, true, &star, text);
    }
    assert_non_null(fault);
}

enum faster {
    FASTER_NVLINK,
    FASTER_PCIE,
    FASTER_NIC,
    FASTER_HBM,
    FASTER_PEAKS,
    FASTER_COUNT
};
static const char *const faster_names[FASTER_COUNT] = {"nvlink", "pcie", "nic", "hbm", "peaks"};

static void speed_up(struct configuration *c, enum faster what, double factor)
{
    struct gpu_spec *gpu = &c->gpu;
    struct node_spec *node = &c->cluster.node;
    node->nvlink.bytes_per_s *= what == FASTER_NVLINK ? factor : 1.0;
    node->pcie.bytes_per_s *= what == FASTER_PCIE ? factor : 1.0;
    node->pcie.host_bytes_per_s *= what == FASTER_PCIE ? factor : 1.0;
    node->nic.bytes_per_s *= what == FASTER_NIC ? factor : 1.0;
    gpu->hbm.bytes_per_s *= what == FASTER_HBM ? factor : 1.0;
    for (unsigned p = 0; p < PEAK_COUNT; p++)
        gpu->peak_flops_per_s[p] *= what == FASTER_PEAKS ? factor : 1.0;
    for (unsigned kernel = 0; kernel < ATTENTION_KERNEL_COUNT && what == FASTER_PEAKS; kernel++) {
        for (unsigned causal = 0; causal < 2; causal++) {
            gpu->attention.forward[kernel][causal].ceiling_flops_per_s *= factor;
            gpu->attention.backward[kernel][causal].ceiling_flops_per_s *= factor;
        }
    }
}

static double step_of(const struct configuration *c)
{
    struct law_play p;
    begin(&p, c);
    law_fold(&p, false);
    law_run(&p);
    const double step_s = p.step_s;
    law_end(&p);
    return step_s;
}

/* How much longer the step is when something is `factor` times as fast: at most 0, or an anomaly.
 */
static double anomaly(const struct law_case *k, enum faster what, double factor)
{
    struct law_setup setup;
    assert_true(law_configure(k, RANK_MAX, &setup));
    const double before_s = step_of(&setup.c);
    speed_up(&setup.c, what, factor);
    return step_of(&setup.c) / before_s - 1.0;
}

static unsigned faster_violations(const struct law_case *k)
{
    unsigned count = 0;
    for (unsigned what = 0; what < FASTER_COUNT; what++) {
        const double longer = anomaly(k, (enum faster)what, 2.0);
        if (longer > 1e-12) {
            char text[400];
            law_describe(k, text, sizeof text);
            print_message("%g longer with double %s: %s\n", longer, faster_names[what], text);
        }
        count += longer > 1e-3;
    }
    return count;
}

static void double_bandwidth_is_never_slower(void **state)
{
    assert_int_equal(each_case(faster_violations), 0);
    /* Planted: half the peaks must be seen as slower. */
    const struct law_case k = {.level = {[LAW_TP] = 1}};
    assert_true(anomaly(&k, FASTER_PEAKS, 0.5) > 1e-3);
}

/* One message, or one collective, of a fixed algorithm without ceiling, on a wire twice as fast. */
static double lone_s(const struct topology_spec *spec, const struct law_activity *activity)
{
    struct arena *arena = arena_create();
    struct topology t;
    struct error error;
    struct law_lone l;
    assert_true(topology_build(arena, spec, &t, &error));
    law_lone_begin(&l, &t);
    double finish_s = 0.0;
    if (law_lone_add(&l, activity)) {
        l.symmetry.plans[0].cap_bytes_per_s = INFINITY;
        law_lone_run(&l);
        finish_s = law_lone_finish_s(&l, 0);
    }
    law_lone_end(&l);
    arena_destroy(arena);
    return finish_s;
}

static void one_flow_is_strictly_faster(void **state)
{
    const uint32_t gpus[] = {0, 1, 2, 3};
    unsigned count = 0;
    const unsigned fabrics = law_kind_count(TOPOLOGY_FABRIC);
    for (unsigned i = 0; i < collective_kind_count * law_kind_count(TOPOLOGY_NODE) * fabrics * 2;
         i++) {
        const unsigned kind = i / 2 % (law_kind_count(TOPOLOGY_NODE) * fabrics);
        const unsigned algorithm = i / 2 / (law_kind_count(TOPOLOGY_NODE) * fabrics);
        struct configuration c = {.name = "flow"};
        if (!law_cluster(&c.cluster, law_kind(TOPOLOGY_NODE, kind / fabrics),
                         law_kind(TOPOLOGY_FABRIC, kind % fabrics), i % 2 + 1, 4 / (i % 2 + 1),
                         LAW_DEFAULT))
            continue;
        for (int op = 0; comm_op_names[op] != NULL; op++) {
            const struct law_activity activity = {.kind = collective_kinds[algorithm],
                                                  .op = (enum comm_op)op,
                                                  .protocol = PROTOCOL_SIMPLE,
                                                  .bytes = 64 * MIB,
                                                  .gpus = gpus,
                                                  .gpu_count = op == COMM_SEND ? 2 : 4};
            struct configuration faster = c;
            speed_up(&faster, FASTER_NVLINK, 2.0);
            speed_up(&faster, FASTER_PCIE, 2.0);
            speed_up(&faster, FASTER_NIC, 2.0);
            const double before_s = lone_s(&c.cluster, &activity);
            const double after_s = lone_s(&faster.cluster, &activity);
            assert_true((before_s == 0.0 && after_s == 0.0) || after_s < before_s);
            count += before_s > 0.0;
        }
    }
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_two_scale_exactly),
        cmocka_unit_test(node_numbers_change_nothing),
        cmocka_unit_test(double_bandwidth_is_never_slower),
        cmocka_unit_test(one_flow_is_strictly_faster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
