/* build_profile.c - cluster.profile: the measured times of the cluster's cards and collectives. */
#include "models/gpu/calibrate/profile_time.h"

#include <math.h>
#include <string.h>

#include "scenarios/build/build_parts.h"
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
    if (*of && strcmp(of, gpu->name) != 0)
        problems_warning(b->problems, mark, "cluster.profile: it was measured on %s, not on %s", of,
                         gpu->name);
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
    const struct node_spec *node = &cluster->node;
    const double nic = cluster->fabric.nic_bytes_per_s > 0.0 ? cluster->fabric.nic_bytes_per_s
                                                             : node->nic_bytes_per_s;
    const uint64_t nics = cluster->fabric.nics > 0 ? cluster->fabric.nics : node->nics;
    const bool inside = p->nodes == 1;
    const double own =
        node->nvlink_bytes_per_s > 0.0 ? node->nvlink_bytes_per_s : node->pcie_bytes_per_s;
    const double wires = inside ? own : (double)nics * nic;
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
    const char *path = section_file(b, named, mark), *why;
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
