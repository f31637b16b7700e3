/* Laws of experts: folded and unfolded plays are the same to the bit with any split of the experts;
 * what goes out comes in; time on the wire, memory and parameters are their closed forms. */
#include <math.h>
#include <string.h>

#include "models/collective/collective_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/step.h"
#include "tests/laws/law_case.h"
#include "tests/test.h"

enum {
    RANK_MAX = 16
};

/* Every second layer has experts behind the first; every second case latent attention. */
static bool give_experts(struct configuration *c, uint64_t ep, uint64_t etp, unsigned turn)
{
    struct model_shape *m = &c->model;
    m->moe.experts = 8;
    m->moe.experts_per_token = 2;
    m->moe.ffn_hidden = 32 * c->layout.tp;
    m->moe.shared_experts = turn % 3 == 0;
    m->layers = 2 * c->layout.pp * c->layout.pipeline.vpp;
    m->moe.dense_layers = turn % 2;
    if (turn % 2 == 1) {
        m->attention.kv_heads = m->attention.heads;
        m->latent.q_rank = turn % 4 == 1 ? 48 : 0;
        m->latent.kv_rank = 16;
        m->latent.rope_head_size = 8;
        m->latent.v_head_size = 32;
    }
    c->layout.ep = ep;
    c->layout.etp = etp;
    c->layout.sequence_parallel = c->layout.tp > 1;
    c->layout.experts.dispatch =
        dispatch_kinds[etp == 1 || c->layout.tp == 1 ? turn % dispatch_kind_count : 0];
    m->moe.groups = turn % 2 == 0 ? 4 : 0;
    m->moe.groups_per_token = turn % 2 == 0 ? 2 : 0;
    return configuration_legal(c);
}

static void splits_fold(void **state)
{
    unsigned turn = 0, played = 0, shared = 0;
    const struct step_options folded = {.threads = 1}, unfolded = {.unfold = true, .threads = 1};
    for (unsigned at = 0; at < 3 * 3 * 3 * 2 * 4 * 2; at++) {
        struct law_case k = {.level = {[LAW_GPUS] = (uint8_t)(at % 3),
                                       [LAW_TP] = (uint8_t)(at / 54 % 4 % 2),
                                       [LAW_DP] = (uint8_t)(1 + at / 3 % 2),
                                       [LAW_CP] = (uint8_t)(at / 9 % 2),
                                       [LAW_PP] = (uint8_t)(at / 27 % 2),
                                       [LAW_SCHEDULE] = 1,
                                       [LAW_SHARDING] = (uint8_t)(at % 2),
                                       [LAW_PLACEMENT] = (uint8_t)(at / 5 % 2),
                                       [LAW_ORDER] = (uint8_t)(at / 7 % 3),
                                       [LAW_SOFTWARE] = (uint8_t)(at / 2 % 3),
                                       [LAW_TROUBLE] = (uint8_t)(at % 4),
                                       [LAW_FABRIC] = (uint8_t)(at / 4 % 4)}};
        const uint64_t ep = 1u << at / 3 % 4, etp = at / 11 % 2 == 0 ? 1 : 0;
        struct law_setup s;
        struct error error = {""};
        struct step *a, *b;
        if (!law_configure(&k, RANK_MAX, &s) || !give_experts(&s.c, ep, etp, turn++))
            continue;
        assert_true(step_run(&s.c, &folded, &a, &error));
        assert_true(step_run(&s.c, &unfolded, &b, &error));
        if (a->digest != b->digest || a->step_s != b->step_s)
            fail_msg("case %u: %.17g s folded, %.17g s not", at, a->step_s, b->step_s);
        for (unsigned part = 0; part < PART_COUNT; part++)
            assert_true(fabs(a->parts.breakdown_s[part] - b->parts.breakdown_s[part]) <=
                        1e-12 * a->step_s);
        assert_true((a->parts.breakdown_s[PART_EXPOSED_EP] > 0.0) == (ep > 1));
        shared += ep > 1;
        played++;
        step_destroy(a);
        step_destroy(b);
    }
    print_message("%u splits, %u of them share experts\n", played, shared);
    assert_true(played > 60 && shared > 30);
}

static struct configuration one_node(struct law_setup *s, uint64_t ep)
{
    struct law_case k = {.level = {[LAW_GPUS] = 2, [LAW_DP] = 4, [LAW_SCHEDULE] = 1}};
    assert_true(law_configure(&k, RANK_MAX, s));
    assert_true(give_experts(&s->c, ep, 0, 0));
    s->c.model.layers = 3;
    return s->c;
}

/* Eight ranks of one node, and nothing else on its wires: four exchanges for each layer and
 * microbatch, each the time that the collective takes alone. Bytes: k rows of h in 16 bit for each
 * token, 4 bytes with each row on two of the four ways, of which (ep - 1)/ep leave. */
static void exchanges_are_closed_form(void **state)
{
    const double loads[] = {1.0, 1.5, 4.0};
    for (unsigned i = 0; i < 3; i++) {
        struct law_setup s;
        struct configuration c = one_node(&s, 8);
        c.layout.experts.imbalance = loads[i];
        const struct step_options how = {.threads = 1};
        struct error error = {""};
        struct step *step;
        assert_true(step_run(&c, &how, &step, &error));
        uint32_t gpus[8];
        for (uint32_t g = 0; g < 8; g++)
            gpus[g] = g;
        struct group_shape shape;
        collective_shape(&step->topology, gpus, 8, c.software.pxn, &shape);
        const double rows = (double)c.training.sequence * 2.0 * loads[i];
        const double row = 2.0 * (double)c.model.hidden;
        struct collective_plan there, back;
        collective_tune(COMM_ALL_TO_ALL, &shape, rows * (row + 4.0), &there);
        collective_tune(COMM_ALL_TO_ALL, &shape, rows * row, &back);
        const double count = 3.0 * (double)configuration_microbatches(&c);
        const double expected = count * 2.0 * (there.time_s + back.time_s);
        assert_true(fabs(step->parts.breakdown_s[PART_EXPOSED_EP] / expected - 1.0) < 1e-9);
        step_destroy(step);
    }
}

static double kept(const struct layer *layer, const char *begins)
{
    double sum = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned k = 0; k < layer->segments[i].saved.count; k++)
            if (strncmp(layer->segments[i].saved.tensors[k].name, begins, strlen(begins)) == 0)
                sum += layer->segments[i].saved.tensors[k].bytes;
    return sum;
}

static double sent(const struct layer *layer, enum segment_comm comm)
{
    double sum = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *g = &layer->segments[i];
        const struct segment_transfer all[] = {g->transfers.before, g->transfers.after,
                                               g->transfers.backward_before,
                                               g->transfers.backward_after};
        for (unsigned k = 0; k < 4; k++)
            sum += all[k].comm == comm ? all[k].bytes : 0.0;
    }
    return sum;
}

/* Mixtral's layer on 8 ranks. A rank keeps R (h + 3 e) elements of its experts' rows, R = k T;
 * sends k rows a token and way whatever ep is; and all ranks together hold what the model has. */
static void layers_are_closed_form(void **state)
{
    struct law_setup s;
    struct law_case k = {.level = {[LAW_GPUS] = 2, [LAW_DP] = 4, [LAW_SCHEDULE] = 1}};
    assert_true(law_configure(&k, RANK_MAX, &s));
    struct model_shape m = {.layers = 32,
                            .hidden = 4096,
                            .attention.heads = 32,
                            .attention.kv_heads = 8,
                            .attention.head_size = 128,
                            .ffn_hidden = 14336,
                            .vocabulary = 32000,
                            .ffn = FFN_SWIGLU,
                            .norm.kind = NORM_RMS,
                            .position = POSITION_ROPE,
                            .moe.experts = 8,
                            .moe.experts_per_token = 2,
                            .moe.ffn_hidden = 14336};
    static struct layer layer;
    for (uint64_t tp = 1; tp <= 4; tp *= 2) {
        for (uint64_t ep = 1; ep <= 8; ep *= 2) {
            for (unsigned whole = 0; whole < 2; whole++) {
                const uint64_t etp = whole ? tp : 1;
                struct layer_context c = {.model = &m,
                                          .software = &s.c.software,
                                          .precision = precision_find("bf16"),
                                          .attention = ATTENTION_FLASH2,
                                          .microbatch = 1,
                                          .sequence = 4096,
                                          .tp = tp,
                                          .cp = 1,
                                          .sequence_parallel = tp > 1,
                                          .causal = true,
                                          .experts.ep = ep,
                                          .experts.etp = etp,
                                          .experts.dispatch = &dispatch_alltoall,
                                          .experts.imbalance = 1.0};
                transformer_layer(&c, &layer);
                const double tokens = 4096.0 / (double)tp, rows = 2.0 * tokens * (double)etp;
                const double width = 14336.0 / (double)etp;
                assert_true(fabs(kept(&layer, "expert input") + kept(&layer, "expert activation") -
                                 2.0 * rows * (4096.0 + 3.0 * width)) < 1.0);
                const double ways = ep > 1 ? 4.0 * 2.0 * tokens * 4096.0 * 2.0 : 0.0;
                const double weights = ep > 1 ? 2.0 * 2.0 * tokens * 4.0 : 0.0;
                assert_true(sent(&layer, SEGMENT_EP) == ways + weights);
                const double experts = layer.expert_parameters * (double)(ep * etp);
                assert_true(experts == 8.0 * 3.0 * 4096.0 * 14336.0);
                const double others = layer.parameters - layer.expert_parameters;
                const double split = 2.0 * 4096.0 * (4096.0 + 1024.0); /* norms, router: whole */
                assert_true(others == split / (double)tp + 2.0 * 4096.0 + 4096.0 * 8.0);
                assert_true(transformer_layer_parameters(&m, 0) ==
                            split + 2.0 * 4096.0 + 4096.0 * 8.0 + experts);
            }
        }
    }
}

/* 16 bytes of state for each parameter, of experts shared by `edp` and of all else by the replicas:
 * ZeRO-1 leaves 4 + 12/n of each (fp32 gradients are the software's: they are kept whole). */
static void state_is_shared_by_its_own_ranks(void **state)
{
    for (uint64_t ep = 1; ep <= 8; ep *= 2) {
        struct law_setup s;
        struct configuration c = one_node(&s, ep);
        c.layout.data.sharding = &sharding_zero_1;
        const struct expert_ranks ranks = configuration_expert_ranks(&c);
        assert_true(ranks.edp == 8 / ep && ranks.ep == ep && ranks.apart == (ep > 1));
        assert_true(configuration_expert_shards(&c) == 8 / ep);
        const struct step_options how = {.memory_only = true, .threads = 1};
        struct error error = {""};
        struct step *step;
        assert_true(step_run(&c, &how, &step, &error));
        const double experts = 3.0 * 8.0 * 3.0 * (double)(c.model.hidden * c.model.moe.ffn_hidden);
        const double all = transformer_parameters(&c.model, c.training.sequence);
        const struct program *p = step->lowered.programs[0];
        double moments = 0.0, weights = 0.0;
        for (uint32_t i = 0; i < p->setup_count; i++) {
            moments += p->setup[i].tenant == TENANT_MOMENTS ? p->setup[i].bytes : 0.0;
            weights += p->setup[i].tenant == TENANT_WEIGHTS ? p->setup[i].bytes : 0.0;
        }
        const double here = all - experts + experts / (double)ep;
        assert_true(fabs(weights - 2.0 * here) <= 1e-9 * weights);
        assert_true(fabs(moments - 8.0 * all / 8.0) <= 64.0 * 8.0); /* one element of each row */
        step_destroy(step);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_fold),
        cmocka_unit_test(exchanges_are_closed_form),
        cmocka_unit_test(layers_are_closed_form),
        cmocka_unit_test(state_is_shared_by_its_own_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
