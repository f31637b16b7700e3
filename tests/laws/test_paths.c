/* Law: paths by hash are draws. The seed redraws them and nothing else; the same draw meets every
 * oversubscription, so that fewer uplinks never part flows that collided: with equal reductions at
 * once a draw is never faster for it, and the mean is slower. Folding is exact for every draw.
 *
 * Sixteen nodes of two GPUs, four to a leaf; tp 8 stays on a leaf, and the four replicas send four
 * equal rings through each leaf at once. All finish when the fullest uplink has: S x flows / rate.
 */
#include <string.h>

#include "models/lower/stage/lower.h"
#include "tests/laws/law_case.h"
#include "tests/laws/law_cluster.h"
#include "tests/laws/law_play.h"
#include "tests/test.h"

enum {
    DRAWS = 24,
    RANK_MAX = 64
};

static void set_option(struct topology_spec *spec, const char *name, double value)
{
    const struct topology_kind *kind = spec->fabric.kind;
    for (unsigned i = 0; i < kind->head.options.count; i++) {
        if (strcmp(kind->head.options.rows[i].name, name) == 0) {
            spec->fabric.options.value[kind->head.options.rows[i].offset] = value;
            return;
        }
    }
    fail_msg("%s has no %s", kind->head.name, name);
}

static void set_up(struct law_setup *setup, const char *fabric, double oversubscription)
{
    const struct law_case k = {.level = {[LAW_TP] = 4, [LAW_DP] = 2, [LAW_FABRIC] = 1}};
    const struct topology_kind *kind = topology_find(TOPOLOGY_FABRIC, fabric);
    assert_true(law_configure(&k, RANK_MAX, setup));
    assert_true(law_cluster(&setup->c.cluster, topology_find(TOPOLOGY_NODE, "nvlink_island"), kind,
                            16, 2, LAW_DEFAULT));
    const bool rail = strcmp(fabric, "rail") == 0;
    set_option(&setup->c.cluster, rail ? "nodes_per_leaf" : "radix",
               rail ? 4 : 8 + 8 / oversubscription);
    set_option(&setup->c.cluster, "oversubscription", oversubscription);
    set_option(&setup->c.cluster, "ecmp", 1);
    struct error error;
    assert_true(topology_check(&setup->c.cluster, &error));
    assert_true(topology_draws_paths(&setup->c.cluster) == (!rail || oversubscription < 4));
}

static void play(struct law_play *p, const struct configuration *c, bool unfold)
{
    law_begin(p, c);
    lower(p->arena, c, &p->lowered);
    law_fold(p, unfold);
    law_run(p);
}

static double step_s(const struct configuration *c)
{
    struct law_play p;
    play(&p, c, false);
    const double step_s = p.step_s;
    law_end(&p);
    return step_s;
}

static void fewer_uplinks_are_never_faster(void **state)
{
    static const char *const fabrics[] = {"rail", "fat_tree"};
    for (unsigned fabric = 0; fabric < 2; fabric++) {
        double mean_s[3] = {0.0};
        unsigned slower = 0;
        for (uint64_t seed = 1; seed <= DRAWS; seed++) {
            double before_s = 0.0;
            for (unsigned i = 0; i < 3; i++) {
                struct law_setup setup;
                set_up(&setup, fabrics[fabric], 1u << i);
                setup.c.seed = seed;
                const double now_s = step_s(&setup.c);
                assert_true(now_s >= before_s);
                slower += i > 0 && now_s > before_s;
                mean_s[i] += now_s / DRAWS;
                before_s = now_s;
            }
        }
        assert_true(mean_s[0] < mean_s[1] && mean_s[1] < mean_s[2]);
        assert_true(slower > DRAWS / 2);
    }
}

/* A seed and a draw of paths give other steps, each the same whenever it is played; spread flows
 * have nothing to draw. */
static void seeds_redraw_paths(void **state)
{
    struct law_setup setup;
    unsigned by_seed = 0, by_draw = 0;
    set_up(&setup, "rail", 1.0);
    const double first_s = step_s(&setup.c);
    for (uint64_t i = 1; i <= 8; i++) {
        const struct configuration was = setup.c;
        setup.c.seed = was.seed + i;
        by_seed += step_s(&setup.c) != first_s;
        setup.c.seed = was.seed;
        setup.c.path_draw = i;
        by_draw += step_s(&setup.c) != first_s;
        setup.c = was;
        assert_true(step_s(&setup.c) == first_s);
    }
    assert_in_range(by_seed, 1, 8);
    assert_in_range(by_draw, 1, 8);
    set_option(&setup.c.cluster, "ecmp", 0);
    assert_false(topology_draws_paths(&setup.c.cluster));
    const double spread_s = step_s(&setup.c);
    setup.c.seed += 1;
    assert_true(step_s(&setup.c) == spread_s);
}

static void every_draw_folds(void **state)
{
    char text[200];
    unsigned folded = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct law_setup setup;
        struct law_play a, b;
        set_up(&setup, seed % 2 == 0 ? "rail" : "fat_tree", 2.0);
        setup.c.seed = seed;
        play(&a, &setup.c, false);
        play(&b, &setup.c, true);
        const char *fault = law_difference(&a, &b, text);
        if (fault != NULL)
            fail_msg("seed %llu: %s", (unsigned long long)seed, fault);
        folded += a.symmetry.rank_class_count < b.symmetry.rank_class_count;
        law_end(&a);
        law_end(&b);
    }
    assert_true(folded > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_uplinks_are_never_faster),
        cmocka_unit_test(seeds_redraw_paths),
        cmocka_unit_test(every_draw_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
