/* What `plan` calls fitting is what `run` and `choice` call fitting: drawn layouts of small spaces,
 * each searched alone, against steps on a card that really is smaller by the headroom. */
#include <math.h>

#include "analysis/plan/search/search_lead.h"
#include "models/plan/choice.h"
#include "models/plan/ladder.h"
#include "models/plan/plan_space.h"
#include "models/plan/trial.h"
#include "sim/random.h"
#include "tests/analysis/plan/search_spaces.h"
#include "tests/sanitized.h"
#include "tests/test.h"

enum {
#ifdef SANITIZED
    CASES = 60
#else
    CASES = 200
#endif
};

static uint32_t below(struct random_stream *r, uint32_t count)
{
    return (uint32_t)(random_uniform(r) * count);
}

/* Does the step fit a card of so many bytes? */
static bool fits_card(struct configuration c, double usable_bytes)
{
    const struct step_options options = {0};
    struct step *step = NULL;
    struct error error;
    c.gpu.hbm.usable_bytes = usable_bytes;
    if (!configuration_legal(&c) || !step_run(&c, &options, &step, &error))
        return false;
    const bool fits = step->fits;
    step_destroy(step);
    return fits;
}

static const struct search_row *search_alone(const struct configuration *c, unsigned held,
                                             double headroom_ratio, struct search **out)
{
    const struct search_question question = {.base = c,
                                             .held = held,
                                             .dp = (uint32_t)c->layout.dp,
                                             .headroom_ratio = headroom_ratio,
                                             .leaders = 1,
                                             .threads = 1};
    struct error error = {""};
    assert_true(search_run(&question, out, &error));
    assert_int_equal((*out)->row_count, 1);
    return &(*out)->rows[0];
}

/* A card on which memory is scarce, so that both answers come. */
static double draw_card_bytes(struct random_stream *r, const struct configuration *c)
{
    return c->gpu.hbm.usable_bytes * (0.02 + 0.5 * random_uniform(r));
}

struct drawn {
    struct configuration c;
    struct plan_layout layout;
    double headroom_ratio;
};

static struct drawn draw(struct random_stream *r, const struct configuration *base,
                         const struct plan_layout *layouts, uint32_t count)
{
    struct drawn d = {.headroom_ratio = 0.3 * below(r, 3) / 2.0};
    do {
        d.layout = layouts[below(r, count)];
        plan_layout_apply(base, &d.layout, &d.c);
    } while (!configuration_legal(&d.c));
    d.c.gpu.hbm.usable_bytes = draw_card_bytes(r, base);
    return d;
}

static void check_alone(struct drawn d, uint32_t rungs, unsigned *fitting)
{
    struct search *search = NULL;
    struct configuration base = d.c;
    for (uint32_t i = 0; i < rungs; i++)
        ladder_more(&base, 0, &d.layout);
    plan_layout_apply(&base, &d.layout, &d.c);
    const double usable_bytes = d.c.gpu.hbm.usable_bytes * (1.0 - d.headroom_ratio);
    const bool fits = fits_card(d.c, usable_bytes);
    const struct search_row *row =
        search_alone(&d.c, (1u << PLAN_AXIS_COUNT) - 1, d.headroom_ratio, &search);
    assert_int_equal(search->leader_count, fits ? 1 : 0);
    if (!fits)
        assert_true(row->fate == FATE_MEMORY || row->fate == FATE_HEADROOM ||
                    row->fate == FATE_LEDGER);
    if (row->fate == FATE_HEADROOM || row->fate == FATE_MEMORY)
        assert_int_equal(row->fate,
                         row->least_bytes > d.c.gpu.hbm.usable_bytes ? FATE_MEMORY : FATE_HEADROOM);
    struct trial_budget budget = {.usable_bytes = usable_bytes, .passes_max = UINT64_MAX};
    const bool may = trial_may_fit(&d.c, usable_bytes);
    assert_int_equal(trial_holds(&d.c, &budget), may);
    assert_true(may || !fits);
    if (!may) /* its ledger alone says so */
        assert_int_equal(search->counts.played, 0);
    assert_int_equal(trial_fits(&d.c, usable_bytes), fits);
    if (fits) { /* op by op, too, on less than it allocates */
        struct search_leader leader = search->leaders[0];
        const double less_bytes = 0.9 * leader.peak_allocated_bytes;
        assert_false(search_lead_play(&base, leader.row, less_bytes, NULL, &leader));
    }
    *fitting += fits;
    search_destroy(search);
}

/* The least recomputation that fits, of a layout whose other keys are stated: as `run` chooses it,
 * and as `plan` with no headroom finds it. */
static void check_ladder(const struct drawn *d, unsigned *climbed)
{
    const unsigned held = ((1u << PLAN_AXIS_COUNT) - 1) & ~(1u << PLAN_RECOMPUTE);
    struct arena *arena = arena_create();
    struct configuration c = d->c;
    struct choices choices;
    struct search *search = NULL;
    c.software.offers.module_recompute = false; /* which stands beside the ladder */
    search_alone(&c, held, 0.0, &search);
    choice_make(arena, &c, 1u << CHOICE_RECOMPUTE | 1u << CHOICE_RECOMPUTE_LAYERS, &choices);
    const bool fits = fits_card(c, c.gpu.hbm.usable_bytes);
    assert_int_equal(search->leader_count, fits ? 1 : 0);
    const struct plan_layout chosen = plan_layout_of(&c);
    if (fits)
        assert_true(plan_layout_same(&search->leaders[0].row->layout, &chosen, 0));
    *climbed += fits && c.layout.recompute != RECOMPUTE_NONE;
    search_destroy(search);
    arena_destroy(arena);
}

static void what_fits_is_one_answer(void **state)
{
    struct arena *arena = arena_create();
    struct random_stream *r = random_create(arena, 7, 0, "fitting");
    unsigned fitting = 0, climbed = 0;
    for (unsigned i = 0; i < CASES; i++) {
        /* of the last the makers' recomputation stands beside the ladder */
        struct scenario *scenario = space_read(space_texts[i % (SPACE_COUNT - 1)]);
        struct plan_layout *layouts = NULL;
        const uint32_t count = plan_space(arena, &scenario->configuration, 0, &layouts);
        const struct drawn d = draw(r, &scenario->configuration, layouts, count);
        check_alone(d, below(r, 4), &fitting);
        check_ladder(&d, &climbed);
        scenario_destroy(scenario);
    }
    print_message("%u cases: %u fit, %u by recomputation\n", CASES, fitting, climbed);
    assert_true(fitting > CASES / 8 && fitting < CASES - CASES / 5 && climbed > CASES / 20);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_fits_is_one_answer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
