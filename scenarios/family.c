#include "scenarios/family.h"

#include "models/optimizer.h"
#include "models/precision.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/check.h"
#include "topology/topology_kind.h"

static const struct {
    const char *name, *member;
} families[FAMILY_COUNT] = {
    [FAMILY_GPUS] = {"gpus", "GPU"},
    [FAMILY_NODES] = {"nodes", "node"},
    [FAMILY_FABRICS] = {"fabrics", "fabric"},
    [FAMILY_MODELS] = {"models", "model"},
    [FAMILY_SOFTWARE] = {"software", "software profile"},
    [FAMILY_NODE_KINDS] = {"node kinds", "kind of node"},
    [FAMILY_FABRIC_KINDS] = {"fabric kinds", "kind of fabric"},
    [FAMILY_SCHEDULES] = {"schedules", "schedule"},
    [FAMILY_SHARDINGS] = {"shardings", "sharding"},
    [FAMILY_PRECISIONS] = {"precisions", "precision"},
    [FAMILY_OPTIMIZERS] = {"optimizers", "optimizer"},
};

const char *family_name(enum family family)
{
    return families[family].name;
}

const char *family_member_name(enum family family)
{
    return families[family].member;
}

static unsigned capacity(enum family family)
{
    switch (family) {
    case FAMILY_SCHEDULES:
        return schedule_kind_count;
    case FAMILY_SHARDINGS:
        return sharding_kind_count;
    case FAMILY_PRECISIONS:
        return precision_count;
    case FAMILY_OPTIMIZERS:
        return optimizer_count;
    default:
        return topology_kind_count;
    }
}

/* NULL: this entry is of another role. */
static const char *kind_name(enum family family, unsigned i)
{
    switch (family) {
    case FAMILY_SCHEDULES:
        return schedule_kinds[i]->name;
    case FAMILY_SHARDINGS:
        return sharding_kinds[i]->name;
    case FAMILY_PRECISIONS:
        return precisions[i].name;
    case FAMILY_OPTIMIZERS:
        return optimizers[i].name;
    case FAMILY_NODE_KINDS:
        return topology_kinds[i]->role == TOPOLOGY_NODE ? topology_kinds[i]->name : NULL;
    default:
        return topology_kinds[i]->role == TOPOLOGY_FABRIC ? topology_kinds[i]->name : NULL;
    }
}

struct name_list family_kinds(struct arena *arena, enum family family)
{
    CHECK(family >= FAMILY_CATALOGUE_COUNT && family < FAMILY_COUNT);
    const char **names = ARENA_ARRAY(arena, const char *, capacity(family));
    unsigned count = 0;
    for (unsigned i = 0; i < capacity(family); i++) {
        const char *name = kind_name(family, i);
        if (name)
            names[count++] = name;
    }
    return (struct name_list){names, count};
}

const char *family_kind_doc(enum family family, const char *name)
{
    const struct schedule_kind *schedule = schedule_find(name);
    const struct sharding_kind *sharding = sharding_find(name);
    const struct precision *precision = precision_find(name);
    const struct optimizer *optimizer = optimizer_find(name);
    enum topology_role role = family == FAMILY_NODE_KINDS ? TOPOLOGY_NODE : TOPOLOGY_FABRIC;
    const struct topology_kind *wiring = topology_find(role, name);
    switch (family) {
    case FAMILY_SCHEDULES:
        return schedule ? schedule->doc : "";
    case FAMILY_SHARDINGS:
        return sharding ? sharding->doc : "";
    case FAMILY_PRECISIONS:
        return precision ? precision->doc : "";
    case FAMILY_OPTIMIZERS:
        return optimizer ? optimizer->doc : "";
    default:
        return wiring ? wiring->doc : "";
    }
}
