/* Laws of context ranks that exchange heads (Ulysses): each sends (1 - 1/c) of its part of queries,
 * keys, values and output; it computes what it would of gathered keys; alone on its wires the
 * exposed time is the collectives'. */
#include <math.h>
#include <string.h>

#include "models/collective/collective_kind.h"
#include "models/step/simulate/step.h"
#include "tests/laws/law_case.h"
#include "tests/test.h"

enum {
    RANK_MAX = 16,
    RANKS = 4
};

/* dp 2 x cp 4 on a node of eight, 8 heads of which 4 have keys of their own. */
static struct configuration heads(struct law_setup *s, int method)
{
    struct law_case k = {.level = {[LAW_GPUS] = 2,
                                   [LAW_DP] = 1,
                                   [LAW_CP] = 2,
                                   [LAW_CP_METHOD] = (uint8_t)method,
                                   [LAW_SCHEDULE] = 1}};
    assert_true(law_configure(&k, RANK_MAX, s));
    s->c.model.attention.heads = 8;
    s->c.model.attention.kv_heads = RANKS;
    s->c.model.hidden = s->c.model.attention.heads * s->c.model.attention.head_size;
    assert_true(configuration_legal(&s->c));
    return s->c;
}

static struct step *play(const struct configuration *c)
{
    const struct step_options how = {.threads = 1, .ignore_memory = true};
    struct step *step;
    struct error error = {""};
    assert_true(step_run(c, &how, &step, &error));
    return step;
}

static double attention_flops(const struct program *p)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].kind == OP_COMPUTE)
            sum += p->costs[p->ops[i].cost].flops;
    return sum;
}

static void bytes_are_those_of_the_paper(void **state)
{
    struct law_setup s;
    const struct configuration c = heads(&s, CP_ALL_TO_ALL);
    struct step *step = play(&c);
    const struct program *p = step->lowered.programs[0];
    double sent = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].stream == STREAM_CP) {
            assert_int_equal(p->transfers[p->ops[i].cost].op, COMM_ALL_TO_ALL);
            sent += p->transfers[p->ops[i].cost].bytes * (1.0 - 1.0 / RANKS);
        }
    const double tokens = (double)c.training.sequence / RANKS;
    const double passes =
        2.0 * (double)c.model.layers * (double)configuration_microbatches(&c); /* and back */
    const double heads_of = (double)(2 * c.model.attention.heads + 2 * c.model.attention.kv_heads);
    const double size = (double)c.model.attention.head_size * 2.0; /* bytes in 16 bit */
    assert_true(fabs(sent / (passes * (1.0 - 1.0 / RANKS) * tokens * heads_of * size) - 1.0) <
                1e-12);
    step_destroy(step);
}

static void work_is_that_of_gathered_keys(void **state)
{
    struct law_setup s;
    struct configuration c = heads(&s, CP_ALL_TO_ALL);
    struct step *exchanged = play(&c);
    c = heads(&s, CP_ALL_GATHER);
    struct step *gathered = play(&c);
    const double a = attention_flops(exchanged->lowered.programs[0]);
    const double b = attention_flops(gathered->lowered.programs[0]);
    assert_true(a > 0.0 && fabs(a / b - 1.0) < 1e-12);
    step_destroy(exchanged);
    step_destroy(gathered);
}

static void exposed_time_is_the_collectives(void **state)
{
    struct law_setup s;
    struct configuration c = heads(&s, CP_ALL_TO_ALL);
    struct step *step = play(&c);
    uint32_t gpus[RANKS] = {0, 1, 2, 3};
    struct group_shape shape;
    collective_shape(&step->topology, gpus, RANKS, c.software.pxn, &shape);
    const double row =
        (double)c.training.sequence / RANKS * (double)c.model.attention.head_size * 2.0;
    struct collective_plan there, back;
    collective_tune(COMM_ALL_TO_ALL, &shape,
                    row * (double)(c.model.attention.heads + 2 * c.model.attention.kv_heads),
                    &there);
    collective_tune(COMM_ALL_TO_ALL, &shape, row * (double)c.model.attention.heads, &back);
    const double passes = 2.0 * (double)c.model.layers * (double)configuration_microbatches(&c);
    const double expected = passes * (there.time_s + back.time_s);
    const double exposed = step->parts.breakdown_s[PART_EXPOSED_CP];
    if (!(fabs(exposed / expected - 1.0) <= 1e-9))
        fail_msg("%.9g s exposed, %.9g s of collectives", exposed, expected);
    step_destroy(step);
}

/* Heads inside groups of `inner`, keys round between them. */
static struct configuration both(struct law_setup *s, uint64_t inner)
{
    struct configuration c = heads(s, CP_ALL_TO_ALL_RING);
    c.layout.context.inner = inner;
    assert_true(configuration_legal(&c));
    return c;
}

static void ends_are_one_or_the_other(void **state)
{
    for (int end = 0; end < 2; end++) {
        struct law_setup s, t;
        const struct configuration c = both(&s, end == 0 ? RANKS : 1);
        const struct configuration d = heads(&t, end == 0 ? CP_ALL_TO_ALL : CP_RING);
        struct step *a = play(&c), *b = play(&d);
        assert_true(a->digest == b->digest && a->step_s == b->step_s);
        step_destroy(a);
        step_destroy(b);
    }
}

static double sent_on(const struct program *p, enum stream stream, enum comm_op op)
{
    double bytes = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].stream == stream) {
            assert_int_equal(p->transfers[p->ops[i].cost].op, op);
            bytes += p->transfers[p->ops[i].cost].bytes;
        }
    return bytes;
}

/* Of i x o ranks each sends (1 - 1/i) b s/c d (2 a + 2 g) elements a pass for heads, and (o - 1) 2
 * b s/c g d forward round the ring, backward as much and, of gradients, o moves. It does the work
 * of gathered keys. */
static void two_levels_are_closed_forms(void **state)
{
    struct law_setup s, t;
    const struct configuration c = both(&s, 2), d = heads(&t, CP_ALL_GATHER);
    const double inner = 2.0, outer = RANKS / inner;
    struct step *step = play(&c), *gathered = play(&d);
    const struct program *p = step->lowered.programs[0];
    const double each = (double)(c.model.layers * configuration_microbatches(&c));
    const double rows =
        (double)c.training.sequence / RANKS * (double)c.model.attention.head_size * 2.0;
    const double exchanged = sent_on(p, STREAM_CP_HEADS, COMM_ALL_TO_ALL) * (1.0 - 1.0 / inner);
    const double passed = sent_on(p, STREAM_CP, COMM_RING_EXCHANGE) * (1.0 - 1.0 / outer);
    const double all = (double)(2 * c.model.attention.heads + 2 * c.model.attention.kv_heads);
    const double ratio = c.software.context.gradient_bytes / 2.0;
    const double moves = 2.0 * (outer - 1.0) + outer * ratio;
    assert_true(fabs(exchanged / (2.0 * each * (1.0 - 1.0 / inner) * rows * all) - 1.0) < 1e-12);
    assert_true(fabs(passed / (each * moves * 2.0 * rows * (double)c.model.attention.kv_heads) -
                     1.0) < 1e-12);
    assert_true(fabs(attention_flops(p) / attention_flops(gathered->lowered.programs[0]) - 1.0) <
                1e-12);
    step_destroy(step);
    step_destroy(gathered);
}

/* Whole heads are needed before keys go round, and go back when they have been. */
static void keys_go_round_between(void **state)
{
    struct law_setup s;
    const struct configuration c = both(&s, 2);
    struct step *step = play(&c);
    const struct program *p = step->lowered.programs[0];
    static const enum stream order[] = {STREAM_CP_HEADS, STREAM_CP, STREAM_CP_HEADS};
    unsigned seen = 0;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].stream == STREAM_CP || p->ops[i].stream == STREAM_CP_HEADS)
            assert_int_equal(p->ops[i].stream, order[seen++ % 3]);
    assert_int_equal(seen, 3 * 2 * c.model.layers * configuration_microbatches(&c));
    step_destroy(step);
}

/* A sequence so long that the ring hides: what is exposed is the exchange of heads in pairs. */
static void exchanges_of_heads_are_exposed(void **state)
{
    struct law_setup s;
    struct configuration c = both(&s, 2);
    c.training.sequence *= 64;
    struct step *step = play(&c);
    uint32_t gpus[2] = {0, 1};
    struct group_shape shape;
    collective_shape(&step->topology, gpus, 2, c.software.pxn, &shape);
    const double row =
        (double)c.training.sequence / RANKS * (double)c.model.attention.head_size * 2.0;
    struct collective_plan there, back;
    collective_tune(COMM_ALL_TO_ALL, &shape,
                    row * (double)(c.model.attention.heads + 2 * c.model.attention.kv_heads),
                    &there);
    collective_tune(COMM_ALL_TO_ALL, &shape, row * (double)c.model.attention.heads, &back);
    const double passes = 2.0 * (double)c.model.layers * (double)configuration_microbatches(&c);
    const double expected = passes * (there.time_s + back.time_s);
    const double exposed = step->parts.breakdown_s[PART_EXPOSED_CP];
    if (!(fabs(exposed / expected - 1.0) <= 1e-6))
        fail_msg("%.9g s exposed, %.9g s of collectives", exposed, expected);
    step_destroy(step);
}

/* Over nodes of two and of eight, with tensor ranks, slow cards and links. */
static void two_levels_fold(void **state)
{
    unsigned played = 0;
    for (unsigned at = 0; at < 3 * 2 * 2 * 3 * 4 * 2; at++) {
        const struct law_case k = {.level = {[LAW_GPUS] = (uint8_t)(at % 3),
                                             [LAW_TP] = (uint8_t)(at / 3 % 2),
                                             [LAW_DP] = (uint8_t)(at / 6 % 2),
                                             [LAW_CP] = (uint8_t)(at / 12 % 3),
                                             [LAW_CP_METHOD] = CP_ALL_TO_ALL_RING,
                                             [LAW_SEQUENCE_PARALLEL] = (uint8_t)(at / 3 % 2),
                                             [LAW_SCHEDULE] = 1,
                                             [LAW_TROUBLE] = (uint8_t)(at / 36 % 4),
                                             [LAW_FABRIC] = (uint8_t)(at % 4),
                                             [LAW_ORDER] = (uint8_t)(at / 5 % 3)}};
        struct law_setup s;
        if (!law_configure(&k, RANK_MAX, &s))
            continue;
        s.c.layout.context.inner = at / 144 == 0 ? 2 : 0;
        if (!configuration_legal(&s.c))
            continue;
        const struct step_options unfolded = {.unfold = true, .threads = 1, .ignore_memory = true};
        struct step *a = play(&s.c), *b;
        struct error error = {""};
        assert_true(step_run(&s.c, &unfolded, &b, &error));
        if (a->digest != b->digest || a->step_s != b->step_s)
            fail_msg("case %u: %.17g s folded, %.17g s not", at, a->step_s, b->step_s);
        played += configuration_context_ranks(&s.c).heads > 1 &&
                  configuration_context_ranks(&s.c).ring > 1;
        step_destroy(a);
        step_destroy(b);
    }
    print_message("%u layouts of two levels\n", played);
    assert_true(played > 10);
}

static void inner_groups_divide(void **state)
{
    struct law_setup s;
    struct configuration c = both(&s, 0);
    assert_int_equal(configuration_context_ranks(&c).heads, RANKS); /* all on one node */
    c.cluster.node.gpus = 2;
    assert_int_equal(configuration_context_ranks(&c).heads, 2);
    c = both(&s, 0);
    c.model.attention.kv_heads = 2; /* fewer find whole heads */
    assert_int_equal(configuration_context_ranks(&c).heads, 2);
    struct rule_break said[4];
    c.layout.context.inner = 4;
    assert_int_equal(configuration_check(&c, said, 4), 1);
    assert_string_equal(said[0].key, "layout.cp_inner");
    assert_non_null(strstr(said[0].text, "take a smaller cp_inner"));
    c.layout.context.inner = 3;
    assert_int_equal(configuration_check(&c, said, 4), 1);
    assert_non_null(strstr(said[0].text, "not divisible by cp_inner = 3"));
    c.layout.context.inner = 2;
    c.layout.context.method = CP_RING;
    assert_int_equal(configuration_check(&c, said, 4), 1);
    assert_non_null(strstr(said[0].text, "has no inner groups"));
}

/* Whole heads for each rank, or it is refused with what to take instead. */
static void heads_must_divide(void **state)
{
    struct law_setup s;
    struct configuration c = heads(&s, CP_ALL_TO_ALL);
    c.model.attention.kv_heads = 2;
    assert_false(configuration_legal(&c));
    c.layout.context.method = CP_RING;
    assert_true(configuration_legal(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_the_paper),
        cmocka_unit_test(work_is_that_of_gathered_keys),
        cmocka_unit_test(exposed_time_is_the_collectives),
        cmocka_unit_test(ends_are_one_or_the_other),
        cmocka_unit_test(two_levels_are_closed_forms),
        cmocka_unit_test(keys_go_round_between),
        cmocka_unit_test(exchanges_of_heads_are_exposed),
        cmocka_unit_test(two_levels_fold),
        cmocka_unit_test(inner_groups_divide),
        cmocka_unit_test(heads_must_divide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
