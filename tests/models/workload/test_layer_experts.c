/* What surrounds the products of experts, and adapters of projections that are kept apart: every
 * byte by hand, for each way of dispatch, of splitting an expert and of uneven choices. */
#include "models/workload/transformer_piece.h"
#include "tests/models/workload/expert_rows.h"

/* Kernels of that name: each moves so many bytes, and there are so many of them. */
static void check_moves(const struct layer *layer, const char *name, unsigned count, double bytes)
{
    unsigned found = 0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        const struct kernel *lists[] = {s->forward.kernels, s->dgrad.kernels};
        const unsigned counts[] = {s->forward.count, s->dgrad.count};
        for (unsigned list = 0; list < 2; list++)
            for (unsigned k = 0; k < counts[list]; k++)
                if (strcmp(lists[list][k].name, name) == 0) {
                    if (!near(lists[list][k].bytes, bytes) || lists[list][k].launches != 1.0)
                        fail_msg("%s: %g bytes, not %g", name, lists[list][k].bytes, bytes);
                    found++;
                }
    }
    if (found != count)
        fail_msg("%s: %u kernels, not %u", name, found, count);
}

/* Permute reads a token and writes a row for each choice, unpermute the other way round; sorting
 * reads what came and writes what is computed, and back; the gradients are each other's forward. */
static void rows_are_moved_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(cases); i++) {
        const struct expert_case *k = &cases[i];
        struct bench b;
        set_case(&b, k, true);
        const bool once = k->crossed > 0.0;
        const double copied = (k->tokens + k->left) * 16.0;
        const double sorted = ((once ? k->crossed : k->computed) + k->computed) * 16.0;
        check_moves(&b.layer, "permute", once ? 0 : 1, copied);
        check_moves(&b.layer, "unpermute", once ? 0 : 1, copied);
        check_moves(&b.layer, "permute gradient", once ? 0 : 1, copied);
        check_moves(&b.layer, "unpermute gradient", once ? 0 : 1, copied);
        check_moves(&b.layer, "sort by expert", k->sorts ? 2 : 0, sorted);
        check_moves(&b.layer, "sort by source", k->sorts ? 2 : 0, sorted);
    }
}

/* Bytes and launches of the memory kernels of this name in both passes. */
static double moved(const struct layer *layer, const char *name, unsigned *count)
{
    double bytes = 0.0;
    *count = 0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment_kernels *lists[] = {&layer->segments[i].forward,
                                                 &layer->segments[i].dgrad};
        for (unsigned list = 0; list < 2; list++)
            for (unsigned k = 0; k < lists[list]->count; k++)
                if (strcmp(lists[list]->kernels[k].name, name) == 0) {
                    bytes += lists[list]->kernels[k].bytes;
                    ++*count;
                }
    }
    return bytes;
}

/* Grouped products that end in the activation and its casts: no kernel of the activation, forward
 * or back, no cast of what goes into down forward (rows x inner, read in 2 bytes, written in two
 * copies of 1) nor of what comes out of its gradient (rows x 2 inner); those of the tokens and of
 * the last gradient stay. In 16 bits nothing changes. */
static void fused_products_cast_their_own(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct bench plain, fused;
        unsigned before, after;
        narrow_case(&plain, &cases[i]);
        narrow_case(&fused, &cases[i]);
        fused.software.experts.fused_mlp = true;
        transformer_layer(&fused.context, &fused.layer);
        const double inner = cases[i].computed * 16.0 / (double)cases[i].etp;
        const double forward =
            moved(&plain.layer, "fp8 cast", &before) - moved(&fused.layer, "fp8 cast", &after);
        assert_int_equal(before - after, 1);
        const double wide = 2.0 + 2.0; /* a read of 16 bits, two copies of 8 */
        assert_true(forward >= inner * wide * 0.999);
        const double backward = moved(&plain.layer, "fp8 cast gradient", &before) -
                                moved(&fused.layer, "fp8 cast gradient", &after);
        assert_int_equal(before - after, 1);
        assert_true(near(backward, 2.0 * forward));
        moved(&plain.layer, "activation", &before);
        moved(&fused.layer, "activation", &after);
        assert_true(before == 1 && after == 0);
        moved(&fused.layer, "activation gradient", &after);
        assert_int_equal(after, 0);
        fused.context.precision = precision_find("bf16");
        transformer_layer(&fused.context, &fused.layer);
        moved(&fused.layer, "activation", &after);
        assert_int_equal(after, 1);
    }
}

/* Sixteen tokens; queries of 8, keys and values of 4 each, an output of 8: read in 16 bits, written
 * in eight, once; and both passes of the core run at the 8-bit peak. In 16 bits none of it is. */
static void attention_in_eight_bits(void **state)
{
    (void)state;
    struct bench b;
    unsigned count;
    bench_llama(&b);
    b.software.fp8.attention = true;
    for (unsigned narrow = 0; narrow < 2; narrow++) {
        b.context.precision = precision_find(narrow ? "fp8" : "bf16");
        b.context.fp8_recipe = FP8_MX;
        transformer_layer(&b.context, &b.layer);
        assert_true(near(1.0 + moved(&b.layer, "fp8 cast attention", &count),
                         1.0 + narrow * 16 * 16 * 3.0));
        assert_int_equal(count, narrow);
        assert_true(near(1.0 + moved(&b.layer, "fp8 cast attention gradient", &count),
                         1.0 + narrow * 16 * 8 * 3.0));
        assert_int_equal(count, narrow);
        for (unsigned i = 0; i < b.layer.segment_count; i++) {
            const struct segment_kernels *lists[] = {&b.layer.segments[i].forward,
                                                     &b.layer.segments[i].dgrad};
            for (unsigned list = 0; list < 2; list++)
                for (unsigned k = 0; k < lists[list]->count; k++)
                    if (lists[list]->kernels[k].kind == KERNEL_ATTENTION)
                        assert_int_equal(lists[list]->kernels[k].peak,
                                         narrow ? PEAK_FP8 : PEAK_BF16);
        }
    }
}

/* Room for more rows than come is kept for the backward pass, or, paged, the rows that came. What
 * is live while a segment runs is the room in either case. */
static void pages_keep_the_rows_that_came(void **state)
{
    (void)state;
    static const char *const names[] = {"expert input", "expert activation input",
                                        "expert activation output"};
    struct bench none, room, paged;
    set_case(&none, &cases[1], true);
    set_case(&room, &cases[1], true);
    room.context.experts.room = 1.5;
    paged = room;
    paged.software.experts.paged_stash = true;
    paged.context.model = &paged.model;
    paged.context.software = &paged.software;
    room.context.model = &room.model;
    room.context.software = &room.software;
    transformer_layer(&room.context, &room.layer);
    transformer_layer(&paged.context, &paged.layer);
    for (unsigned i = 0; i < COUNT(names); i++) {
        const double came = kept_bytes(&none.layer, names[i]);
        assert_true(came > 0.0);
        assert_true(near(kept_bytes(&room.layer, names[i]), 1.5 * came));
        assert_true(near(kept_bytes(&paged.layer, names[i]), came));
    }
    for (unsigned i = 0; i < room.layer.segment_count; i++)
        assert_true(near(1.0 + paged.layer.segments[i].memory.forward_temporary_bytes,
                         1.0 + room.layer.segments[i].memory.forward_temporary_bytes));
}

/* Live only while a piece runs, of rows of 8 and of inner ones of 16 / etp, two of them where the
 * activation is gated. Up writes the rows that it sorts; its gradient those of its output (gates x
 * inner) and of its input. The gradient of the activation holds that of its output and of each of
 * its inputs. Down's output, sorted again, is there twice. */
static void pieces_hold_what_they_write(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * COUNT(cases); i++) {
        const struct expert_case *k = &cases[i / 2];
        const bool gated = i % 2 == 0;
        const double gates = gated ? 2.0 : 1.0, rows = k->computed * 16.0;
        const double inner = k->computed * 16.0 / (double)k->etp * 2.0;
        const double moved = (k->crossed > 0.0 ? k->crossed : k->left) * 16.0;
        struct bench b;
        struct rank_share share;
        set_case(&b, k, gated);
        transformer_share_of(&b.context, &share);
        const struct {
            enum piece piece;
            double forward, backward;
        } wanted[] = {
            {PIECE_ROUTE, 0.0, 0.0},
            {PIECE_PERMUTE, moved, moved},
            {PIECE_EXPERT_UP, k->sorts ? rows : 0.0, rows + gates * inner},
            {PIECE_EXPERT_ACTIVATE, 0.0, (1.0 + gates) * inner},
            {PIECE_EXPERT_DOWN, rows * (k->sorts ? 2.0 : 1.0),
             rows * (k->sorts ? 2.0 : 1.0) + inner},
            {PIECE_COMBINE, moved, moved},
        };
        for (unsigned p = 0; p < COUNT(wanted); p++) {
            assert_true(near(transformer_experts_temporary(&share, wanted[p].piece, false),
                             wanted[p].forward));
            assert_true(near(transformer_experts_temporary(&share, wanted[p].piece, true),
                             wanted[p].backward));
        }
    }
}

/* Projections in one, or kept apart: q 8 x 8, k and v 8 x 4; gate and up 8 x 16. */
static const struct {
    enum piece piece;
    double elements;
    unsigned apart; /* layers where projections are kept apart */
} adapted[] = {
    {PIECE_QKV, 128, 3}, {PIECE_PROJECT, 64, 1}, {PIECE_UP, 256, 2}, {PIECE_DOWN, 128, 1}};

static const struct saved_tensor *saved(const struct segment *s, const char *name)
{
    for (unsigned i = 0; i < s->saved.count; i++)
        if (strcmp(s->saved.tensors[i].name, name) == 0)
            return &s->saved.tensors[i];
    return NULL;
}

/* Every frozen weight is brought back from 4.127 bits to two bytes, by a kernel for each matrix;
 * each adapter keeps its own u = A x: 16 rows of rank 4 in two bytes. */
static void adapters_of_projections_add_up(void **state)
{
    (void)state;
    const double nf4 = (4 + 8 / 64.0 + 32 / 16384.0) / 8;
    for (unsigned i = 0; i < 2 * COUNT(adapted); i++) {
        const bool apart = i % 2 == 1;
        const double elements = adapted[i / 2].elements, count = apart ? adapted[i / 2].apart : 1;
        struct bench b;
        struct rank_share share;
        struct segment forward = {0}, backward = {0};
        bench_llama(&b);
        b.software.layer.separate_projections = apart;
        b.context.adapter = (struct adapter_spec){.kind = ADAPTER_QLORA, .rank = 4};
        transformer_share_of(&b.context, &share);
        transformer_adapter_forward(&share, adapted[i / 2].piece, &forward);
        transformer_adapter_backward(&share, adapted[i / 2].piece, &backward);
        assert_string_equal(forward.forward.kernels[0].name, "dequantise weights");
        assert_true(near(forward.forward.kernels[0].bytes, elements * (nf4 + 2)));
        assert_true(near(backward.dgrad.kernels[0].bytes, elements * (nf4 + 2)));
        assert_true(forward.forward.kernels[0].launches == count &&
                    backward.dgrad.kernels[0].launches == count);
        assert_true(transformer_adapter_temporary(&share, adapted[i / 2].piece) == 2 * elements);
        const struct saved_tensor *hidden = saved(&forward, "adapter hidden");
        assert_true(hidden != NULL && hidden->weights && hidden->bytes == count * 16 * 4 * 2);
        /* Two products of two FLOPs for each row, rank and side of each matrix. */
        assert_true(forward.forward.count == 3 && forward.forward.kernels[1].batch == count);
        assert_true(backward.dgrad.count == 3 && backward.wgrad.count == 2);
    }
}

/* Two experts a rank of three matrices of 8 x 16, beside attention: as modules and one by one. */
static void each_expert_has_its_matrices(void **state)
{
    (void)state;
    struct bench b;
    double modules = 0.0, matrices = 0.0, of_experts = 0.0;
    set_case(&b, &cases[1], true);
    for (unsigned i = 0; i < b.layer.module_count; i++)
        modules += b.layer.modules[i];
    for (unsigned i = 0; i < b.layer.matrix_count; i++) {
        const struct weight_matrix *m = &b.layer.matrices[i];
        matrices += m->inputs * m->outputs * m->count;
        of_experts += m->experts ? m->inputs * m->outputs * m->count : 0.0;
    }
    assert_true(modules == matrices);
    assert_true(of_experts == 2 * 3 * 8 * 16 && b.layer.expert_parameters == of_experts);
    assert_true(matrices - of_experts == 8 * (8 + 2 * 4 + 8) + 8 * 4); /* and the router */
}

/* The gradient of a router's weights needs the rows that it read: they are kept once, by the router
 * unless shared experts keep the same rows as their own input. */
static void input_of_a_router_is_kept_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3 * COUNT(cases); i++) {
        const struct expert_case *k = &cases[i / 3];
        struct bench b;
        struct rank_share share;
        set_case(&b, k, true);
        b.model.moe.shared_experts = i % 3;
        transformer_layer(&b.context, &b.layer);
        transformer_share_of(&b.context, &share);
        const bool beside = i % 3 > 0 && share.input_tokens == k->tokens;
        const double router = kept_bytes(&b.layer, "router input");
        if (router != (beside ? 0.0 : k->tokens * 16.0))
            fail_msg("case %u, %u shared experts: %g bytes", i / 3, i % 3, router);
        if (beside)
            assert_true(kept_bytes(&b.layer, "mlp input") == k->tokens * 16.0);
    }
}

/* Whole matrices of these sides. */
static unsigned matrices_of(const struct layer *layer, double rows, double columns)
{
    unsigned count = 0;
    for (unsigned i = 0; i < layer->matrix_count; i++)
        count += !layer->matrices[i].experts && layer->matrices[i].inputs == rows &&
                 layer->matrices[i].outputs == columns;
    return count;
}

static double flops(const struct layer *layer)
{
    double sum = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *s = &layer->segments[i];
        const struct segment_kernels *lists[] = {&s->forward, &s->dgrad, &s->wgrad};
        for (unsigned list = 0; list < 3; list++)
            for (unsigned k = 0; k < lists[list]->count; k++)
                sum += lists[list]->kernels[k].flops;
    }
    return sum;
}

/* Of all kernels of this name. */
static double launches_of(const struct layer *layer, const char *name)
{
    double sum = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment_kernels *lists[] = {&layer->segments[i].forward,
                                                 &layer->segments[i].dgrad};
        for (unsigned list = 0; list < 2; list++)
            for (unsigned k = 0; k < lists[list]->count; k++)
                if (strcmp(lists[list]->kernels[k].name, name) == 0)
                    sum += lists[list]->kernels[k].launches;
    }
    return sum;
}

/* A gate of shared experts: 8 weights on every rank; forward three rows a token by three kernels,
 * back eleven by seven; what it weighs is kept. Nothing without shared experts. */
static void shared_experts_are_weighed(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * COUNT(cases); i++) {
        const struct expert_case *k = &cases[i / 2];
        struct bench b;
        unsigned forward, back;
        set_case(&b, k, true);
        b.model.moe.shared_experts = i % 2;
        transformer_layer(&b.context, &b.layer);
        const double plain = b.layer.parameters;
        b.model.moe.shared_gate = true;
        transformer_layer(&b.context, &b.layer);
        const double row = k->tokens * 16.0, gates = i % 2;
        assert_true(b.layer.parameters - plain == 8.0 * gates);
        assert_true(near(moved(&b.layer, "shared expert gate", &forward), 3.0 * row * gates));
        assert_true(
            near(moved(&b.layer, "shared expert gate gradient", &back), 11.0 * row * gates));
        assert_true(forward == i % 2 && back == i % 2);
        assert_true(launches_of(&b.layer, "shared expert gate") == 3.0 * gates);
        assert_true(launches_of(&b.layer, "shared expert gate gradient") == 7.0 * gates);
        assert_true(kept_bytes(&b.layer, "shared expert output") == row * gates);
    }
}

static double sent(const struct layer *layer, enum comm_op op)
{
    double bytes = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment_transfers *t = &layer->segments[i].transfers;
        const struct segment_transfer *all[] = {&t->before,          &t->after,
                                                &t->backward_before, &t->backward_after,
                                                &t->exchange,        &t->backward_exchange};
        for (unsigned k = 0; k < COUNT(all); k++)
            bytes += all[k]->comm != SEGMENT_NONE && all[k]->op == op ? all[k]->bytes : 0.0;
    }
    return bytes;
}

/* Experts that work in a latent half as wide as the tokens: what is copied, sorted, sent, kept of
 * their input and multiplied by is half, and two products of every token, whole on each rank, lead
 * there and back. The router and the shared experts read the tokens. */
static void experts_in_a_latent(void **state)
{
    static const char *const rows[] = {"permute", "unpermute", "sort by expert", "sort by source",
                                       "permute gradient"};
    (void)state;
    for (unsigned i = 0; i < COUNT(cases); i++) {
        const struct expert_case *k = &cases[i];
        struct bench wide, b;
        unsigned count, same;
        set_case(&wide, k, true);
        set_case(&b, k, true);
        b.model.moe.latent = 4;
        transformer_layer(&b.context, &b.layer);
        for (unsigned r = 0; r < COUNT(rows); r++) {
            const double whole = moved(&wide.layer, rows[r], &count);
            assert_true(near(2.0 * moved(&b.layer, rows[r], &same), whole) && same == count);
        }
        /* Four exchanges, and four among the ranks that share an expert: 8 bytes a row for 16. */
        const double there = sent(&wide.layer, COMM_ALL_TO_ALL) - sent(&b.layer, COMM_ALL_TO_ALL) +
                             sent(&wide.layer, COMM_EXPERT_EXCHANGE) -
                             sent(&b.layer, COMM_EXPERT_EXCHANGE);
        const double shared = sent(&wide.layer, COMM_ALL_GATHER) - sent(&b.layer, COMM_ALL_GATHER) +
                              sent(&wide.layer, COMM_REDUCE_SCATTER) -
                              sent(&b.layer, COMM_REDUCE_SCATTER);
        assert_true(near(there, k->ep > 1 ? 4.0 * 8.0 * k->left : 0.0));
        assert_true(near(shared, k->etp > 1 ? 4.0 * 8.0 * k->computed : 0.0));
        assert_true(near(2.0 * kept_bytes(&b.layer, "expert input"),
                         kept_bytes(&wide.layer, "expert input")));
        assert_true(kept_bytes(&b.layer, "router input") ==
                    kept_bytes(&wide.layer, "router input"));
        assert_true(kept_bytes(&b.layer, "expert output latent") == k->tokens * 4.0 * 2.0);
        assert_true(b.layer.expert_parameters * 2.0 == wide.layer.expert_parameters);
        assert_true(b.layer.parameters - b.layer.expert_parameters ==
                    wide.layer.parameters - wide.layer.expert_parameters + 2.0 * 8.0 * 4.0);
        assert_int_equal(matrices_of(&b.layer, 8.0, 4.0) - matrices_of(&wide.layer, 8.0, 4.0), 1);
        assert_int_equal(matrices_of(&b.layer, 4.0, 8.0) - matrices_of(&wide.layer, 4.0, 8.0), 1);
        moved(&wide.layer, "add input gradients", &count); /* of the router, and of the way there */
        moved(&b.layer, "add input gradients", &same);
        assert_int_equal(same - count, 1);
        assert_true(kept_bytes(&b.layer, "expert latent input") == 0.0);
        narrow_case(&wide, k);
        wide.model.moe.latent = 4;
        transformer_layer(&wide.context, &wide.layer);
        assert_true(kept_bytes(&wide.layer, "expert latent input") > 0.0);
        set_case(&wide, k, true);
        /* Of a token 2 x 8 x 4 operations there, as many back, for each of three products. */
        const double tokens = k->tokens, ways = 2.0 * 2.0 * 8.0 * 4.0 * tokens * 3.0;
        const double experts = 3.0 * 2.0 * 3.0 * 8.0 * 16.0 / (double)k->etp * k->computed;
        if (!near(flops(&wide.layer) - flops(&b.layer), experts / 2.0 - ways))
            fail_msg("case %u: %g %g of %g", i, flops(&wide.layer), flops(&b.layer),
                     experts / 2.0 - ways);
        assert_true(transformer_layer_parameters(&b.model, 0) + 4.0 * 3.0 * 4.0 * 16.0 ==
                    transformer_layer_parameters(&wide.model, 0) + 2.0 * 8.0 * 4.0);
    }
}

/* Each kernel is of the module of Megatron's layer whose CUDA graph captures it. */
static void kernels_are_of_one_module(void **state)
{
    static const struct {
        const char *name;
        unsigned module;
    } known[] = {{"choose experts", GRAPH_ROUTER},  {"choice gradient", GRAPH_ROUTER},
                 {"permute", GRAPH_PREPROCESS},     {"permute gradient", GRAPH_PREPROCESS},
                 {"unpermute", GRAPH_EXPERTS},      {"unpermute gradient", GRAPH_EXPERTS},
                 {"sort by expert", GRAPH_EXPERTS}, {"sort by source", GRAPH_EXPERTS}};
    (void)state;
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct bench b;
        unsigned met = 0;
        set_case(&b, &cases[i], true);
        for (unsigned g = 0; g < b.layer.segment_count; g++) {
            const struct segment *s = &b.layer.segments[g];
            const struct segment_kernels *lists[] = {&s->forward, &s->dgrad, &s->wgrad, &s->core};
            assert_true(s->modules != 0 && (s->modules & (s->modules - 1)) == 0);
            for (unsigned list = 0; list < COUNT(lists); list++)
                for (unsigned k = 0; k < lists[list]->count; k++) {
                    const unsigned module = lists[list]->modules[k];
                    assert_true(module != 0 && (module & (module - 1)) == 0);
                    met |= module;
                    for (unsigned w = 0; w < COUNT(known); w++)
                        if (strcmp(lists[list]->kernels[k].name, known[w].name) == 0)
                            assert_int_equal(module, known[w].module);
                }
        }
        assert_int_equal(met & ~(unsigned)GRAPH_PREPROCESS,
                         GRAPH_ATTENTION | GRAPH_ROUTER | GRAPH_EXPERTS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_products_cast_their_own),
        cmocka_unit_test(pages_keep_the_rows_that_came),
        cmocka_unit_test(each_expert_has_its_matrices),
        cmocka_unit_test(input_of_a_router_is_kept_once),
        cmocka_unit_test(shared_experts_are_weighed),
        cmocka_unit_test(experts_in_a_latent),
        cmocka_unit_test(attention_in_eight_bits),
        cmocka_unit_test(kernels_are_of_one_module),
        cmocka_unit_test(rows_are_moved_once),
        cmocka_unit_test(pieces_hold_what_they_write),
        cmocka_unit_test(adapters_of_projections_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
