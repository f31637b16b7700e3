/* watched.h - a training log beside the forecast of a scenario, as text or orrery.watch/1. */
#ifndef ORRERY_ANALYSIS_TELL_WATCHED_WATCHED_H
#define ORRERY_ANALYSIS_TELL_WATCHED_WATCHED_H

#include "analysis/tell/document/document.h"
#include "analysis/watch/watch_goodput.h"
#include "analysis/watch/watch_levels.h"

struct watch_told {
    const struct scenario *scenario;
    double step_s, p10_s, p50_s, p90_s; /* the forecast */
    double below_ratio;                 /* its probability of a step no longer than the median */
    const struct watch *watch;
    const struct watch_levels *levels;
    const struct watch_goodput *goodput;
};
/* Texts come from a log and may hold anything. */
struct fact *watched_document(struct arena *arena, const struct watch_told *told);
extern const char *const watched_lines[];

#endif
