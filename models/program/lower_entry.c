/* lower_entry.c - entries of the ledger, and numbers of tensors, for all who allocate. */
#include "models/program/lower_parts.h"

void memory_entry(struct stage *s, enum ledger_action action, struct tensor tensor,
                  const char *call_site)
{
    if (!(tensor.bytes > 0.0)) {
        return;
    }
    struct ledger_entry e = {
        .action = (uint8_t)action,
        .tenant = (uint8_t)tensor.tenant,
        .flags = (uint8_t)tensor.flags,
        .tensor = tensor.number,
        .bytes = tensor.bytes,
        .name = tensor.name,
        .call_site = call_site,
        .layer = s->layer,
        .microbatch = s->microbatch,
    };
    program_ledger(s->w, e);
}

uint32_t memory_tensor(struct stage *s)
{
    if (s->tensor_next < TENSOR_FIRST) {
        s->tensor_next = TENSOR_FIRST;
    }
    return s->tensor_next++;
}
