#include "models/recovery/recovery_kind.h"

static void decide(const struct recovery_situation *situation, struct recovery_decision *out)
{
    recovery_take_spares(situation, out);
    out->wait = out->nodes_taken < situation->nodes_short;
    recovery_walk(out, LINKS_FIND | LINKS_RUN | 1u << LINK_CORDON | 1u << LINK_ALLOCATE |
                           1u << LINK_SCHEDULE);
}

const struct recovery_kind recovery_warm_spare = {
    .head =
        {.name = "warm-spare",
         .doc =
             "a powered node replaces the failed one after the scheduler has placed the job anew"},
    .has_spares = true,
    .spares_idle = true,
    .decide = decide,
};
