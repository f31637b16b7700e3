/* lower_traffic.c - what data parallelism has under way.
 *
 * Invariants
 * 1. Reductions are issued in the order in which gradients become ready (the last unit first), on
 *    one stream, so waiting for the last one waits for all.
 * 2. The open bucket holds less than a full one.
 * 3. The gather of the k-th group of a rank's step waits for the compute of group k - 1 - prefetch:
 *    never more than prefetch + 1 gathered groups are alive beside what is kept. */
#include "models/lower/stage/lower_traffic.h"

#include <math.h>

#include "sim/check.h"

enum {
    BUCKETS_MAX = 16
};

void lower_traffic_begin(struct data_traffic *t, const struct lowering *l)
{
    double bytes = l->c->software.data.bucket_bytes;
    *t = (struct data_traffic){
        .room = bytes > 0.0 ? fmax(1.0, floor(bytes / l->data.kept_bytes)) : 0.0,
        .history_room = l->prefetch + 1,
        .forwards_done = ARENA_ARRAY(l->arena, uint32_t, l->chunks),
        .backwards_left = ARENA_ARRAY(l->arena, uint32_t, l->chunks),
    };
    t->history = ARENA_ARRAY(l->arena, uint32_t, t->history_room);
    for (uint32_t k = 0; k < l->chunks; k++)
        t->backwards_left[k] = l->microbatches;
}

unsigned lower_traffic_fill(struct data_traffic *t, enum data_part part, double added,
                            double *elements)
{
    t->bucket[part] += added;
    if (t->room == 0.0) {
        *elements = lower_traffic_rest(t, part);
        return *elements > 0.0;
    }
    double full = floor(t->bucket[part] / t->room);
    t->bucket[part] -= full * t->room;
    CHECK(t->bucket[part] < t->room); /* 2 */
    *elements = full > BUCKETS_MAX ? full * t->room / BUCKETS_MAX : t->room;
    return full > BUCKETS_MAX ? BUCKETS_MAX : (unsigned)full;
}

double lower_traffic_rest(struct data_traffic *t, enum data_part part)
{
    double rest = t->bucket[part];
    t->bucket[part] = 0.0;
    return rest;
}

/* Experts that are apart are reduced among all ranks that hold the same. */
static void reduce_experts(struct data_traffic *t, struct ops *ops, double elements)
{
    const struct data_plan *plan = &ops->l->data;
    const struct data_group *group = &plan->groups[DATA_EXPERTS];
    const double bytes = elements * plan->wire_bytes;
    uint32_t op = ops->pending.last;
    if (group->replicas == 1)
        return;
    if (group->reducers > 1)
        op = lower_ops_transfer(ops, STREAM_EP_DATA, (struct transfer){plan->reduction, bytes},
                                PHASE_GRADIENTS, "reduce expert gradients", op);
    if (group->replicas > group->reducers)
        op = lower_ops_transfer(ops, STREAM_EP_REPLICATE,
                                (struct transfer){COMM_ALL_REDUCE, bytes / (double)group->reducers},
                                PHASE_GRADIENTS, "reduce expert gradients across replicas", op);
    CHECK(op > t->scatter_last[DATA_EXPERTS]); /* 1 */
    t->scatter_last[DATA_EXPERTS] = op;
}

void lower_traffic_reduce(struct data_traffic *t, struct ops *ops, enum data_part part,
                          double elements)
{
    if (part == DATA_EXPERTS) {
        reduce_experts(t, ops, elements);
        return;
    }
    const struct data_plan *plan = &ops->l->data;
    const struct data_group *group = &plan->groups[DATA_ALL];
    double bytes = elements * plan->wire_bytes;
    uint32_t wait = ops->pending.last;
    if (group->reducers > 1) {
        wait = lower_ops_transfer(ops, STREAM_DP, (struct transfer){plan->reduction, bytes},
                                  PHASE_GRADIENTS, "reduce gradients", wait);
        wait =
            lower_ops_copy(ops, (struct transfer){plan->reduction, bytes}, PHASE_GRADIENTS, wait);
        CHECK(wait > t->scatter_last[DATA_ALL]); /* 1 */
        t->scatter_last[DATA_ALL] = wait;
    }
    if (group->replicas > group->reducers) {
        const struct transfer across = {COMM_ALL_REDUCE, bytes / (double)group->reducers};
        t->replicate_last = lower_ops_transfer(ops, STREAM_REPLICATE, across, PHASE_GRADIENTS,
                                               "reduce gradients across replicas", wait);
    }
}

void lower_traffic_wait(const struct data_traffic *t, struct ops *ops)
{
    lower_ops_wait(ops, t->scatter_last[DATA_ALL]);
    lower_ops_wait(ops, t->scatter_last[DATA_EXPERTS]);
    lower_ops_wait(ops, t->replicate_last);
}

uint32_t lower_traffic_gather_after(const struct data_traffic *t, uint32_t ahead)
{
    uint32_t step = t->group_step + ahead;
    CHECK(ahead < t->history_room); /* 3 */
    return step >= t->history_room ? t->history[step % t->history_room] : OP_NONE;
}

void lower_traffic_computed(struct data_traffic *t, uint32_t op)
{
    t->history[t->group_step++ % t->history_room] = op;
}

void lower_traffic_pass_end(struct data_traffic *t, const struct pass *pass)
{
    if (pass_is_forward(pass)) {
        t->forwards_done[pass->chunk]++;
    } else if (pass_ends_microbatch(pass)) {
        CHECK(t->backwards_left[pass->chunk] > 0);
        t->backwards_left[pass->chunk]--;
    }
}

bool lower_traffic_first_forward(const struct data_traffic *t, uint32_t chunk)
{
    return t->forwards_done[chunk] == 0;
}

bool lower_traffic_last_backward(const struct data_traffic *t, uint32_t chunk)
{
    return t->backwards_left[chunk] == 1;
}
