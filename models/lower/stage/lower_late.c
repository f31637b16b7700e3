/* lower_late.c - memory that comes back later than its last use.
 *
 * Invariants
 * 1. What is recorded leaves in the order in which it came, and no buffer stays behind one launched
 *    later: so the first is the oldest.
 * 2. The gradients of a pass are gone when it ends.
 * 3. One flat copy is there at a time. */
#include "models/lower/stage/lower_late.h"

#include <string.h>

#include "sim/check.h"
#include "sim/list.h"

/* Launches that are queued before the host has to wait. CUDA takes 1,024 or so, a figure that
 * NVIDIA does not promise; a profile names the large kernels, about half of what eager PyTorch
 * launches. */
static const double launch_queue = 512.0;

void lower_late_begin(struct late *late, const struct lowering *l, struct tensors *tensors)
{
    *late = (struct late){.l = l, .tensors = tensors};
}

void lower_late_launched(struct late *late, double launches)
{
    CHECK(launches >= 0.0); /* 1 */
    late->launched += launches;
}

/* Rows that have left make room before the list grows. */
static uint32_t push(struct late *late, struct late_list *list, double bytes)
{
    if (list->first > list->count) {
        memcpy(list->rows, &list->rows[list->first], list->count * sizeof *list->rows);
        list->first = 0;
    }
    const uint32_t end = list->first + list->count++;
    LIST_ROOM(late->l->arena, list->rows, end, 1, list->room);
    uint32_t tensor = list->spare_count > 0 ? list->spare[--list->spare_count]
                                            : lower_tensors_number(late->tensors);
    list->rows[end] = (struct late_tensor){tensor, bytes, late->launched};
    return tensor;
}

static struct late_tensor pop(struct late *late, struct late_list *list)
{
    CHECK(list->count > 0);
    struct late_tensor row = list->rows[list->first++];
    LIST_ROOM(late->l->arena, list->spare, list->spare_count, 1, list->spare_room);
    list->spare[list->spare_count++] = row.tensor;
    if (--list->count == 0)
        list->first = 0;
    CHECK(list->count == 0 || list->rows[list->first].launched >= row.launched); /* 1 */
    return row;
}

static struct tensor recorded(uint32_t number, double bytes)
{
    return (struct tensor){TENANT_COMMUNICATION, number, bytes, "collective's buffer", 0};
}

static struct tensor pass_gradient(uint32_t number, double bytes)
{
    return (struct tensor){TENANT_GRADIENTS, number, bytes, "gradients of a pass", 0};
}

static void free_recorded(struct late *late)
{
    struct late_tensor row = pop(late, &late->recorded);
    lower_tensors_entry(late->tensors, LEDGER_FREE, recorded(row.tensor, row.bytes),
                        "the GPU has passed it");
}

/* The whole sum that is scattered, or the shard that was kept and gathered again. */
static double recorded_bytes(const struct late *late, const struct segment_transfer *t)
{
    if (!late->l->c->software.memory.record_streams || t->comm != SEGMENT_TP)
        return 0.0;
    switch (t->op) {
    case COMM_REDUCE_SCATTER:
        return t->bytes;
    case COMM_ALL_GATHER:
        return t->bytes / (double)late->l->c->layout.tp;
    case COMM_ALL_REDUCE:
    case COMM_BROADCAST:
    case COMM_ALL_TO_ALL:
    case COMM_SEND:
    case COMM_RING_EXCHANGE:
    case COMM_EXPERT_EXCHANGE:
        return 0.0;
    }
    UNREACHABLE("op is an enum comm_op");
}

void lower_late_buffer(struct late *late, const struct lowered_unit *unit, bool forward,
                       const struct segment_transfer *transfer)
{
    const struct block *b = unit->block;
    double bytes = recorded_bytes(late, transfer);
    if (bytes <= 0.0)
        return;
    struct late_list *list = &late->recorded;
    lower_tensors_entry(late->tensors, LEDGER_ALLOCATE, recorded(push(late, list, bytes), bytes),
                        forward ? "forward" : "backward");
    bool ahead = b->lists[PIECES_FORWARD].gpu_s + b->lists[PIECES_BACKWARD].gpu_s >
                 b->lists[PIECES_FORWARD].host_s + b->lists[PIECES_BACKWARD].host_s;
    while (list->count > 0 &&
           (!ahead || late->launched - list->rows[list->first].launched > launch_queue))
        free_recorded(late);
}

void lower_late_gradient(struct late *late, const struct lowered_unit *unit)
{
    const struct lowering *l = late->l;
    double bytes = unit->block->weights.trained * l->c->training.precision->gradient_bytes;
    if (!l->c->software.data.gradients_after_pass || lower_data_plan_scatters(&l->data) ||
        !(bytes > 0.0))
        return;
    uint32_t tensor = push(late, &late->pass_gradients, bytes);
    lower_tensors_entry(late->tensors, LEDGER_ALLOCATE, pass_gradient(tensor, bytes), "backward");
}

void lower_late_pass_end(struct late *late)
{
    while (late->pass_gradients.count > 0) {
        struct late_tensor row = pop(late, &late->pass_gradients);
        lower_tensors_entry(late->tensors, LEDGER_FREE, pass_gradient(row.tensor, row.bytes),
                            "added to the kept gradients");
    }
}

void lower_late_host_waits(struct late *late)
{
    while (late->recorded.count > 0)
        free_recorded(late);
}

static struct tensor flat_copy(const struct late *late)
{
    return (struct tensor){TENANT_COMMUNICATION, late->reducing, late->reducing_bytes,
                           "reduction buffer", 0};
}

void lower_late_reduction_end(struct late *late)
{
    if (late->reducing != 0) {
        lower_tensors_entry(late->tensors, LEDGER_FREE, flat_copy(late), "reduction buffer");
        late->reducing = 0;
    }
}

void lower_late_reduction(struct late *late, double bytes)
{
    lower_late_reduction_end(late);
    CHECK(late->reducing == 0); /* 3 */
    late->reducing = lower_tensors_number(late->tensors);
    late->reducing_bytes = bytes;
    lower_tensors_entry(late->tensors, LEDGER_ALLOCATE, flat_copy(late), "reduction buffer");
}
