#include "models/lower/plan/lower_capture.h"

#include <math.h>

#include "models/workload/software.h"

void lower_capture_begin(struct capture *c)
{
    c->captured = c->replays = (c->graphs & GRAPH_ITERATION) != 0;
    c->module = c->opened = 0;
}

void lower_capture_enter(struct capture *c, unsigned module)
{
    const bool all = (c->graphs & GRAPH_ITERATION) != 0;
    c->captured = all || (module & c->graphs) != 0;
    c->replays = c->captured && c->replays;
    c->module = module;
}

double lower_capture_launches(struct capture *c, double launches, bool outside)
{
    const bool replays = c->replays || (c->opened & c->module) != 0;
    const bool captured = c->captured && !outside;
    c->replays = captured;
    if (!captured)
        return launches;
    c->opened |= c->module;
    return replays ? 0.0 : fmin(launches, 1.0);
}
