/* waterfall_svg.h - the waterfall as a figure: from arithmetic at the dense peak to a kept step,
 * each term from where the one before it ended. Its bars add up to the step. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_WATERFALL_SVG_H
#define ORRERY_ANALYSIS_EXPLAIN_WATERFALL_SVG_H

#include <stdio.h>

#include "analysis/explain/waterfall.h"

void waterfall_svg(const char *title, const char *note, const struct waterfall *waterfall,
                   FILE *out);

#endif
