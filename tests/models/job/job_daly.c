#include "tests/models/job/job_daly.h"

#include <math.h>

#include "sim/units.h"

/* The printed values; the functions below give all their digits. */
const struct daly_row daly_rows[DALY_ROWS] = {
    {100, 1, 0.05, 0.1, 10, {111.823270, 111.817716, 111.222627}},
    {500, 2, 1.0 / 12, 1.0 / 6, 24, {547.899164, 547.886013, 545.878633}},
    {168, 0.5, 1.0 / 60, 1.0 / 6, 3.0931, {199.401168, 199.121887, 197.765961}},
    {100, 1, 0.05, 5, 10, {182.530938, 166.065916, 162.756377}},
};

double job_daly_segment(const struct daly_row *row, int strike)
{
    double m = row->mtbf, r = row->restart, s = row->tau + row->delta;
    switch (strike) {
    case STRIKE_ALWAYS:
        return m * exp(r / m) * expm1(s / m);
    case STRIKE_RUNNING:
        return (m + r) * expm1(s / m);
    default:
        return row->delta + (m + r) * expm1(row->tau / m);
    }
}

void job_daly_make(struct job_case *job, const struct daly_row *row, int strike)
{
    job_case_make(job, row->work * HOUR, row->tau * HOUR / 4.0);
    job_case_save(job, row->tau * HOUR, row->delta * HOUR, 0.0);
    job_case_fail(job, row->mtbf * HOUR);
    job->spec.strike = strike;
    job->spec.recovery.restart.links[LINK_START].mean_s = row->restart * HOUR;
}
