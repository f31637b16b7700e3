/* report_walls.h - `explain --walls`: which wall a job meets, on an envelope and simulated. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_WALLS_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_WALLS_H

#include "analysis/explain/walls_rows.h"
#include "analysis/tell/document/document.h"

/* orrery.walls/1. */
struct fact *report_walls(struct arena *arena, const struct scenario *scenario,
                          const struct walls *walls);
extern const char *const report_walls_lines[];

#endif
