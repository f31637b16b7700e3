#include "models/layout/announced.h"

#include <math.h>
#include <stdio.h>

#include "models/layout/configuration.h"

enum {
    PARTS_MAX = 3
};
struct announced_part {
    const char *name;
    double error_ratio;
};

/* What is announced of the hardware that a job uses: one node alone uses no fabric. */
static unsigned find_parts(const struct configuration *c, struct announced_part out[PARTS_MAX])
{
    const struct topology_spec *cluster = &c->cluster;
    const double of_fabric = cluster->nodes > 1 ? cluster->fabric.announced_error_ratio : 0.0;
    const struct announced_part parts[PARTS_MAX] = {
        {c->gpu.name, c->gpu.announced_error_ratio},
        {cluster->node.name, cluster->node.announced_error_ratio},
        {cluster->fabric.name, of_fabric},
    };
    unsigned count = 0;
    for (unsigned i = 0; i < PARTS_MAX; i++)
        if (parts[i].error_ratio > 0.0)
            out[count++] = parts[i];
    return count;
}

double announced_error_ratio(const struct configuration *c)
{
    struct announced_part parts[PARTS_MAX];
    const unsigned count = find_parts(c, parts);
    double out = 0.0;
    for (unsigned i = 0; i < count; i++)
        out = fmax(out, parts[i].error_ratio);
    return out;
}

const char *announced_words(const struct configuration *c, char *out, size_t size)
{
    static const char *const before[PARTS_MAX][PARTS_MAX] = {
        {""}, {"", " and "}, {"", ", ", " and "}};
    struct announced_part parts[PARTS_MAX];
    const unsigned count = find_parts(c, parts);
    size_t used = 0;
    if (count == 0)
        return NULL;
    for (unsigned i = 0; i < count && used < size; i++)
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", before[count - 1][i], parts[i].name);
    if (used < size)
        snprintf(out + used, size - used,
                 " %s announced: nothing was measured on %s, figures are the vendor's, and every "
                 "prediction has %.0f %% more error (one standard deviation)",
                 count > 1 ? "are" : "is", count > 1 ? "them" : "it",
                 100.0 * announced_error_ratio(c));
    return out;
}
