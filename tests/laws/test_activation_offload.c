/* Laws of activations on the host: what copies cost in closed form, what is left on the card, that
 * all that went out comes back in time, and that folded is unfolded. */
#include <math.h>

#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"
#include "sim/units.h"
#include "tests/laws/law_case.h"
#include "tests/test.h"

enum {
    RANK_MAX = 16,
    LAYERS = 8
};

/* One rank; kernels are launched in no time, nothing but copies is beside them. */
static void lone(struct law_setup *s, uint64_t layers, uint64_t microbatches, double share)
{
    const struct law_case k = {.level = {[LAW_SCHEDULE] = 1}};
    assert_true(law_configure(&k, RANK_MAX, s));
    struct configuration *c = &s->c;
    c->model.layers = layers;
    c->model.vocabulary = 1u << 20; /* the head lasts longer than copies that are under way */
    c->software.host.launch_s = 0.0;
    c->training.global_batch = microbatches;
    c->layout.offload.activations = share;
    assert_true(configuration_legal(c));
}

static struct step *play(const struct configuration *c, bool unfold)
{
    const struct step_options how = {.unfold = unfold, .threads = 1, .ignore_memory = true};
    struct step *step;
    struct error error = {""};
    if (!step_run(c, &how, &step, &error))
        fail_msg("%s", error.text);
    return step;
}

/* Compute of a layer of the first microbatch in this phase. */
static double layer_s(const struct program *p, uint16_t layer, enum phase phase)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].stream == STREAM_COMPUTE && p->ops[i].layer == layer &&
            p->ops[i].microbatch == 0 && p->ops[i].phase == phase)
            sum += p->costs[p->ops[i].cost].gpu_s;
    return sum;
}

/* What a layer has allocated for its first microbatch when its forward is over. */
static double kept_bytes(const struct program *p, uint16_t layer)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        const struct ledger_entry *e = &p->ledger[i];
        if (e->tenant == TENANT_ACTIVATIONS && e->layer == layer && e->microbatch == 0 &&
            p->ops[e->op - 1].phase == PHASE_FORWARD)
            sum += e->action == LEDGER_ALLOCATE ? e->bytes : -e->bytes;
    }
    return sum;
}

/* Most that layers have allocated at once. */
static double most_bytes(const struct program *p)
{
    double now = 0.0, most = 0.0;
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        const struct ledger_entry *e = &p->ledger[i];
        if (e->tenant == TENANT_ACTIVATIONS && e->layer != UINT16_MAX)
            now += e->action == LEDGER_ALLOCATE ? e->bytes : -e->bytes;
        most = fmax(most, now);
    }
    return most;
}

static double copied_bytes(const struct program *p, enum stream stream)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++)
        if (p->ops[i].stream == stream)
            sum += p->costs[p->ops[i].cost].bytes;
    return sum;
}

static void near(double value, double wanted, double scale)
{
    if (!(fabs(value - wanted) <= 1e-9 * scale))
        fail_msg("%.17g is not %.17g", value, wanted);
}

/* One microbatch through equal layers, all of which leave but the last, whose backward comes at
 * once. Copies out: from the third layer on each waits for the copy two before it, c - f later than
 * it could; back: each that left waits c - b. */
static void copies_hide_under_compute(void **state)
{
    for (double ratio = 0.25; ratio <= 8.0; ratio *= 2.0) {
        struct law_setup s;
        lone(&s, LAYERS, 1, 0.0);
        struct step *without = play(&s.c, false);
        const struct program *p = without->lowered.programs[0];
        const double f = layer_s(p, 1, PHASE_FORWARD), b = layer_s(p, 1, PHASE_BACKWARD);
        const double copy_s = ratio * f, kept = kept_bytes(p, 1);
        assert_true(f > 0.0 && b > f && kept > 0.0);
        assert_true(layer_s(p, LAYERS, PHASE_FORWARD) == 0.0);
        s.c.layout.offload.activations = 1.0;
        s.c.cluster.node.host.dram_bytes_per_s = 0.0;
        s.c.cluster.node.pcie.bytes_per_s = kept / copy_s;
        struct step *with = play(&s.c, false);
        const double exposed =
            (LAYERS - 2) * fmax(0.0, copy_s - f) + (LAYERS - 1) * fmax(0.0, copy_s - b);
        near(with->parts.breakdown_s[PART_OFFLOAD], exposed, with->step_s);
        near(with->step_s, without->step_s + exposed, with->step_s);
        assert_true(without->parts.breakdown_s[PART_OFFLOAD] == 0.0);
        step_destroy(without);
        step_destroy(with);
    }
}

/* Beside those that stay there is the layer that is computed and the one that is copied: nothing
 * more while the stay ones are two and all of them are there. */
static void layers_that_stay_are_left(void **state)
{
    for (unsigned leaving = 0; leaving <= LAYERS; leaving++) {
        struct law_setup s;
        lone(&s, LAYERS, 3, (double)leaving / LAYERS);
        struct step *step = play(&s.c, false);
        const struct program *p = step->lowered.programs[0];
        const unsigned out = leaving < LAYERS ? leaving : LAYERS - 1;
        const double kept = kept_bytes(p, LAYERS - 1);
        near(most_bytes(p), fmax(2.0, LAYERS - out) * kept, kept);
        near(p->host_bytes, out * kept, kept);
        near(copied_bytes(p, STREAM_TO_HOST), 3.0 * out * kept, kept);
        step_destroy(step);
    }
}

/* Rates: the link's, or a rank's share of the memory of the CPUs, or of the drives. */
static void the_slowest_bounds(void **state)
{
    struct law_setup s;
    lone(&s, 2, 1, 0.5);
    struct configuration *c = &s.c;
    struct node_spec *node = &c->cluster.node;
    node->pcie.bytes_per_s = 50 * GIGA;
    node->host.dram_bytes_per_s = 0.0;
    assert_true(configuration_activation_rates(c).out_bytes_per_s == 50 * GIGA);
    node->host.dram_bytes_per_s = 60 * GIGA;
    node->host.dram_ratio = 0.5;
    assert_true(configuration_activation_rates(c).out_bytes_per_s == 30 * GIGA);
    assert_true(configuration_activation_rates(c).back_bytes_per_s == 30 * GIGA);
    node->host.nvme_read_bytes_per_s = 8 * GIGA;
    node->host.nvme_write_bytes_per_s = 4 * GIGA;
    assert_true(configuration_activation_rates(c).out_bytes_per_s == 30 * GIGA);
    c->layout.offload.activations_to = OFFLOAD_NVME;
    assert_true(configuration_activation_rates(c).out_bytes_per_s == 4 * GIGA);
    assert_true(configuration_activation_rates(c).back_bytes_per_s == 8 * GIGA);
    node->host.nvme_read_bytes_per_s = 0.0;
    assert_false(configuration_legal(c));
    c->layout.offload.activations_to = OFFLOAD_CPU;
    assert_true(configuration_legal(c));
    node->pcie.bytes_per_s = 0.0;
    assert_false(configuration_legal(c));
}

/* Stages of some layers, of experts where `experts`, of any schedule and recomputation. */
static bool staged(struct law_setup *s, const struct schedule_kind *kind, uint64_t stages,
                   int recompute, bool experts)
{
    struct law_case k = {.level = {[LAW_GPUS] = 2,
                                   [LAW_PP] = stages == 4 ? 2 : 1,
                                   [LAW_DP] = experts && stages == 2 ? 2 : 1,
                                   [LAW_TP] = experts || stages == 4 ? 0 : 1,
                                   [LAW_SCHEDULE] = 1}};
    if (!law_configure(&k, RANK_MAX, s))
        return false;
    struct configuration *c = &s->c;
    c->layout.pipeline.schedule = kind;
    c->layout.pipeline.vpp = kind->chunks > 0 ? kind->chunks : kind->interleaved ? 2 : 1;
    c->model.layers = 4 * stages * c->layout.pipeline.vpp;
    c->layout.recompute = recompute;
    c->layout.recompute_layers = recompute == RECOMPUTE_UNIFORM ? 2
                                 : recompute == RECOMPUTE_BLOCK ? 3
                                                                : 0;
    c->software.offers.selective_recompute = c->software.offers.block_recompute = true;
    c->training.global_batch = c->layout.dp * c->layout.microbatch * 4 * stages;
    if (experts) {
        c->model.moe.experts = 8;
        c->model.moe.experts_per_token = 2;
        c->model.moe.ffn_hidden = 32;
        c->layout.ep = c->layout.dp;
    }
    c->layout.offload.activations = 0.5;
    return configuration_legal(c);
}

struct seen {
    double out_finish_s, back_finish_s; /* of the copies of a layer and microbatch; 0: none */
    double forward_finish_s, backward_begin_s, out_begin_s, back_begin_s;
};

static void see(struct seen *x, const struct op *op, struct op_times t)
{
    if (op->stream == STREAM_TO_HOST) {
        assert_true(x->out_finish_s == 0.0);
        x->out_begin_s = t.begin_s;
        x->out_finish_s = t.finish_s;
    } else if (op->stream == STREAM_FROM_HOST) {
        assert_true(x->back_finish_s == 0.0);
        x->back_begin_s = t.begin_s;
        x->back_finish_s = t.finish_s;
    } else if (op->stream == STREAM_COMPUTE && op->phase == PHASE_FORWARD) {
        x->forward_finish_s = fmax(x->forward_finish_s, t.finish_s);
    } else if (op->stream == STREAM_COMPUTE && op->phase == PHASE_BACKWARD) {
        x->backward_begin_s = fmin(x->backward_begin_s, t.begin_s);
    }
}

/* Each copy out begins when its layer has been computed, its copy back when it is out, and the
 * backward of the layer when it is back. Returns how many went out. */
static unsigned follow(const struct step *step, uint32_t class_index, uint64_t layers)
{
    const struct program *p = step->lowered.programs[step->symmetry.ranks[class_index].program];
    const uint64_t microbatches = 64;
    struct arena *arena = arena_create();
    struct seen *all = ARENA_ARRAY(arena, struct seen, layers * microbatches);
    unsigned copies = 0;
    for (uint64_t i = 0; i < layers * microbatches; i++)
        all[i].backward_begin_s = INFINITY;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        if (op->layer == UINT16_MAX || op->microbatch == UINT16_MAX)
            continue;
        assert_true(op->layer < layers && op->microbatch < microbatches);
        see(&all[op->layer * microbatches + op->microbatch], op,
            worker_times(step->worker, class_index, i));
    }
    for (uint64_t i = 0; i < layers * microbatches; i++) {
        const struct seen *x = &all[i];
        copies += x->out_finish_s > 0.0;
        assert_true((x->out_finish_s > 0.0) == (x->back_finish_s > 0.0));
        if (x->out_finish_s > 0.0)
            assert_true(x->forward_finish_s <= x->out_begin_s &&
                        x->out_finish_s <= x->back_begin_s &&
                        x->back_finish_s <= x->backward_begin_s);
    }
    arena_destroy(arena);
    return copies;
}

/* Microbatches of a part whose backward comes at once after the forward of its last layers. */
static unsigned copies_of(const struct step *step, uint32_t class_index)
{
    const struct program *p = step->lowered.programs[step->symmetry.ranks[class_index].program];
    unsigned count = 0;
    for (uint32_t i = 0; i < p->op_count; i++)
        count += p->ops[i].stream == STREAM_TO_HOST;
    return count;
}

static void check_stages(struct step *step, const struct configuration *c)
{
    const uint64_t microbatches = configuration_microbatches(c);
    for (uint32_t i = 0; i < step->symmetry.rank_class_count; i++) {
        const struct program *p = step->lowered.programs[step->symmetry.ranks[i].program];
        const uint64_t layers = step->lowered.layers_of_stage[p->stage];
        const bool grouped = c->layout.recompute == RECOMPUTE_UNIFORM; /* of two layers */
        const uint64_t inputs = grouped ? layers / 4 : layers / 2;
        const uint64_t shared = c->layout.pipeline.schedule == &schedule_dualpipe ? 2 : 1;
        const uint64_t copies = copies_of(step, i) * shared, all = 2 * inputs * microbatches;
        assert_int_equal(follow(step, i, c->model.layers), copies_of(step, i));
        if (c->layout.offload.activations < 1.0)
            assert_int_equal(copies, inputs * microbatches);
        else /* but for one of a pass whose backward comes at once */
            assert_true(copies <= all && copies >= all - microbatches * c->layout.pipeline.vpp);
        near(copied_bytes(p, STREAM_TO_HOST), copied_bytes(p, STREAM_FROM_HOST), 1e-3);
    }
}

static void all_comes_back_in_time(void **state)
{
    static const int kinds[] = {RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL,
                                RECOMPUTE_UNIFORM, RECOMPUTE_BLOCK};
    unsigned cases = 0, seen = 0;
    for (uint64_t stages = 2; stages <= 4; stages *= 2)
        for (unsigned k = 0; k < schedule_kind_count; k++)
            for (unsigned r = 0; r < sizeof kinds / sizeof *kinds; r++)
                for (int experts = 0; experts < 2; experts++) {
                    struct law_setup s;
                    if (!staged(&s, schedule_kinds[k], stages, kinds[r], experts == 1))
                        continue;
                    s.perturbations[0] =
                        (struct perturbation){.what = PERTURB_GPU_SPEED, .gpu = 3, .ratio = 0.7};
                    s.c.perturbations = s.perturbations;
                    s.c.perturbation_count = cases % 2;
                    s.c.layout.offload.activations = cases % 5 < 2 ? 1.0 : 0.5;
                    s.c.cluster.node.pcie.bytes_per_s /= cases % 3 == 0 ? 4096.0 : 1.0;
                    s.c.layout.data.sharding =
                        cases % 4 == 0 ? &sharding_zero_1 : s.c.layout.data.sharding;
                    struct step *a = play(&s.c, false), *b = play(&s.c, true);
                    if (a->digest != b->digest || a->step_s != b->step_s)
                        fail_msg("%s: folded is not unfolded", schedule_kinds[k]->head.name);
                    check_stages(a, &s.c);
                    seen += a->parts.breakdown_s[PART_OFFLOAD] > 0.0;
                    cases++;
                    step_destroy(a);
                    step_destroy(b);
                }
    print_message("%u cases, copies seen in %u\n", cases, seen);
    assert_true(cases > 60 && seen > 20);
}

/* Between the launch of a copy back and the backward of its layer stands that of another layer:
 * across passes, too, on a stage without the head. The first of a step has nothing before it. */
static void copies_come_one_ahead(void **state)
{
    struct law_setup s;
    assert_true(staged(&s, &schedule_gpipe, 2, RECOMPUTE_NONE, false));
    s.c.layout.offload.activations = 1.0;
    struct step *step = play(&s.c, false);
    const struct program *p = step->lowered.programs[0];
    unsigned copies = 0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *copy = &p->ops[i];
        unsigned others = 0;
        bool own = false;
        for (uint32_t k = i + 1; k < p->op_count && copy->stream == STREAM_FROM_HOST && !own; k++) {
            const struct op *op = &p->ops[k];
            const bool backward = op->stream == STREAM_COMPUTE && op->phase == PHASE_BACKWARD;
            own = backward && op->layer == copy->layer && op->microbatch == copy->microbatch;
            others += backward && !own && op->layer != UINT16_MAX;
        }
        if (copy->stream == STREAM_FROM_HOST)
            assert_true(own && (others > 0 || copies++ == 0));
    }
    assert_true(copies == 1);
    step_destroy(step);
}

/* All forwards first: all of them are on the host at once. One at a time: as many as the stages
 * that follow. */
static void host_holds_what_is_under_way(void **state)
{
    struct law_setup s;
    assert_true(staged(&s, &schedule_gpipe, 4, RECOMPUTE_NONE, false));
    struct step *all = play(&s.c, false);
    s.c.layout.pipeline.schedule = &schedule_one_f_one_b;
    struct step *few = play(&s.c, false);
    for (uint32_t i = 0; i < 4; i++) {
        const struct program *p = all->lowered.programs[i], *q = few->lowered.programs[i];
        near(p->host_bytes, copied_bytes(p, STREAM_TO_HOST), 1.0);
        near(q->host_bytes, (4 - i) * copied_bytes(q, STREAM_TO_HOST) / 16.0, 1.0);
    }
    step_destroy(all);
    step_destroy(few);
}

/* Two stages on nodes of their own, the first of which keeps the most. */
static bool spread(struct law_setup *s)
{
    for (unsigned fabric = 0; fabric < law_level_count(LAW_FABRIC, RANK_MAX); fabric++) {
        const struct law_case k = {.level = {[LAW_PP] = 1,
                                             [LAW_DP] = 1,
                                             [LAW_TP] = 1,
                                             [LAW_SCHEDULE] = 1,
                                             [LAW_FABRIC] = (uint8_t)fabric}};
        if (!law_configure(&k, RANK_MAX, s) || s->c.cluster.nodes < 4)
            continue;
        s->c.model.layers = 8;
        s->c.layout.offload.activations = 0.5;
        s->c.training.global_batch = s->c.layout.dp * 8;
        return configuration_legal(&s->c);
    }
    return false;
}

/* What all ranks of the fullest node keep decides; one byte more, and it does not fit. */
static void host_memory_ends(void **state)
{
    for (unsigned i = 0; i < 5; i++) {
        struct law_setup s;
        const uint64_t stages = i % 2 == 0 ? 2 : 4;
        assert_true(i == 4 ? spread(&s)
                           : staged(&s, &schedule_one_f_one_b, stages, RECOMPUTE_NONE, i > 1));
        struct configuration *c = &s.c;
        struct step *free = play(c, false);
        double held[RANK_MAX] = {0.0}, most = 0.0;
        for (uint32_t rank = 0; rank < free->lowered.rank_count; rank++) {
            double *node = &held[layout_gpu(c, rank) / c->cluster.node.gpus];
            *node += free->lowered.programs[free->lowered.program_of_rank[rank]]->host_bytes;
            most = fmax(most, *node);
        }
        assert_true(free->fits && free->host.fits && most > 0.0);
        near(free->host.bytes, most, 1.0);
        c->cluster.node.host.memory_bytes = most;
        struct step *full = play(c, false);
        c->cluster.node.host.memory_bytes = most - 1.0;
        struct step *over = play(c, false);
        assert_true(full->fits && !over->fits && !over->host.fits);
        assert_true(over->failed.program == UINT32_MAX && over->step_s == free->step_s);
        c->layout.offload.activations_to = OFFLOAD_NVME;
        c->cluster.node.host.nvme_read_bytes_per_s = c->cluster.node.host.nvme_write_bytes_per_s =
            GIGA;
        struct step *drives = play(c, false);
        assert_true(drives->fits && drives->host.bytes == 0.0);
        step_destroy(free);
        step_destroy(full);
        step_destroy(over);
        step_destroy(drives);
    }
}

/* State whose experts other ranks share than all else: one copy of the experts, one of the rest for
 * each replica, 12 bytes and room for gradients and weights. */
static void host_holds_the_state_of_experts(void **state)
{
    struct law_setup s;
    assert_true(staged(&s, &schedule_one_f_one_b, 2, RECOMPUTE_NONE, true));
    struct configuration *c = &s.c;
    c->layout.offload.activations = 0.0;
    c->layout.offload.optimizer = 0.5;
    c->layout.data.sharding = &sharding_zero_0;
    c->cluster.node.host.dram_bytes_per_s = 100 * GIGA;
    c->cluster.node.host.dram_ratio = 0.5;
    assert_true(configuration_legal(c) && c->layout.ep == c->layout.dp && c->layout.dp > 1);
    struct step *step = play(c, false);
    double all = 0.0;
    for (uint32_t rank = 0; rank < step->lowered.rank_count; rank++)
        all += step->lowered.programs[step->lowered.program_of_rank[rank]]->host_bytes;
    const double experts = transformer_expert_parameters(&c->model);
    const double rest = transformer_parameters(&c->model, c->training.sequence) - experts;
    const double each = 12.0 + c->software.data.gradient_kept_bytes + 2.0;
    near(all, 0.5 * each * (experts + (double)c->layout.dp * rest), all);
    step_destroy(step);
}

/* A share that leaves all layers changes nothing. */
static void none_is_none(void **state)
{
    struct law_setup s;
    assert_true(staged(&s, &schedule_one_f_one_b, 4, RECOMPUTE_NONE, false));
    s.c.layout.offload.activations = 0.0;
    struct step *a = play(&s.c, false);
    s.c.layout.offload.activations = 1e-12;
    struct step *b = play(&s.c, false);
    assert_true(a->digest == b->digest && a->peak.allocated_bytes == b->peak.allocated_bytes);
    step_destroy(a);
    step_destroy(b);
    for (uint32_t layers = 1; layers <= 100; layers++)
        for (uint32_t out = 0; out <= layers; out++) {
            s.c.layout.offload.activations = (double)out / layers;
            assert_int_equal(configuration_offloaded_layers(&s.c, layers), out);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_hide_under_compute),
        cmocka_unit_test(layers_that_stay_are_left),
        cmocka_unit_test(the_slowest_bounds),
        cmocka_unit_test(all_comes_back_in_time),
        cmocka_unit_test(copies_come_one_ahead),
        cmocka_unit_test(host_holds_what_is_under_way),
        cmocka_unit_test(host_memory_ends),
        cmocka_unit_test(host_holds_the_state_of_experts),
        cmocka_unit_test(none_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
