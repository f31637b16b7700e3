/* Each decision of a search alone, in a case made for it: what a slow play lets in, ties, the first
 * by another objective than the step, a deadline of whole steps, what was measured, another
 * batch. */
#include <math.h>

#include "analysis/plan/search/search_batch.h"
#include "analysis/plan/search/search_book.h"
#include "analysis/plan/search/search_lead.h"
#include "analysis/plan/search/search_terms.h"
#include "models/plan/plan_space.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "tests/analysis/plan/search_spaces.h"
#include "tests/test.h"

static const char small_text[] = "model: {layers: 4, hidden: 1024, heads: 8, vocabulary: 32000}\n"
                                 "cluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
                                 "training: {sequence: 2048, global_batch: 16}\nsoftware: nemo\n";

static struct search *search_with(const struct configuration *base, uint32_t leaders,
                                  const struct search_diary *diary)
{
    const struct search_question question = {
        .base = base, .leaders = leaders, .threads = 1, .diary = diary};
    struct search *search = NULL;
    struct error error = {""};
    assert_true(search_run(&question, &search, &error));
    return search;
}

/* A diary of a test: what another search found, its plays `slower` times as long. */
struct earlier {
    const struct search_book *found;
    double slower;
};

static bool take(struct search_book *book, const struct search_turn *turn,
                 enum search_finding finding, double slower, struct error *error)
{
    struct search_turn one = *turn;
    if ((turn->known & finding) == 0)
        return true;
    one.known = finding;
    if (finding == SEARCH_PLAYED)
        one.leader.step_s *= slower;
    return search_book_take(book, &one, error);
}

static bool recall(void *context, const struct search_question *question, struct search_book *book,
                   struct error *error)
{
    (void)question;
    const struct earlier *e = context;
    bool good = true;
    for (uint32_t i = 0; e->found != NULL && i < e->found->places; i++)
        for (const struct search_turn *t = e->found->of[i]; t != NULL; t = t->later)
            for (unsigned f = SEARCH_JUDGED; f <= SEARCH_PLAYED; f *= 2)
                good = good && take(book, t, (enum search_finding)f, e->slower, error);
    return good;
}

static void keep(void *context, struct search_book *book)
{
    (void)context;
    (void)book;
}

/* Were each step that was played op by op half as long again, many more layouts might lead. */
static void a_slow_play_lets_others_in(void **state)
{
    struct scenario *scenario = space_read(small_text);
    struct earlier none = {NULL, 1.0};
    const struct search_diary first = {recall, keep, &none};
    struct search *plain = search_with(&scenario->configuration, 1, &first);
    struct earlier slow = {plain->book, 1.5};
    const struct search_diary second = {recall, keep, &slow};
    struct search *s = search_with(&scenario->configuration, 1, &second);
    assert_true(plain->counts.fates[FATE_BOUND] > 0 && s->counts.timed > plain->counts.timed);
    assert_true(s->leaders[0].step_s > plain->leaders[0].step_s);
    for (uint32_t i = 0; i < s->row_count; i++)
        if (s->rows[i].fate == FATE_BOUND)
            assert_true(s->rows[i].least_s > s->leaders[0].step_s);
        else if (s->rows[i].fate == FATE_TIMED && (s->rows[i].turn->known & SEARCH_PLAYED) == 0)
            assert_true(s->rows[i].pass_s > s->leaders[0].step_s);
    search_destroy(s);
    search_destroy(plain);
    scenario_destroy(scenario);
}

/* Who decides does not know which card will be slow, nor how long each kernel takes this time. */
static void noise_is_not_planned_for(void **state)
{
    struct scenario *scenario = space_read(small_text);
    struct configuration noisy = scenario->configuration;
    struct search *calm = search_with(&scenario->configuration, 3, NULL);
    noisy.kernel_jitter_sigma = 0.3;
    struct search *s = search_with(&noisy, 3, NULL);
    assert_int_equal(s->leader_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(plan_layout_same(&s->leaders[i].row->layout, &calm->leaders[i].row->layout, 0));
        assert_true(s->leaders[i].step_s == calm->leaders[i].step_s);
    }
    search_destroy(calm);
    search_destroy(s);
    scenario_destroy(scenario);
}

/* Of two that take the same time the one that holds less beats the other, of two that hold the same
 * the faster one, and of two that are equal in both none does. */
static void equal_times_are_told_apart_by_memory(void **state)
{
    static const double peaks[] = {3e9, 2e9, 2e9, 1e9, 1e9};
    static const double steps[] = {1.0, 1.0, 1.0, 2.0, 3.0};
    struct scenario *scenario = space_read(small_text);
    struct search *s = search_with(&scenario->configuration, 5, NULL);
    assert_int_equal(s->leader_count, 5);
    for (unsigned i = 0; i < 5; i++) {
        s->leaders[i].peak_reserved_bytes = peaks[i];
        s->leaders[i].step_s = steps[i];
    }
    s->pareto_count = 0;
    search_lead_order(s);
    assert_int_equal(s->pareto_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(s->leaders[s->pareto[i]].peak_reserved_bytes < 3e9);
        assert_true(s->leaders[s->pareto[i]].step_s < 3.0);
    }
    search_destroy(s);
    scenario_destroy(scenario);
}

/* By what is kept of its tokens the slowest step may be the best: it then is the one that the
 * others are compared with. */
static void all_are_compared_with_the_first(void **state)
{
    struct scenario *scenario = space_read(small_text);
    struct search *s = search_with(&scenario->configuration, 3, NULL);
    const struct search_row *slowest = s->leaders[2].row;
    double rates[] = {50.0, 40.0, 60.0};
    struct search_weeks weeks[3];
    assert_int_equal(s->leader_count, 3);
    s->question.terms.best = BEST_GOODPUT;
    for (unsigned i = 0; i < 3; i++) {
        weeks[i] = (struct search_weeks){.seeds = 1, .rates = &rates[i], .tokens_per_s = rates[i]};
        s->leaders[i].weeks = &weeks[i];
    }
    search_lead_order(s);
    assert_ptr_equal(s->leaders[0].row, slowest);
    assert_true(s->leaders[0].as_fast_probability == 1.0);
    for (unsigned i = 1; i < 3; i++) {
        const double slower = log(60.0 / s->leaders[i].weeks->tokens_per_s);
        const double spread = s->own.pair_log_spread;
        const double by_hand = 0.5 * erfc(slower / spread / sqrt(2.0));
        assert_true(fabs(s->leaders[i].as_fast_probability - by_hand) < 1e-12);
    }
    search_destroy(s);
    scenario_destroy(scenario);
}

/* Tokens of two and a half steps take three, no less and no more: a step is not left half done. */
static void a_deadline_counts_whole_steps(void **state)
{
    struct scenario *scenario = space_read(small_text);
    struct configuration c = scenario->configuration;
    c.training.tokens = 2.0 * 16.0 * 2048.0;
    assert_int_equal(configuration_steps(&c), 2);
    c.training.tokens += 1.0;
    assert_int_equal(configuration_steps(&c), 3);
    c.training.tokens = 2.5 * 16.0 * 2048.0;
    c.gpu.price_per_hour_usd = 3600.0; /* eight cards: 8 USD a second */
    const struct search_terms enough = {.deadline_s = 12.0 * (1.0 + 1e-12)};
    const struct search_terms short_of = {.deadline_s = 12.0 * (1.0 - 1e-9)};
    assert_int_equal(search_terms_missed(&enough, &c, 4.0), FATE_OPEN);
    assert_int_equal(search_terms_missed(&short_of, &c, 4.0), FATE_DEADLINE);
    const struct search_terms rich = {.budget_usd = 96.0 * (1.0 + 1e-12)};
    const struct search_terms poor = {.budget_usd = 96.0 * (1.0 - 1e-9)};
    assert_int_equal(search_terms_missed(&rich, &c, 4.0), FATE_OPEN);
    assert_int_equal(search_terms_missed(&poor, &c, 4.0), FATE_BUDGET);
    scenario_destroy(scenario);
}

/* A finding belongs to the layout that it names, whose recomputation alone may have changed. */
static void a_book_knows_its_rows(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *scenario = space_read(space_texts[5]);
    struct plan_layout *layouts = NULL;
    const uint32_t places = plan_space(arena, &scenario->configuration, 0, &layouts);
    struct search_book *book = search_book_create(arena, &scenario->configuration, places);
    struct error error;
    search_book_row(book, 0, &layouts[0]);
    const struct search_turn good = {
        .known = SEARCH_JUDGED,
        .row = {.layout = layouts[0], .fate = FATE_MEMORY, .least_bytes = 1e12}};
    struct search_turn bad[12];
    for (unsigned i = 0; i < 12; i++)
        bad[i] = good;
    bad[0].row.layout.tp++;
    bad[1].row.layout.pp++;
    bad[2].row.layout.cp++;
    bad[3].row.layout.dp++;
    bad[4].row.layout.vpp++;
    bad[5].row.layout.microbatch++;
    bad[6].row.layout.ep++;
    bad[7].row.layout.etp++;
    bad[8].row.layout.sequence_parallel = !good.row.layout.sequence_parallel;
    bad[9].row.layout.ends_count = !good.row.layout.ends_count;
    bad[10].row.layout.schedule = schedule_find("zb-h1");
    bad[11].row.layout.sharding = sharding_find("zero-3");
    for (unsigned i = 0; i < 12; i++)
        assert_false(search_book_take(book, &bad[i], &error));
    struct search_turn more = good;
    more.row.layout.recompute = RECOMPUTE_FULL;
    assert_true(search_book_take(book, &more, &error));
    scenario_destroy(scenario);
    arena_destroy(arena);
}

/* A layout is considered once, and once more for each recomputation with which it did not fit. */
static void each_try_counts(void **state)
{
    struct scenario *scenario = space_read(space_texts[4]);
    struct search *s = search_with(&scenario->configuration, 1, NULL);
    uint64_t considered = s->row_count;
    for (uint32_t i = 0; i < s->row_count; i++)
        considered += s->rows[i].tried;
    assert_true(considered > s->row_count);
    assert_true(s->counts.considered == considered);
    search_destroy(s);
    scenario_destroy(scenario);
}

static bool was_measured(const struct search *s, const struct search_row *row)
{
    struct configuration c;
    plan_layout_apply(s->base, &row->layout, &c);
    return model_error_of(&residues_shipped, &c, NULL).nearness <= NEAR_LAYOUT;
}

/* No step of Megatron-LM with sharded weights or split sequences was measured on H100: where such a
 * one is the fastest, the fastest of those that were measured is told beside it. */
static void the_fastest_measured_is_told(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *scenario =
        space_read("model: {layers: 4, hidden: 1024, heads: 4, vocabulary: 32000}\n"
                   "cluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
                   "training: {sequence: 16384, global_batch: 1}\nsoftware: megatron\n");
    struct search *s = search_with(&scenario->configuration, 1, NULL);
    struct space_played *all;
    double best_s = INFINITY;
    const size_t count = space_play(arena, s->base, 0, s->base->gpu.hbm.usable_bytes, &all);
    for (size_t i = 0; i < count; i++)
        if (was_measured(s, &all[i].row))
            best_s = fmin(best_s, all[i].leader.step_s);
    assert_true(!was_measured(s, s->leaders[0].row) && s->has_safe);
    assert_true(was_measured(s, s->safe.row) && s->safe.step_s == best_s);
    assert_true(s->safe.nearness <= NEAR_LAYOUT && s->safe.as_fast_probability < 0.5);
    search_destroy(s);
    scenario_destroy(scenario);
    arena_destroy(arena);
}

static struct search *search_batch(struct configuration *base, uint64_t batch, unsigned held)
{
    const struct search_question question = {
        .base = base, .leaders = 1, .threads = 1, .held = held};
    struct search *search = NULL;
    struct error error = {""};
    base->training.global_batch = batch;
    assert_true(search_run(&question, &search, &error));
    return search;
}

/* 53 sequences on 8 cards leave one replica; 48 are shared by many. With tp 8 there is one replica
 * of either: more layouts, and no tokens more. */
static void another_batch_is_told_where_it_brings_more(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *scenario =
        space_read("model: {layers: 4, hidden: 4096, heads: 8, vocabulary: 32000}\n"
                   "cluster: {gpu: h100-80gb-sxm, gpus: 8}\nsoftware: megatron\n"
                   "training: {sequence: 4096, global_batch: 53}\nlayout: {tp: 8}\n");
    struct configuration base = scenario->configuration;
    for (unsigned tp_held = 0; tp_held < 2; tp_held++) {
        struct search_batch near;
        struct search *s = search_batch(&base, 53, tp_held << PLAN_TP);
        search_batch_near(arena, s, &near);
        assert_true(near.known == !tp_held && near.batch == 48);
        assert_true(near.layouts > 2 * near.own_layouts);
        struct search *other = search_batch(&base, 48, tp_held << PLAN_TP);
        const double more = other->leaders[0].tokens_per_s / s->leaders[0].tokens_per_s;
        assert_true(near.faster_ratio == more && (more > 1.01) == near.known);
        search_destroy(other);
        search_destroy(s);
    }
    scenario_destroy(scenario);
    arena_destroy(arena);
}

/* With microbatches of one sequence 48 on 8 cards can be shared by eight replicas, 52 by no more
 * than four: a few more layouts, not worth a search. */
static void a_few_more_layouts_are_not_searched(void **state)
{
    struct arena *arena = arena_create();
    struct scenario *scenario =
        space_read("model: {layers: 4, hidden: 4096, heads: 8, vocabulary: 32000}\n"
                   "cluster: {gpu: h100-80gb-sxm, gpus: 8}\nsoftware: megatron\n"
                   "training: {sequence: 4096, global_batch: 52}\n");
    struct configuration base = scenario->configuration;
    struct search_batch near;
    struct search *s = search_batch(&base, 52, 1u << PLAN_MICROBATCH);
    search_batch_near(arena, s, &near);
    assert_true(near.layouts > near.own_layouts);
    assert_true((double)near.layouts < 1.25 * (double)near.own_layouts);
    assert_true(!near.known && near.faster_ratio == 0.0);
    search_destroy(s);
    scenario_destroy(scenario);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_play_lets_others_in),
        cmocka_unit_test(noise_is_not_planned_for),
        cmocka_unit_test(equal_times_are_told_apart_by_memory),
        cmocka_unit_test(all_are_compared_with_the_first),
        cmocka_unit_test(a_deadline_counts_whole_steps),
        cmocka_unit_test(a_book_knows_its_rows),
        cmocka_unit_test(each_try_counts),
        cmocka_unit_test(the_fastest_measured_is_told),
        cmocka_unit_test(another_batch_is_told_where_it_brings_more),
        cmocka_unit_test(a_few_more_layouts_are_not_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
