/* A limit of power against every layout of a small space, each with the least recomputation that
 * fits, played op by op with what it draws. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/plan/search/search_lead.h"
#include "analysis/plan/search/search_power.h"
#include "analysis/plan/search/search_terms.h"
#include "analysis/plan/search/search_unit.h"
#include "analysis/plan/search/searching.h"
#include "models/gpu/gpu_power.h"
#include "models/layout/power_wall.h"
#include "models/plan/ladder.h"
#include "models/plan/plan_space.h"
#include "models/step/estimate/pass.h"
#include "sim/units.h"
#include "tests/analysis/plan/search_spaces.h"
#include "tests/sanitized.h"
#include "tests/test.h"

#define HEADROOM 0.02
enum {
    ALL_LEADERS = 100000
};

struct drawn {
    struct search_row row;
    struct search_leader leader;
};
struct space {
    struct scenario *scenario;
    struct arena *arena;
    struct drawn *all; /* by power */
    size_t count;
};

static int compare_power(const void *a, const void *b)
{
    const struct drawn *x = a, *y = b;
    return x->leader.wall_w < y->leader.wall_w ? -1 : x->leader.wall_w > y->leader.wall_w;
}

static bool draw(const struct configuration *base, struct search_row *row,
                 struct search_leader *out)
{
    const double usable_bytes = base->gpu.hbm.usable_bytes * (1.0 - HEADROOM);
    struct configuration c;
    do {
        plan_layout_apply(base, &row->layout, &c);
        if (!configuration_legal(&c) || !search_lead_play(base, row, usable_bytes, NULL, out))
            continue;
        search_lead_draw(base, 1, out);
        return true;
    } while (ladder_more(base, 0, &row->layout));
    return false;
}

static struct space space_of(struct scenario *scenario)
{
    struct space out = {.scenario = scenario, .arena = arena_create()};
    const struct configuration *base = &out.scenario->configuration;
    struct plan_layout *layouts = NULL;
    const uint32_t count = plan_space(out.arena, base, 0, &layouts);
    out.all = ARENA_ARRAY(out.arena, struct drawn, count);
    for (uint32_t i = 0; i < count; i++) {
        struct drawn *one = &out.all[out.count];
        one->row = (struct search_row){.layout = layouts[i]};
        out.count += draw(base, &one->row, &one->leader);
    }
    qsort(out.all, out.count, sizeof *out.all, compare_power);
    assert_true(out.count > 3 && out.all[0].leader.wall_w < out.all[out.count - 1].leader.wall_w);
    return out;
}

/* Each is played once, for all that follows. */
static const unsigned indices[] = {3, 4, 6};
#define SPACES (sizeof indices / sizeof indices[0])
static struct space spaces[SPACES];
static size_t space_count;

static int begin(void **state)
{
    space_count = SANITIZED_EVERY(2) > 1 ? 1 : SPACES;
    for (size_t i = 0; i < space_count; i++)
        spaces[i] = space_of(space_read_priced(indices[i]));
    return 0;
}

static int end(void **state)
{
    for (size_t i = 0; i < space_count; i++) {
        arena_destroy(spaces[i].arena);
        scenario_destroy(spaces[i].scenario);
    }
    return 0;
}

static struct search *search_under(const struct space *s, double power_w, uint32_t leaders)
{
    const struct search_question question = {.base = &s->scenario->configuration,
                                             .headroom_ratio = HEADROOM,
                                             .leaders = leaders,
                                             .terms = {.best = BEST_TOKENS, .power_w = power_w},
                                             .threads = 2};
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_terms_check(&question.terms, question.base, &error));
    assert_true(search_run(&question, &search, &error));
    return search;
}

/* The shortest step of those that keep the limit; INFINITY: none does. */
static double best_s(const struct space *s, double power_w)
{
    double best = INFINITY;
    for (size_t i = 0; i < s->count; i++)
        if (s->all[i].leader.wall_w <= power_w)
            best = fmin(best, s->all[i].leader.step_s);
    return best;
}

static void check_fates(const struct search *search, double power_w)
{
    uint32_t sum = 0;
    for (unsigned f = 0; f < FATE_COUNT; f++)
        sum += search->counts.fates[f];
    assert_int_equal(sum, search->row_count);
    assert_int_equal(search->counts.fates[FATE_OPEN], 0);
    for (uint32_t i = 0; i < search->leader_count; i++)
        assert_true(search->leaders[i].wall_w <= power_w);
    for (uint32_t i = 0; i < search->row_count; i++)
        if (search->rows[i].fate == FATE_POWER)
            assert_true(search->rows[i].least_w > power_w);
}

/* From a limit that one layout keeps to one that all keep: the best of an exhaustive search, which
 * a higher limit never makes worse. */
static void check_limits(const struct space *s)
{
    enum {
        LIMITS = 6
    };
    double before_s = INFINITY;
    for (size_t i = 0; i < LIMITS; i++) {
        const size_t at = i * (s->count - 1) / (LIMITS - 1);
        const double power_w = s->all[at].leader.wall_w * (1.0 + 1e-12);
        struct search *search = search_under(s, power_w, 3);
        assert_true(search->leader_count > 0);
        assert_true(search->leaders[0].step_s == best_s(s, power_w));
        assert_true(search->leaders[0].step_s <= before_s);
        assert_true(isnan(search->watts.smallest_w));
        assert_true(search->counts.fates[FATE_POWER] > 0 || at > 0);
        before_s = search->leaders[0].step_s;
        check_fates(search, power_w);
        search_destroy(search);
    }
    struct search *freely = search_under(s, 0.0, 3), *any = search_under(s, INFINITY, 3);
    assert_true(freely->leaders[0].step_s == before_s);
    assert_true(isnan(freely->leaders[0].wall_w) && any->leaders[0].wall_w > 0.0);
    assert_int_equal(any->counts.fates[FATE_POWER], 0);
    search_destroy(any);
    search_destroy(freely);
}

static void the_most_tokens_under_a_limit(void **state)
{
    for (size_t i = 0; i < space_count; i++)
        check_limits(&spaces[i]);
}

/* So many layers and microbatches that not all which may keep the limit can be played: those that
 * draw too much in their time at pass detail, and are first in it, do not take the place of the
 * first. */
static void the_first_is_found_among_many(void **state)
{
    struct space s;
    if (SANITIZED_EVERY(2) > 1)
        return;
    s = space_of(
        space_read("model: {layers: 32, hidden: 4096, heads: 32, kv_heads: 8, vocabulary: 128256}\n"
                   "cluster: {gpu: h100-80gb-sxm, gpus: 16}\n"
                   "training: {sequence: 8192, global_batch: 64}\n"));
    for (unsigned part = 2; part <= 8; part *= 2) {
        const double power_w = s.all[s.count / part].leader.wall_w * (1.0 + 1e-12);
        struct search *search = search_under(&s, power_w, 10);
        assert_true(search->leader_count > 0);
        if (search->leaders[0].step_s != best_s(&s, power_w))
            fail_msg("%.6g W: %.6g s, not %.6g", power_w, search->leaders[0].step_s,
                     best_s(&s, power_w));
        check_fates(search, power_w);
        search_destroy(search);
    }
    arena_destroy(s.arena);
    scenario_destroy(s.scenario);
}

/* All that keep it lead, where as many are asked for, and none else does. */
static void all_that_keep_it_lead(void **state)
{
    const struct space *s = &spaces[0];
    const double power_w = s->all[s->count / 3].leader.wall_w * (1.0 + 1e-12);
    struct search *search = search_under(s, power_w, ALL_LEADERS);
    uint32_t expected = 0;
    for (size_t i = 0; i < s->count; i++)
        expected += s->all[i].leader.wall_w <= power_w;
    assert_int_equal(search->leader_count, expected);
    check_fates(search, power_w);
    search_destroy(search);
}

/* What is said to be the smallest is, and the fastest of all is told as the nearest. */
static void a_limit_that_nothing_keeps_has_a_smallest(void **state)
{
    for (size_t i = 0; i < space_count; i++) {
        const struct space *s = &spaces[i];
        const double least_w = s->all[0].leader.wall_w;
        struct search *none = search_under(s, least_w * 0.7, 3);
        assert_int_equal(none->leader_count, 0);
        assert_true(none->counts.fates[FATE_POWER] > 0 && !none->watts.of_played);
        assert_true(none->watts.smallest_w == least_w);
        assert_true(none->has_near && none->near.step_s == best_s(s, INFINITY));
        assert_true(none->near.wall_w > least_w);
        assert_int_equal(search_terms_broken(&none->question.terms, &none->near), FATE_POWER);
        check_fates(none, least_w * 0.7);
        struct search *just = search_under(s, none->watts.smallest_w, 3);
        assert_true(just->leader_count > 0 && just->leaders[0].wall_w == least_w);
        search_destroy(just);
        just = search_under(s, none->watts.smallest_w * (1.0 - 1e-12), 3);
        assert_int_equal(just->leader_count, 0);
        assert_true(just->watts.smallest_w == least_w);
        search_destroy(just);
        search_destroy(none);
    }
}

/* What more power buys is the difference of two searches over that of their limits. */
static void more_power_is_one_more_search(void **state)
{
    const struct space *s = &spaces[0];
    const double power_w = s->all[s->count / 4].leader.wall_w;
    struct search *search = search_under(s, power_w, 3),
                  *raised = search_under(s, power_w * 1.1, 1),
                  *freely = search_under(s, s->all[s->count - 1].leader.wall_w * 1.01, 3);
    struct arena *arena = arena_create();
    struct search_more more;
    search_power_more(arena, search, &more);
    assert_true(more.known && more.power_w == power_w * 1.1);
    assert_true(more.leader.step_s == raised->leaders[0].step_s);
    assert_true(more.leader.wall_w > power_w && more.leader.wall_w <= more.power_w);
    const double gain = raised->leaders[0].tokens_per_s - search->leaders[0].tokens_per_s;
    const double each = search_more_tokens_per_day_mw(&more, &search->leaders[0]);
    assert_true(gain > 0.0);
    assert_true(fabs(each / (gain * 86400.0 / (0.1 * power_w / 1e6)) - 1.0) < 1e-9);
    assert_int_equal(freely->counts.fates[FATE_POWER], 0);
    search_power_more(arena, freely, &more);
    assert_false(more.known);
    search_destroy(freely);
    search_destroy(raised);
    search_destroy(search);
    arena_destroy(arena);
}

/* Op by op no step of that length draws less than is said of its kernels, and where nothing slows
 * them what they draw is just that. Nor is it longer than the search takes it to be. */
static void kernels_draw_no_less(void **state)
{
    double closest = INFINITY, longest = 0.0;
    for (size_t k = 0; k < space_count; k++) {
        const struct space *s = &spaces[k];
        struct pass_memory *memory = pass_memory_create();
        for (size_t i = 0; i < s->count; i++) {
            const struct search_leader *l = &s->all[i].leader;
            struct configuration c;
            struct pass_played pass;
            struct error error;
            plan_layout_apply(&s->scenario->configuration, &s->all[i].row.layout, &c);
            const double card_w = pass_least_card_w(memory, &c, l->step_s);
            const double twice_w = pass_least_card_w(memory, &c, 2.0 * l->step_s);
            const double static_w = c.gpu.power.static_ratio * c.gpu.power.tdp_w;
            const double ratio = l->wall_w / power_job_w(&c, card_w);
            assert_true(card_w > static_w && card_w <= c.gpu.power.cap_w);
            assert_true(fabs((card_w - static_w) / (twice_w - static_w) - 2.0) < 1e-9);
            assert_true(ratio >= 1.0 - 1e-12 && ratio < 1.08);
            assert_true(pass_alone(&c, &pass, &error));
            closest = fmin(closest, ratio);
            longest = fmax(longest, l->step_s / pass.step_s);
        }
        pass_memory_destroy(memory);
    }
    print_message("op detail is up to %.1f %% longer than pass detail\n", 1e2 * (longest - 1.0));
    assert_true(closest < 1.01);
    assert_true(longest < SEARCH_UNIT_UNDERSTATED);
}

/* What a unit notes of a row: its draw in its own time and in the longest that it may take; the
 * step in which its kernels draw just the limit; and that it is out where even the longest draws
 * too much. Limits from below what stands still to above what any draws. */
static void what_a_row_notes_of_power(void **state)
{
    const struct configuration *base = &spaces[0].scenario->configuration;
    struct arena *arena = arena_create();
    struct pass_memory *memory = pass_memory_create();
    struct topology topology;
    struct error error;
    unsigned out = 0, kept = 0, slowed = 0;
    assert_true(topology_build(arena, &base->cluster, &topology, &error));
    for (size_t i = 0; i < spaces[0].count; i++)
        for (unsigned k = 0; k <= 12; k++) {
            struct configuration c;
            struct search_row row = {.layout = spaces[0].all[i].row.layout};
            plan_layout_apply(base, &row.layout, &c);
            const double rest_w = power_job_w(&c, gpu_power_static_w(&c.gpu));
            const double limit_w = k == 0 ? 0.0 : rest_w * (0.9 + 0.1 * k);
            const struct search_ground ground = {.base = base,
                                                 .topology = &topology,
                                                 .usable_bytes = base->gpu.hbm.usable_bytes,
                                                 .power_w = limit_w};
            struct search_unit *unit = search_unit_create(&ground, &row, 1);
            search_unit_judge(unit);
            search_unit_time(unit, INFINITY);
            search_unit_destroy(unit);
            if (k == 0) {
                assert_true(row.pass_w == 0.0 && row.least_w == 0.0 && row.keeps_s == 0.0);
                assert_int_equal(row.fate, FATE_TIMED);
                continue;
            }
            const double longest_s = row.pass_s * SEARCH_UNIT_UNDERSTATED;
            const double least_w = power_job_w(&c, pass_least_card_w(memory, &c, longest_s));
            assert_true(row.pass_w == power_job_w(&c, pass_least_card_w(memory, &c, row.pass_s)));
            assert_true(row.least_w == least_w && least_w < row.pass_w);
            assert_int_equal(row.fate, least_w > limit_w ? FATE_POWER : FATE_TIMED);
            out += row.fate == FATE_POWER;
            kept += row.keeps_s <= row.pass_s;
            assert_int_equal(limit_w <= rest_w, isinf(row.keeps_s));
            if (limit_w <= rest_w || row.keeps_s < row.pass_s)
                continue;
            const double at_w = power_job_w(&c, pass_least_card_w(memory, &c, row.keeps_s));
            assert_true(fabs(at_w / limit_w - 1.0) < 1e-9);
            slowed++;
            /* No step that is shorter keeps it, whatever pass detail says. */
            const struct searching g = {.ground = ground};
            assert_false(searching_may_take(&g, &row, 0.999 * row.keeps_s));
            assert_true(searching_may_take(&g, &row, 1.001 * row.keeps_s));
        }
    assert_true(out > 0 && kept > 0 && slowed > 0);
    pass_memory_destroy(memory);
    arena_destroy(arena);
}

static void a_node_of_unknown_power_has_no_limit(void **state)
{
    struct configuration c = spaces[0].scenario->configuration;
    struct error error = {""};
    c.cluster.node.power.conversion_ratio = 0.0;
    assert_false(search_terms_check(&(struct search_terms){.power_w = 1e6}, &c, &error));
    assert_non_null(strstr(error.text, "a power at the wall"));
    assert_true(search_terms_check(&(struct search_terms){.power_w = 0.0}, &c, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_tokens_under_a_limit),
        cmocka_unit_test(the_first_is_found_among_many),
        cmocka_unit_test(all_that_keep_it_lead),
        cmocka_unit_test(a_limit_that_nothing_keeps_has_a_smallest),
        cmocka_unit_test(more_power_is_one_more_search),
        cmocka_unit_test(kernels_draw_no_less),
        cmocka_unit_test(what_a_row_notes_of_power),
        cmocka_unit_test(a_node_of_unknown_power_has_no_limit),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
