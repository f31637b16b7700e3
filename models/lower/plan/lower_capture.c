#include "models/lower/plan/lower_capture.h"

#include <math.h>

#include "models/workload/software.h"

void lower_capture_begin(struct capture *c)
{
    c->captured = c->replays = (c->graphs & GRAPH_ITERATION) != 0;
}

void lower_capture_enter(struct capture *c, unsigned modules)
{
    const bool all = (c->graphs & GRAPH_ITERATION) != 0;
    c->captured = all || (modules != 0 && (modules & ~c->graphs) == 0);
    c->replays = c->captured && c->replays;
}

double lower_capture_launches(struct capture *c, double launches, bool outside)
{
    const bool replays = c->replays, captured = c->captured && !outside;
    c->replays = captured;
    if (!captured)
        return launches;
    return replays ? 0.0 : fmin(launches, 1.0);
}
