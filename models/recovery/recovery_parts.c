/* What recovery policies share: links that are walked, spares that are taken. */
#include "models/recovery/recovery_kind.h"

void recovery_walk(struct recovery_decision *decision, unsigned links)
{
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        decision->links[link] = (links >> link & 1u) != 0;
}

void recovery_take_spares(const struct recovery_situation *situation,
                          struct recovery_decision *decision)
{
    uint32_t wanted = situation->nodes_short, free = situation->spares_free;
    decision->nodes_taken = wanted < free ? wanted : free;
}
