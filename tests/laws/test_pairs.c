/* Laws of passes that run in pairs (dualpipe, dualpipe-v) with experts: exchanges hide behind the
 * products of the other pass, nothing is lost or done twice, folded is unfolded, pass detail is op
 * detail, and a part that is held twice is updated once. */
#include <math.h>
#include <string.h>

#include "models/collective/collective_kind.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/estimate/pass.h"
#include "models/step/simulate/step.h"
#include "tests/laws/law_case.h"
#include "tests/test.h"

enum {
    RANK_MAX = 16
};

/* `layers` of each part, of experts, on p stages and dp = ep = 4 or 2 ranks. */
static bool paired(struct law_setup *s, const struct schedule_kind *kind, uint64_t stages,
                   uint64_t microbatches, uint64_t layers)
{
    struct law_case k = {.level = {[LAW_GPUS] = 2,
                                   [LAW_PP] = stages == 4 ? 2 : 1,
                                   [LAW_DP] = stages == 4 ? 1 : 2,
                                   [LAW_SCHEDULE] = 1}};
    if (!law_configure(&k, RANK_MAX, s))
        return false;
    struct configuration *c = &s->c;
    const uint64_t parts = kind == &schedule_dualpipe ? stages : 2 * stages;
    c->model.moe.experts = 8;
    c->model.moe.experts_per_token = 2;
    c->model.moe.ffn_hidden = 32;
    c->model.layers = layers * parts;
    c->layout.ep = c->layout.dp;
    c->layout.pipeline.schedule = kind;
    c->layout.pipeline.vpp = kind->chunks > 0 ? kind->chunks : 1;
    c->training.global_batch = c->layout.dp * c->layout.microbatch * microbatches;
    return configuration_legal(c);
}

static struct step *play(const struct configuration *c, bool unfold)
{
    const struct step_options how = {.unfold = unfold, .threads = 1, .ignore_memory = true};
    struct step *step;
    struct error error = {""};
    assert_true(step_run(c, &how, &step, &error));
    return step;
}

struct counts {
    double exchanged, computed_s;
    unsigned exchanges;
};

static struct counts count(const struct program *p)
{
    struct counts out = {0};
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        if (op->stream == STREAM_EP) {
            out.exchanges++;
            out.exchanged += p->transfers[op->cost].bytes;
        } else if (op->kind == OP_COMPUTE && op->phase <= PHASE_RECOMPUTE) {
            out.computed_s += p->costs[op->cost].gpu_s;
        }
    }
    return out;
}

/* The same model and batch where passes run one after the other: zb-v has the same parts on the
 * same ranks as dualpipe-v, and does the same work. */
static void work_is_that_of_single_passes(void **state)
{
    for (uint64_t stages = 2; stages <= 4; stages *= 2) {
        struct law_setup pairs, singles;
        assert_true(paired(&pairs, &schedule_dualpipe_v, stages, 4 * stages, 2));
        assert_true(paired(&singles, &schedule_zb_v, stages, 4 * stages, 2));
        struct step *a = play(&pairs.c, false), *b = play(&singles.c, false);
        for (uint32_t i = 0; i < stages; i++) {
            const struct counts x = count(a->lowered.programs[i]),
                                y = count(b->lowered.programs[i]);
            assert_true(x.exchanges == y.exchanges && x.exchanges == 4 * 2 * 2 * 4 * stages);
            assert_true(x.exchanged == y.exchanged);
            assert_true(fabs(x.computed_s / y.computed_s - 1.0) < 1e-9);
        }
        step_destroy(a);
        step_destroy(b);
    }
}

/* Eight ranks of one node, two stages: the ranks of both are in the middle, and of m microbatches
 * three forwards and three backwards of a rank run by themselves. Products that last longer than
 * an exchange leave the exchanges of these alone to be seen. */
static void pairs_hide_exchanges(void **state)
{
    struct law_setup s;
    assert_true(paired(&s, &schedule_dualpipe, 2, 16, 3));
    struct configuration *c = &s.c;
    c->gpu.peak_flops_per_s[PEAK_BF16] /= 4096.0; /* products take their time, messages little */
    struct step *step = play(c, false);
    uint32_t gpus[4] = {0, 1, 2, 3};
    struct group_shape shape;
    collective_shape(&step->topology, gpus, 4, c->software.pxn, &shape);
    const double row = 2.0 * (double)c->model.hidden, rows = (double)c->training.sequence * 2.0;
    struct collective_plan there, back;
    collective_tune(COMM_ALL_TO_ALL, &shape, rows * (row + 4.0), &there);
    collective_tune(COMM_ALL_TO_ALL, &shape, rows * row, &back);
    const double layers = 3.0, each = layers * (there.time_s + back.time_s);
    const double seen = step->parts.breakdown_s[PART_EXPOSED_EP] / each;
    print_message("%.3f passes are seen, of 32\n", seen);
    assert_true(fabs(seen - 6.0) < 0.06);
    step_destroy(step);
}

/* Whatever is slow or shared: the same step, rank by rank. */
static void pairs_fold(void **state)
{
    const struct schedule_kind *kinds[] = {&schedule_dualpipe, &schedule_dualpipe_v};
    for (unsigned i = 0; i < 2 * 2 * 2; i++) {
        struct law_setup s;
        assert_true(paired(&s, kinds[i % 2], i / 2 % 2 ? 4 : 2, 16, 2));
        if (i / 4 == 1)
            s.c.layout.data.sharding = &sharding_zero_1;
        s.perturbations[0] =
            (struct perturbation){.what = PERTURB_GPU_SPEED, .gpu = 5, .ratio = 0.7};
        s.c.perturbations = s.perturbations;
        s.c.perturbation_count = i % 3 == 0;
        struct step *a = play(&s.c, false), *b = play(&s.c, true);
        if (a->digest != b->digest || a->step_s != b->step_s)
            fail_msg("case %u: %.17g s folded, %.17g s not", i, a->step_s, b->step_s);
        step_destroy(a);
        step_destroy(b);
    }
}

/* dualpipe holds each part on two ranks, which share its state: all moments of all ranks are those
 * of one copy of the model, whatever ranks its experts have. */
static void state_is_kept_once(void **state)
{
    for (uint64_t stages = 2; stages <= 4; stages *= 2) {
        struct law_setup s;
        assert_true(paired(&s, &schedule_dualpipe, stages, 16, 2));
        s.c.layout.data.sharding = &sharding_zero_1;
        assert_true(configuration_legal(&s.c));
        struct step *step = play(&s.c, false);
        const double parameters = transformer_parameters(&s.c.model, s.c.training.sequence);
        const double ranks = (double)(step->lowered.rank_count / step->lowered.program_count);
        double moments = 0.0;
        for (uint32_t p = 0; p < step->lowered.program_count; p++)
            for (uint32_t i = 0; i < step->lowered.programs[p]->setup_count; i++)
                if (step->lowered.programs[p]->setup[i].tenant == TENANT_MOMENTS)
                    moments += ranks * step->lowered.programs[p]->setup[i].bytes;
        if (!(fabs(moments / (8.0 * parameters) - 1.0) <= 1e-3))
            fail_msg("%.0f bytes of moments for %.0f parameters", moments, parameters);
        step_destroy(step);
    }
}

static double pass_s(const struct configuration *c)
{
    struct arena *arena = arena_create();
    struct topology topology;
    struct error error;
    struct pass_played played;
    assert_true(topology_build(arena, &c->cluster, &topology, &error));
    struct pass_memory *memory = pass_memory_create();
    struct pass_split *split = pass_split_create(c, &topology);
    pass_step(memory, split, c, &played);
    pass_split_destroy(split);
    pass_memory_destroy(memory);
    arena_destroy(arena);
    return played.step_s;
}

/* Every schedule that splits its backward, dense and with experts, at pass detail. On the wires
 * that exchanges and messages share they may be apart by what those lose. */
static void pass_detail_is_op_detail(void **state)
{
    unsigned seen = 0;
    for (unsigned k = 0; k < schedule_kind_count; k++) {
        for (unsigned i = 0; i < 4 && schedule_kinds[k]->splits; i++) {
            struct law_setup s;
            const uint64_t stages = i / 2 == 0 ? 2 : 4;
            if (!paired(&s, schedule_kinds[k], stages, 16, 2))
                continue;
            if (i % 2 == 0) {
                s.c.model.moe.experts = s.c.model.moe.experts_per_token = s.c.model.moe.ffn_hidden =
                    0;
                s.c.layout.ep = 1;
            }
            assert_true(configuration_legal(&s.c));
            struct step *step = play(&s.c, false);
            const double lost = network_contention(step->network).lost_s / step->step_s;
            const double off = fabs(pass_s(&s.c) / step->step_s - 1.0);
            if (off > 3.5 * lost + (lost > 1e-9 ? 0.02 : 1e-9))
                fail_msg("%s, case %u: %g off, %g lost", schedule_kinds[k]->head.name, i, off,
                         lost);
            seen++;
            step_destroy(step);
        }
    }
    print_message("%u steps\n", seen);
    assert_true(seen >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_that_of_single_passes),
        cmocka_unit_test(pairs_hide_exchanges),
        cmocka_unit_test(pairs_fold),
        cmocka_unit_test(state_is_kept_once),
        cmocka_unit_test(pass_detail_is_op_detail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
