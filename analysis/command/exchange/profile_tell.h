/* profile_tell.h - what `orrery profile` prints. Texts come from a file and may hold anything. */
#ifndef ORRERY_ANALYSIS_COMMAND_EXCHANGE_PROFILE_TELL_H
#define ORRERY_ANALYSIS_COMMAND_EXCHANGE_PROFILE_TELL_H

#include "analysis/tell/document/document_lines.h"
#include "models/gpu/gpu.h"
#include "models/profile/profile.h"

/* orrery.profile/1. */
struct fact *profile_tell(struct arena *arena, const struct measured_profile *profile);
extern const char *const profile_tell_lines[];
/* Adds what a check found. */
void profile_tell_remarks(struct fact *document, const struct profile_remark *remarks,
                          unsigned count);
extern const char *const profile_tell_remark_lines[];
/* Measured over modelled time by family of points and by how long they take. */
void profile_tell_model(const struct session *session, struct arena *arena,
                        const struct measured_profile *profile, const struct gpu_spec *gpu);
void profile_tell_difference(const struct session *session, struct arena *arena,
                             const struct measured_profile *a, const struct measured_profile *b);

#endif
