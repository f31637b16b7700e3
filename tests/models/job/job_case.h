/* job_case.h - jobs of weeks for the tests: small specs, filled in one line, and many replications
 * of them with mean and variance. */
#ifndef ORRERY_TESTS_JOB_CASE_H
#define ORRERY_TESTS_JOB_CASE_H

#include "models/job/player/job.h"

enum {
    JOB_CASE_CAUSES = 4
};
struct job_case {
    struct job_spec spec;
    struct failure_cause causes[JOB_CASE_CAUSES];
    struct condition_table *conditions;
};
/* A job of one node that works `work_s` seconds in steps of `step_s`, saves nothing, fails never
 * and restarts in place at once. Given back by job_case_free. */
void job_case_make(struct job_case *job, double work_s, double step_s);
void job_case_free(struct job_case *job);
/* One level that stalls and is durable persist_s later; loads in no time. */
void job_case_save(struct job_case *job, double interval_s, double stall_s, double persist_s);
/* A cause of exponential failures of the whole job. Returns it, to be changed. */
struct failure_cause *job_case_fail(struct job_case *job, double mtbf_s);
/* Failures of a node (or, with UNIT_JOB, of the job) at these exposed times. */
struct failure_cause *job_case_trace(struct job_case *job, const struct trace_event *events,
                                     uint32_t count, int unit);
/* As many nodes and data-parallel replicas; a node serves replicas n * replicas / nodes ... */
void job_case_nodes(struct job_case *job, uint32_t nodes, uint32_t replicas, const char *recovery);
void job_case_play(const struct job_case *job, uint64_t seed, struct job_result *out);

/* Fails the test where classes do not tile the wall clock to 1e-9, or a figure is out of range. */
void job_case_check(const struct job_case *job, const struct job_result *result);

struct job_sample {
    double mean, variance, error; /* of the mean: standard error */
    unsigned count;
};
/* Wall time over seeds first, first + 1, ... */
struct job_sample job_case_sample(const struct job_case *job, uint64_t first, unsigned count);

#endif
