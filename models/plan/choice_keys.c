#include "models/plan/choice_keys.h"

#include "sim/check.h"

const char *choice_key_path(enum choice_key key)
{
    static const char *const paths[] = {
        [CHOICE_ATTENTION] = "training.attention",
        [CHOICE_TP] = "layout.tp",
        [CHOICE_PP] = "layout.pp",
        [CHOICE_CP] = "layout.cp",
        [CHOICE_SEQUENCE_PARALLEL] = "layout.sequence_parallel",
        [CHOICE_SHARDING] = "layout.sharding",
        [CHOICE_EP] = "layout.ep",
        [CHOICE_ETP] = "layout.etp",
        [CHOICE_SCHEDULE] = "layout.schedule",
        [CHOICE_CHUNKS] = "layout.vpp",
        [CHOICE_ENDS] = "layout.ends_count",
        [CHOICE_FIRST_STAGE] = "layout.first_stage_layers",
        [CHOICE_LAST_STAGE] = "layout.last_stage_layers",
        [CHOICE_RECOMPUTE] = "layout.recompute",
        [CHOICE_RECOMPUTE_LAYERS] = "layout.recompute_layers",
        [CHOICE_MICROBATCH] = "layout.microbatch",
        [CHOICE_NODE] = "cluster.node",
        [CHOICE_FABRIC] = "cluster.fabric",
        [CHOICE_NODES] = "cluster.nodes",
        [CHOICE_ORDER] = "layout.order",
        [CHOICE_SEQUENCE] = "training.sequence",
        [CHOICE_PRECISION] = "training.precision",
        [CHOICE_DISPATCH] = "layout.dispatch",
        [CHOICE_DISPATCH_8BIT] = "layout.dispatch_8bit",
        [CHOICE_PROFILE] = "software.profile",
        [CHOICE_RELEASE] = "software.release",
    };
    CHECK((unsigned)key < CHOICE_COUNT);
    return paths[key];
}
