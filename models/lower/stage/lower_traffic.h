/* lower_traffic.h - a part of a stage that is lowered: the traffic of data parallelism that is
 * under way: the bucket that fills, the reductions sent last, the groups computed last, and how
 * many passes each chunk has behind it.
 *
 * Numbers only: lower_data.c asks it what is due, and writes it. */
#ifndef ORRERY_MODELS_LOWER_STAGE_LOWER_TRAFFIC_H
#define ORRERY_MODELS_LOWER_STAGE_LOWER_TRAFFIC_H

#include "models/lower/stage/lower_ops.h"

struct data_traffic {
    double room;                    /* of a bucket, in elements; 0: no end */
    double bucket[DATA_PART_COUNT]; /* parameters in the open bucket */
    uint32_t scatter_last[DATA_PART_COUNT], replicate_last; /* ops, OP_NONE: none yet */
    uint32_t *history;        /* [history_room] last compute op of the latest groups computed */
    uint32_t history_room;    /* prefetch + 1 */
    uint32_t group_step;      /* groups computed so far, over all passes */
    uint32_t *forwards_done;  /* passes, by chunk */
    uint32_t *backwards_left; /* ... that make gradients of weights */
};

void lower_traffic_begin(struct data_traffic *t, const struct lowering *l);
/* A unit of so many elements goes into the open bucket: how many buckets are full now, each of
 * `elements`. More than 16 leave as 16 larger ones: their latency is not told apart. */
unsigned lower_traffic_fill(struct data_traffic *t, enum data_part part, double added,
                            double *elements);
/* What is in the open bucket, which is emptied. */
double lower_traffic_rest(struct data_traffic *t, enum data_part part);
/* Reduces so many gradients over the replicas, now. */
void lower_traffic_reduce(struct data_traffic *t, struct ops *ops, enum data_part part,
                          double elements);
void lower_traffic_wait(const struct data_traffic *t,
                        struct ops *ops); /* for all that was reduced */
/* What the gather of a group waits for that is computed after `ahead` others. */
uint32_t lower_traffic_gather_after(const struct data_traffic *t, uint32_t ahead);
void lower_traffic_computed(struct data_traffic *t, uint32_t op); /* a group, by then */
void lower_traffic_pass_end(struct data_traffic *t, const struct pass *pass);
bool lower_traffic_first_forward(const struct data_traffic *t,
                                 uint32_t chunk); /* is under way, or ahead */
bool lower_traffic_last_backward(const struct data_traffic *t, uint32_t chunk);

#endif
