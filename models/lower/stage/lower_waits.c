/* Invariant: an op stands in the list once. */
#include "models/lower/stage/lower_waits.h"

#include "sim/check.h"

void lower_waits_add(struct waits *waits, uint32_t op)
{
    for (unsigned i = 0; i < waits->count; i++)
        if (waits->op[i] == op)
            return;
    if (op != OP_NONE) {
        CHECK(waits->count < WAITS_MAX);
        waits->op[waits->count++] = op;
    }
}

void lower_waits_take(struct waits *waits, struct program_writer *w, uint32_t wait[2])
{
    while (waits->count > 2) {
        struct op_cost nothing = {0};
        struct op join = {
            .kind = OP_COMPUTE,
            .stream = STREAM_COMPUTE,
            .phase = PHASE_FORWARD,
            .cost = program_cost(w, &nothing, NULL, 0),
            .wait = {waits->op[waits->count - 1], waits->op[waits->count - 2]},
            .microbatch = UINT16_MAX,
            .layer = UINT16_MAX,
            .name = (uint16_t)program_name(w, "join"),
            .host = program_host(w, 0.0),
        };
        waits->count -= 2;
        lower_waits_add(waits, program_op(w, join));
    }
    wait[0] = waits->count > 0 ? waits->op[0] : OP_NONE;
    wait[1] = waits->count > 1 ? waits->op[1] : OP_NONE;
    waits->count = 0;
}
