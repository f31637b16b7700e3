/* study_pareto.h - layouts by the memory of their fullest card and by what they yield: which none
 * beats in both. As a picture, of a study or of a search. It knows neither. */
#ifndef ORRERY_ANALYSIS_STUDY_STUDY_PARETO_H
#define ORRERY_ANALYSIS_STUDY_STUDY_PARETO_H

#include <stdio.h>

#include "sim/arena.h"
#include "sim/error.h"

struct pareto_point {
    const char *label; /* what was laid out how */
    double bytes, tokens_per_s;
    bool fits, best; /* best: filled in; nothing that fits needs less and yields as much */
};
struct pareto_points {
    const char *title, *what; /* one of them in words, for a refusal */
    const char *announced;    /* what of their hardware is; NULL or "": nothing */
    struct pareto_point *points;
    size_t count;
    double usable_bytes; /* what a card gives; 0: not known, and no line is drawn */
};
/* Sorts the points. False with a sentence where none fits. */
bool study_pareto_draw(struct arena *arena, const struct pareto_points *points, FILE *out,
                       struct error *error);

#endif
