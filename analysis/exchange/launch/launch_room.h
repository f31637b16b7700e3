/* launch_room.h - does a layout fit in memory, by the ledger that `orrery memory` prints? */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_ROOM_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_LAUNCH_ROOM_H

#include "models/layout/configuration.h"

struct launch_room {
    bool known; /* false: it was not asked, or the step cannot be lowered */
    bool fits;
    bool host;      /* the figures are of the CPUs of a node; false: of a card of `stage` */
    uint32_t stage; /* the fullest */
    double needed_bytes, usable_bytes; /* needed: were there enough */
};
/* `c` breaks no rule of configuration_check. Plays the memory of a step, not its time. */
void launch_room_find(const struct configuration *c, struct launch_room *out);

#endif
