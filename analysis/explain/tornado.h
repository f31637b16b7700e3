/* tornado.h - elasticities as a picture: a bar for each input from what the step does with a tenth
 * less of it to what it does with a tenth more. The same bytes for the same numbers. */
#ifndef ORRERY_ANALYSIS_EXPLAIN_TORNADO_H
#define ORRERY_ANALYSIS_EXPLAIN_TORNADO_H

#include <stdio.h>

#include "analysis/explain/elasticity.h"

void tornado_svg(const char *title, const char *note, const struct elasticities *elasticities,
                 FILE *out);

#endif
