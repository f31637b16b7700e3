/* lower_tensors.c - numbers of tensors, and entries of the ledger, for all who allocate.
 *
 * Invariants
 * 1. A unit's saved tensors of a microbatch have a range of numbers from its first forward op to
 *    its last backward op; ranges are used again afterwards, by units of the same block.
 * 2. An entry names a number that was given out, or a fixed one.
 * 3. A strand holds one received message at a time, and the workspace is taken once. */
#include "models/lower/stage/lower_tensors.h"

#include <string.h>

#include "sim/check.h"

/* Those of the second of two passes that take turns, behind the fixed ones. */
enum {
    STRAND_SCRATCH = TENSOR_FIRST,
    STRAND_RECEIVE,
    STRAND_TENSORS = 2
};

void lower_tensors_begin(struct tensors *t, const struct lowering *l, struct program_writer *w,
                         const struct labels *labels, const struct units *units)
{
    *t = (struct tensors){.w = w,
                          .labels = labels,
                          .units = units,
                          .next = TENSOR_FIRST + (l->weaves ? STRAND_TENSORS : 0),
                          .microbatches = l->shape.microbatches,
                          .unrecorded = l->detail != LOWERED_WITH_LEDGER,
                          .workspace_bytes = l->c->software.memory.workspace_bytes};
    size_t slots = units != NULL ? (size_t)units->count * t->microbatches : 0;
    t->saved = ARENA_ARRAY(l->arena, uint32_t, slots);
    if (slots > 0)
        memset(t->saved, 0xff, sizeof *t->saved * slots);
    for (unsigned b = 0; b < lower_plan_block_count(l); b++)
        t->spare[b] = ARENA_ARRAY(l->arena, uint32_t,
                                  b < BLOCK_FORMS || l->blocks[b].tensor_count > 0 ? slots : 0);
}

uint32_t lower_tensors_number(struct tensors *t)
{
    CHECK(t->next < TENSOR_NONE);
    return t->next++;
}

void lower_tensors_entry(struct tensors *t, enum ledger_action action, struct tensor tensor,
                         const char *call_site)
{
    if (!(tensor.bytes > 0.0) || t->unrecorded)
        return;
    CHECK(tensor.number < t->next); /* 2 */
    struct ledger_entry e = {
        .action = (uint8_t)action,
        .tenant = (uint8_t)tensor.tenant,
        .flags = (uint8_t)tensor.flags,
        .tensor = tensor.number,
        .bytes = tensor.bytes,
        .name = tensor.name,
        .call_site = call_site,
        .layer = t->labels->layer,
        .microbatch = t->labels->microbatch,
    };
    program_ledger(t->w, e);
}

void lower_tensors_setup(struct tensors *t, struct tensor tensor, const char *call_site,
                         uint16_t layer)
{
    if (!(tensor.bytes > 0.0))
        return;
    struct ledger_entry e = {
        .action = LEDGER_ALLOCATE,
        .tenant = (uint8_t)tensor.tenant,
        .flags = (uint8_t)tensor.flags,
        .tensor = lower_tensors_number(t),
        .bytes = tensor.bytes,
        .name = tensor.name,
        .call_site = call_site,
        .layer = layer,
        .microbatch = UINT16_MAX,
    };
    program_setup(t->w, e);
}

static size_t slot_of(const struct tensors *t, const struct lowered_unit *unit)
{
    CHECK(t->labels->microbatch < t->microbatches);
    return (size_t)(unit - t->units->rows) * t->microbatches + t->labels->microbatch;
}

void lower_tensors_take(struct tensors *t, const struct lowered_unit *unit)
{
    uint32_t *slot = &t->saved[slot_of(t, unit)];
    CHECK(*slot == TENSOR_NONE); /* 1 */
    if (t->spare_count[unit->kind] > 0) {
        *slot = t->spare[unit->kind][--t->spare_count[unit->kind]];
        return;
    }
    *slot = lower_tensors_number(t);
    t->next += unit->block->tensor_count - 1;
}

void lower_tensors_give(struct tensors *t, const struct lowered_unit *unit)
{
    uint32_t *slot = &t->saved[slot_of(t, unit)];
    CHECK(*slot != TENSOR_NONE); /* 1 */
    t->spare[unit->kind][t->spare_count[unit->kind]++] = *slot;
    *slot = TENSOR_NONE;
}

uint32_t lower_tensors_input(const struct tensors *t, const struct lowered_unit *unit)
{
    uint32_t first = t->saved[slot_of(t, unit)];
    CHECK(first != TENSOR_NONE); /* 1 */
    return first;
}

uint32_t lower_tensors_segment(const struct tensors *t, const struct lowered_unit *unit,
                               unsigned segment)
{
    uint32_t tensor = lower_tensors_input(t, unit) + 1;
    for (unsigned i = 0; i < segment; i++)
        tensor += unit->block->layer->segments[i].saved.count;
    return tensor;
}

uint32_t lower_tensors_gradient(const struct tensors *t, const struct lowered_unit *unit,
                                unsigned segment)
{
    CHECK(unit->block->splits); /* 2 */
    return lower_tensors_segment(t, unit, unit->block->layer->segment_count) + segment;
}

void lower_tensors_workspace(struct tensors *t)
{
    const struct tensor workspace = {TENANT_TEMPORARY, TENSOR_WORKSPACE, t->workspace_bytes,
                                     "GEMM workspace", LEDGER_FIRST_STEP | LEDGER_STAYS};
    lower_tensors_entry(t, LEDGER_ALLOCATE, workspace, "first matrix product");
    t->workspace_bytes = 0.0; /* 3 */
}

void lower_tensors_strand(struct tensors *t, unsigned strand)
{
    CHECK(strand < sizeof t->receive_bytes / sizeof t->receive_bytes[0]);
    t->strand = strand;
}

uint32_t lower_tensors_scratch(const struct tensors *t)
{
    return t->strand == 0 ? TENSOR_SCRATCH : STRAND_SCRATCH;
}

static struct tensor receive_buffer(const struct tensors *t, double bytes)
{
    const uint32_t number = t->strand == 0 ? TENSOR_RECEIVE : STRAND_RECEIVE;
    return (struct tensor){TENANT_COMMUNICATION, number, bytes, "receive buffer", 0};
}

void lower_tensors_received(struct tensors *t, double bytes)
{
    double *held = &t->receive_bytes[t->strand];
    CHECK(*held == 0.0); /* 3 */
    lower_tensors_entry(t, LEDGER_ALLOCATE, receive_buffer(t, bytes), "pipeline receive");
    *held = bytes;
}

void lower_tensors_handed_over(struct tensors *t)
{
    double *held = &t->receive_bytes[t->strand];
    lower_tensors_entry(t, LEDGER_FREE, receive_buffer(t, *held), "pipeline receive");
    *held = 0.0;
}
