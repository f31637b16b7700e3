/* Laws of context ranks that exchange heads (Ulysses): each sends (1 - 1/c) of its part of queries,
 * keys, values and output; it computes what it would of gathered keys; alone on its wires the
 * exposed time is the collectives'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "models/collective/collective_kind.h"
#include "models/step/step.h"
#include "tests/laws/law_case.h"

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
    s->c.model.heads = 8;
    s->c.model.kv_heads = RANKS;
    s->c.model.hidden = s->c.model.heads * s->c.model.head_size;
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
    (void)state;
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
    const double heads_of = (double)(2 * c.model.heads + 2 * c.model.kv_heads);
    const double size = (double)c.model.head_size * 2.0; /* bytes in 16 bit */
    assert_true(fabs(sent / (passes * (1.0 - 1.0 / RANKS) * tokens * heads_of * size) - 1.0) <
                1e-12);
    step_destroy(step);
}

static void work_is_that_of_gathered_keys(void **state)
{
    (void)state;
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
    (void)state;
    struct law_setup s;
    struct configuration c = heads(&s, CP_ALL_TO_ALL);
    struct step *step = play(&c);
    uint32_t gpus[RANKS] = {0, 1, 2, 3};
    struct group_shape shape;
    collective_shape(&step->topology, gpus, RANKS, c.software.pxn, &shape);
    const double row = (double)c.training.sequence / RANKS * (double)c.model.head_size * 2.0;
    struct collective_plan there, back;
    collective_tune(COMM_ALL_TO_ALL, &shape, row * (double)(c.model.heads + 2 * c.model.kv_heads),
                    &there);
    collective_tune(COMM_ALL_TO_ALL, &shape, row * (double)c.model.heads, &back);
    const double passes = 2.0 * (double)c.model.layers * (double)configuration_microbatches(&c);
    const double expected = passes * (there.time_s + back.time_s);
    const double exposed = step->breakdown_s[PART_EXPOSED_CP];
    if (fabs(exposed / expected - 1.0) > 1e-9)
        fail_msg("%.9g s exposed, %.9g s of collectives", exposed, expected);
    step_destroy(step);
}

/* Whole heads for each rank, or it is refused with what to take instead. */
static void heads_must_divide(void **state)
{
    (void)state;
    struct law_setup s;
    struct configuration c = heads(&s, CP_ALL_TO_ALL);
    c.model.kv_heads = 2;
    assert_false(configuration_legal(&c));
    c.layout.cp_method = CP_RING;
    assert_true(configuration_legal(&c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_those_of_the_paper),
        cmocka_unit_test(work_is_that_of_gathered_keys),
        cmocka_unit_test(exposed_time_is_the_collectives),
        cmocka_unit_test(heads_must_divide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
