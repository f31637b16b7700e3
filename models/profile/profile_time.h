/* profile_time.h - how long a kernel takes by a profile: what stands behind kernel_source.
 *
 * A kernel whose very shape was measured takes the measured time. Between measured shapes of its
 * family (same kind, name, number format, flags) the ratio of measured to modelled time is
 * interpolated, in the logarithms of ratio and sizes: the family's median, and what the nearest
 * points deviate from it by inverse distance (Shepard, ACM 1968). It meets every point, never
 * leaves their range, needs no grid, and leaves to the model what it knows, waves and tiles.
 * Outside what was measured, or by another family that is near, the same is called extrapolated;
 * further away the model alone answers. docs/calibration.md has the error of it. */
#ifndef ORRERY_MODELS_PROFILE_PROFILE_TIME_H
#define ORRERY_MODELS_PROFILE_PROFILE_TIME_H

#include "models/gpu/gpu.h"
#include "models/profile/profile.h"

/* Ready for look-ups on such a card; borrows the points. */
const struct kernel_profile *profile_time_open(struct arena *arena,
                                               const struct measured_profile *profile,
                                               const struct gpu_spec *gpu);
/* One that knows no time and adds each shape that it is asked for to `plan`, with weight 0; the
 * kernel_time's shape is its row there + 1. */
const struct kernel_profile *profile_time_ask(struct arena *arena, struct calibrate_plan *plan);
kernel_lookup_fn profile_time_lookup;
/* The measurement that tells the time of a kernel best; false: none does (unfused attention has no
 * kernel of its own, streaming ones do not depend on the name alone). */
bool profile_time_point(const struct kernel *kernel, struct calibrate_point *out);
/* Seconds of the structural model for what the point measures; 0: it models no such kernel (copies,
 * launches, collectives, a format or attention that the card has not). */
double profile_time_modelled_s(const struct gpu_spec *gpu, const struct calibrate_point *point);
/* NULL, or a sentence: a point that no card with these figures can have measured, as of another
 * card or in other units. */
const char *profile_time_impossible(struct arena *arena, const struct measured_profile *profile,
                                    const struct gpu_spec *gpu);

#endif
