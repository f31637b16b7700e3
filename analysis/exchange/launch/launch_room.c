#include "analysis/exchange/launch/launch_room.h"

#include <math.h>

#include "models/step/simulate/step.h"

/* The fullest stage of a step, or its host, where that is what does not fit. */
static struct launch_room read_room(const struct configuration *c, const struct step *step)
{
    struct launch_room out = {
        .known = true, .fits = step->fits, .usable_bytes = c->gpu.hbm.usable_bytes};
    for (uint32_t i = 0; i < step->memory_count; i++) {
        const struct stage_memory *m = &step->memory[i];
        if (m->ledger.peak_reserved_bytes <= out.needed_bytes)
            continue;
        out.needed_bytes = m->ledger.peak_reserved_bytes;
        out.stage = m->stage;
    }
    if (!step->host.fits && out.needed_bytes <= out.usable_bytes) {
        out.host = true;
        out.needed_bytes = step->host.bytes;
        out.usable_bytes = step->host.room_bytes;
    }
    return out;
}

/* The ledger ends where a card is full: what would be needed is asked of an endless one. */
void launch_room_find(const struct configuration *c, struct launch_room *out)
{
    struct step_options options = {.memory_only = true};
    struct error error = {""};
    struct step *step = NULL;
    *out = (struct launch_room){.known = false};
    for (bool fits = false; !fits && step_run(c, &options, &step, &error);) {
        const bool endless = options.usable_bytes > 0.0;
        fits = step->fits || endless;
        *out = read_room(c, step);
        out->fits = step->fits && !endless;
        options.usable_bytes = INFINITY;
        step_destroy(step);
        step = NULL;
    }
}
