/* json_profile.h - a profile of measured kernels as a document. */
#ifndef ORRERY_ANALYSIS_TELL_JSON_JSON_PROFILE_H
#define ORRERY_ANALYSIS_TELL_JSON_JSON_PROFILE_H

#include <stdio.h>

#include "models/profile/profile.h"

/* `remarks` NULL: it was not checked. */
void json_profile(const struct measured_profile *profile, const struct profile_remark *remarks,
                  unsigned count, FILE *out);

#endif
