/* validate_uncertainty.h - are the intervals of predicted step times as wide as the errors are?
 *
 * The uncertain figures of every clean row of steps.csv are drawn, the same draw for all rows. Each
 * row gets the model's own error as if its source had never measured (model_error.h); beside it
 * stands what has to be added for 80 % intervals to cover 80 % of these rows, each source counting
 * the same, and once more without the source that is judged. Constants that were fitted to a row's
 * source stay in: rows left out are judged by tests/validation/generalise. Pairs of layouts of
 * one model on one machine tell how much of it they share, and whether "faster" can be trusted. */
#ifndef ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_UNCERTAINTY_H
#define ORRERY_ANALYSIS_VALIDATE_ROWS_VALIDATE_UNCERTAINTY_H

#include "analysis/output/terminal/session.h"
#include "analysis/record/evidence/uncertainty.h"
#include "analysis/validate/table/validate_kind.h"

struct interval_row {
    const char *id, *source, *group;
    double log_error;  /* of measured over predicted */
    double log_spread; /* by the figures */
    double *log_draws; /* less the mean */
    struct model_error own;
};
struct interval_source {
    const char *name;
    uint32_t rows;
    double figures_spread;   /* median over its rows */
    double own_spread;       /* the model's own error of its rows, median */
    double coverage;         /* with it */
    double spread_elsewhere; /* the model's own error by the other sources; NAN: there are none */
    double coverage_elsewhere;
};
struct interval_pairs {
    uint32_t groups, pairs, ties, decided;
    double spread;      /* of the own errors' difference */
    double right_ratio; /* of the decided pairs, the one called faster was; NAN of none */
    double mean_called; /* mean probability with which they were called */
};
struct intervals {
    struct interval_row *rows;
    uint32_t row_count, draw_count;
    struct interval_source *sources;
    uint32_t source_count;
    double coverage;     /* mean over sources */
    double own_spread;   /* the model's own error by these rows */
    double shared_ratio; /* NAN: no groups */
    struct interval_pairs pairs;
};
#define INTERVAL_PROBABILITY 0.8
/* Of a file of steps that has been predicted (validate_options.intervals); rows that were refused
 * take no part. False with a sentence when a step cannot be simulated. */
bool validate_intervals(struct arena *arena, const struct validation *v,
                        const struct uncertainty_options *how, struct intervals *out,
                        struct error *error);
void validate_report_intervals(const struct intervals *intervals, struct session *session);

/* Share of a source's rows inside their intervals with this own error; NAN: with each row's. */
double validate_uncertainty_coverage(const struct intervals *intervals, const char *source,
                                     double own_spread);

#endif
