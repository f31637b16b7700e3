/* job_paper.h - the small job that tests of weeks work out on paper, and what they expect of it.
 *
 * Steps of 10 s, a save of 8 s after every 4 of them; the chain: detect 4 s, start 16 s, load 12 s
 * (nothing to load at the beginning), warm-up 4 s. Undisturbed, 8 steps take 40 + 8 + 40 + 8 s. */
#ifndef ORRERY_TESTS_JOB_PAPER_H
#define ORRERY_TESTS_JOB_PAPER_H

#include "tests/models/job/job_case.h"

struct job_paper {
    double wall, useful, checkpoint, lost, detect, restart, wait, degraded, load;
    uint64_t failures, interruptions;
};
void job_paper_make(struct job_case *job, double work_s);
/* Played with leaps and step by step. */
void job_paper_play(const struct job_case *job, const struct job_paper *expected);
void job_paper_near(double value, double expected); /* to 1e-9 */

#endif
