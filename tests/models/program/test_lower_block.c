/* Pieces of a block: what they last on the GPU and on the host, worked out on paper; and which op
 * ends a pass. */
#include <math.h>

#include "models/lower/stage/lower_ops.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

static const double launch_s = 2.0, tensor_host_s = 8.0;

/* A kernel lasts a second for each byte, and for each multiprocessor that it does not get. */
static bool by_bytes(const struct kernel_profile *profile, const struct gpu_spec *gpu,
                     const struct kernel *kernel, struct kernel_time *out)
{
    (void)profile;
    (void)gpu;
    *out = (struct kernel_time){kernel->bytes + kernel->taken_sms, KERNEL_MEASURED, 0};
    return true;
}

static void near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-12 * fabs(expected)))
        fail_msg("%.12g, expected %.12g", value, expected);
}

struct scene {
    struct arena *arena;
    struct configuration c;
    struct lowering l;
    struct layer layer;
};

static void begin(struct scene *s)
{
    *s = (struct scene){.arena = arena_create(), .c = lower_case()};
    s->c.kernels.lookup = by_bytes;
    s->l = (struct lowering){.arena = s->arena,
                             .c = &s->c,
                             .costs = {.launch_s = launch_s, .tensor_host_s = tensor_host_s}};
}

/* Those of the configuration, but for the host's time. */
static struct block_costs costs_of(const struct scene *s)
{
    struct block_costs costs = lower_costs_block(&s->c);
    costs.launch_s = s->l.costs.launch_s;
    costs.tensor_host_s = s->l.costs.tensor_host_s;
    return costs;
}

static void compile(const struct scene *s, struct block *block, bool full_recompute)
{
    const struct block_costs costs = costs_of(s);
    const struct block_spec spec = {.c = &s->c,
                                    .costs = &costs,
                                    .layer = &s->layer,
                                    .name = "block",
                                    .full_recompute = full_recompute};
    lower_block_compile(s->arena, &spec, block);
}

/* The parts of a stage that write ops, with nothing to allocate. */
struct writing {
    struct program_writer *w;
    struct labels labels;
    struct tensors tensors;
    struct ops ops;
};

static void begin_writing(struct writing *writing, const struct scene *s)
{
    writing->w = program_begin(s->arena, 0);
    lower_labels_none(&writing->labels);
    lower_tensors_begin(&writing->tensors, &s->l, writing->w, &writing->labels, NULL);
    lower_ops_begin(&writing->ops, &s->l, writing->w, &writing->labels, &writing->tensors);
}

/* 1.2 GB over ports of 300 GB/s inside a node and of 25 GB/s outside: n ranks send (n - 1) / n of
 * it. Tensor ranks are inside where a node holds them, context ranks where it holds both; over
 * PCIe, between bridged cards of a pcie node, nothing is promised. */
static void test_what_a_transfer_takes(void **state)
{
    static const struct {
        uint64_t tp, cp, gpus;
        enum segment_comm comm;
        double nvlink, nic, least_s, bridged; /* bridged: of a pcie node; else an island */
    } rows[] = {
        {2, 1, 8, SEGMENT_TP, 300e9, 25e9, 0.002, 0},  {4, 1, 8, SEGMENT_TP, 300e9, 25e9, 0.003, 0},
        {8, 1, 8, SEGMENT_TP, 300e9, 25e9, 0.0035, 0}, {8, 1, 4, SEGMENT_TP, 300e9, 25e9, 0.042, 0},
        {1, 4, 8, SEGMENT_CP, 300e9, 25e9, 0.003, 0},  {1, 4, 2, SEGMENT_CP, 300e9, 25e9, 0.036, 0},
        {2, 4, 8, SEGMENT_TP, 300e9, 25e9, 0.002, 0},  {2, 4, 8, SEGMENT_CP, 300e9, 25e9, 0.003, 0},
        {4, 4, 8, SEGMENT_TP, 300e9, 25e9, 0.003, 0},  {2, 8, 8, SEGMENT_TP, 300e9, 25e9, 0.002, 0},
        {2, 8, 8, SEGMENT_CP, 300e9, 25e9, 0.042, 0},  {2, 1, 8, SEGMENT_TP, 0, 25e9, 0, 0},
        {8, 1, 4, SEGMENT_TP, 300e9, 0, 0, 0},         {2, 1, 8, SEGMENT_NONE, 300e9, 25e9, 0, 0},
        {2, 1, 8, SEGMENT_TP, 300e9, 25e9, 0.002, 2},  {4, 1, 8, SEGMENT_TP, 300e9, 25e9, 0, 2},
        {2, 2, 8, SEGMENT_TP, 300e9, 25e9, 0.002, 2},  {2, 2, 8, SEGMENT_CP, 300e9, 25e9, 0, 2},
        {2, 2, 8, SEGMENT_CP, 300e9, 25e9, 0.002, 4},  {2, 1, 8, SEGMENT_TP, 300e9, 25e9, 0, 1},
        {4, 1, 2, SEGMENT_TP, 300e9, 25e9, 0.036, 2},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scene s;
        struct block block;
        begin(&s);
        s.c.layout.tp = rows[i].tp;
        s.c.layout.cp = rows[i].cp;
        s.c.cluster.node.gpus = rows[i].gpus;
        if (rows[i].bridged > 0) {
            s.c.cluster.node.kind = &topology_pcie;
            s.c.cluster.node.options = (struct kind_options){.value = {4, rows[i].bridged}};
        }
        s.c.cluster.node.nvlink.bytes_per_s = rows[i].nvlink;
        s.c.cluster.node.nic.bytes_per_s = rows[i].nic;
        s.c.cluster.node.pcie.bytes_per_s = 32e9;
        s.layer.segment_count = 1;
        s.layer.segments[0].name = "segment";
        s.layer.segments[0].transfers.before =
            (struct segment_transfer){rows[i].comm, COMM_ALL_GATHER, 1.2e9};
        compile(&s, &block, false);
        near(block.lists[PIECES_FORWARD].gpu_s, rows[i].least_s);
        near(block.lists[PIECES_BACKWARD].gpu_s, 0.0);
        assert_int_equal(block.lists[PIECES_FORWARD].launches, rows[i].comm != SEGMENT_NONE);
        arena_destroy(s.arena);
    }
}

/* Kernels of 5 s in three launches of 2 s each: the op holds up its own first launch, what follows
 * pays for the two others. A tensor collective costs the host 8 s, one of context a launch. Twice
 * over, the first op of the second time pays for the first time's rest. */
static void test_what_the_host_pays(void **state)
{
    static const struct {
        enum segment_comm before, after;
        double host_s[3], left_s; /* of each piece */
    } rows[] = {
        {SEGMENT_TP, SEGMENT_NONE, {8, 2}, 4},      {SEGMENT_CP, SEGMENT_NONE, {2, 2}, 4},
        {SEGMENT_NONE, SEGMENT_TP, {2, 8 + 4}, 0},  {SEGMENT_NONE, SEGMENT_CP, {2, 2 + 4}, 0},
        {SEGMENT_TP, SEGMENT_CP, {8, 2, 2 + 4}, 0}, {SEGMENT_CP, SEGMENT_TP, {2, 2, 8 + 4}, 0},
    };
    for (unsigned i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        struct scene s;
        struct block block;
        const unsigned row = i / 2, times = i % 2 + 1;
        uint32_t pieces = 1;
        begin(&s);
        pieces += rows[row].before != SEGMENT_NONE;
        pieces += rows[row].after != SEGMENT_NONE;
        s.layer.segment_count = times;
        for (unsigned k = 0; k < times; k++) {
            struct segment *g = &s.layer.segments[k];
            g->name = "segment";
            g->transfers.before = (struct segment_transfer){rows[row].before, COMM_ALL_GATHER, 0.0};
            g->transfers.after =
                (struct segment_transfer){rows[row].after, COMM_REDUCE_SCATTER, 0.0};
            g->forward.count = 2;
            g->forward.kernels[0] = gpu_kernel_memory("first", 2.0, 2.0);
            g->forward.kernels[1] = gpu_kernel_memory("second", 3.0, 1.0);
        }
        compile(&s, &block, false);
        const struct piece_list *list = &block.lists[PIECES_FORWARD];
        double all_s = list->host_left_s;
        assert_int_equal(list->count, times * pieces);
        for (uint32_t k = 0; k < list->count; k++) {
            double rest_s = k == pieces ? rows[row].left_s : 0.0;
            near(list->rows[k].host_s, rows[row].host_s[k % pieces] + rest_s);
            assert_string_equal(list->rows[k].name, "segment");
            all_s += list->rows[k].host_s;
        }
        near(list->host_left_s, rows[row].left_s);
        near(list->host_s, all_s);
        near(list->launches, times * (2.0 + pieces));
        near(list->gpu_s, times * 5.0);
        arena_destroy(s.arena);
    }
}

/* Without a transfer between them, segments are one op: six launches, of which it waits for one. */
static void test_segments_of_one_op(void **state)
{
    struct scene s;
    struct block block;
    begin(&s);
    s.layer.segment_count = 2;
    for (unsigned k = 0; k < 2; k++) {
        struct segment *g = &s.layer.segments[k];
        g->name = k ? "mlp" : "attention";
        g->forward.count = g->dgrad.count = g->wgrad.count = 1;
        g->forward.kernels[0] = gpu_kernel_memory("forward", 5.0, 3.0);
        g->dgrad.kernels[0] = gpu_kernel_memory("dgrad", 6.0, 1.0);
        g->wgrad.kernels[0] = gpu_kernel_memory("wgrad", 7.0, 1.0);
    }
    compile(&s, &block, true);
    const struct {
        const struct piece_list *list;
        double gpu_s, left_s;
        unsigned kernels;
        double kernel_s[4];
    } rows[] = {{&block.lists[PIECES_FORWARD], 10, 10, 2, {5, 5}},
                {&block.lists[PIECES_BACKWARD], 26, 6, 4, {6, 7, 6, 7}},
                {&block.lists[PIECES_RECOMPUTE], 10, 10, 2, {5, 5}}};
    for (unsigned i = 0; i < 3; i++) {
        const struct lowered_piece *piece = &rows[i].list->rows[0];
        assert_int_equal(rows[i].list->count, 1);
        assert_int_equal(piece->kernel_count, rows[i].kernels);
        assert_string_equal(piece->name, "block");
        for (unsigned k = 0; k < rows[i].kernels; k++)
            near(piece->kernels[k].gpu_s, rows[i].kernel_s[k]);
        assert_true(piece->opens == 3 && piece->closes == 3);
        near(piece->cost.gpu_s, rows[i].gpu_s);
        near(rows[i].list->gpu_s, rows[i].gpu_s);
        near(piece->host_s, 2.0);
        near(rows[i].list->host_left_s, rows[i].left_s);
    }
    arena_destroy(s.arena);
}

/* Products of `rows` x 1 by 1 x 1 whose seconds are their bytes, gathered before and scattered
 * after; casts before and between. */
static void pipelined_layer(struct scene *s, double rows)
{
    s->layer.segment_count = 1;
    struct segment *g = &s->layer.segments[0];
    g->name = "mlp";
    g->transfers.pipelined = true;
    g->transfers.before = (struct segment_transfer){SEGMENT_TP, COMM_ALL_GATHER, 64.0};
    g->transfers.after = (struct segment_transfer){SEGMENT_TP, COMM_REDUCE_SCATTER, 96.0};
    g->transfers.backward_before = (struct segment_transfer){SEGMENT_TP, COMM_ALL_GATHER, 32.0};
    const struct kernel product =
        gpu_kernel_gemm("product", PEAK_BF16, (struct gemm_shape){rows, 1, 1, 1}, 2);
    g->forward.count = 4;
    g->forward.kernels[0] = gpu_kernel_memory("cast", 3.0, 1.0);
    g->forward.kernels[1] = g->forward.kernels[3] = product;
    g->forward.kernels[2] = gpu_kernel_memory("activation", 5.0, 1.0);
    g->dgrad.count = 2;
    g->dgrad.kernels[0] = gpu_kernel_memory("cast", 3.0, 1.0);
    g->dgrad.kernels[1] = product;
    s->c.layout.tp = 4;
    s->c.cluster.node.gpus = 8;
    s->c.software.tensor.scatter_splits = 4;
}

/* 8 rows: parts of 2 rows move 2 x 2 + 2 + 2 x 2 = 10 bytes each. Three of four parts run beside
 * the gather, the last after it; the scatter goes beside three parts but for its last quarter. A
 * group that leaves its NVLink domain waits for the whole. */
static void test_pipelined_pieces(void **state)
{
    struct scene s;
    struct block block;
    begin(&s);
    pipelined_layer(&s, 8);
    compile(&s, &block, false);
    static const struct {
        bool transfer, beside;
        double size; /* bytes or seconds */
    } rows[] = {
        {false, false, 3}, {true, true, 64},   {false, false, 30}, {false, false, 10 + 5 + 10},
        {true, true, 72},  {false, false, 30}, {true, false, 24}};
    assert_int_equal(block.lists[PIECES_FORWARD].count, sizeof rows / sizeof rows[0]);
    for (uint32_t i = 0; i < block.lists[PIECES_FORWARD].count; i++) {
        const struct lowered_piece *piece = &block.lists[PIECES_FORWARD].rows[i];
        assert_true((piece->kind == OP_COLLECTIVE) == rows[i].transfer);
        near(rows[i].transfer ? piece->transfer.bytes : piece->cost.gpu_s, rows[i].size);
        assert_true(piece->beside == rows[i].beside);
    }
    assert_true(block.lists[PIECES_FORWARD].rows[0].opens == 1 &&
                block.lists[PIECES_FORWARD].rows[2].opens == 0);
    /* cast, activation, and for each product 4 parts and 3 copies; 3 collectives */
    near(block.lists[PIECES_FORWARD].launches, 2 + 2 * 7 + 3);
    assert_int_equal(block.lists[PIECES_BACKWARD].count, 4);
    assert_true(block.lists[PIECES_BACKWARD].rows[1].kind == OP_COLLECTIVE &&
                block.lists[PIECES_BACKWARD].rows[1].beside);
    near(block.lists[PIECES_BACKWARD].rows[2].cost.gpu_s, 30);
    near(block.lists[PIECES_BACKWARD].rows[3].cost.gpu_s, 10);
    s.c.cluster.node.gpus = 2;
    compile(&s, &block, false);
    assert_int_equal(block.lists[PIECES_FORWARD].count, 3);
    assert_false(block.lists[PIECES_FORWARD].rows[0].beside);
    arena_destroy(s.arena);
}

/* What is gathered again leaves behind the first kernel, beside the product that it was the input
 * of; where that is the first, before it. */
static void test_gathered_again_with_its_product(void **state)
{
    for (unsigned ahead = 0; ahead < 2; ahead++) {
        struct scene s;
        struct block block;
        begin(&s);
        pipelined_layer(&s, 8);
        struct segment *g = &s.layer.segments[0];
        g->transfers.backward_before.comm = SEGMENT_NONE;
        g->transfers.backward_gather = g->transfers.before;
        g->dgrad.kernels[0] = ahead ? g->dgrad.kernels[0] : g->dgrad.kernels[1];
        g->dgrad.count = 1 + ahead;
        g->wgrad = g->dgrad;
        g->wgrad_beside_count = 1;
        compile(&s, &block, false);
        const struct lowered_piece *rows = block.lists[PIECES_BACKWARD].rows;
        assert_int_equal(rows[0].opens, ahead); /* the cast of 3 s */
        assert_true(rows[ahead].kind == OP_COLLECTIVE && rows[ahead].beside);
        near(rows[ahead + 1].cost.gpu_s, 34);
        assert_int_equal(rows[ahead + 1].opens, !ahead);
        arena_destroy(s.arena);
    }
}

/* Plays pieces on a compute and a transfer stream as lower_ops writes them: a transfer starts
 * behind the compute before it; the next compute waits for it, the one after for one beside. */
static double play(const struct piece_list *list, double second_for_byte)
{
    double compute_s = 0.0, wire_s = 0.0, wait_s = 0.0, join_s = 0.0;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct lowered_piece *piece = &list->rows[i];
        if (piece->kind == OP_COLLECTIVE) {
            wire_s =
                fmax(fmax(wire_s, compute_s), wait_s) + piece->transfer.bytes * second_for_byte;
            *(piece->beside ? &join_s : &wait_s) = wire_s;
        } else {
            compute_s = fmax(compute_s, wait_s) + piece->cost.gpu_s;
            wait_s = fmax(wait_s, join_s);
        }
    }
    return fmax(compute_s, wait_s);
}

/* Law: pieces last as long as the parts one by one. A part of the first product waits for its rows
 * and the part before; a part of the second is sent when it is there and the wire is free. */
static void test_pieces_last_as_long_as_parts(void **state)
{
    for (unsigned i = 0; i < 40; i++) {
        struct scene s;
        struct block block;
        const double rows = 4.0 * (1 + i % 7), second_for_byte = 0.05 * (1 + i);
        begin(&s);
        pipelined_layer(&s, rows);
        compile(&s, &block, false);
        const double part_s = (rows / 4 * 2 + 2 + rows / 4 * 2);
        double time_s = 3.0;
        for (unsigned part = 0; part < 4; part++)
            time_s = fmax(time_s, 3.0 + part * 64.0 / 3 * second_for_byte) + part_s;
        double sent_s = time_s += 5.0;
        for (unsigned part = 0; part < 4; part++) {
            time_s += part_s;
            sent_s = fmax(sent_s, time_s) + 24.0 * second_for_byte;
        }
        /* The first of n parts lies there: 64 bytes are the three others. */
        near(play(&block.lists[PIECES_FORWARD], second_for_byte), sent_s);
        arena_destroy(s.arena);
    }
}

/* What is computed again before the backward pass is an op of its own, whose launches the next one
 * pays for; a list's own rest is left to whatever op comes after all of it. */
static void test_rest_of_a_list(void **state)
{
    struct scene s;
    struct block block;
    begin(&s);
    s.c.layout.recompute = RECOMPUTE_SELECTIVE;
    s.layer.segment_count = 1;
    struct segment *g = &s.layer.segments[0];
    g->name = "attention";
    g->core.count = g->dgrad.count = 1;
    g->core.kernels[0] = gpu_kernel_memory("core", 4.0, 3.0);
    g->dgrad.kernels[0] = gpu_kernel_memory("dgrad", 6.0, 2.0);
    compile(&s, &block, false);
    const struct piece_list *list = &block.lists[PIECES_BACKWARD];
    assert_int_equal(list->count, 2);
    assert_true(list->rows[0].phase == PHASE_RECOMPUTE && list->rows[1].phase == PHASE_BACKWARD);
    assert_true(list->rows[0].rebuilds == 1 && list->rows[0].closes == 0);
    near(list->rows[0].cost.gpu_s, 4.0);
    near(list->rows[1].cost.gpu_s, 6.0);
    near(list->rows[0].host_s, 2.0);
    near(list->rows[1].host_s, 2.0 + 4.0);
    near(list->host_left_s, 2.0);
    struct writing writing;
    begin_writing(&writing, &s);
    lower_ops_host(&writing.ops, list->host_left_s);
    lower_ops_host(&writing.ops, list->host_left_s);
    const struct kernel next = gpu_kernel_memory("next", 1.0, 1.0);
    lower_ops_kernel(&writing.ops, &next, PHASE_BACKWARD, 0.0);
    lower_ops_kernel(&writing.ops, &next, PHASE_BACKWARD, 0.0);
    const struct program *p = program_end(writing.w);
    near(p->hosts[p->ops[0].host], 2.0 + 2.0 + launch_s);
    near(p->hosts[p->ops[1].host], launch_s);
    arena_destroy(s.arena);
}

/* Three ops stand already: 1 computes, 2 and 3 are transfers. A pass ends with the one op that is
 * waited for, transfers beside compute among them; without any with the last that computed; with an
 * empty op that waits for all where there are several, or nothing at all. */
static void test_what_ends_a_pass(void **state)
{
    static const struct {
        struct waits waits, joining;
        uint32_t last, result, wait[2]; /* result 4: the empty op, with its waits */
    } rows[] = {
        {{{1}, 1}, {{0}, 0}, 1, 1, {0}},
        {{{2}, 1}, {{0}, 0}, 1, 2, {0}},
        {{{0}, 0}, {{0}, 0}, 1, 1, {0}},
        {{{0}, 0}, {{3}, 1}, 1, 3, {0}},
        {{{2}, 1}, {{2}, 1}, 1, 2, {0}},
        {{{2, 3}, 2}, {{0}, 0}, 1, 4, {2, 3}},
        {{{2}, 1}, {{3}, 1}, 1, 4, {2, 3}},
        {{{0}, 0}, {{2, 3}, 2}, 1, 4, {2, 3}},
        {{{0}, 0}, {{0}, 0}, OP_NONE, 4, {OP_NONE, OP_NONE}},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct scene s;
        begin(&s);
        struct writing writing;
        begin_writing(&writing, &s);
        struct program_writer *w = writing.w;
        struct ops *ops = &writing.ops;
        const struct op_cost second = {.gpu_s = 1.0};
        program_op(w, (struct op){.kind = OP_COMPUTE,
                                  .cost = program_cost(w, &second, NULL, 0),
                                  .name = (uint16_t)program_name(w, "compute"),
                                  .host = program_host(w, 1.0)});
        lower_ops_transfer(ops, STREAM_DP, (struct transfer){COMM_ALL_REDUCE, 8.0}, PHASE_BACKWARD,
                           "first", 1);
        lower_ops_transfer(ops, STREAM_DP, (struct transfer){COMM_ALL_REDUCE, 8.0}, PHASE_BACKWARD,
                           "second", 1);
        ops->pending.waits = rows[i].waits;
        ops->pending.joining = rows[i].joining;
        ops->pending.last = rows[i].last;
        assert_int_equal(lower_ops_result(ops), rows[i].result);
        assert_true(ops->pending.waits.count == 0 && ops->pending.joining.count == 0);
        const struct program *p = program_end(w);
        assert_int_equal(p->op_count, rows[i].result == 4 ? 4 : 3);
        if (rows[i].result == 4) {
            const struct op *join = &p->ops[3];
            assert_true(join->kind == OP_COMPUTE && join->stream == STREAM_COMPUTE);
            assert_true(join->wait[0] == rows[i].wait[0] && join->wait[1] == rows[i].wait[1]);
            assert_true(p->costs[join->cost].gpu_s == 0.0 && p->hosts[join->host] == 0.0);
            assert_string_equal(p->names[join->name], "join");
            assert_int_equal(ops->pending.last, 4);
        }
        arena_destroy(s.arena);
    }
}

/* Rows of experts are exchanged beside the kernels of one segment, of 3 s forward and 5 s backward,
 * which lack DeepEP's 20 multiprocessors as long; those of the segments around it do not. */
static void test_kernels_beside_an_exchange(void **state)
{
    for (unsigned split = 0; split < 2; split++) {
        struct scene s;
        struct block block;
        begin(&s);
        s.c.layout.experts.dispatch = &dispatch_deepep;
        s.layer.segment_count = 3;
        for (unsigned i = 0; i < 3; i++) {
            struct segment *g = &s.layer.segments[i];
            g->name = "segment";
            g->forward.count = g->dgrad.count = 1;
            g->forward.kernels[0] = gpu_kernel_memory("forward", 3.0, 1.0);
            g->dgrad.kernels[0] = gpu_kernel_memory("dgrad", 5.0, 1.0);
        }
        s.layer.segments[1].transfers.exchange = s.layer.segments[1].transfers.backward_exchange =
            (struct segment_transfer){SEGMENT_EP, COMM_ALL_TO_ALL, 1.0};
        const struct block_costs costs = costs_of(&s);
        const struct block_spec spec = {
            .c = &s.c, .costs = &costs, .layer = &s.layer, .name = "block", .splits = split == 1};
        lower_block_compile(s.arena, &spec, &block);
        const struct piece_list *lists[] = {&block.lists[PIECES_FORWARD],
                                            split == 1 ? &block.lists[PIECES_INPUT]
                                                       : &block.lists[PIECES_BACKWARD]};
        for (unsigned way = 0; way < 2; way++) {
            const struct piece_list *list = lists[way];
            const double each = way == 0 ? 3.0 : 5.0;
            assert_int_equal(list->count, 4);
            near(list->rows[0].cost.gpu_s, each);
            assert_true(list->rows[1].stream == STREAM_EP && list->rows[1].beside);
            near(list->rows[2].cost.gpu_s, each + 20.0);
            near(list->rows[3].cost.gpu_s, each);
        }
        arena_destroy(s.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_a_transfer_takes),
        cmocka_unit_test(test_what_the_host_pays),
        cmocka_unit_test(test_segments_of_one_op),
        cmocka_unit_test(test_rest_of_a_list),
        cmocka_unit_test(test_what_ends_a_pass),
        cmocka_unit_test(test_pipelined_pieces),
        cmocka_unit_test(test_gathered_again_with_its_product),
        cmocka_unit_test(test_pieces_last_as_long_as_parts),
        cmocka_unit_test(test_kernels_beside_an_exchange),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
