/* duration_fit.h - the law of lives that a log of failures speaks for: maximum likelihood.
 *
 * Units were watched for a while; each fails, is new again, fails again. The watch begins at no
 * special moment, so the life that it meets is of the stationary excess law, as in a scenario with
 * `initial_age: stationary`; the last life of a unit outlives the watch. With F the law, S = 1 - F
 * and m its mean, the likelihood of a unit that failed at t1 < t2 < ... < tn of T is
 *
 *   S(t1) / m  x  f(t2 - t1) ... f(tn - tn-1)  x  S(T - tn),        without a failure: E(T)
 *
 * E the survival of the excess (Cox, Renewal Theory, 1962, 5.2). Mean and shape maximise the
 * product over all units; their errors are of the curvature of its logarithm. Laws are compared by
 * AICc, Akaike's criterion with Hurvich and Tsai's correction for few samples (Biometrika 76,
 * 1989), which allows no shape for three failures and fewer. */
#ifndef ORRERY_MODELS_DURATION_DURATION_FIT_H
#define ORRERY_MODELS_DURATION_DURATION_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "models/duration/duration.h"

enum duration_part {
    PART_FIRST, /* from the start of the watch to a failure */
    PART_WHOLE, /* between two failures of a unit */
    PART_LAST,  /* from the last failure to the end */
    PART_NONE   /* the whole watch without a failure */
};
struct duration_sample {
    enum duration_part part;
    double s;     /* above 0 */
    double count; /* of such units */
};
struct duration_fit {
    struct duration duration;
    double log_likelihood;
    double criterion;  /* AICc; INFINITY: too few failures for so many parameters */
    double mean_error; /* relative standard errors; INFINITY: not known */
    double shape_error;
};
/* Fits a law (not DURATION_FIXED) to samples of which at least one is a failure. */
void duration_fit(int law, const struct duration_sample *samples, uint32_t count,
                  struct duration_fit *out);

#endif
