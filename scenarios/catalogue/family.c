#include "scenarios/catalogue/family.h"

#include <string.h>

#include "models/checkpoint/checkpoint_kind.h"
#include "models/failure/failure_kind.h"
#include "models/gpu/precision.h"
#include "models/recovery/recovery_kind.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/workload/optimizer.h"
#include "sim/check.h"
#include "topology/topology_kind.h"

/* One kind; without a name it is of another family in the same table. */
struct kind {
    const char *name, *doc;
    struct params options;
};

static struct kind wiring(unsigned i, enum topology_role role)
{
    const struct topology_kind *k = topology_kinds[i];
    return (struct kind){k->role == role ? k->name : NULL, k->doc, {k->options, k->option_count}};
}

static struct kind node_kind(unsigned i)
{
    return wiring(i, TOPOLOGY_NODE);
}

static struct kind fabric_kind(unsigned i)
{
    return wiring(i, TOPOLOGY_FABRIC);
}

static struct kind schedule(unsigned i)
{
    return (struct kind){schedule_kinds[i]->name, schedule_kinds[i]->doc, {NULL, 0}};
}

static struct kind sharding(unsigned i)
{
    return (struct kind){sharding_kinds[i]->name, sharding_kinds[i]->doc, {NULL, 0}};
}

static struct kind precision(unsigned i)
{
    return (struct kind){precisions[i].name, precisions[i].doc, {NULL, 0}};
}

static struct kind optimizer(unsigned i)
{
    return (struct kind){optimizers[i].name, optimizers[i].doc, {NULL, 0}};
}

static struct kind failure(unsigned i)
{
    const struct failure_kind *k = failure_kinds[i];
    return (struct kind){k->name, k->doc, {k->options, k->option_count}};
}

static struct kind checkpoint(unsigned i)
{
    const struct checkpoint_kind *k = checkpoint_kinds[i];
    return (struct kind){k->name, k->doc, {k->options, k->option_count}};
}

static struct kind recovery(unsigned i)
{
    return (struct kind){recovery_kinds[i]->name, recovery_kinds[i]->doc, {NULL, 0}};
}

static const struct {
    const char *name, *member;
    const unsigned *count; /* NULL: of the catalogue */
    struct kind (*kind)(unsigned i);
} families[FAMILY_COUNT] = {
    [FAMILY_GPUS] = {"gpus", "GPU", NULL, NULL},
    [FAMILY_NODES] = {"nodes", "node", NULL, NULL},
    [FAMILY_FABRICS] = {"fabrics", "fabric", NULL, NULL},
    [FAMILY_MODELS] = {"models", "model", NULL, NULL},
    [FAMILY_SOFTWARE] = {"software", "software profile", NULL, NULL},
    [FAMILY_FLEETS] = {"fleets", "fleet", NULL, NULL},
    [FAMILY_STORAGE] = {"storage", "storage tier", NULL, NULL},
    [FAMILY_NODE_KINDS] = {"node kinds", "kind of node", &topology_kind_count, node_kind},
    [FAMILY_FABRIC_KINDS] = {"fabric kinds", "kind of fabric", &topology_kind_count, fabric_kind},
    [FAMILY_SCHEDULES] = {"schedules", "schedule", &schedule_kind_count, schedule},
    [FAMILY_SHARDINGS] = {"shardings", "sharding", &sharding_kind_count, sharding},
    [FAMILY_PRECISIONS] = {"precisions", "precision", &precision_count, precision},
    [FAMILY_OPTIMIZERS] = {"optimizers", "optimizer", &optimizer_count, optimizer},
    [FAMILY_FAILURES] = {"failure laws", "failure law", &failure_kind_count, failure},
    [FAMILY_CHECKPOINTS] = {"checkpoint policies", "checkpoint policy", &checkpoint_kind_count,
                            checkpoint},
    [FAMILY_RECOVERIES] = {"recovery policies", "recovery policy", &recovery_kind_count, recovery},
};

const char *family_name(enum family family)
{
    return families[family].name;
}

const char *family_member_name(enum family family)
{
    return families[family].member;
}

struct name_list family_kinds(struct arena *arena, enum family family)
{
    CHECK(family >= FAMILY_CATALOGUE_COUNT && family < FAMILY_COUNT);
    const char **names = ARENA_ARRAY(arena, const char *, *families[family].count);
    unsigned count = 0;
    for (unsigned i = 0; i < *families[family].count; i++) {
        const char *name = families[family].kind(i).name;
        if (name)
            names[count++] = name;
    }
    return (struct name_list){names, count};
}

static struct kind find(enum family family, const char *name)
{
    CHECK(family >= FAMILY_CATALOGUE_COUNT && family < FAMILY_COUNT);
    for (unsigned i = 0; i < *families[family].count; i++) {
        struct kind kind = families[family].kind(i);
        if (kind.name && strcmp(kind.name, name) == 0)
            return kind;
    }
    return (struct kind){NULL, "", {NULL, 0}};
}

const char *family_kind_doc(enum family family, const char *name)
{
    return find(family, name).doc;
}

struct params family_kind_options(enum family family, const char *name)
{
    return find(family, name).options;
}

static bool has_row(const struct param *rows, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return true;
    }
    return false;
}

struct params family_options(struct arena *arena, enum family family)
{
    if (family == FAMILY_NONE)
        return (struct params){NULL, 0};
    unsigned room = *families[family].count * KIND_OPTION_MAX, count = 0;
    struct param *rows = ARENA_ARRAY(arena, struct param, room);
    for (unsigned k = 0; k < *families[family].count; k++) {
        struct kind kind = families[family].kind(k);
        for (unsigned i = 0; kind.name && i < kind.options.count; i++) {
            if (!has_row(rows, count, kind.options.rows[i].name))
                rows[count++] = kind.options.rows[i];
        }
    }
    return (struct params){rows, count};
}
