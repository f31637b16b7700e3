#include "models/plan/choice_orders.h"

#include "models/schedule/schedule_kind.h"

enum {
    CHUNKS_MOST = 64 /* as the rules allow */
};

static bool divides(const struct configuration *c, bool ends, uint64_t chunks)
{
    const uint64_t layers = c->model.layers + (ends ? 2 : 0);
    return chunks > 0 && layers % chunks == 0;
}

/* Where the software wants even stages and the layers do not divide. */
static void settle_ends(const struct order_question *q, struct configuration *c)
{
    struct layout_spec *l = &c->layout;
    if (q->given)
        l->pipeline.first_layers = l->pipeline.last_layers = 0;
    const struct stage_ends ends = configuration_stage_ends(c, l->pp, l->pipeline.vpp);
    if (q->ends)
        l->pipeline.ends_count = ends.count;
    if (q->ends && q->given) {
        l->pipeline.first_layers = ends.first;
        l->pipeline.last_layers = ends.last;
    }
}

/* The most chunks by which the layers, and what counts as one, can be divided; 1: none. */
static uint64_t dividing_chunks(const struct configuration *c, bool ends)
{
    const uint64_t most = (c->model.layers + (ends ? 2 : 0)) / c->layout.pp;
    uint64_t v = most < CHUNKS_MOST ? most : CHUNKS_MOST;
    while (v > 1 && !divides(c, ends, c->layout.pp * v))
        v--;
    return v > 1 ? v : 1;
}

/* Else those that embedding and head complete. */
static uint64_t most_chunks(const struct configuration *c, bool ends_open)
{
    const uint64_t usual = c->software.usual.chunks;
    const bool ends = ends_open && c->software.pipeline.even_stages;
    if (usual > 1 && divides(c, c->layout.pipeline.ends_count, c->layout.pp * usual))
        return usual;
    const uint64_t most = dividing_chunks(c, c->layout.pipeline.ends_count);
    return most == 1 && ends ? dividing_chunks(c, true) : most;
}

/* What an order that was stated goes with. */
static uint64_t chunks_of(const struct schedule_kind *kind, uint64_t most)
{
    if (kind->chunks > 0)
        return kind->chunks;
    return kind->interleaved ? most : 1;
}

uint64_t choice_most_chunks(const struct configuration *c)
{
    return most_chunks(c, false);
}

/* The orders of the pipeline that come into question, written into copies of the configuration. */
unsigned choice_orders(const struct order_question *q, struct configuration *out)
{
    const struct layout_spec *l = &q->c->layout;
    const bool order = q->order, chunks = q->chunks;
    const bool may = q->c->software.pipeline.interleaves && l->pp > 1;
    const uint64_t most = chunks && l->pp > 1 ? most_chunks(q->c, q->ends) : 1;
    unsigned count = 0;
    if (!order || !chunks || !may || most == 1) {
        out[count] = *q->c;
        if (chunks)
            out[count].layout.pipeline.vpp = !order ? chunks_of(l->pipeline.schedule, most) : 1;
        if (order)
            out[count].layout.pipeline.schedule =
                out[count].layout.pipeline.vpp > 1 ? &schedule_interleaved : &schedule_one_f_one_b;
        settle_ends(q, &out[count++]);
        return count;
    }
    for (; count < CHOICE_ORDERS_MAX; count++) {
        out[count] = *q->c;
        out[count].layout.pipeline.vpp = count == 0 ? 1 : most;
        out[count].layout.pipeline.schedule =
            count == 0 ? &schedule_one_f_one_b : &schedule_interleaved;
        settle_ends(q, &out[count]);
    }
    return count;
}

bool choice_orders_fewer(const struct order_question *q, struct configuration *c)
{
    const bool ends = q->ends && c->software.pipeline.even_stages;
    struct layout_spec *l = &c->layout;
    if (q->ends)
        l->pipeline.ends_count = false;
    for (l->pipeline.vpp--; l->pipeline.vpp > 1; l->pipeline.vpp--) {
        if (divides(c, l->pipeline.ends_count, l->pp * l->pipeline.vpp) ||
            (ends && divides(c, true, l->pp * l->pipeline.vpp))) {
            settle_ends(q, c);
            return true;
        }
    }
    return false;
}

bool choice_orders_next(const struct order_question *q, struct configuration *c)
{
    struct configuration pipelines[CHOICE_ORDERS_MAX];
    if (c->layout.pipeline.vpp > 1)
        return q->chunks && choice_orders_fewer(q, c);
    const unsigned count = choice_orders(q, pipelines);
    if (count > 1)
        *c = pipelines[count - 1];
    return count > 1;
}

unsigned choice_microbatches(const struct configuration *c, uint64_t *out)
{
    static const uint64_t sizes[CHOICE_MICROBATCHES_MAX] = {64, 32, 16, 8, 7, 6, 5, 4, 3, 2, 1};
    const uint64_t share = c->layout.dp > 0 ? c->training.global_batch / c->layout.dp : 0;
    unsigned count = 0;
    for (unsigned i = 0; i < CHOICE_MICROBATCHES_MAX; i++)
        if (share > 0 && share % sizes[i] == 0 &&
            (share / sizes[i] >= c->layout.pp || share < c->layout.pp))
            out[count++] = sizes[i];
    if (count == 0)
        out[count++] = 1;
    return count;
}
