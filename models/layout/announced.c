#include "models/layout/announced.h"

#include <math.h>
#include <stdio.h>

#include "models/layout/configuration.h"

double announced_error_ratio(const struct configuration *c)
{
    return fmax(c->gpu.announced_error_ratio, c->cluster.node.announced_error_ratio);
}

const char *announced_words(const struct configuration *c, char *out, size_t size)
{
    const bool card = c->gpu.announced_error_ratio > 0.0;
    const bool node = c->cluster.node.announced_error_ratio > 0.0;
    if (!card && !node)
        return NULL;
    snprintf(out, size,
             "%s%s%s%s announced: nothing was measured on %s, figures are the vendor's, and every "
             "prediction has %.0f %% more error (one standard deviation)",
             card ? c->gpu.name : c->cluster.node.name, card && node ? " and " : "",
             card && node ? c->cluster.node.name : "", card && node ? " are" : " is",
             card && node ? "them" : "it", 100.0 * announced_error_ratio(c));
    return out;
}
