/* duration.h - laws of positive durations: how long a repair, a detection or a life lasts.
 *
 * A duration is drawn by its quantile function, so that one uniform number gives one duration and
 * policies under comparison can share it (common random numbers). All laws are stated by their
 * mean. Special functions are GSL's. */
#ifndef ORRERY_MODELS_DURATION_DURATION_H
#define ORRERY_MODELS_DURATION_DURATION_H

#include "models/duration/duration_kind.h"

/* Weibull and gamma: shape k; k < 1: the longer it lasted, the longer it will last. Log-normal:
 * sigma, the standard deviation of the logarithm. */
enum duration_law {
#define X(NAME, name) DURATION_##NAME,
#include "models/duration/duration_list.h"
#undef X
    DURATION_LAW_COUNT
};
extern const char *const duration_law_names[DURATION_LAW_COUNT + 1]; /* NULL-ended */

struct duration {
    int law;
    double mean_s; /* 0: nothing happens, whatever the law */
    double shape;  /* see the law; ignored by laws without one */
};
/* The shapes that a law takes. */
const struct duration_shape *duration_shape_of(int law);
static inline bool duration_has_shape(int law)
{
    return duration_shape_of(law)->most > 0.0;
}
/* The quantile at `u` in (0, 1), in seconds. */
double duration_quantile_s(const struct duration *duration, double u);
/* The quantile of what is left of a duration that is met at a random moment of a long sequence of
 * them (stationary excess law: density (1 - F(t)) / mean; Cox, Renewal Theory, 1962, 5.2). */
double duration_residual_s(const struct duration *duration, double u);
/* P(duration > t). */
double duration_survival(const struct duration *duration, double t_s);
/* Logarithm of the density at t > 0 [1/s]; and P(what is left > t) of duration_residual_s. Not of
 * fixed durations (CHECKed). */
double duration_log_density(const struct duration *duration, double t_s);
double duration_residual_survival(const struct duration *duration, double t_s);

#endif
