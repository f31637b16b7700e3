/* calibration_report.h - what a calibration says at its end. */
#ifndef ORRERY_ANALYSIS_CALIBRATE_CALIBRATION_REPORT_H
#define ORRERY_ANALYSIS_CALIBRATE_CALIBRATION_REPORT_H

#include <stdio.h>

#include "models/profile/campaign.h"

/* How many points of the plan stand in `file`, what is missing and why, and what was seen of the
 * card's clock, power and heat; lines with nothing to say are left out. `of_step`: lists of shapes
 * weighed the points, so the share of a step that they cover is known. */
void calibration_print(FILE *out, const char *file, const struct campaign_report *report,
                       enum campaign_end end, bool of_step);

#endif
