/* Laws of shared experts beside the exchanges with the routed ones: an exchange is exposed by what
 * it takes longer than the kernels beside it; nothing else is computed, sent or kept; folded and
 * unfolded plays are the same to the bit. */
#include <math.h>
#include <string.h>

#include "models/collective/collective_kind.h"
#include "models/schedule/schedule_kind.h"
#include "models/step/simulate/step.h"
#include "tests/laws/law_case.h"
#include "tests/test.h"

enum {
    RANK_MAX = 16
};

static void give_shared(struct configuration *c, uint64_t ep, uint64_t shared)
{
    struct model_shape *m = &c->model;
    m->moe.experts = 8;
    m->moe.experts_per_token = 2;
    m->moe.ffn_hidden = 32 * c->layout.tp;
    m->moe.shared_experts = shared;
    m->layers = 2 * c->layout.pp * c->layout.pipeline.vpp;
    m->moe.dense_layers = 1;
    c->layout.ep = ep;
    c->layout.etp = 1;
    c->layout.sequence_parallel = c->layout.tp > 1;
    c->layout.experts.dispatch = &dispatch_alltoall;
    c->software.experts.shared_overlap = true;
}

/* Sums of a program: what its kernels take, and its exchanges alone on the wires of one node. */
struct sums {
    double compute_s, exchange_s, exposed_s; /* exposed: longer than the compute sent beside them */
    double exchanged_bytes;
    unsigned exchanges, beside, hidden;
};
static struct sums sums_of(const struct step *step, const struct group_shape *shape)
{
    const struct program *p = step->lowered.programs[0];
    struct sums out = {0};
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        if (op->kind == OP_COMPUTE && op->stream == STREAM_COMPUTE)
            out.compute_s += p->costs[op->cost].gpu_s;
        if (op->stream != STREAM_EP)
            continue;
        struct collective_plan plan;
        const double bytes = p->transfers[op->cost].bytes;
        collective_tune(COMM_ALL_TO_ALL, shape, bytes, &plan);
        const bool beside = strcmp(p->names[op->name], "shared experts") == 0;
        const struct op *next = &p->ops[i + 1];
        const double hides_s = beside ? p->costs[next->cost].gpu_s : 0.0;
        assert_true(!beside || (next->kind == OP_COMPUTE && next->name == op->name));
        out.exchange_s += plan.time_s;
        out.exposed_s += fmax(plan.time_s - hides_s, 0.0);
        out.beside += beside;
        out.hidden += hides_s > plan.time_s;
        out.exchanged_bytes += bytes;
        out.exchanges++;
    }
    return out;
}

/* Eight ranks of one node, a host that is never late and no price of traffic beside compute. */
static void exposed_is_what_is_longer(void **state)
{
    unsigned longer = 0, shorter = 0;
    for (uint64_t shared = 1; shared <= 4096; shared *= 16) {
        struct law_setup s;
        struct law_case k = {.level = {[LAW_GPUS] = 2, [LAW_DP] = 4, [LAW_SCHEDULE] = 1}};
        const struct step_options how = {.threads = 1};
        struct error error = {""};
        struct step *with, *without;
        assert_true(law_configure(&k, RANK_MAX, &s));
        give_shared(&s.c, 8, shared);
        s.c.software.host.launch_s = 0.0;
        assert_true(configuration_legal(&s.c));
        assert_true(step_run(&s.c, &how, &with, &error));
        s.c.software.experts.shared_overlap = false;
        assert_true(step_run(&s.c, &how, &without, &error));
        uint32_t gpus[8];
        for (uint32_t g = 0; g < 8; g++)
            gpus[g] = g;
        struct group_shape shape;
        collective_shape(&with->topology, gpus, 8, s.c.software.pxn, &shape);
        const struct sums a = sums_of(with, &shape), b = sums_of(without, &shape);
        const double won_s = a.exchange_s - a.exposed_s;
        assert_true(a.beside == a.exchanges && b.beside == 0);
        assert_true(a.exchanges == b.exchanges && a.exchanged_bytes == b.exchanged_bytes);
        assert_true(fabs(a.compute_s / b.compute_s - 1.0) < 1e-12 && won_s > 0.0);
        assert_true(fabs(b.exposed_s / b.exchange_s - 1.0) < 1e-12);
        assert_true(fabs(without->parts.breakdown_s[PART_EXPOSED_EP] / b.exposed_s - 1.0) < 1e-9);
        assert_true(fabs(with->parts.breakdown_s[PART_EXPOSED_EP] - a.exposed_s) <
                    1e-9 * b.exposed_s);
        assert_true(fabs((without->step_s - with->step_s) / won_s - 1.0) < 1e-6);
        longer += a.exchanges - a.hidden;
        shorter += a.hidden;
        step_destroy(with);
        step_destroy(without);
    }
    print_message("%u exchanges longer than what is beside them, %u shorter\n", longer, shorter);
    assert_true(longer > 0 && shorter > 0);
}

struct totals {
    double flops, bytes, kept, exchanged, temporary;
};
static void add_kernels(struct totals *out, const struct kernel *kernels, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        out->flops += kernels[i].flops;
        out->bytes += kernels[i].bytes;
    }
}

static struct totals totals_of(const struct layer_context *c)
{
    static struct layer layer;
    struct totals out = {0};
    transformer_layer(c, &layer);
    for (unsigned i = 0; i < layer.segment_count; i++) {
        const struct segment *g = &layer.segments[i];
        const struct segment_transfer sent[] = {
            g->transfers.before,         g->transfers.after,
            g->transfers.exchange,       g->transfers.backward_before,
            g->transfers.backward_after, g->transfers.backward_exchange};
        add_kernels(&out, g->forward.kernels, g->forward.count);
        add_kernels(&out, g->dgrad.kernels, g->dgrad.count);
        add_kernels(&out, g->wgrad.kernels, g->wgrad.count);
        for (unsigned k = 0; k < g->saved.count; k++)
            out.kept += g->saved.tensors[k].bytes;
        for (unsigned k = 0; k < 6; k++)
            out.exchanged += sent[k].comm == SEGMENT_EP ? sent[k].bytes : 0.0;
        out.temporary = fmax(out.temporary, g->memory.forward_temporary_bytes);
    }
    return out;
}

/* The same kernels, exchanges and kept tensors; with tensor parallelism the whole gathered input of
 * the shared experts is kept, which would be gathered again else. */
static void nothing_else_changes(void **state)
{
    struct law_setup s;
    struct law_case k = {.level = {[LAW_GPUS] = 2, [LAW_DP] = 4, [LAW_SCHEDULE] = 1}};
    assert_true(law_configure(&k, RANK_MAX, &s));
    give_shared(&s.c, 8, 2);
    s.c.software.tensor.backward_regather = true;
    for (uint64_t tp = 1; tp <= 4; tp *= 2) {
        struct layer_context c = {.model = &s.c.model,
                                  .software = &s.c.software,
                                  .precision = precision_find("bf16"),
                                  .attention = ATTENTION_FLASH2,
                                  .microbatch = 1,
                                  .sequence = 4096,
                                  .tp = tp,
                                  .cp = 1,
                                  .sequence_parallel = tp > 1,
                                  .causal = true,
                                  .experts.ep = 8,
                                  .experts.etp = 1,
                                  .experts.dispatch = &dispatch_alltoall,
                                  .experts.imbalance = 1.0};
        s.c.model.attention.heads = s.c.model.attention.kv_heads = 4;
        s.c.software.experts.shared_overlap = false;
        const struct totals apart = totals_of(&c);
        s.c.software.experts.shared_overlap = true;
        const struct totals beside = totals_of(&c);
        const double row = 2.0 * (double)s.c.model.hidden;
        const double share =
            tp > 1 ? 4096.0 * row : 0.0; /* and the router's own copy of its part */
        assert_true(fabs(beside.flops / apart.flops - 1.0) < 1e-12);
        assert_true(fabs(beside.bytes / apart.bytes - 1.0) < 1e-12);
        assert_true(beside.exchanged == apart.exchanged);
        assert_true(fabs(beside.kept - apart.kept - share) < 1.0);
        assert_true(beside.temporary >= 2.0 * 2.0 * 4096.0 / (double)tp * row);
    }
}

static void overlaps_fold(void **state)
{
    unsigned played = 0;
    const struct step_options folded = {.threads = 1}, unfolded = {.unfold = true, .threads = 1};
    for (unsigned at = 0; at < 36 * 4 * schedule_kind_count; at++) {
        struct law_case k = {.level = {[LAW_GPUS] = (uint8_t)(at % 3),
                                       [LAW_TP] = (uint8_t)(at / 6 % 2),
                                       [LAW_DP] = (uint8_t)(1 + at / 3 % 2),
                                       [LAW_PP] = (uint8_t)(at / 18 % 2),
                                       [LAW_VPP] = (uint8_t)(at / 36 % 2),
                                       [LAW_CP] = (uint8_t)(at / 72 % 2),
                                       [LAW_SCHEDULE] = (uint8_t)(at / 144),
                                       [LAW_SHARDING] = (uint8_t)(at % 2),
                                       [LAW_RECOMPUTE] = (uint8_t)(at / 5 % 3),
                                       [LAW_SOFTWARE] = (uint8_t)(at % 3),
                                       [LAW_TROUBLE] = (uint8_t)(at / 2 % 4)}};
        struct law_setup s;
        struct error error = {""};
        struct step *a, *b;
        if (!law_configure(&k, RANK_MAX, &s))
            continue;
        give_shared(&s.c, 2u << at / 4 % 2, 1 + at % 3);
        if (!configuration_legal(&s.c))
            continue;
        assert_true(step_run(&s.c, &folded, &a, &error));
        assert_true(step_run(&s.c, &unfolded, &b, &error));
        if (a->digest != b->digest || a->step_s != b->step_s)
            fail_msg("case %u: %.17g s folded, %.17g s not", at, a->step_s, b->step_s);
        double sum_s = 0.0;
        for (unsigned part = 0; part < PART_COUNT; part++) {
            assert_true(fabs(a->parts.breakdown_s[part] - b->parts.breakdown_s[part]) <=
                        1e-12 * a->step_s);
            sum_s += a->parts.breakdown_s[part];
        }
        assert_true(fabs(sum_s / a->step_s - 1.0) < 1e-9);
        assert_true(a->peak.allocated_bytes == b->peak.allocated_bytes);
        played++;
        step_destroy(a);
        step_destroy(b);
    }
    print_message("%u layouts\n", played);
    assert_true(played > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exposed_is_what_is_longer),
        cmocka_unit_test(nothing_else_changes),
        cmocka_unit_test(overlaps_fold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
