/* Who runs out of memory first, against every stage's own ledger; and the rule of thumb by hand. */
#include <math.h>

#include "models/plan/rule_of_thumb.h"
#include "models/step/simulate/step.h"
#include "sim/units.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

/* Is `a` a failure before `b`: in an earlier step, or in the same at an earlier op? */
static bool before(const struct ledger_failure *a, const struct ledger_failure *b)
{
    return a->step < b->step || (a->step == b->step && a->entry.op < b->entry.op);
}

struct tally {
    unsigned fitting, setup, first_step, later, changed_stage;
    unsigned changed_by_time;
    unsigned apart; /* the lower number fails in the same step, at a later op */
};

/* Among the stages that fail none is before the named one, and none as early has a lower number. */
static void check_first(const struct step *s, struct tally *tally)
{
    double allocated = 0.0, reserved = 0.0;
    unsigned failing = 0;
    for (uint32_t p = 0; p < s->memory_count; p++) {
        const struct ledger_result *r = &s->memory[p].ledger;
        allocated = fmax(allocated, r->peak_allocated_bytes);
        reserved = fmax(reserved, r->peak_reserved_bytes);
        failing += r->failure.failed;
        assert_int_equal(s->memory[p].program, p);
        assert_int_equal(s->memory[p].stage, p);
        assert_int_equal(s->memory[p].rank_count, s->counts.ranks / s->memory_count);
        assert_int_equal(s->lowered.program_of_rank[s->memory[p].representative], p);
        for (uint32_t rank = 0; rank < s->memory[p].representative; rank++)
            assert_int_not_equal(s->lowered.program_of_rank[rank], p);
    }
    assert_true(s->peak.allocated_bytes == allocated && s->peak.reserved_bytes == reserved);
    assert_int_equal(s->fits, failing == 0);
    tally->fitting += s->fits;
    if (s->fits) {
        assert_int_equal(s->failed.program, UINT32_MAX);
        return;
    }
    const struct ledger_failure *first = &s->memory[s->failed.program].ledger.failure;
    assert_true(first->failed);
    for (uint32_t p = 0; p < s->memory_count; p++) {
        const struct ledger_failure *f = &s->memory[p].ledger.failure;
        if (f->failed && p != s->failed.program) {
            assert_false(before(f, first));
            assert_true(before(first, f) || p > s->failed.program);
            tally->apart += p < s->failed.program && f->step == first->step;
        }
    }
    tally->setup += first->step == 0;
    tally->first_step += first->step == 1;
    tally->later += first->step == 2;
    tally->changed_stage += s->failed.program > 0;
}

/* When the first rank of a program that ends in this step is to run out, INFINITY: none is. */
static double first_end_s(const struct step *s, uint32_t program, uint32_t step)
{
    const struct ledger_failure *f = &s->memory[program].ledger.failure;
    double first_s = INFINITY;
    for (uint32_t rank = 0; rank < s->symmetry.rank_count; rank++) {
        const uint32_t class_index = s->symmetry.class_of_rank[rank];
        if (s->lowered.program_of_rank[rank] == program && f->failed && f->step == step &&
            f->entry.op > 0)
            first_s = fmin(first_s, worker_times(s->worker, class_index, f->entry.op - 1).post_s);
    }
    return first_s;
}

/* Of a step that is played, who ends it is a matter of time: a later stage may get to the op at
 * which it runs out after an earlier stage has got to one further down its own program. */
static void check_time(const struct configuration *c, const struct step *judged,
                       struct tally *tally)
{
    const struct ledger_failure *f = &judged->memory[judged->failed.program].ledger.failure;
    const struct step_options whole = {0};
    struct step *played;
    struct error error;
    if (f->step == 0)
        return;
    assert_true(step_run(c, &whole, &played, &error));
    for (uint32_t p = 0; p < played->memory_count; p++)
        assert_true(first_end_s(played, p, f->step) >= played->failed.at_s);
    assert_true(first_end_s(played, played->failed.program, f->step) == played->failed.at_s);
    tally->changed_by_time += played->failed.program != judged->failed.program;
    step_destroy(played);
}

static void sweep(const struct configuration *base, struct tally *tally)
{
    struct step_options options = {.memory_only = true};
    struct configuration c = *base;
    for (unsigned percent = 1; percent <= 100; percent++) {
        struct step *s = NULL;
        struct error error;
        c.gpu.hbm.usable_bytes = base->gpu.hbm.usable_bytes * percent / 100.0;
        assert_true(step_run(&c, &options, &s, &error));
        check_first(s, tally);
        if (!s->fits)
            check_time(&c, s, tally);
        step_destroy(s);
    }
}

static void test_the_first_to_fail_is_named(void **state)
{
    struct tally tally = {0};
    struct configuration c = lower_case();
    lower_case_size(&c, 1, 1, 2, 2, 4);
    c.cluster.nodes = 1;
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.fabric.kind = &topology_rail;
    c.cluster.fabric.options = (struct kind_options){{32, 1}};
    c.gpu.hbm.usable_bytes = 1600 * MIB;
    c.gpu.hbm.context_bytes = 10 * MIB;
    c.model.hidden = 1024;
    c.model.ffn_hidden = 4096;
    c.model.attention.head_size = 128;
    c.model.vocabulary = 8192;
    c.software.memory.build = BUILD_FIRST_STEP;
    for (uint64_t first = 1; first <= 3; first++) {
        c.layout.pipeline.first_layers = first;
        sweep(&c, &tally);
    }
    c.layout.pipeline.first_layers = 0;
    c.software.memory.build = BUILD_EAGER;
    sweep(&c, &tally);
    c.model.vocabulary = 32768; /* the loss, early on a last stage of one layer */
    c.layout.pipeline.first_layers = 3;
    c.layout.microbatch = 4;
    lower_case_size(&c, 1, 1, 2, 2, 4);
    c.gpu.hbm.usable_bytes = 3200 * MIB;
    sweep(&c, &tally);
    c.layout.pipeline.first_layers = 0;
    c.model.vocabulary = 8192;
    c.layout.microbatch = 4;
    lower_case_size(&c, 1, 1, 1, 4, 8);
    sweep(&c, &tally);
    assert_true(tally.fitting > 0 && tally.setup > 0 && tally.first_step > 0 && tally.later > 0);
    assert_true(tally.changed_stage > 0 && tally.apart > 0 && tally.changed_by_time > 0);
}

/* 7e9 parameters in bf16 with fp32 masters and two fp32 moments: 2 + 2 + 4 + 4 + 4 bytes; saved 12
 * elements of 2 bytes for each layer, token and hidden unit; on cards of 80e9 bytes. */
static void test_rule_of_thumb_by_hand(void **state)
{
    struct configuration c = lower_case();
    struct rule_of_thumb rule;
    c.gpu.hbm.nominal_bytes = 80e9;
    c.model.nominal_parameters = 7e9;
    c.model.layers = 32;
    c.model.hidden = 4096;
    c.training.sequence = 2048;
    c.layout.microbatch = 3;
    rule_of_thumb(&c, &rule);
    double saved = 12.0 * 32 * 3 * 2048 * 4096 * 2;
    assert_true(rule.parameters == 7e9 && rule.bytes_per_parameter == 16.0);
    assert_true(rule.static_bytes == 112e9 && rule.inference_bytes == 14e9);
    assert_true(rule.activation_bytes == saved && rule.total_bytes == 112e9 + saved);
    assert_int_equal(rule.static_cards, 2);
    assert_int_equal(rule.cards, 2); /* 112 + 19.3 GB */
    assert_int_equal(rule.inference_cards, 1);
    c.model.nominal_parameters = 10e9; /* 160e9 bytes: two cards to the byte */
    rule_of_thumb(&c, &rule);
    assert_int_equal(rule.static_cards, 2);
    assert_int_equal(rule.cards, 3);
    c.model.nominal_parameters = 10.1e9;
    rule_of_thumb(&c, &rule);
    assert_int_equal(rule.static_cards, 3);
    c.model.nominal_parameters = 0.0; /* then those that the model has */
    rule_of_thumb(&c, &rule);
    assert_true(rule.parameters == transformer_parameters(&c.model, 2048));
    c.training.precision = precision_find("fp8");
    rule_of_thumb(&c, &rule);
    double element = c.training.precision->activation_bytes;
    assert_true(rule.activation_bytes == 17.0 * 32 * 3 * 2048 * 4096 * element);
    c.training.precision = precision_find("fp32"); /* no masters: 4 + 4 + 4 + 4 */
    rule_of_thumb(&c, &rule);
    assert_true(rule.bytes_per_parameter == 16.0);
    assert_true(rule.activation_bytes == 12.0 * 32 * 3 * 2048 * 4096 * 4);
}

/* Cards of the data sheet's bytes; of a card without them what its driver reports. */
static void test_nominal_cards(void **state)
{
    static const struct {
        double nominal_bytes, hbm_bytes, card_bytes;
    } rows[] = {{80e9, 80 * GIB, 80e9},
                {288e9, 275040 * MIB, 288e9},
                {0.0, 79.4 * GIB, 79.4 * GIB},
                {0.0, MIB, MIB}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct configuration c = lower_case();
        struct rule_of_thumb rule;
        c.gpu.hbm.nominal_bytes = rows[i].nominal_bytes;
        c.gpu.hbm.bytes = rows[i].hbm_bytes;
        c.model.nominal_parameters = rows[i].card_bytes * 5 / 2; /* two bytes each: 5 cards */
        rule_of_thumb(&c, &rule);
        assert_true(rule.card_bytes == rows[i].card_bytes);
        assert_int_equal(rule.inference_cards, 5);
        assert_int_equal(rule.static_cards, 40);
    }
    struct configuration c = lower_case();
    struct rule_of_thumb rule;
    c.gpu.hbm.bytes = MIB;
    c.model.nominal_parameters = 1e30;
    rule_of_thumb(&c, &rule);
    assert_true(rule.cards == UINT64_C(1) << 53);
}

/* Who asks for less gets the same answers to what was asked, whether it fits or not. */
static void test_less_asked_is_the_same_answer(void **state)
{
    unsigned failing = 0;
    struct configuration c = lower_case();
    lower_case_size(&c, 2, 1, 2, 2, 4);
    c.cluster.nodes = 1;
    c.cluster.node.gpus = 8;
    c.cluster.node.kind = &topology_nvlink_island;
    c.cluster.fabric.kind = &topology_rail;
    c.cluster.fabric.options = (struct kind_options){{32, 1}};
    c.model.vocabulary = 32768;
    c.gpu.hbm.usable_bytes = 1600 * MIB;
    const double usable_bytes = c.gpu.hbm.usable_bytes;
    for (unsigned part = 1; part <= 64; part *= 2) {
        struct step *whole, *timed, *fitting;
        struct error error;
        c.gpu.hbm.usable_bytes = usable_bytes / part;
        assert_true(step_run(&c, &(struct step_options){.ignore_memory = true}, &whole, &error));
        assert_true(step_run(&c, &(struct step_options){.time_only = true}, &timed, &error));
        assert_true(step_run(&c, &(struct step_options){.fits_only = true}, &fitting, &error));
        assert_true(timed->step_s > 0.0 && timed->step_s == whole->step_s);
        assert_true(timed->digest == whole->digest && timed->counts.ops == whole->counts.ops);
        for (uint32_t p = 0; p < timed->lowered.program_count; p++) {
            const struct program *program = timed->lowered.programs[p];
            assert_int_equal(program->ledger_count + program->setup_count, 0);
            assert_true(timed->memory[p].rank_count == whole->memory[p].rank_count);
        }
        assert_int_equal(fitting->fits, whole->fits);
        assert_true(fitting->step_s == 0.0 && fitting->worker == NULL);
        failing += !whole->fits;
        step_destroy(whole);
        step_destroy(timed);
        step_destroy(fitting);
    }
    assert_in_range(failing, 1, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_to_fail_is_named),
        cmocka_unit_test(test_less_asked_is_the_same_answer),
        cmocka_unit_test(test_rule_of_thumb_by_hand),
        cmocka_unit_test(test_nominal_cards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
