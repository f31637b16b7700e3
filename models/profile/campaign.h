/* campaign.h - a calibration from the first point to the last: order, budget, resume, what is told.
 *
 * First every point is measured once, the weightiest first. What is left of the budget goes to the
 * point whose spread costs the step most (weight x spread), again and again, with twice the samples
 * each time. A point that is too hot or slowed by the hardware gets a rest and one more try.
 * Points measured before on the same machine are not measured again. Each result is handed over at
 * once, so that an interruption loses one point. Knows no file and no vendor. */
#ifndef ORRERY_MODELS_PROFILE_CAMPAIGN_H
#define ORRERY_MODELS_PROFILE_CAMPAIGN_H

#include "models/profile/measure.h"
#include "models/profile/plan.h"

struct measured_point {
    struct calibrate_point point;
    struct measurement measurement;
};
struct campaign_rules {
    double budget_s; /* on the wall, of the whole */
    double rest_s;   /* for a card that is too hot */
    struct measure_rules measure;
};
extern const struct campaign_rules campaign_usual; /* three minutes */

struct campaign_progress {
    const struct calibrate_point *point; /* under way or just done */
    unsigned done, planned;
    double elapsed_s, covered_ratio; /* weight measured over all weight */
};
/* Who is told. `keep` may be called again for a point, with a better measurement. A false of
 * `keep` or `go_on` ends the campaign. Any may be NULL. */
struct campaign_listener {
    void *context;
    bool (*keep)(void *context, const struct measured_point *point, struct error *error);
    void (*left_out)(void *context, const struct calibrate_point *point, const char *why);
    bool (*go_on)(void *context, const struct campaign_progress *progress);
};
enum campaign_end {
    CAMPAIGN_COMPLETE,
    CAMPAIGN_OUT_OF_TIME, /* points are missing: the budget is spent */
    CAMPAIGN_STOPPED,     /* by go_on */
    CAMPAIGN_LOST,        /* the card does not answer */
    CAMPAIGN_NOT_KEPT     /* keep failed */
};
struct campaign_report {
    unsigned planned, measured, resumed, unsupported, failed, missing;
    unsigned unsettled; /* of those measured: spread wider than the aim */
    unsigned power_capped, too_hot, hardware_slow; /* of those measured */
    unsigned repeated;                             /* measurements made to narrow a spread */
    double covered_ratio;     /* weight measured over all weight; 1 without weights */
    double step_spread_ratio; /* weighted mean of spreads; 0 without weights */
    double slowest_clock_hz, fastest_clock_hz; /* means of points; 0: not known */
    double elapsed_s;
};
struct campaign {
    const struct calibrate_device *device;
    const struct calibrate_plan *plan;
    const struct measured_point *done; /* measured before, by the same machine */
    unsigned done_count;
    struct campaign_rules rules;
    struct campaign_listener listener;
};
/* With CAMPAIGN_LOST and CAMPAIGN_NOT_KEPT comes a sentence. Temporaries in `arena`. */
enum campaign_end campaign_run(struct arena *arena, const struct campaign *campaign,
                               struct campaign_report *report, struct error *error);

#endif
