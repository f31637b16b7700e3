#include "models/recovery/recovery_kind.h"

static void decide(const struct recovery_situation *situation, struct recovery_decision *out)
{
    out->wait = situation->nodes_short > 0;
    recovery_walk(out, LINKS_FIND | LINKS_RUN | 1u << LINK_CORDON | 1u << LINK_SCHEDULE);
}

const struct recovery_kind recovery_wait_for_repair = {
    .head = {.name = "wait-for-repair", .doc = "the job waits until the failed nodes are repaired"},
    .has_spares = false,
    .spares_idle = false,
    .decide = decide,
};
