/* job_daly.h - checkpointed work under Poisson failures whose expected time is known exactly: J. T.
 * Daly, Future Generation Computer Systems 22, 2006; derivations in docs/models/jobs.md. */
#ifndef ORRERY_TESTS_JOB_DALY_H
#define ORRERY_TESTS_JOB_DALY_H

#include "tests/models/job/job_case.h"

enum {
    DALY_ROWS = 4
};
struct daly_row {
    double work, tau, delta, restart, mtbf; /* hours */
    double expected[3];                     /* by enum strike */
};
extern const struct daly_row daly_rows[DALY_ROWS];

double job_daly_segment(const struct daly_row *row, int strike); /* hours, of each tau of work */
void job_daly_make(struct job_case *job, const struct daly_row *row, int strike);

#endif
