#include "tests/models/job/job_case.h"

#include <math.h>

#include "sim/units.h"
#include "tests/test.h"

void job_case_make(struct job_case *job, double work_s, double step_s)
{
    *job = (struct job_case){.conditions = condition_fixed(step_s)};
    job->spec = (struct job_spec){
        .steps = (uint64_t)llround(work_s / step_s),
        .checkpoint = {.kind = checkpoint_find("sync"), .keep = 1, .final = true},
        .recovery = {.kind = recovery_find("restart-in-place"), .replicas_min = 1},
        .nodes = 1,
        .gpus_per_node = 8,
        .nics_per_node = 8,
        .replicas = 1,
        .ranks = 8,
        .tokens_per_step = 1.0,
        .cost.rental.job_hour_usd = NAN,
    };
}

void job_case_free(struct job_case *job)
{
    condition_destroy(job->conditions);
}

void job_case_save(struct job_case *job, double interval_s, double stall_s, double persist_s)
{
    struct checkpoint_spec *checkpoint = &job->spec.checkpoint;
    checkpoint->interval_s = interval_s;
    checkpoint->plan.level_count = 1;
    checkpoint->plan.levels[0] = (struct checkpoint_level){.tier = "pfs",
                                                           .survival = SURVIVES_DOMAIN,
                                                           .every = 1,
                                                           .stall_s = stall_s,
                                                           .persist_s = persist_s,
                                                           .slowdown_ratio = 1.0};
}

static struct failure_cause *add_cause(struct job_case *job, const char *kind, const char *name)
{
    assert_true(job->spec.cause_count < JOB_CASE_CAUSES);
    struct failure_cause *cause = &job->causes[job->spec.cause_count++];
    *cause = (struct failure_cause){.name = name,
                                    .kind = failure_find(kind),
                                    .unit = UNIT_JOB,
                                    .effect = EFFECT_STOP,
                                    .detect = {.mean_s = -1.0},
                                    .repair = {.mean_s = -1.0},
                                    .early_factor = 1.0};
    job->spec.causes = job->causes;
    return cause;
}

struct failure_cause *job_case_fail(struct job_case *job, double mtbf_s)
{
    struct failure_cause *cause = add_cause(job, "exponential", "software");
    cause->mtbf_s = mtbf_s;
    return cause;
}

struct failure_cause *job_case_trace(struct job_case *job, const struct trace_event *events,
                                     uint32_t count, int unit)
{
    struct failure_cause *cause = add_cause(job, "trace", "log");
    cause->unit = unit;
    cause->trace = events;
    cause->trace_count = count;
    return cause;
}

void job_case_nodes(struct job_case *job, uint32_t nodes, uint32_t replicas, const char *recovery)
{
    job->spec.nodes = nodes;
    job->spec.replicas = replicas;
    job->spec.ranks = 8 * (uint64_t)nodes;
    job->spec.recovery.kind = recovery_find(recovery);
    assert_non_null(job->spec.recovery.kind);
}

void job_case_play(const struct job_case *job, uint64_t seed, struct job_result *out)
{
    struct job_spec spec = job->spec;
    spec.causes = job->causes;
    job_run(&spec, job->conditions, seed, NULL, out);
    job_case_check(job, out);
}

void job_case_check(const struct job_case *job, const struct job_result *result)
{
    double sum = 0.0;
    for (unsigned i = 0; i < BADPUT_COUNT; i++) {
        assert_true(result->badput_s[i] >= -1e-9 * result->wall_s);
        sum += result->badput_s[i];
    }
    assert_true(fabs(sum - result->wall_s) <= 1e-9 * result->wall_s);
    double chain = result->part.load_s;
    for (unsigned i = 0; i < RESTART_LINK_COUNT; i++)
        chain += result->restart_link_s[i];
    double restart = result->badput_s[BADPUT_detect] + result->badput_s[BADPUT_restart];
    assert_true(fabs(chain - restart) <= 1e-9 * result->wall_s);
    assert_true(result->goodput >= 0.0 && result->ettr <= 1.0 + 1e-9);
    assert_true(result->interruptions <= result->failures);
    if (job->spec.duration_s > 0.0 && result->finished)
        assert_true(result->wall_s <= job->spec.duration_s);
    else if (job->spec.duration_s > 0.0)
        assert_true(result->wall_s == job->spec.duration_s);
}

struct job_sample job_case_sample(const struct job_case *job, uint64_t first, unsigned count)
{
    struct arena *arena = arena_create();
    double mean = 0.0, squares = 0.0; /* Welford */
    for (unsigned i = 0; i < count; i++) {
        struct job_result result;
        struct job_spec spec = job->spec;
        spec.causes = job->causes;
        job_run_in(arena, &spec, job->conditions, first + i, NULL, &result);
        job_case_check(job, &result);
        double delta = result.wall_s - mean;
        mean += delta / (i + 1);
        squares += delta * (result.wall_s - mean);
    }
    arena_destroy(arena);
    double variance = squares / (count - 1);
    return (struct job_sample){mean, variance, sqrt(variance / count), count};
}
