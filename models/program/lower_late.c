/* lower_late.c - memory that comes back later than its last use.
 *
 * A buffer that a collective reads on its own stream is freed by the host at once, but the
 * allocator gives it out again only when the GPU has passed the collective (record_stream, called
 * by pytorch torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp for what it is given). A host that
 * is slower than its GPU finds it there; one that is faster runs ahead until CUDA's launch queue is
 * full. The gradients of a pass may stay until the framework adds them to the kept ones after it.
 */
#include <string.h>

#include "models/program/lower_parts.h"
#include "sim/list.h"

/* Launches that are queued before the host has to wait. CUDA takes 1,024 or so, a figure that
 * NVIDIA does not promise; a profile names the large kernels, about half of what eager PyTorch
 * launches. */
static const double launch_queue = 512.0;

/* Rows that have left make room before the list grows. */
static uint32_t push(struct stage *s, struct late_list *list, double bytes)
{
    if (list->first > list->count) {
        memcpy(list->rows, &list->rows[list->first], list->count * sizeof *list->rows);
        list->first = 0;
    }
    const uint32_t end = list->first + list->count++;
    LIST_ROOM(s->l->arena, list->rows, end, 1, list->room);
    uint32_t tensor = list->spare_count > 0 ? list->spare[--list->spare_count] : memory_tensor(s);
    list->rows[end] = (struct late_tensor){tensor, bytes, s->launched};
    return tensor;
}

static struct late_tensor pop(struct stage *s, struct late_list *list)
{
    struct late_tensor row = list->rows[list->first++];
    LIST_ROOM(s->l->arena, list->spare, list->spare_count, 1, list->spare_room);
    list->spare[list->spare_count++] = row.tensor;
    if (--list->count == 0) {
        list->first = 0;
    }
    return row;
}

static void free_recorded(struct stage *s)
{
    struct late_tensor row = pop(s, &s->recorded);
    memory_entry(
        s, LEDGER_FREE,
        (struct tensor){TENANT_COMMUNICATION, row.tensor, row.bytes, "collective's buffer", 0},
        "the GPU has passed it");
}

/* The whole sum that is scattered, or the shard that was kept and gathered again. */
static double recorded_bytes(const struct stage *s, const struct segment_transfer *t)
{
    if (!s->l->c->software.record_streams || t->comm != SEGMENT_TP) {
        return 0.0;
    }
    switch (t->op) {
    case COMM_REDUCE_SCATTER:
        return t->bytes;
    case COMM_ALL_GATHER:
        return t->bytes / (double)s->l->c->layout.tp;
    default:
        return 0.0;
    }
}

void late_buffer(struct stage *s, const struct unit *unit, bool forward,
                 const struct segment_transfer *transfer)
{
    const struct block *b = unit->block;
    double bytes = recorded_bytes(s, transfer);
    if (bytes <= 0.0) {
        return;
    }
    uint32_t tensor = push(s, &s->recorded, bytes);
    memory_entry(s, LEDGER_ALLOCATE,
                 (struct tensor){TENANT_COMMUNICATION, tensor, bytes, "collective's buffer", 0},
                 forward ? "forward" : "backward");
    bool ahead = b->forward.gpu_s + b->backward.gpu_s > b->forward.host_s + b->backward.host_s;
    while (s->recorded.count > 0 &&
           (!ahead || s->launched - s->recorded.rows[s->recorded.first].launched > launch_queue)) {
        free_recorded(s);
    }
}

void late_gradient(struct stage *s, const struct unit *unit)
{
    double bytes = unit->block->parameters * s->l->c->training.precision->gradient_bytes;
    if (!s->l->c->software.gradients_after_pass || s->l->scatters || !(bytes > 0.0)) {
        return;
    }
    uint32_t tensor = push(s, &s->pass_gradients, bytes);
    memory_entry(s, LEDGER_ALLOCATE,
                 (struct tensor){TENANT_GRADIENTS, tensor, bytes, "gradients of a pass", 0},
                 "backward");
}

void late_pass_end(struct stage *s)
{
    while (s->pass_gradients.count > 0) {
        struct late_tensor row = pop(s, &s->pass_gradients);
        memory_entry(
            s, LEDGER_FREE,
            (struct tensor){TENANT_GRADIENTS, row.tensor, row.bytes, "gradients of a pass", 0},
            "added to the kept gradients");
    }
}

void late_host_waits(struct stage *s)
{
    while (s->recorded.count > 0) {
        free_recorded(s);
    }
}
