/* What goes between the ranks of experts, each way and in each pass, by hand for each dispatch. */
#include "tests/models/workload/expert_rows.h"

enum {
    SENT_MAX = 4
};
/* Exchanges of rows in the order in which a pass makes them. */
struct sent {
    double bytes[SENT_MAX];
    unsigned count;
};

static void take(struct sent *out, const struct segment_transfer *t)
{
    if (t->comm != SEGMENT_EP || t->op == COMM_ALL_GATHER)
        return;
    assert_true(out->count < SENT_MAX);
    out->bytes[out->count++] = t->bytes;
}

static void sent_of(const struct layer *layer, struct sent *forward, struct sent *backward)
{
    *forward = *backward = (struct sent){.count = 0};
    for (unsigned i = 0; i < layer->segment_count; i++) {
        take(forward, &layer->segments[i].transfers.before);
        take(forward, &layer->segments[i].transfers.exchange);
        take(forward, &layer->segments[i].transfers.after);
    }
    for (unsigned i = layer->segment_count; i-- > 0;) {
        take(backward, &layer->segments[i].transfers.backward_after);
        take(backward, &layer->segments[i].transfers.backward_exchange);
        take(backward, &layer->segments[i].transfers.backward_before);
    }
}

static bool is(double value, double wanted)
{
    return value - wanted < 1e-9 * wanted && wanted - value < 1e-9 * wanted;
}

/* With a row of two choices: its weight (4); DeepEP's place and choices (8, 8 each); HybridEP's
 * weights of the experts of a node (4 each, of four experts on two nodes). */
static double beside_row(const struct dispatch_kind *dispatch)
{
    return dispatch == &dispatch_deepep     ? 8.0 + 2 * 8.0
           : dispatch == &dispatch_hybridep ? 8.0
                                            : 4.0;
}

/* There and back: rows of eight elements, in 16 bits or in eight with four bytes for 128 of them.
 * What goes to the experts is narrow: rows forward, gradients back; what is added up is not. What
 * stands beside a row goes with rows and with the gradients of what was sent. */
static void check(const struct expert_case *k, struct bench *b)
{
    const double wide = 16.0, narrow = b->context.experts.dispatch_8bit ? 8.0 + 0.25 : wide;
    const double beside = beside_row(k->dispatch);
    struct sent forward, backward;
    sent_of(&b->layer, &forward, &backward);
    assert_int_equal(forward.count, k->ep > 1 ? 2 : 0);
    assert_int_equal(backward.count, k->ep > 1 ? 2 : 0);
    if (k->ep == 1)
        return;
    assert_true(is(forward.bytes[0], k->left * (narrow + beside)));
    assert_true(is(forward.bytes[1], k->left * wide));
    assert_true(is(backward.bytes[0], k->left * narrow));
    assert_true(is(backward.bytes[1], k->left * (wide + beside)));
}

static void rows_go_there_and_back(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct bench b;
        set_case(&b, &cases[i], true);
        b.context.experts.nodes = 2;
        transformer_layer(&b.context, &b.layer);
        check(&cases[i], &b);
        if (!cases[i].dispatch->eight_bit)
            continue;
        b.context.experts.dispatch_8bit = true;
        transformer_layer(&b.context, &b.layer);
        check(&cases[i], &b);
    }
}

/* Beside shared experts the same rows go, and lie there twice meanwhile: with one choice of a token
 * instead of two half of the rows leave, and one comes for each of them, whatever the dispatch. */
static void shared_experts_run_beside_rows(void **state)
{
    (void)state;
    double forward[2], backward[2];
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct bench b;
        if (cases[i].ep == 1 || cases[i].dispatch == &dispatch_hybridep) /* runs none beside */
            continue;
        for (unsigned visits = 1; visits <= 2; visits++) {
            set_case(&b, &cases[i], true);
            b.context.experts.nodes = 2;
            b.model.moe.shared_experts = 1;
            b.model.moe.experts_per_token = visits;
            b.software.experts.shared_overlap = true;
            transformer_layer(&b.context, &b.layer);
            forward[visits - 1] = backward[visits - 1] = 0.0;
            for (unsigned s = 0; s < b.layer.segment_count; s++)
                if (strcmp(b.layer.segments[s].name, "shared experts") == 0) {
                    assert_false(b.layer.segments[s].transfers.pipelined);
                    forward[visits - 1] += b.layer.segments[s].memory.forward_temporary_bytes;
                    backward[visits - 1] += b.layer.segments[s].memory.backward_temporary_bytes;
                }
        }
        check(&cases[i], &b);
        const double half = 0.5 * cases[i].left; /* of one choice leave and come as many */
        const double come = cases[i].crossed > 0.0 ? cases[i].crossed : cases[i].left;
        const double fewer = ((cases[i].left - half) + (come - half)) * 16.0;
        assert_true(is(forward[1] - forward[0], 2.0 * fewer)); /* of two segments */
        assert_true(is(backward[1] - backward[0], 2.0 * fewer));
    }
}

/* Before rows leave all ranks gather a byte for each token and expert; nobody else does. */
static void routing_is_gathered(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct bench b;
        unsigned found = 0;
        set_case(&b, &cases[i], true);
        for (unsigned s = 0; s < b.layer.segment_count; s++) {
            const struct segment_transfer *t = &b.layer.segments[s].transfers.after;
            if (t->comm != SEGMENT_EP || t->op != COMM_ALL_GATHER)
                continue;
            assert_true(is(t->bytes, cases[i].tokens * 4.0 * (double)cases[i].ep));
            found++;
        }
        assert_int_equal(found, cases[i].dispatch == &dispatch_hybridep ? 1 : 0);
    }
}

/* Tensor ranks that share an expert gather each other's rows and add up what each made of them; the
 * gradients go the same way. */
static void shared_rows_are_gathered(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct bench b;
        set_case(&b, &cases[i], true);
        for (unsigned s = 0; s < b.layer.segment_count; s++) {
            const struct segment *g = &b.layer.segments[s];
            if (strcmp(g->name, "experts") != 0)
                continue;
            const struct segment_transfer *all[] = {&g->transfers.before, &g->transfers.after,
                                                    &g->transfers.backward_before,
                                                    &g->transfers.backward_after};
            for (unsigned k = 0; k < COUNT(all) && cases[i].etp > 1; k++) {
                assert_int_equal(all[k]->comm, SEGMENT_TP);
                assert_int_equal(all[k]->op, k % 2 ? COMM_REDUCE_SCATTER : COMM_ALL_GATHER);
                assert_true(is(all[k]->bytes, cases[i].computed * 16.0));
            }
            for (unsigned k = 0; k < COUNT(all) && cases[i].etp == 1; k++)
                assert_int_not_equal(all[k]->comm, SEGMENT_TP);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_there_and_back),
        cmocka_unit_test(shared_experts_run_beside_rows),
        cmocka_unit_test(routing_is_gathered),
        cmocka_unit_test(shared_rows_are_gathered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
