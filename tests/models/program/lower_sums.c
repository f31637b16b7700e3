#include "tests/models/program/lower_sums.h"

#include <math.h>

double sum_static_bytes(const struct program *p, enum tenant tenant)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->setup_count; i++)
        sum += p->setup[i].tenant == tenant ? p->setup[i].bytes : 0.0;
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        bool stays = (p->ledger[i].flags & LEDGER_STAYS) != 0;
        sum += stays && p->ledger[i].tenant == tenant ? p->ledger[i].bytes : 0.0;
    }
    return sum;
}

double sum_peak_bytes(const struct program *p, enum tenant tenant)
{
    double now = 0.0, peak = 0.0;
    for (uint32_t i = 0; i < p->ledger_count; i++) {
        const struct ledger_entry *e = &p->ledger[i];
        if (e->tenant == tenant && !(e->flags & LEDGER_STAYS)) {
            now += e->action == LEDGER_ALLOCATE ? e->bytes : -e->bytes;
            peak = fmax(peak, now);
        }
    }
    return peak;
}

double sum_flops(const struct program *p, enum phase phase)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        sum += op->kind == OP_COMPUTE && op->phase == phase ? p->costs[op->cost].flops : 0.0;
    }
    return sum;
}

double sum_elements(const struct program *p, enum stream stream, enum phase phase,
                    double element_bytes)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        if (op->kind == OP_COLLECTIVE && op->stream == stream && op->phase == phase) {
            const struct transfer *t = &p->transfers[op->cost];
            sum += (t->op == COMM_ALL_REDUCE ? 2.0 : 1.0) * t->bytes / element_bytes;
        }
    }
    return sum;
}

unsigned count_ops(const struct program *p, enum phase phase, uint16_t layer, uint16_t microbatch)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < p->op_count; i++) {
        const struct op *op = &p->ops[i];
        count += op->phase == phase && op->layer == layer && op->microbatch == microbatch;
    }
    return count;
}
