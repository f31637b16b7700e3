/* measured_steps.h - steps that the user has measured, and what they say of another one.
 *
 * A part of what no figure explains is common to all steps of one software profile on one card at
 * one place. A measured step shows it, but for scatter, and makes draws of the figures more or less
 * likely. Both by Bayes' rule, with the spreads of the published rows (docs/models/uncertainty.md):
 *
 *   log(measured k) = log(step k of draw i) + shift + scatter k
 *   shift ~ N(0, between^2), scatter ~ N(0, within^2), draws equally likely beforehand
 *
 * With y_k the left side less the draw's step, n of them: the shift of draw i is normal with mean
 * between^2 sum(y) / (within^2 + n between^2) and variance between^2 within^2 / (within^2 + n
 * between^2), and its weight is proportional to the density of all y.
 *
 * Several measurements of one scenario (equal in every draw) differ by their scatter alone. Where
 * their sample variance is above within^2 it stands in its place: steps at that place scatter so
 * much, those to come, too, and what was measured says less of the shift. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_MEASURED_STEPS_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_MEASURED_STEPS_H

#include "analysis/record/evidence/uncertainty.h"

struct measured_step {
    const struct uncertain_step *step; /* drawn with the same seed, as often */
    double measured_s;
};
/* What became of a forecast. */
struct measured_shift {
    uint32_t steps;            /* measured ones that count */
    double log_shift;          /* of the median, in logarithms of seconds */
    double before_log_spread;  /* of the model's own error, before */
    double scatter_log_spread; /* of steps: `within`, or more by repeated measurements */
    bool itself;               /* it was measured itself: its scatter is all that is left */
};

/* Does a measured step say something of another: is it of the same software profile and card? */
bool measured_step_speaks(const struct scenario *measured, const struct scenario *of);
/* How far a measured step lies from its own forecast, in standard errors of that forecast (figures
 * and the model's own error together). */
double measured_step_distance(const struct measured_step *measured);
/* Standard deviation of the scatter: `within`, or that of the repeated ones of a scenario, sum of
 * squares around the mean of each over (measurements - scenarios), if that is larger. */
double measured_steps_scatter(const struct measured_step *measured, uint32_t count);
/* The probability that a step takes no longer than that number `index`, given the n earlier ones of
 * its scenario: their difference from the mean of those is N(0, within^2 (1 + 1/n)), whatever the
 * figures and the shift are. NAN: there are none. `earlier_s`: that mean. */
double measured_step_repeated(const struct measured_step *measured, uint32_t index,
                              double *earlier_s);
/* Shifts the draws of a step, weighs them and narrows its own error. All measured steps speak of it
 * (CHECKed), and there is one at least. */
void measured_steps_apply(const struct measured_step *measured, uint32_t count,
                          struct uncertain_step *step, struct measured_shift *out);
/* The step itself took so long (the mean of what was measured of it, in logarithms): no figure and
 * no error of the model moves it, and the next step scatters as steps do. After the above. */
void measured_steps_itself(double measured_s, struct uncertain_step *step,
                           struct measured_shift *out);

#endif
