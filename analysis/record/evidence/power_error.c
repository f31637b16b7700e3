#include "analysis/record/evidence/power_error.h"

#include <math.h>
#include <string.h>

static const double deviation_of_mean_size = 1.25; /* of a normal: sqrt(pi / 2) */

/* Check rows alone: no constant of the model was chosen on them. Source: the table of
 * docs/models/power.md. */
static const struct power_row {
    const char *card;
    int cooling;
    double predicted_w, measured_w;
} rows[] = {
    /* GPT-3 175B on 512 H100, its steps alone (MLPerf Training v4.0 power logs) */
    {"h100-80gb-sxm", COOLING_IMMERSION, 6689.0, 6912.0},
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

static bool measured_card(const struct configuration *c)
{
    for (unsigned i = 0; i < ROW_COUNT; i++)
        if (strcmp(rows[i].card, c->gpu.name) == 0)
            return true;
    return false;
}

static bool measured_cooling(const struct configuration *c)
{
    for (unsigned i = 0; i < ROW_COUNT; i++)
        if (rows[i].cooling == c->cluster.node.power.cooling)
            return true;
    return false;
}

double power_error_log_spread(const struct configuration *c)
{
    double size = 0.0;
    for (unsigned i = 0; i < ROW_COUNT; i++)
        size += fabs(log(rows[i].measured_w / rows[i].predicted_w)) / (double)ROW_COUNT;
    const unsigned errors = 1u + !measured_card(c) + !measured_cooling(c);
    return deviation_of_mean_size * size * sqrt((double)errors);
}

const char *power_error_evidence(const struct configuration *c)
{
    if (!measured_card(c))
        return measured_cooling(c) ? "no power of a step was measured on this card"
                                   : "no power of a step was measured on this card, nor in a node "
                                     "of this cooling";
    return measured_cooling(c) ? "power of steps was measured on this card, so cooled"
                               : "power of steps was measured on this card, cooled otherwise";
}
