/* build_profile.c - cluster.profile: the measured times of the cluster's cards and collectives. */
#include "models/profile/profile_time.h"

#include <math.h>
#include <string.h>

#include "scenarios/assemble/build_parts.h"
#include "scenarios/catalogue/card.h"
#include "scenarios/language/file.h"

static const char *name_of(struct builder *b, const char *path,
                           const struct measured_profile *profile)
{
    return arena_format(b->arena, "%s: %s, %s", file_stem(b->arena, path),
                        profile->head.facts.device, profile->head.date);
}

/* What is odd about it, yet no error. */
static void warn(struct builder *b, struct mark mark, const struct measured_profile *profile)
{
    const struct gpu_spec *gpu = &b->scenario->configuration.gpu;
    const char *of = profile->head.gpu;
    const struct card_told told = {.name = profile->head.facts.device,
                                   .memory_bytes = profile->head.facts.memory_bytes};
    struct error why = {""};
    const enum card_match match = card_compare(&b->catalogue, gpu->name, &told, &why);
    const bool named = strcmp(of, gpu->name) == 0;
    if (*of && !named)
        problems_warning(b->problems, mark, "cluster.profile: it was measured on %s, not on %s", of,
                         gpu->name);
    else if (match == CARD_DIFFERS || (match == CARD_UNKNOWN && !named))
        problems_warning(b->problems, mark, "cluster.profile: %s", why.text);
    if (!profile->head.complete)
        problems_warning(b->problems, mark,
                         "cluster.profile: the calibration was not finished; 'orrery-calibrate' "
                         "with the same file goes on");
}

/* Measured rates scatter about that of a data sheet. */
#define BEYOND_WIRES 1.1

static bool collective_of(const struct measured_point *m, struct collective_point *out)
{
    const struct calibrate_point *p = &m->point;
    const double nodes = fmax(p->size[2], 1.0);
    if (p->kind != POINT_COLLECTIVE || p->size[0] > UINT32_MAX || nodes > UINT32_MAX)
        return false;
    for (int op = 0; comm_op_names[op] != NULL; op++) {
        if (strcmp(comm_op_names[op], p->name) != 0)
            continue;
        *out = (struct collective_point){.op = (enum comm_op)op,
                                         .ranks = (uint32_t)p->size[0],
                                         .nodes = (uint32_t)nodes,
                                         .bytes = p->size[1],
                                         .time_s = m->measurement.median_s};
        return true;
    }
    return false;
}

/* What crosses the narrowest place at least, whatever the algorithm: a member's own wire all but
 * its own part of the buffer, or a node's NICs all but the part of that node. NULL: it can be. */
static const char *impossible(struct builder *b, const struct collective_point *p)
{
    const struct topology_spec *cluster = &b->scenario->configuration.cluster;
    const bool inside = p->nodes == 1;
    const uint64_t gpus = cluster->node.gpus;
    const double wires = inside ? topology_wire(cluster, gpus < 2 ? gpus : 2).bytes_per_s
                                : (double)gpus * topology_wire(cluster, gpus + 1).gpu_bytes_per_s;
    const double parts = inside ? p->ranks : p->nodes;
    const double rate = p->bytes * (parts - 1.0) / parts / p->time_s;
    if (wires <= 0.0 || rate <= BEYOND_WIRES * wires)
        return NULL;
    return arena_format(b->arena,
                        "%s of %g B among %u ranks in %u nodes would need %.3g B/s, and the %s "
                        "carry %.3g: it is of another machine, or its times are not in seconds",
                        comm_op_names[p->op], p->bytes, p->ranks, p->nodes, rate,
                        inside ? "wires of a GPU" : "NICs of a node", wires);
}

static void take_collectives(struct builder *b, struct mark mark,
                             const struct measured_profile *profile)
{
    struct collective_point *rows = ARENA_ARRAY(b->arena, struct collective_point, profile->count);
    uint32_t count = 0;
    for (unsigned i = 0; i < profile->count; i++) {
        const char *why = NULL;
        if (!collective_of(&profile->points[i], &rows[count]))
            continue;
        if ((why = impossible(b, &rows[count++])) != NULL) {
            problems_error(b->problems, mark, "cluster.profile: %s", why);
            return;
        }
    }
    count = collective_points_sort(rows, count);
    b->scenario->configuration.collectives = (struct collective_points){rows, count};
}

void build_profile(struct builder *b, const struct value *cluster, const char *named)
{
    struct configuration *c = &b->scenario->configuration;
    struct mark mark = section_mark(cluster, "profile");
    struct measured_profile *profile = ARENA_NEW(b->arena, struct measured_profile);
    struct error error = {""};
    const char *path = section_file(b, "cluster.profile", named, mark), *why;
    if (path == NULL)
        return;
    if (!profile_read(b->arena, path, profile, &error)) {
        problems_error(b->problems, mark, "cluster.profile: %s", error.text);
    } else if ((why = profile_time_impossible(b->arena, profile, &c->gpu)) != NULL) {
        problems_error(b->problems, mark, "cluster.profile: %s", why);
    } else {
        warn(b, mark, profile);
        c->kernels = (struct kernel_source){profile_time_lookup,
                                            profile_time_open(b->arena, profile, &c->gpu),
                                            name_of(b, path, profile)};
        take_collectives(b, mark, profile);
    }
}
