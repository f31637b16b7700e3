/* mllog_steps.c - the time of a step, from what a log tracks and from its blocks.
 *
 * How much a block trains is written in four ways: `step` at both ends; samples_count (once
 * first_epoch_num) since the beginning at both ends; samples_count of the block alone, the same at
 * both ends; epoch_count. The last three count sequences, or, in the GPT-3 benchmark and some
 * others, tokens. Tokens are told from sequences by the clock: as sequences they would make a step
 * of less than 10 ms, and they are a multiple of the tokens of a step. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/mllog/mllog.h"

/* No step of these benchmarks is shorter: the 8 billion parameters of the smallest are read twice
 * and written once, 48 GB in bf16, over at most a thousand GPUs of some TB/s, beside thousands of
 * kernels of some microseconds that follow each other. */
static const double step_least_s = 0.01;
/* Between once and twice, in logarithms: the square root of 2. Blocks hold a little more than their
 * steps (loading, logging), never as much again. */
static const double agree_ratio = M_SQRT2;

static int order(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *rows, uint32_t count)
{
    qsort(rows, count, sizeof *rows, order);
    return 0.5 * (rows[(count - 1) / 2] + rows[count / 2]);
}

static double median_of(const struct mllog *log, const struct mllog_series *series)
{
    double *rows = ARENA_ARRAY(log->arena, double, series->count);
    memcpy(rows, series->rows, series->count * sizeof *rows);
    return median(rows, series->count);
}

/* Does samples_count go on from block to block? It does where any ends higher than it began. */
static bool counts_go_on(const struct mllog_spans *spans)
{
    for (uint32_t i = 0; i < spans->count; i++)
        if (spans->rows[i].stop.samples > spans->rows[i].start.samples)
            return true;
    return false;
}

/* Sequences or tokens of a block; NAN: not told. */
static double trained(const struct mllog_span *span, bool go_on)
{
    if (go_on)
        return span->stop.samples - span->start.samples;
    return !isnan(span->start.count) ? span->start.count : span->start.samples;
}

/* Steps of a block of which `unit` sequences or tokens are one; 0: not told, or none. */
static double steps_of(const struct mllog_span *span, bool go_on, double unit)
{
    const double by_step = span->stop.step - span->start.step;
    const double steps = isnan(by_step) ? trained(span, go_on) / unit : by_step;
    return steps >= 1.0 && steps == floor(steps) && steps <= 1e12 ? steps : 0.0;
}

static struct mllog_step by_spans(const struct mllog *log, const struct mllog_spans *spans,
                                  double unit)
{
    const bool go_on = counts_go_on(spans);
    double *rows = ARENA_ARRAY(log->arena, double, spans->count + 1);
    uint32_t count = 0;
    unsigned line = 0;
    for (uint32_t i = 0; i < spans->count; i++) {
        const struct mllog_span *span = &spans->rows[i];
        const double steps = steps_of(span, go_on, unit);
        const double time_s = span->stop.at_s - span->start.at_s - span->evaluation_s;
        if (steps > 0.0 && time_s > 0.0) {
            rows[count++] = time_s / steps;
            line = span->line;
        }
    }
    return (struct mllog_step){
        .step_s = count > 0 ? median(rows, count) : 0.0, .samples = count, .line = line};
}

/* By blocks; a log without any has epochs, which evaluations may stand in. */
static struct mllog_step by_blocks(const struct mllog *log)
{
    const struct mllog_spans *spans = log->blocks.count > 0 ? &log->blocks : &log->epochs;
    const double batch = log->counts[MLLOG_GLOBAL_BATCH].value;
    const double tokens = batch * log->counts[MLLOG_SEQUENCE].value;
    struct mllog_step step = by_spans(log, spans, batch);
    if (step.step_s > 0.0 && step.step_s < step_least_s)
        step = tokens > 0.0 ? by_spans(log, spans, tokens) : (struct mllog_step){.step_s = 0.0};
    if (step.step_s < step_least_s)
        step = (struct mllog_step){
            .unread = spans->count > 0 ? "what they count is neither whole steps of samples nor of "
                                         "tokens"
                                       : NULL};
    return step;
}

static bool check_clock(const struct mllog *log, struct error *error)
{
    const double spent_s = log->run.last_s - log->run.init_start_s;
    /* Two loggers may write the same steps, and means of them stand beside them. */
    if (log->step_times.sum <= 3.0 * spent_s)
        return true;
    return error_set(
        error,
        "%s:%u: the values of train_step_time add up to %.4g, and the log is of %.4g s: "
        "they are in seconds in MLPerf logs; in milliseconds here? Divide them by 1000",
        log->path, log->step_times.line, log->step_times.sum, spent_s);
}

static bool check_sources(const struct mllog *log, const struct mllog_step *steps,
                          struct error *error)
{
    static const char *const names[MLLOG_SOURCES] = {"train_step_time", "blocks", "throughput"};
    for (unsigned i = 0; i < MLLOG_SOURCES; i++)
        for (unsigned k = 0; k < i; k++) {
            const struct mllog_step *a = &steps[k], *b = &steps[i];
            if (a->step_s > 0.0 && b->step_s > 0.0 &&
                fmax(a->step_s / b->step_s, b->step_s / a->step_s) > agree_ratio)
                return error_set(
                    error,
                    "%s:%u: a step takes %.4g s by %s (median of %u, to this line) and %.4g s by "
                    "%s (median of %u, to line %u): they are seconds of a step, steps or samples "
                    "of a block, samples a second of the whole run; correct or remove what is not",
                    log->path, a->line, a->step_s, names[k], a->samples, b->step_s, names[i],
                    b->samples, b->line);
        }
    return true;
}

bool mllog_steps(const struct mllog *log, struct mllog_step steps[MLLOG_SOURCES],
                 struct error *error)
{
    const double batch = log->counts[MLLOG_GLOBAL_BATCH].value;
    memset(steps, 0, MLLOG_SOURCES * sizeof *steps);
    if (log->step_times.count > 0)
        steps[MLLOG_STEP_TIMES] = (struct mllog_step){.step_s = median_of(log, &log->step_times),
                                                      .samples = log->step_times.count,
                                                      .line = log->step_times.line};
    steps[MLLOG_BLOCKS] = by_blocks(log);
    if (log->throughputs.count > 0)
        steps[MLLOG_THROUGHPUTS] =
            (struct mllog_step){.step_s = batch / median_of(log, &log->throughputs),
                                .samples = log->throughputs.count,
                                .line = log->throughputs.line};
    if (!check_clock(log, error) || !check_sources(log, steps, error))
        return false;
    for (unsigned i = 0; i < MLLOG_SOURCES; i++)
        if (steps[i].step_s > 0.0)
            return true;
    return error_set(
        error,
        "%s: the time of a step is not told: no train_step_time and no throughput, and "
        "no block whose steps can be counted",
        log->path);
}
