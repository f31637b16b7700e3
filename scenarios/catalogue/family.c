#include "scenarios/catalogue/family.h"

#include <string.h>

#include "models/checkpoint/checkpoint_kind.h"
#include "models/collective/collective_kind.h"
#include "models/collective/dispatch/dispatch_kind.h"
#include "models/failure/failure_kind.h"
#include "models/gpu/precision.h"
#include "models/recovery/recovery_kind.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/workload/layer/layer_kind.h"
#include "models/workload/optimizer.h"
#include "sim/check.h"
#include "sim/list.h"
#include "topology/topology_kind.h"

static const struct {
    const char *name, *member;
    const char *listed; /* NULL: by its name */
    kind_at_fn *at;     /* NULL: of the catalogue */
} families[FAMILY_COUNT] = {
    [FAMILY_GPUS] = {"gpus", "GPU", NULL, NULL},
    [FAMILY_NODES] = {"nodes", "node", NULL, NULL},
    [FAMILY_FABRICS] = {"fabrics", "fabric", NULL, NULL},
    [FAMILY_MODELS] = {"models", "model", NULL, NULL},
    [FAMILY_SOFTWARE] = {"software", "software profile", NULL, NULL},
    [FAMILY_FLEETS] = {"fleets", "fleet", NULL, NULL},
    [FAMILY_STORAGE] = {"storage", "storage tier", NULL, NULL},
    [FAMILY_NODE_KINDS] = {"node kinds", "kind of node", "topology", topology_node_at},
    [FAMILY_FABRIC_KINDS] = {"fabric kinds", "kind of fabric", "topology", topology_fabric_at},
    [FAMILY_SCHEDULES] = {"schedules", "schedule", "schedule", schedule_at},
    [FAMILY_SHARDINGS] = {"shardings", "sharding", "sharding", sharding_at},
    [FAMILY_DISPATCHES] = {"dispatches", "dispatch", "dispatch", dispatch_at},
    [FAMILY_COLLECTIVES] = {"collectives", "collective", "collective", collective_at},
    [FAMILY_LAYERS] = {"layers", "kind of layer", "layers", layer_at},
    [FAMILY_PRECISIONS] = {"precisions", "precision", "precision", precision_at},
    [FAMILY_OPTIMIZERS] = {"optimizers", "optimizer", "optimizer", optimizer_at},
    [FAMILY_FAILURES] = {"failure laws", "failure law", "failure", failure_at},
    [FAMILY_CHECKPOINTS] = {"checkpoint policies", "checkpoint policy", "checkpoint",
                            checkpoint_at},
    [FAMILY_RECOVERIES] = {"recovery policies", "recovery policy", "recovery", recovery_at},
};

const char *family_name(enum family family)
{
    return families[family].name;
}

const char *family_member_name(enum family family)
{
    return families[family].member;
}

const char *family_listed(enum family family)
{
    return families[family].listed != NULL ? families[family].listed : families[family].name;
}

const struct kind *family_at(enum family family, unsigned index)
{
    CHECK(family >= FAMILY_CATALOGUE_COUNT && family < FAMILY_COUNT);
    return families[family].at(index);
}

const struct kind *family_find(enum family family, const char *name)
{
    CHECK(family >= FAMILY_CATALOGUE_COUNT && family < FAMILY_COUNT);
    return kind_find(families[family].at, name);
}

struct name_list family_kinds(struct arena *arena, enum family family)
{
    const char **names = NULL;
    uint32_t count = 0, capacity = 0;
    const struct kind *kind;
    for (unsigned i = 0; (kind = family_at(family, i)) != NULL; i++) {
        LIST_ROOM(arena, names, count, 1, capacity);
        names[count++] = kind->name;
    }
    return (struct name_list){names, count};
}

static bool has_row(const struct param *rows, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0)
            return true;
    return false;
}

struct params family_options(struct arena *arena, enum family family)
{
    struct param *rows = NULL;
    uint32_t count = 0, capacity = 0;
    const struct kind *kind;
    for (unsigned k = 0; (kind = family_at(family, k)) != NULL; k++) {
        for (unsigned i = 0; i < kind->options.count; i++) {
            if (has_row(rows, count, kind->options.rows[i].name))
                continue;
            LIST_ROOM(arena, rows, count, 1, capacity);
            rows[count++] = kind->options.rows[i];
        }
    }
    return (struct params){rows, count};
}
