#include "models/recovery/recovery_kind.h"

static void decide(const struct recovery_situation *situation, struct recovery_decision *out)
{
    (void)situation;
    recovery_walk(out, LINKS_FIND | LINKS_RUN);
}

const struct recovery_kind recovery_restart_in_place = {
    .head = {.name = "restart-in-place",
             .doc = "the job restarts on the same nodes, which the restart repairs"},
    .has_spares = false,
    .spares_idle = false,
    .decide = decide,
};
