#include "models/recovery/recovery_kind.h"

static void decide(const struct recovery_situation *situation, struct recovery_decision *out)
{
    recovery_take_spares(situation, out);
    out->wait = out->nodes_taken < situation->nodes_short;
    recovery_walk(out, LINKS_FIND | LINKS_RUN | 1u << LINK_CORDON | 1u << LINK_ALLOCATE |
                           1u << LINK_SCHEDULE | (out->nodes_taken > 0 ? 1u << LINK_PROVISION : 0));
}

const struct recovery_kind recovery_cold_spare = {
    .head =
        {.name = "cold-spare",
         .doc =
             "a node that is switched off replaces the failed one after booting and provisioning"},
    .has_spares = true,
    .spares_idle = false,
    .decide = decide,
};
