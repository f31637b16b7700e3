/* What the host of a stage pays: its time is linear in each figure of the software, and what it
 * grows by for a second of it is how often that figure is met, counted on paper. And what tensor
 * parallelism slows. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/lower/plan/lower_capture.h"
#include "models/lower/stage/lower.h"
#include "models/schedule/schedule_kind.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"

enum {
    MICROBATCHES = 8
};

static struct configuration job(uint64_t tp, uint64_t dp, uint64_t pp, uint64_t chunks)
{
    struct configuration c = lower_case();
    lower_case_size(&c, tp, 1, dp, pp, MICROBATCHES);
    c.model.layers = 16;
    c.layout.pipeline.vpp = chunks;
    c.layout.pipeline.schedule = chunks > 1 ? &schedule_interleaved : &schedule_one_f_one_b;
    c.software.pipeline.scatter = true; /* messages are gathered again, at a launch each */
    assert_int_equal(lower_case_errors(&c), 0);
    return c;
}

static double host_s(const struct program *p)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++)
        sum += p->hosts[p->ops[i].host];
    return sum;
}

/* By how much the host's time of a stage grows for each second of the figure at `at`. */
static double met(const struct configuration *c, size_t at, uint32_t stage)
{
    double host[2];
    for (unsigned k = 0; k < 2; k++) {
        struct arena *arena = arena_create();
        struct configuration with = *c;
        *(double *)((char *)&with.software + at) += k;
        host[k] = host_s(lower_stage(arena, &with, stage));
        arena_destroy(arena);
    }
    return host[1] - host[0];
}

static unsigned tensor_collectives(const struct configuration *c, uint32_t stage)
{
    struct arena *arena = arena_create();
    const struct program *p = lower_stage(arena, c, stage);
    unsigned count = 0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        count += op->stream == STREAM_TP && strcmp(p->names[op->name], "gather message") != 0;
    }
    arena_destroy(arena);
    return count;
}

#define FIELD(field) offsetof(struct software_profile, field)
#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-6)

/* Passes, microbatches fetched by the first chunk of the first stage, messages of a stage with one
 * or two neighbours, the update, collectives of tensor ranks. */
static void test_how_often(void **state)
{
    static const struct {
        uint64_t tp, dp, pp, chunks;
        const char *order;
    } cases[] = {
        {1, 1, 1, 1, "tp-cp-dp-pp"}, {4, 1, 4, 1, "tp-cp-dp-pp"}, {2, 2, 4, 1, "tp-cp-pp-dp"},
        {2, 1, 8, 1, "tp-cp-dp-pp"}, {2, 2, 4, 2, "tp-cp-dp-pp"}, {2, 1, 2, 4, "tp-cp-dp-pp"},
        {8, 1, 1, 1, "tp-cp-dp-pp"}, {8, 1, 2, 1, "tp-cp-dp-pp"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct configuration c = job(cases[i].tp, cases[i].dp, cases[i].pp, cases[i].chunks);
        c.layout.order = cases[i].order;
        for (uint32_t stage = 0; stage < cases[i].pp; stage++) {
            double passes = 2.0 * MICROBATCHES * (double)cases[i].chunks;
            bool first = stage == 0, last = stage + 1 == cases[i].pp;
            /* Forward and backward pass every boundary of chunks once; either side pays. */
            double ends = 2.0 * (double)cases[i].chunks - first - last;
            double tensor = tensor_collectives(&c, stage);
            NEAR(met(&c, FIELD(host.pass_s), stage), passes);
            NEAR(met(&c, FIELD(host.data_s), stage), first ? MICROBATCHES : 0.0);
            NEAR(met(&c, FIELD(host.optimizer_s), stage), 1.0);
            NEAR(met(&c, FIELD(pipeline.sync_s), stage),
                 cases[i].pp == 1 ? 0.0 : 2.0 * MICROBATCHES * ends);
            NEAR(met(&c, FIELD(tensor.exposed_host_s), stage), tensor);
            assert_true(cases[i].tp == 1 ? tensor == 0.0 : tensor >= passes);
        }
    }
}

/* Every kernel and every transfer is launched, once; the gradient of the embedding is cleared
 * first. */
static void test_launches(void **state)
{
    static const uint64_t shapes[][4] = {
        {1, 1, 1, 1}, {2, 2, 1, 1}, {1, 1, 4, 1}, {2, 2, 4, 1}, {2, 1, 2, 4}};
    for (unsigned i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct configuration c = job(shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3]);
        for (uint32_t stage = 0; stage < shapes[i][2]; stage++) {
            struct arena *arena = arena_create();
            const struct program *p = lower_stage(arena, &c, stage);
            double launched = 0.0;
            for (uint32_t k = 0; k < p->op_count; k++) {
                const struct op *op = &p->ops[k];
                launched += op->kind == OP_COMPUTE ? p->costs[op->cost].kernel_count : 1.0;
                launched +=
                    op->phase == PHASE_BACKWARD && strcmp(p->names[op->name], "embedding") == 0;
            }
            NEAR(met(&c, FIELD(host.launch_s), stage), launched);
            arena_destroy(arena);
        }
    }
}

/* A launch takes longer for every doubling of tp; so does all that is made of launches alone. */
static void test_growth_of_launches(void **state)
{
    for (uint64_t tp = 1; tp <= 8; tp *= 2) {
        struct configuration c = job(tp, 1, 2, 1);
        double launches = met(&c, FIELD(host.launch_s), 0);
        assert_true(launches > 100.0 && fabs(launches - round(launches)) < 1e-6);
        c.software.host.launch_tp_growth = 0.25;
        NEAR(met(&c, FIELD(host.launch_s), 0), launches * (1.0 + 0.25 * log2((double)tp)));
        c.software.host.launch_s = 2.0;
        NEAR(met(&c, FIELD(host.launch_tp_growth), 0), 2.0 * launches * log2((double)tp));
    }
}

/* On a slower CPU all that the host does takes as many times longer; what the GPU does, as long. */
static void test_slower_hosts(void **state)
{
    static const size_t figures[] = {FIELD(host.launch_s),         FIELD(host.pass_s),
                                     FIELD(host.optimizer_s),      FIELD(host.data_s),
                                     FIELD(tensor.exposed_host_s), FIELD(pipeline.sync_s)};
    struct configuration c = job(2, 2, 2, 1), slow = c;
    slow.cluster.node.host.slowdown_ratio = 2.5;
    for (unsigned i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const double times = met(&c, figures[i], 0);
        assert_true(times > 0.5);
        NEAR(met(&slow, figures[i], 0), 2.5 * times);
    }
    struct arena *arena = arena_create();
    NEAR(host_s(lower_stage(arena, &slow, 1)), 2.5 * host_s(lower_stage(arena, &c, 1)));
    arena_destroy(arena);
}

/* The host waits for exchanges of 1f1b that block, where the software says so; never for those of
 * chunks. */
static void test_host_waits_for_exchanges(void **state)
{
    for (unsigned k = 0; k < 8; k++) {
        const bool waits = k & 1, chunks = k & 2, blocks = k & 4;
        struct configuration c = job(1, 1, 2, chunks ? 2 : 1);
        c.software.pipeline.host_wait = waits;
        c.software.pipeline.blocking = c.software.pipeline.blocking_interleaved = blocks;
        struct arena *arena = arena_create();
        const struct program *p = lower_stage(arena, &c, 1);
        unsigned syncs = 0;
        for (uint32_t i = 0; i < p->op_count; i++)
            syncs += (p->ops[i].flags & OP_HOST_SYNC) != 0;
        assert_int_equal(syncs > 0, waits && blocks && !chunks);
        arena_destroy(arena);
    }
}

/* Activations go forward, from the stage before to the one behind; gradients come back. */
static void test_names_of_messages(void **state)
{
    static const struct {
        const char *name;
        enum op_kind kind;
        enum stream stream;
        enum phase phase;
        bool first, last; /* does the first stage have it, and the last? */
    } messages[] = {
        {"receive activations", OP_RECV, STREAM_RECV_PREV, PHASE_FORWARD, false, true},
        {"send activations", OP_SEND, STREAM_SEND_NEXT, PHASE_FORWARD, true, false},
        {"receive gradients", OP_RECV, STREAM_RECV_NEXT, PHASE_BACKWARD, true, false},
        {"send gradients", OP_SEND, STREAM_SEND_PREV, PHASE_BACKWARD, false, true},
    };
    struct configuration c = job(1, 1, 4, 1);
    struct arena *arena = arena_create();
    for (uint32_t stage = 0; stage < 4; stage++) {
        const struct program *p = lower_stage(arena, &c, stage);
        for (unsigned m = 0; m < 4; m++) {
            unsigned count = 0;
            for (uint32_t i = 0; i < p->op_count; i++) {
                const struct op *op = &p->ops[i];
                if (strcmp(p->names[op->name], messages[m].name) == 0) {
                    assert_int_equal(op->kind, messages[m].kind);
                    assert_int_equal(op->stream, messages[m].stream);
                    assert_int_equal(op->phase, messages[m].phase);
                    assert_int_equal(op->microbatch, count++);
                }
            }
            const bool has = stage == 0 ? messages[m].first : stage == 3 ? messages[m].last : true;
            assert_int_equal(count, has ? MICROBATCHES : 0);
        }
    }
    arena_destroy(arena);
}

/* Words of the language, and what is none. */
static void test_words_of_graphs(void **state)
{
    static const struct {
        const char *text;
        unsigned modules;
    } good[] = {{NULL, 0},
                {"none", 0},
                {"attn", GRAPH_ATTENTION},
                {"mlp", GRAPH_MLP},
                {"moe", GRAPH_EXPERTS | GRAPH_ROUTER | GRAPH_PREPROCESS},
                {"moe_router", GRAPH_ROUTER},
                {"moe_preprocess", GRAPH_PREPROCESS},
                {"moe_router+moe_preprocess", GRAPH_ROUTER | GRAPH_PREPROCESS},
                {"attn+mlp+attn", GRAPH_ATTENTION | GRAPH_MLP},
                {"layer", GRAPH_LAYER},
                {"on", GRAPH_LAYER},
                {"full", GRAPH_LAYER | GRAPH_ITERATION}};
    static const char *const bad[] = {"",         "attn+", "+attn", "attn+full",
                                      "none+mlp", "Attn",  "att",   "attn mlp"};
    unsigned modules;
    for (unsigned i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(software_graphs(good[i].text, &modules));
        assert_int_equal(modules, good[i].modules);
    }
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(software_graphs(bad[i], &modules));
}

/* Any two words are joined but for those that name a whole layer, step or nothing at all, in either
 * order, and mean the modules of both. */
static void test_joined_words_of_graphs(void **state)
{
    static const char *const words[] = {"none", "full",       "layer",         "on", "attn", "mlp",
                                        "moe",  "moe_router", "moe_preprocess"};
    static const unsigned first_joined = 4;
    const unsigned count = sizeof words / sizeof words[0];
    for (unsigned i = 0; i < count * count; i++) {
        const char *a = words[i / count], *b = words[i % count];
        char text[64];
        unsigned of_a, of_b, of_both;
        snprintf(text, sizeof text, "%s+%s", a, b);
        assert_true(software_graphs(a, &of_a) && software_graphs(b, &of_b));
        const bool joined = software_graphs(text, &of_both);
        if (joined != (i / count >= first_joined && i % count >= first_joined))
            fail_msg("%s is %s", text, joined ? "taken" : "refused");
        if (joined)
            assert_int_equal(of_both, of_a | of_b);
    }
}

/* Launches of one layer more, in all microbatches, when these modules are captured. */
static double launches_of_a_layer(struct configuration c, const char *modules)
{
    c.software.graphs.modules = modules;
    assert_int_equal(lower_case_errors(&c), 0);
    struct configuration more = c;
    more.model.layers++;
    return met(&more, FIELD(host.launch_s), 0) - met(&c, FIELD(host.launch_s), 0);
}

/* A captured stretch takes one launch, where it begins, whatever it holds and whichever tensor
 * collectives are in it: a layer one in each pass. Attention and feed-forward block captured apart
 * spare what both together do, but that the two graphs begin apart. */
static void test_captured_stretches(void **state)
{
    for (uint64_t tp = 1; tp <= 4; tp *= 2)
        for (unsigned sequence = 0; sequence < (tp > 1 ? 2 : 1); sequence++) {
            struct configuration c = job(tp, 1, 1, 1);
            c.layout.sequence_parallel = sequence;
            const double passes = 2 * MICROBATCHES;
            const double none = launches_of_a_layer(c, "none");
            const double attention = launches_of_a_layer(c, "attn");
            const double block = launches_of_a_layer(c, "mlp");
            assert_true(none > 5 * passes && attention > passes && block > passes);
            NEAR(launches_of_a_layer(c, "layer"), passes);
            NEAR(launches_of_a_layer(c, "attn+mlp"), passes);
            NEAR(attention + block, none + 2 * passes);
            NEAR(launches_of_a_layer(c, "full"), 0.0);
        }
}

/* A graph takes a whole launch, though its first kernel takes half a one in the mean, or none. */
static void test_graphs_of_fused_kernels(void **state)
{
    struct configuration c = job(1, 1, 1, 1);
    const double passes = 2 * MICROBATCHES;
    for (unsigned i = 0; i < 3; i++) {
        c.software.block.residual_launches = c.software.block.norm_launches = 0.5 * i;
        NEAR(launches_of_a_layer(c, "layer"), passes);
        NEAR(launches_of_a_layer(c, "attn") + launches_of_a_layer(c, "mlp"),
             launches_of_a_layer(c, "none") + 2 * passes);
    }
}

/* What is not launched begins no graph: the one launch is at the first kernel that is. */
static void test_graph_begins_where_it_is_launched(void **state)
{
    struct capture c = {.graphs = GRAPH_MLP};
    lower_capture_begin(&c);
    lower_capture_enter(&c, GRAPH_MLP);
    NEAR(lower_capture_launches(&c, 0.0, false), 0.0);
    NEAR(lower_capture_launches(&c, 3.0, false), 1.0);
    NEAR(lower_capture_launches(&c, 3.0, false), 0.0);
}

/* Each pass has a graph of its own: recomputation, and where the backward pass is split its two
 * halves. */
static void test_graphs_of_more_passes(void **state)
{
    struct configuration c = job(1, 1, 1, 1);
    lower_case_recompute(&c, RECOMPUTE_FULL);
    NEAR(launches_of_a_layer(c, "layer"), 3 * MICROBATCHES);
    lower_case_recompute(&c, RECOMPUTE_MODULES);
    NEAR(launches_of_a_layer(c, "layer"), 3 * MICROBATCHES);
    struct configuration split = job(1, 1, 2, 1), more;
    split.layout.pipeline.schedule = &schedule_zb_h1;
    split.software.graphs.modules = "layer";
    assert_int_equal(lower_case_errors(&split), 0);
    more = split;
    more.model.layers += 2;
    NEAR(met(&more, FIELD(host.launch_s), 0) - met(&split, FIELD(host.launch_s), 0),
         3 * MICROBATCHES);
}

/* What is recomputed stands in the graph of its module, and a gather that runs by parts with the
 * product that it feeds. */
static void test_graphs_of_other_layers(void **state)
{
    struct configuration c = job(2, 1, 1, 1);
    const double passes = 2 * MICROBATCHES;
    lower_case_recompute(&c, RECOMPUTE_SELECTIVE);
    const double core = launches_of_a_layer(c, "none");
    const double kept = launches_of_a_layer(c, "attn");
    lower_case_recompute(&c, RECOMPUTE_NONE);
    assert_true(core > launches_of_a_layer(c, "none"));
    NEAR(kept, launches_of_a_layer(c, "attn")); /* no launch of its own */
    c.layout.sequence_parallel = true;
    c.software.tensor.pipelines = true;
    c.software.tensor.scatter_splits = 2;
    NEAR(launches_of_a_layer(c, "attn+mlp"), passes);
    NEAR(launches_of_a_layer(c, "attn") + launches_of_a_layer(c, "mlp"),
         launches_of_a_layer(c, "none") + 2 * passes);
}

/* One graph of a whole step: the host pays the data of each microbatch and the update alone. */
static void test_whole_step_in_a_graph(void **state)
{
    for (unsigned pipeline = 0; pipeline < 2; pipeline++) {
        struct configuration c = pipeline ? job(2, 2, 2, 1) : job(1, 2, 1, 1), none = c;
        c.software.graphs.modules = "full";
        assert_int_equal(lower_case_errors(&c), 0);
        NEAR(met(&c, FIELD(host.pass_s), 0), 0.0);
        NEAR(met(&c, FIELD(pipeline.sync_s), 0), 0.0);
        NEAR(met(&c, FIELD(tensor.exposed_host_s), 0), 0.0);
        NEAR(met(&c, FIELD(host.data_s), 0), MICROBATCHES);
        NEAR(met(&c, FIELD(host.optimizer_s), 0), 1.0);
        struct arena *arena = arena_create();
        const struct program *p = lower_stage(arena, &none, 0);
        double update = 0.0;
        for (uint32_t i = 0; i < p->op_count; i++)
            update += p->ops[i].kind == OP_COMPUTE && p->ops[i].stream == STREAM_COMPUTE &&
                              p->ops[i].phase == PHASE_OPTIMIZER
                          ? p->costs[p->ops[i].cost].kernel_count
                          : 0;
        arena_destroy(arena);
        NEAR(met(&c, FIELD(host.launch_s), 0), update);
    }
}

/* Dropless experts whose host waits are outside of every graph, and the rule says so; the router's
 * kernels are not. */
static void test_graphs_of_experts(void **state)
{
    struct configuration c = job(1, 2, 1, 1);
    c.model.moe.experts = 4;
    c.model.moe.experts_per_token = 2;
    c.model.moe.ffn_hidden = 64;
    c.layout.ep = 2;
    c.software.data.bucket_bytes = 1e12; /* one, however many layers */
    assert_int_equal(lower_case_errors(&c), 0);
    for (const char *const *word = (const char *const[]){"full", "layer", "moe", NULL}; *word;
         word++) {
        c.software.graphs.modules = *word;
        assert_true(lower_case_breaks(&c, "software.cuda_graphs", false));
    }
    c.software.graphs.modules = "moe_router+expert";
    assert_true(lower_case_breaks(&c, "software.cuda_graphs", false));
    c.software.graphs.modules = "moe_preprocess"; /* as in Megatron, behind the router alone */
    assert_true(lower_case_breaks(&c, "software.cuda_graphs", false));
    const double passes = 2 * MICROBATCHES;
    const double none = launches_of_a_layer(c, "none"),
                 router = launches_of_a_layer(c, "moe_router"),
                 counts = launches_of_a_layer(c, "moe_router+moe_preprocess");
    /* Ten kernels choose, and ten go back; the scores are a product and its two gradients; a norm
     * stands before them; each way one launch is left. The copy of rows, one kernel, joins them. */
    NEAR(none - router, (2 * 10 + 3 + 2 * c.software.block.norm_launches) * MICROBATCHES - passes);
    NEAR(router - counts, passes);
    c.layout.experts.capacity = 1.0;
    NEAR(launches_of_a_layer(c, "layer"), passes);
    NEAR(launches_of_a_layer(c, "full"), 0.0);
    NEAR(launches_of_a_layer(c, "attn+moe"), passes);
    const double both = launches_of_a_layer(c, "attn+moe_router+moe_preprocess");
    const double attention = launches_of_a_layer(c, "attn");
    const double dropping = launches_of_a_layer(c, "none");
    assert_true(attention < dropping - 2 * passes);
    /* One graph where both are captured; the exchanges and the experts stay. */
    NEAR(dropping - both, (dropping - attention) +
                              (dropping - launches_of_a_layer(c, "moe_router+moe_preprocess")) +
                              passes);
    assert_true(both > 3 * passes);
}

/* Shared experts are in the graph of the router, where they run before the exchange; beside it they
 * are part of what the whole block captures. No graph of a dense block is theirs. */
static void test_graphs_of_shared_experts(void **state)
{
    static const char routed[] = "moe_router+moe_preprocess";
    struct configuration c = job(1, 2, 1, 1);
    c.model.moe.experts = 4;
    c.model.moe.experts_per_token = 2;
    c.model.moe.ffn_hidden = 64;
    c.layout.ep = 2;
    c.layout.experts.capacity = 1.0;
    c.software.data.bucket_bytes = 1e12;
    const double without = launches_of_a_layer(c, routed), whole = launches_of_a_layer(c, "moe");
    const double none = launches_of_a_layer(c, "none");
    c.model.moe.shared_experts = 1;
    const double shared = launches_of_a_layer(c, "none") - none;
    NEAR(shared, 8 * MICROBATCHES); /* two products and an activation, forward and back */
    NEAR(launches_of_a_layer(c, routed), without);
    NEAR(launches_of_a_layer(c, "mlp"), none + shared);
    c.software.experts.shared_overlap = true;
    NEAR(launches_of_a_layer(c, "none"), none + shared);
    NEAR(launches_of_a_layer(c, routed), without + shared);
    NEAR(launches_of_a_layer(c, "moe"), whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_how_often),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_growth_of_launches),
        cmocka_unit_test(test_words_of_graphs),
        cmocka_unit_test(test_joined_words_of_graphs),
        cmocka_unit_test(test_captured_stretches),
        cmocka_unit_test(test_graphs_of_fused_kernels),
        cmocka_unit_test(test_graph_begins_where_it_is_launched),
        cmocka_unit_test(test_graphs_of_more_passes),
        cmocka_unit_test(test_whole_step_in_a_graph),
        cmocka_unit_test(test_graphs_of_other_layers),
        cmocka_unit_test(test_graphs_of_experts),
        cmocka_unit_test(test_graphs_of_shared_experts),
        cmocka_unit_test(test_slower_hosts),
        cmocka_unit_test(test_host_waits_for_exchanges),
        cmocka_unit_test(test_names_of_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
