/* The expected times of reliability, to 0.2 % over 100,000 replications each: minutes, for a
 * release build. cmake --build --target jobs-exhaustive */
#include <math.h>
#include <stdio.h>

#include "sim/units.h"
#include "tests/models/job/job_daly.h"

enum {
    REPLICATIONS = 100000
};

int main(void)
{
    int failed = 0;
    for (unsigned i = 0; i < DALY_ROWS; i++) {
        for (int strike = STRIKE_ALWAYS; strike <= STRIKE_WORKING; strike++) {
            struct job_case job;
            job_daly_make(&job, &daly_rows[i], strike);
            struct job_sample sample =
                job_case_sample(&job, 1 + 1000000 * (uint64_t)i, REPLICATIONS);
            double expected =
                daly_rows[i].work / daly_rows[i].tau * job_daly_segment(&daly_rows[i], strike);
            double off = sample.mean / HOUR / expected - 1.0;
            bool fits = fabs(off) <= 0.002;
            printf("row %u, strike %-7s  %.6f h  expected %.6f h  %+.3f %%  (standard error %.3f "
                   "%%)%s\n",
                   i, strike_names[strike], sample.mean / HOUR, expected, 100.0 * off,
                   100.0 * sample.error / sample.mean, fits ? "" : "  FAILED");
            fflush(stdout);
            failed += !fits;
            job_case_free(&job);
        }
    }
    return failed > 0;
}
