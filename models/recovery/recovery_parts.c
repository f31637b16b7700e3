/* What recovery policies share: links that are walked, spares that are taken; what they heed. */
#include "models/recovery/recovery_kind.h"

static const uint32_t replicas = 2;

/* A failure that loses up to one node, with up to one spare and one replica that goes on. */
static struct recovery_decision decision_in(const struct recovery_kind *kind,
                                            const struct kind_options *options, unsigned sort,
                                            uint32_t replicas_min)
{
    const uint32_t lost = sort & 1u;
    const struct recovery_situation situation = {.hardware = lost,
                                                 .nodes_short = lost,
                                                 .spares_free = sort >> 1 & 1u,
                                                 .replicas_up = replicas - lost,
                                                 .replicas_untouched = sort >> 2 & 1u,
                                                 .replicas = replicas,
                                                 .replicas_min = replicas_min,
                                                 .options = options};
    struct recovery_decision out = {0};
    kind->decide(&situation, &out);
    return out;
}

struct recovery_heeds recovery_heeds(const struct recovery_kind *kind,
                                     const struct kind_options *options)
{
    struct recovery_heeds heeds = {.replicas_min = false};
    for (unsigned sort = 0; sort < 1u << 3; sort++) {
        const struct recovery_decision one = decision_in(kind, options, sort, 1);
        const struct recovery_decision all = decision_in(kind, options, sort, replicas);
        heeds.replicas_min |= one.wait != all.wait || one.shrink != all.shrink ||
                              one.others_go_on != all.others_go_on;
        heeds.shrinks |= one.shrink || all.shrink;
        for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
            heeds.links[link] |= one.links[link] || all.links[link];
    }
    return heeds;
}

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
