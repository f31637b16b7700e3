/* uncertainty.h - how sure a simulated step is.
 *
 * Two errors are told apart. What is known of the catalogue's figures: they are drawn anew,
 * log-normal with their standard errors, and the step is simulated for each draw, with paths of its
 * own where flows keep to one by hash. What no figure explains: the model's own error
 * (model_error.h), wider the less has been measured that is like the step, added to every draw.
 * Each figure has a random stream of its name, so that draw i of two scenarios changes what they
 * share alike. Draws run on several threads; the result does not depend on how many. */
#ifndef ORRERY_ANALYSIS_RECORD_EVIDENCE_UNCERTAINTY_H
#define ORRERY_ANALYSIS_RECORD_EVIDENCE_UNCERTAINTY_H

#include "analysis/record/evidence/model_error.h"
#include "scenarios/assemble/scenario.h"
#include "sim/error.h"

struct uncertainty_options {
    uint64_t seed;
    uint32_t draw_count;
    unsigned threads;
    const char *but; /* the own error is as if this source had never measured; NULL: all have */
    bool time_only;  /* whether a draw fits is not asked, and all count as fitting */
    /* Steps at pass detail (pass.h), of a cluster as it should be: hundreds a second. Then all
     * count as fitting, and power and digest are not known. */
    bool passes;
};
struct uncertain_draw {
    double log_step; /* of seconds */
    bool fits;
    double weight; /* all sum to 1; alike until something was measured */
};
struct drawn_power {   /* of one draw; NAN: not known */
    double log_wall_w; /* of all paid GPUs, mean of the step */
    double log_node_w; /* of a node at its inlet, likewise */
};
/* What draw `index` multiplies a figure by. */
double uncertainty_factor(struct arena *scratch, uint64_t seed, uint64_t index,
                          const struct constant *constant);
/* Draws of a step, whether it fits or not. Draw i is the same for any count. */
struct uncertain_step {
    const struct scenario *scenario;
    double step_s;   /* with the figures as they are */
    uint64_t digest; /* of that timeline */
    bool fits;
    double log_spread; /* standard deviation of log_step */
    struct model_error own;
    struct uncertain_draw *draws;
    struct drawn_power *power; /* by draw */
    double power_log_spread;   /* the own error of power, independent of that of time */
    /* What cards at their cap leave: no power lies above, the own error included. */
    struct drawn_power most;
    uint32_t draw_count;
};
/* Everything lives in `arena`. False with a sentence when a step cannot be simulated. */
bool uncertainty_draw(struct arena *arena, const struct scenario *scenario,
                      const struct uncertainty_options *how, struct uncertain_step *out,
                      struct error *error);

/* Step time that is not passed with this probability, the model's own error included. */
double uncertainty_step_s(const struct uncertain_step *step, double probability);
/* The probability that it takes no longer than that: the inverse. */
double uncertainty_step_below(const struct uncertain_step *step, double step_s);
/* The same of the mean power of a node at its inlet, and of the energy of a step at the wall: power
 * x time, each with its own error, and power no more than with cards at their cap. NAN: power is
 * not known. */
double uncertainty_node_w(const struct uncertain_step *step, double probability);
double uncertainty_energy_j(const struct uncertain_step *step, double probability);
double uncertainty_fits_ratio(const struct uncertain_step *step);

/* What a figure does to the step alone. */
struct influence {
    const struct constant *constant;
    double elasticity;     /* d log step / d log figure */
    double variance_ratio; /* its share of the variance of log step, the model's own included */
};
/* One for each figure that matters at all, the largest share first; returns how many. */
bool uncertainty_influences(struct arena *arena, const struct uncertain_step *step,
                            unsigned threads, const struct influence **out, uint32_t *count,
                            struct error *error);
/* Share of the variance that is the model's own error, of the same sum. */
double uncertainty_model_ratio(const struct influence *influences, uint32_t count);

/* Two steps with the same number of draws and the same seed. */
struct uncertain_comparison {
    bool same;                 /* one step: equal digests, and equal times in every draw */
    double faster_probability; /* that a step of `a` is faster */
    double shared_ratio;       /* of the variance of the model's own error; 0: not alike */
    double ratio[3];           /* P10, P50, P90 of b's time over a's */
};
void uncertainty_compare(const struct uncertain_step *a, const struct uncertain_step *b,
                         struct uncertain_comparison *out);
/* Between these nobody should choose by the prediction. */
#define UNCERTAINTY_TIE_LOW 0.3
#define UNCERTAINTY_TIE_HIGH 0.7

#endif
