#include "models/lower/plan/lower_capture.h"

#include "models/workload/software.h"

void lower_capture_begin(struct capture *c)
{
    c->captured = c->launched = (c->graphs & GRAPH_ITERATION) != 0;
}

void lower_capture_enter(struct capture *c, unsigned module)
{
    c->captured = (c->graphs & (module | GRAPH_ITERATION)) != 0;
}

double lower_capture_launches(struct capture *c, double launches, bool outside)
{
    if (!c->captured || outside || launches == 0.0)
        return launches;
    const double made = c->launched ? 0.0 : 1.0;
    c->launched = true;
    return made;
}
