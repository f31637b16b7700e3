/* validate_svg.h - a validation as a picture. Clean rows, by source: predicted against measured of
 * the main metric, with the line of no error and a band of 10 %; error by number of GPUs, and its
 * size by bins of GPUs; of a file that tells no GPUs, or
 * hardly different ones, error by what was measured. */
#ifndef ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_SVG_H
#define ORRERY_ANALYSIS_VALIDATE_TABLE_VALIDATE_SVG_H

#include <stdio.h>

#include "analysis/validate/table/validate_scale.h"

void validate_svg(struct arena *arena, const struct validation *v, const struct scores *scores,
                  FILE *out);

#endif
