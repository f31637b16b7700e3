/* plan.h - which points a calibration measures, and how much each matters.
 *
 * The weight of a point is the seconds of a step that rest on it, as the model without a profile
 * has them: the budget goes where they are. A list of shapes, which `orrery profile shapes`
 * writes, has a line for each point, its weight first; `#` begins a comment. The grid has weight 0:
 * it is measured with what is left. */
#ifndef ORRERY_MODELS_PROFILE_PLAN_H
#define ORRERY_MODELS_PROFILE_PLAN_H

#include "models/profile/point.h"
#include "sim/arena.h"

struct planned_point {
    struct calibrate_point point;
    double weight_s;
};
struct calibrate_plan {
    struct arena *arena;
    struct planned_point *rows;
    unsigned count, room;
};
enum {
    PLAN_POINTS_MAX = 10000
};
/* An empty one, that grows in `arena`. */
struct calibrate_plan plan_begin(struct arena *arena);
/* Adds a sound point; one that is there already gets the sum of both weights. Returns its row. */
unsigned plan_add(struct calibrate_plan *plan, const struct calibrate_point *point,
                  double weight_s);
/* Reads a list of shapes (`path` for messages). False with file, line and what is wrong. */
bool plan_read(struct calibrate_plan *plan, const char *path, const char *text,
               struct error *error);
/* A grid in powers of four over products, attention, operators, copies, launches and, from two
 * cards up, collectives; no point of it takes more than `memory_bytes` / 4. */
void plan_add_grid(struct calibrate_plan *plan, double memory_bytes, double cards);

#endif
