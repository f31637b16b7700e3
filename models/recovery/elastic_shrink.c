#include "models/recovery/recovery_kind.h"

static void decide(const struct recovery_situation *situation, struct recovery_decision *out)
{
    recovery_take_spares(situation, out);
    bool short_of_nodes = out->nodes_taken < situation->nodes_short;
    out->shrink = short_of_nodes && situation->replicas_up > 0 &&
                  situation->replicas_up >= situation->replicas_min;
    out->wait = short_of_nodes && !out->shrink;
    recovery_walk(out, LINKS_FIND | LINKS_RUN | 1u << LINK_CORDON |
                           (out->nodes_taken > 0 ? 1u << LINK_ALLOCATE : 0));
}

const struct recovery_kind recovery_elastic_shrink = {
    .head = {.name = "elastic-shrink",
             .doc = "when spares run out, the job restarts on the complete replicas and takes the "
                    "others back after repair"},
    .has_spares = true,
    .spares_idle = true,
    .decide = decide,
};
