/* choice_orders.h - the orders of a pipeline that come into question where nothing is said: plain,
 * or interleaved with so many chunks; and its microbatches. */
#ifndef ORRERY_MODELS_PLAN_CHOICE_ORDERS_H
#define ORRERY_MODELS_PLAN_CHOICE_ORDERS_H

#include "models/layout/configuration.h"

enum {
    CHOICE_ORDERS_MAX = 2,
    CHOICE_MICROBATCHES_MAX = 11
};
struct order_question {
    const struct configuration *c;
    bool order, chunks; /* layout.schedule, layout.vpp: are they open? */
    bool ends, given;   /* layout.ends_count; first_stage_layers and last_stage_layers, both */
};

/* The most chunks of a stage that divide the layers, or what the software usually takes; 1: none.
 */
uint64_t choice_most_chunks(const struct configuration *c);
/* Plain first; interleaved with the most chunks that divide the layers. Each is a copy of the
 * configuration; returns how many, one at least. */
unsigned choice_orders(const struct order_question *q, struct configuration *out);
/* The next smaller number of chunks that divides, above 1, with the ends that it asks for; false:
 * there is none. */
bool choice_orders_fewer(const struct order_question *q, struct configuration *c);
/* From the plain order to the interleaved one of the most chunks, and from that to fewer. */
bool choice_orders_next(const struct order_question *q, struct configuration *c);
/* Microbatches that come into question, from the largest down: divisors of a replica's share up to
 * eight, and their doubles. A pipeline with fewer microbatches than stages idles for half of the
 * step and more, whatever larger products gain: where smaller microbatches fill it, larger ones are
 * left out. Returns how many, one at least. */
unsigned choice_microbatches(const struct configuration *c, uint64_t *out);

#endif
