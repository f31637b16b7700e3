#include "models/recovery/recovery_kind.h"

static void decide(const struct recovery_situation *situation, struct recovery_decision *out)
{
    recovery_take_spares(situation, out);
    out->wait = out->nodes_taken < situation->nodes_short;
    recovery_walk(out, LINKS_FIND | LINKS_RUN | 1u << LINK_CORDON | 1u << LINK_ALLOCATE);
}

const struct recovery_kind recovery_hot_spare = {
    .head = {.name = "hot-spare",
             .doc = "a powered node with the job loaded replaces the failed one; if there is none, "
                    "the job waits for a repair"},
    .has_spares = true,
    .spares_idle = true,
    .decide = decide,
};
