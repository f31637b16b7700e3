#include "models/recovery/recovery_kind.h"

static void decide(const struct recovery_situation *situation, struct recovery_decision *out)
{
    recovery_take_spares(situation, out);
    out->others_go_on = situation->replicas_untouched > 0 &&
                        situation->replicas_untouched >= situation->replicas_min;
    out->wait = !out->others_go_on && out->nodes_taken < situation->nodes_short;
    recovery_walk(out, LINKS_FIND | LINKS_RUN | 1u << LINK_CORDON |
                           (out->nodes_taken > 0 ? 1u << LINK_ALLOCATE : 0));
}

const struct recovery_kind recovery_replica_level = {
    .head = {.name = "replica-level",
             .doc = "only the failed replica restarts and gets its state from a peer; the others "
                    "continue without it"},
    .has_spares = true,
    .spares_idle = true,
    .decide = decide,
};
