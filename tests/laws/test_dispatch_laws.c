/* Laws of dispatch: how many places a token goes to is what enumeration gives; what is sent arrives
 * at every member once; a step pays the closed form of its exchanges; and the rates of DeepEP's and
 * HybridEP's own tables come out of two ratios each. */
#include <math.h>
#include <string.h>

#include "models/collective/collective_kind.h"
#include "models/step/simulate/step.h"
#include "sim/units.h"
#include "tests/laws/law_case.h"
#include "tests/test.h"

enum {
    EXPERTS_MAX = 8,
    RANKS_MAX = 64
};

static unsigned bits_of(unsigned set)
{
    unsigned count = 0;
    for (; set != 0; set &= set - 1)
        count++;
    return count;
}

/* Over all choices of groups, and in each all choices of experts in them, all alike. */
static double enumerated(const struct routing *r, unsigned place)
{
    const bool limited = r->groups > 1 && r->groups_per_token < r->groups;
    const unsigned groups = limited ? r->groups : 1, chosen = limited ? r->groups_per_token : 1;
    const unsigned size = r->experts / groups;
    double sum = 0.0, choices = 0.0;
    for (unsigned g = 0; g < 1u << groups; g++) {
        unsigned open = 0, met = 0, all = 0;
        if (bits_of(g) != chosen)
            continue;
        for (unsigned e = 0; e < r->experts; e++)
            open |= (g >> e / size & 1u) << e;
        for (unsigned set = 0; set < 1u << r->experts; set++) {
            if ((set & ~open) != 0 || bits_of(set) != r->per_token)
                continue;
            all++;
            met += (set & place) != 0;
        }
        sum += (double)met / all;
        choices += 1.0;
    }
    return sum / choices;
}

static void reach_is_enumerated(void **state)
{
    unsigned asked = 0;
    for (uint32_t experts = 1; experts <= EXPERTS_MAX; experts++) {
        for (uint32_t groups = 0; groups <= experts; groups++) {
            for (uint32_t chosen = 1; chosen <= (groups > 0 ? groups : 1); chosen++) {
                if (groups > 0 && experts % groups != 0)
                    continue;
                const uint32_t open = groups > 1 ? experts / groups * chosen : experts;
                for (uint32_t k = 1; k <= open; k++) {
                    const struct routing r = {experts, k, groups, chosen};
                    for (uint32_t first = 0; first < experts; first++) {
                        for (uint32_t count = 1; first + count <= experts; count++) {
                            const unsigned place = ((1u << count) - 1u) << first;
                            const double exact = enumerated(&r, place);
                            assert_true(fabs(routing_reach(&r, first, count) - exact) < 1e-12);
                            asked++;
                        }
                    }
                }
            }
        }
    }
    assert_true(asked > 3000);
}

/* 256 experts, 8 visits (deepseek-ai/DeepEP deep_ep/buffers/elastic.py; arXiv:2412.19437 section
 * 2.1.2 limits them to 4 of 8 nodes). */
static void places_of_deepseek(void **state)
{
    const struct routing any = {256, 8, 0, 0}, limited = {256, 8, 8, 4};
    assert_true(fabs(routing_places(&any, 8) - 5.29) < 0.005);
    assert_true(fabs(routing_places(&any, 64) - 7.68) < 0.005);
    assert_true(fabs(routing_places(&limited, 8) - 3.63) < 0.005);
    assert_true(fabs(routing_places(&limited, 8) * 7.0 / 8.0 - 3.18) < 0.005);
    assert_true(fabs(routing_places(&limited, 64) - 7.36) < 0.005);
}

static struct group_shape shape_of(const struct dispatch_kind *kind, struct routing routing,
                                   uint32_t nodes, uint32_t per_node)
{
    return (struct group_shape){.ranks = nodes * per_node,
                                .nodes = nodes,
                                .ranks_per_node = per_node,
                                .rails = nodes > 1 ? per_node : 0,
                                .even = true,
                                .start_s = 1e-5,
                                .exchange_ratio = 0.77,
                                .inside.bytes_per_s = 200 * GIGA,
                                .outside_bytes_per_s = per_node * 0.97 * 50 * GIGA,
                                .inside.nvlink = true,
                                .dispatch = kind,
                                .routing = routing};
}

struct flows {
    double sent[RANKS_MAX][RANKS_MAX];
};

static void add_flow(void *context, uint32_t from, uint32_t to, double weight)
{
    struct flows *flows = context;
    assert_true(from != to && weight > 0.0);
    flows->sent[from][to] += weight;
}

/* A member gets the rows that each of the others has for it: over NVLink, but for those that it
 * brought into its node itself; a node gets by its NICs what each member outside has for it. */
static void rows_arrive_once(void **state)
{
    static const uint32_t sizes[][4] = {{8},          {4, 4}, {4, 4, 4, 4}, {2, 2},
                                        {1, 1, 1, 1}, {3, 1}, {2, 4, 2},    {1, 3, 4}};
    const struct routing routings[] = {{48, 4, 0, 0}, {48, 4, 4, 2}, {48, 1, 0, 0}};
    for (unsigned at = 0; at < sizeof sizes / sizeof sizes[0] * 3 * dispatch_kind_count; at++) {
        const struct dispatch_kind *kind = dispatch_kinds[at % dispatch_kind_count];
        const struct routing routing = routings[at / dispatch_kind_count % 3];
        const uint32_t *size = sizes[at / dispatch_kind_count / 3];
        uint32_t node_of[RANKS_MAX] = {0}, first[5] = {0}, nodes = 0, ranks = 0;
        for (; nodes < 4 && size[nodes] > 0; nodes++) {
            first[nodes] = ranks;
            for (uint32_t i = 0; i < size[nodes]; i++)
                node_of[ranks++] = nodes;
        }
        first[nodes] = ranks;
        if (!kind->relays || routing.experts % ranks != 0)
            continue;
        struct group_shape shape = shape_of(kind, routing, nodes, size[0]);
        struct flows flows = {0};
        const uint32_t each = routing.experts / ranks;
        const double visits = routing.per_token;
        shape.ranks = ranks;
        assert_true(collective_relay.carries(COMM_EXPERT_EXCHANGE, &shape));
        collective_relay.wires(COMM_EXPERT_EXCHANGE, &shape, node_of, add_flow, &flows);
        for (uint32_t node = 0; node < nodes; node++) {
            double crossed = 0.0;
            for (uint32_t i = 0; i < ranks; i++)
                for (uint32_t to = first[node]; to < first[node + 1]; to++)
                    crossed += node_of[i] != node ? flows.sent[i][to] : 0.0;
            const double reach =
                routing_reach(&routing, first[node] * each, size[node] * each) / visits;
            assert_true(fabs(crossed - (ranks - size[node]) * reach) < 1e-12);
        }
        for (uint32_t to = 0; to < ranks; to++) {
            double inside = 0.0, own = 1.0;
            for (uint32_t i = 0; i < ranks; i++) {
                const bool beside = node_of[i] == node_of[to];
                inside += beside ? flows.sent[i][to] : 0.0;
                own += !beside && flows.sent[i][to] > 0.0;
            }
            const double reach =
                kind->once_per_rank ? routing_reach(&routing, to * each, each) : visits / ranks;
            assert_true(fabs(inside - (ranks - own) * reach / visits) < 1e-12);
        }
    }
}

/* What leaves a node shrinks as published: 7 rows of 8 of an all-to-all, 4.63 where each node gets
 * one, 3.18 where it may be one of 4 nodes. The NICs alone bind here. */
static void limits_cut_what_crosses(void **state)
{
    const struct routing any = {256, 8, 0, 0}, limited = {256, 8, 8, 4};
    const struct {
        const struct dispatch_kind *kind;
        const struct routing *routing;
        double rows;
    } cases[] = {{&dispatch_alltoall, &any, 7.0},
                 {&dispatch_alltoall, &limited, 7.0},
                 {&dispatch_hierarchical, &any, 5.29 * 7 / 8},
                 {&dispatch_hierarchical, &limited, 3.18},
                 {&dispatch_deepep, &limited, 3.18},
                 {&dispatch_hybridep, &any, 5.29 * 7 / 8},
                 {&dispatch_hybridep, &limited, 3.18}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct group_shape shape = shape_of(cases[i].kind, *cases[i].routing, 8, 8);
        struct collective_plan plan;
        shape.inside.bytes_per_s = 1e15;
        collective_tune(cases[i].kind->relays ? COMM_EXPERT_EXCHANGE : COMM_ALL_TO_ALL, &shape, 1e9,
                        &plan);
        const double ratio = cases[i].kind->nic_ratio > 0.0 ? cases[i].kind->nic_ratio : 1.0;
        const double rows = ratio * shape.outside_bytes_per_s / 8.0 / plan.cap_bytes_per_s * 8.0;
        assert_true(fabs(rows / cases[i].rows - 1.0) < 2e-3);
    }
}

/* DeepEP's own rates for large batches, GB/s of rows that a rank gets, those of its own node (of
 * its own GPU, in one node) with them: legacy.md of its docs (H800: ports of 200 GB/s) and README
 * (SM90: 450; SM100: 900), NICs of 50 GB/s. Two constants of this model were fitted on the 18. */
static void deepep_has_its_rates(void **state)
{
    const struct {
        uint32_t nodes, groups, chosen;
        double port, dispatch, combine;
    } rows[] = {{1, 0, 0, 200, 153, 158}, {2, 0, 0, 200, 43, 43},   {4, 0, 0, 200, 58, 57},
                {8, 8, 4, 200, 51, 50},   {2, 0, 0, 450, 90, 81},   {4, 0, 0, 450, 61, 61},
                {2, 0, 0, 900, 90, 91},   {1, 0, 0, 900, 726, 740}, {1, 0, 0, 900, 643, 675}};
    const unsigned count = sizeof rows / sizeof rows[0];
    double squares = 0.0;
    for (unsigned i = 0; i < 2 * count; i++) {
        const struct routing routing = {256, 8, rows[i / 2].groups, rows[i / 2].chosen};
        struct group_shape shape = shape_of(&dispatch_deepep, routing, rows[i / 2].nodes, 8);
        struct collective_plan plan;
        shape.inside.bytes_per_s = rows[i / 2].port * GIGA;
        collective_tune(COMM_EXPERT_EXCHANGE, &shape, 1e9, &plan);
        const double places = routing_places(&routing, shape.nodes > 1 ? shape.nodes : 8);
        const double rate = plan.cap_bytes_per_s * places / 8.0 / GIGA;
        const double error = log(rate / (i % 2 == 0 ? rows[i / 2].dispatch : rows[i / 2].combine));
        assert_true(fabs(error) < 0.09);
        squares += error * error;
    }
    assert_true(sqrt(squares / (2.0 * count - 2.0)) < 0.051);
}

/* HybridEP's rates, GB/s of rows as above (README_Hybrid-EP.md of its docs, "kernel only": fp8
 * dispatch, bf16 dispatch, combine), each where it has the most SMs: B200 and GB200 in one domain
 * (ports of 900 GB/s), H100 on nodes of 8 by NICs of 50 GB/s. 8 of 64 to 512 experts, 8 on each
 * rank; 7,168 elements, with scales in eight bits. Two constants of this model were fitted on
 * the 27. */
static void hybridep_has_its_rates(void **state)
{
    const struct {
        uint32_t nodes, per_node;
        double rates[3];
    } rows[] = {{1, 8, {599.27, 734.95, 673.84}},  {1, 8, {713.98, 764.03, 737.13}},
                {1, 16, {650.48, 706.95, 666.26}}, {1, 24, {577.96, 665.97, 639.80}},
                {1, 32, {538.86, 642.23, 605.15}}, {1, 36, {489.27, 632.31, 596.99}},
                {2, 8, {68.48, 71.71, 62.95}},     {4, 8, {55.35, 57.69, 57.46}},
                {8, 8, {46.52, 49.97, 49.77}}};
    const double row_bytes[] = {7168 + 56 * 4, 7168 * 2, 7168 * 2};
    const struct dispatch_kind *kind = &dispatch_hybridep;
    const unsigned count = 3 * sizeof rows / sizeof rows[0];
    double squares = 0.0, sums[2] = {0.0};
    for (unsigned i = 0; i < count; i++) {
        const uint32_t nodes = rows[i / 3].nodes, per_node = rows[i / 3].per_node;
        const struct routing routing = {8 * nodes * per_node, 8, 0, 0};
        struct group_shape shape = shape_of(kind, routing, nodes, per_node);
        struct collective_plan plan;
        shape.inside.bytes_per_s = (nodes > 1 ? 450 : 900) * GIGA;
        collective_tune(COMM_EXPERT_EXCHANGE, &shape, 1e9, &plan);
        const double beside = i % 3 < 2 ? kind->expert_extra_bytes * 8.0 * per_node : 0.0;
        const double places = routing_places(&routing, nodes > 1 ? nodes : per_node);
        const double rate = plan.cap_bytes_per_s * places / 8.0 / (1.0 + beside / row_bytes[i % 3]);
        const double error = log(rate / GIGA / rows[i / 3].rates[i % 3]);
        assert_true(fabs(error) < 0.25);
        sums[nodes > 1] += error;
        squares += error * error;
    }
    assert_true(fabs(sums[0] / 18.0) < 1e-3 && fabs(sums[1] / 9.0) < 1e-3);
    assert_true(sqrt(squares / (count - 2.0)) < 0.092);
}

static void make_experts(struct configuration *c, uint64_t ep, const struct dispatch_kind *kind)
{
    struct model_shape *m = &c->model;
    m->moe.experts = 16;
    m->moe.experts_per_token = 4;
    m->moe.groups = 8;
    m->moe.groups_per_token = 4;
    m->moe.ffn_hidden = 64;
    m->layers = 3;
    c->layout.ep = ep;
    c->layout.etp = 1;
    c->layout.experts.imbalance = 1.25;
    c->layout.experts.dispatch = kind;
    assert_true(configuration_legal(c));
}

/* Two exchanges each way for each layer and microbatch, each the time of its collective alone: in a
 * node of 8, and on two nodes of 4. */
static void steps_pay_the_closed_form(void **state)
{
    for (unsigned at = 0; at < 2 * dispatch_kind_count; at++) {
        const struct dispatch_kind *kind = dispatch_kinds[at / 2];
        struct law_setup s;
        struct law_case k = {.level = {[LAW_GPUS] = (uint8_t)(2 - at % 2),
                                       [LAW_DP] = 4,
                                       [LAW_FABRIC] = (uint8_t)(at % 2),
                                       [LAW_SCHEDULE] = 1}};
        struct error error = {""};
        struct step *step;
        struct group_shape shape;
        uint32_t gpus[16];
        assert_true(law_configure(&k, 16, &s));
        const uint32_t ep = (uint32_t)configuration_ranks(&s.c);
        make_experts(&s.c, ep, kind);
        assert_true(step_run(&s.c, &(struct step_options){.threads = 1}, &step, &error));
        for (uint32_t g = 0; g < ep; g++)
            gpus[g] = layout_gpu(&s.c, g);
        collective_shape(&step->topology, gpus, ep, s.c.software.pxn, &shape);
        shape.dispatch = kind;
        shape.routing = configuration_routing(&s.c);
        const enum comm_op op = kind->relays ? COMM_EXPERT_EXCHANGE : COMM_ALL_TO_ALL;
        const double rows = (double)(s.c.training.sequence * s.c.layout.microbatch) * 4.0 * 1.25;
        const double row = 2.0 * (double)s.c.model.hidden;
        const double extra = kind->row_extra_bytes + 4.0 * kind->choice_extra_bytes +
                             kind->expert_extra_bytes * 16.0 / shape.nodes;
        struct collective_plan there, back, map = {.time_s = 0.0};
        collective_tune(op, &shape, rows * (row + extra), &there);
        collective_tune(op, &shape, rows * row, &back);
        const double tokens = (double)(s.c.training.sequence * s.c.layout.microbatch) * ep;
        if (kind->map_bytes > 0.0) /* with the rows, not with their gradients */
            collective_tune(COMM_ALL_GATHER, &shape, tokens * 16.0 * kind->map_bytes, &map);
        assert_true((kind == &dispatch_hybridep) == (map.time_s > 0.0));
        const double expected = 3.0 * (double)configuration_microbatches(&s.c) *
                                (2.0 * (there.time_s + back.time_s) + map.time_s);
        assert_true(shape.nodes == 1 + at % 2);
        print_message("%s, %u nodes: %g of %g s\n", kind->head.name, shape.nodes,
                      step->parts.breakdown_s[PART_EXPOSED_EP], expected);
        assert_true(fabs(step->parts.breakdown_s[PART_EXPOSED_EP] / expected - 1.0) < 1e-9);
        step_destroy(step);
    }
}

/* Room of 1.5 times the mean for 1.25 of it: the host waits no more, memory is that of 1.5, and
 * what is computed and sent that of 1.25. */
static void room_ends_the_wait(void **state)
{
    static struct layer layers[2];
    struct law_setup s;
    struct law_case k = {.level = {[LAW_GPUS] = 2, [LAW_DP] = 4, [LAW_SCHEDULE] = 1}};
    assert_true(law_configure(&k, 16, &s));
    const uint64_t ep = configuration_ranks(&s.c);
    make_experts(&s.c, ep, &dispatch_hybridep);
    double kept[2] = {0.0}, flops[2] = {0.0}, sent[2] = {0.0};
    bool waits[2] = {false, false};
    for (unsigned with = 0; with < 2; with++) {
        struct layer_context c = {.model = &s.c.model,
                                  .software = &s.c.software,
                                  .precision = precision_find("bf16"),
                                  .attention = ATTENTION_FLASH2,
                                  .microbatch = 1,
                                  .sequence = 4096,
                                  .tp = 1,
                                  .cp = 1,
                                  .causal = true,
                                  .experts.ep = ep,
                                  .experts.etp = 1,
                                  .experts.dispatch = &dispatch_hybridep,
                                  .experts.imbalance = 1.25,
                                  .experts.room = with ? 1.5 : 0.0};
        transformer_layer(&c, &layers[with]);
        for (unsigned i = 0; i < layers[with].segment_count; i++) {
            const struct segment *g = &layers[with].segments[i];
            waits[with] = waits[with] || g->host_waits;
            sent[with] += g->transfers.after.bytes + g->transfers.before.bytes;
            for (unsigned n = 0; n < g->forward.count; n++)
                flops[with] += g->forward.kernels[n].flops + g->forward.kernels[n].bytes;
            for (unsigned n = 0; n < g->saved.count; n++)
                if (strcmp(g->saved.tensors[n].name, "expert input") == 0)
                    kept[with] += g->saved.tensors[n].bytes;
        }
    }
    assert_true(waits[0] && !waits[1]);
    assert_true(flops[0] == flops[1] && sent[0] == sent[1]);
    assert_true(kept[1] == 1.5 * 4096.0 * 4.0 * 2.0 * (double)s.c.model.hidden);
    assert_true(kept[0] == kept[1] * 1.25 / 1.5);
    s.c.layout.experts.dispatch_options.value[0] = 1.2;
    assert_false(configuration_legal(&s.c));
    s.c.layout.experts.dispatch_options.value[0] = 1.25;
    assert_true(configuration_legal(&s.c));
    assert_true(configuration_expert_room(&s.c) == 1.25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reach_is_enumerated),       cmocka_unit_test(places_of_deepseek),
        cmocka_unit_test(rows_arrive_once),          cmocka_unit_test(limits_cut_what_crosses),
        cmocka_unit_test(deepep_has_its_rates),      cmocka_unit_test(hybridep_has_its_rates),
        cmocka_unit_test(steps_pay_the_closed_form), cmocka_unit_test(room_ends_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
