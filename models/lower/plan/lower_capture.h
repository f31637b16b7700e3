/* lower_capture.h - what the host launches where CUDA graphs replay part of a layer
 * (docs/models/graphs.md). */
#ifndef ORRERY_MODELS_LOWER_PLAN_LOWER_CAPTURE_H
#define ORRERY_MODELS_LOWER_PLAN_LOWER_CAPTURE_H

#include <stdbool.h>

struct capture {
    unsigned graphs; /* enum graph_module */
    bool captured;   /* the kernel under way stands in a graph */
    bool launched;   /* the graph of this pass is */
};
/* A pass of a layer begins, outside of every graph, but for a whole step in one. */
void lower_capture_begin(struct capture *c);
/* A kernel of this module begins (enum graph_module); what is part of none is captured with a whole
 * step alone. */
void lower_capture_enter(struct capture *c, unsigned module);
/* Of so many launches those that the host makes: the modules that are captured stand side by side
 * in a layer, so that they are one graph in each pass, which takes one launch where it begins; a
 * step that is one graph takes none. `outside`: not captured though its module is. No launch, as
 * of a kernel that is fused with another, begins no graph. */
double lower_capture_launches(struct capture *c, double launches, bool outside);

#endif
