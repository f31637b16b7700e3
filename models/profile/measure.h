/* measure.h - the time of one point: warm-up, repetition until the spread is small, outliers,
 * drift.
 *
 * A sample is as many launches as take `sample_s`, so that the resolution of the card's clock does
 * not show. Samples are taken until the 95 % confidence interval of their median, by order
 * statistics and so without a law of the noise (Conover, Practical Nonparametric Statistics, 3rd
 * edition, section 3.2), is no wider than +-`spread_ratio`. What lies further from the median than
 * three scaled median absolute deviations is left out and counted (Hampel, JASA 69, 1974). Where
 * the newer half of the samples ranks otherwise than the older (Mann and Whitney, 1947), the card
 * was still settling: the older half is dropped. What never settles is told with the spread that it
 * has. */
#ifndef ORRERY_MODELS_PROFILE_MEASURE_H
#define ORRERY_MODELS_PROFILE_MEASURE_H

#include "models/profile/device.h"

struct measure_rules {
    double warmup_s;       /* of work before anything counts */
    double sample_s;       /* that a sample takes at least */
    double spread_ratio;   /* aim: half the interval over the median */
    double budget_s;       /* on the wall; the samples at hand then must do */
    unsigned samples_most; /* at most MEASURE_SAMPLES_MAX */
};
enum {
    MEASURE_SAMPLES_LEAST = 20,
    MEASURE_SAMPLES_MAX = 1000
};

struct measurement {
    double median_s;     /* of one launch */
    double spread_ratio; /* half the 95 % interval over the median */
    unsigned samples, outliers;
    bool settled;             /* the aim was met */
    double clock_hz, power_w; /* means while it ran; 0: not known */
    unsigned slowing;         /* bits that half of the looks at the card showed, or more */
};
/* Measures `point`. Anything but DEVICE_DONE comes with a sentence and no measurement. */
enum device_answer measure_point(const struct calibrate_device *device,
                                 const struct calibrate_point *point,
                                 const struct measure_rules *rules, struct measurement *out,
                                 struct error *error);
/* The same of samples that were taken otherwise; reorders them. At least one. */
void measure_samples(double *seconds, unsigned count, struct measurement *out);

#endif
