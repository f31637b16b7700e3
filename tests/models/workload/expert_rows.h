/* expert_rows.h - small layers of experts, one for each way of dispatch, of splitting an expert and
 * of uneven choices, and what tests ask of them.
 */
#ifndef ORRERY_TESTS_EXPERT_ROWS_H
#define ORRERY_TESTS_EXPERT_ROWS_H

#include "models/workload/transformer_piece.h"
#include "tests/models/workload/layer_rows.h"

/* Two sequences of 8 tokens, hidden 8, four experts of width 16 of which a token visits two. Each
 * of `ep` ranks has four / ep of them. Sixteen tokens, over tp with sequence parallelism: as many
 * rows as they have choices leave a rank, times the imbalance; where expert tensor ranks gather
 * each other's rows, etp times as many are computed. A row of 16-bit elements has 16 bytes. */
struct expert_case {
    const struct dispatch_kind *dispatch;
    uint64_t ep, etp;
    double imbalance;
    double tokens, left, computed; /* rows */
    /* Rows that cross where each rank gets a row once: of two choices among four experts none is on
     * one of two places with C(2,2) / C(4,2) = 1/6, so a token visits 2 x 5/6 places by 2 choices.
     * 0: a row for each choice. */
    double crossed;
    bool sorts;
};
static const struct expert_case cases[] = {
    {&dispatch_alltoall, 1, 1, 1.0, 16, 32, 32, 0, false},
    {&dispatch_alltoall, 2, 1, 1.0, 16, 32, 32, 0, true},
    {&dispatch_alltoall, 4, 1, 1.0, 16, 32, 32, 0, false}, /* one expert a rank: nothing to sort */
    {&dispatch_alltoall, 2, 1, 1.5, 16, 48, 48, 0, true},
    {&dispatch_alltoall, 2, 2, 1.0, 8, 16, 32, 0, true},
    {&dispatch_alltoall, 2, 2, 1.5, 8, 24, 48, 0, true},
    {&dispatch_alltoall, 1, 2, 1.0, 8, 16, 32, 0, true},
    {&dispatch_hierarchical, 2, 1, 1.5, 16, 48, 48, 0, true},
    {&dispatch_deepep, 2, 1, 1.0, 16, 32, 32, 32 * 5.0 / 6.0, true},
    {&dispatch_deepep, 2, 1, 1.5, 16, 48, 48, 48 * 5.0 / 6.0, true},
    {&dispatch_hybridep, 2, 1, 1.5, 16, 48, 48, 48 * 5.0 / 6.0, true},
    {&dispatch_deepep, 4, 1, 1.0, 16, 32, 32, 32.0, true}, /* each choice is a place of its own */
};

static inline void set_case(struct bench *b, const struct expert_case *k, bool gated)
{
    bench_llama(b);
    b->model.moe.experts = 4;
    b->model.moe.experts_per_token = 2;
    b->model.moe.ffn_hidden = 16;
    b->model.ffn = gated ? FFN_SWIGLU : FFN_GELU;
    b->context.experts.ep = k->ep;
    b->context.experts.etp = k->etp;
    b->context.tp = k->etp;
    b->context.sequence_parallel = k->etp > 1;
    b->context.experts.imbalance = k->imbalance;
    b->context.experts.dispatch = k->dispatch;
    transformer_layer(&b->context, &b->layer);
}

static inline bool near(double value, double wanted)
{
    const double off = value - wanted;
    return (off < 0.0 ? -off : off) <= 1e-9 * wanted;
}

static inline void narrow_case(struct bench *b, const struct expert_case *k)
{
    set_case(b, k, true);
    b->context.precision = precision_find("fp8");
    b->context.fp8_recipe = FP8_MX;
    transformer_layer(&b->context, &b->layer);
}

static inline double kept_bytes(const struct layer *layer, const char *name)
{
    double bytes = 0.0;
    for (unsigned i = 0; i < layer->segment_count; i++)
        for (unsigned k = 0; k < layer->segments[i].saved.count; k++)
            if (strcmp(layer->segments[i].saved.tensors[k].name, name) == 0)
                bytes += layer->segments[i].saved.tensors[k].bytes;
    return bytes;
}

#endif
