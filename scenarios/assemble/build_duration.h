/* build_duration.h - reads a duration: `24h`, or {mean: 24h, law: lognormal, shape: 1.2}. */
#ifndef ORRERY_SCENARIOS_ASSEMBLE_BUILD_DURATION_H
#define ORRERY_SCENARIOS_ASSEMBLE_BUILD_DURATION_H

#include "scenarios/assemble/section.h"
#include "scenarios/schema/schema_job.h"

/* The duration `section` inside `outer`, which messages call `path`. Left out it is its default,
 * fixed. Returns false when it was left out or says that another place decides (`auto`). */
bool build_duration(struct builder *b, const struct value *outer, enum section section,
                    const char *path, struct duration_keys *out);

#endif
