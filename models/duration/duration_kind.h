/* duration_kind.h - the contract of a law of durations: quantiles of a given mean, to the bit of
 * the product; all else of mean 1.
 *
 * Adding one: a file that defines the five functions and the bounds below under its own name, a row
 * in duration_list.h, a line in models/duration/CMakeLists.txt. One that lacks a function does not
 * link. duration.h scales them to a mean; duration_fit.h fits them; scenarios, the import of
 * failure logs and the tests of the family go over the list. */
#ifndef ORRERY_MODELS_DURATION_DURATION_KIND_H
#define ORRERY_MODELS_DURATION_DURATION_KIND_H

#include <stdbool.h>

/* What the shape of a law is (all of it 0: it has none). Fits try those from `least` to `most`;
 * scenarios take those from `from` to `to` (0: no such limit); `beyond` says why no others. */
struct duration_shape {
    const char *means;
    double least, most;
    double from, to;
    const char *beyond;
};
#define DURATION_TOO_HEAVY                                                                         \
    "nearly every draw is 0" /* and no run meets those that make up the mean */
#define X(NAME, name)                                                                              \
    double duration_##name##_quantile(double mean, double shape, double u); /* u in (0, 1) */      \
    double duration_##name##_residual(double mean, double shape, double u);                        \
    double duration_##name##_survival(double shape, double x);          /* x >= 0 */               \
    double duration_##name##_log_density(double shape, double x);       /* x > 0 */                \
    double duration_##name##_residual_survival(double shape, double x); /* x > 0 */                \
    extern const struct duration_shape duration_##name##_shape;
#include "models/duration/duration_list.h"
#undef X

#endif
