/* profile_tell.h - what `orrery profile` prints. Texts come from a file and may hold anything. */
#ifndef ORRERY_ANALYSIS_COMMAND_EXCHANGE_PROFILE_TELL_H
#define ORRERY_ANALYSIS_COMMAND_EXCHANGE_PROFILE_TELL_H

#include "analysis/output/terminal/session.h"
#include "models/profile/profile.h"

void profile_tell(const struct session *session, const struct measured_profile *profile);
void profile_tell_remarks(const struct session *session, const struct measured_profile *profile,
                          const struct profile_remark *remarks, unsigned count);
void profile_tell_difference(const struct session *session, struct arena *arena,
                             const struct measured_profile *a, const struct measured_profile *b);

#endif
