/* report_walls.h - the page of walls in words: envelope beside simulation, the wall that binds, the
 * roofline of the kernels. Pure output; numbers are rounded for people. */
#ifndef ORRERY_ANALYSIS_TELL_REPORT_REPORT_WALLS_H
#define ORRERY_ANALYSIS_TELL_REPORT_REPORT_WALLS_H

#include "analysis/explain/walls_rows.h"
#include "analysis/output/terminal/session.h"

void report_walls(const struct session *session, const struct scenario *scenario,
                  const struct walls *walls);

#endif
