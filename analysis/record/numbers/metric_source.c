/* The rows of metrics.h, asked. */
#include "analysis/record/numbers/metric_source.h"

#include <math.h>
#include <string.h>

#include "analysis/record/numbers/rows.h"
#include "models/job/player/job.h"
#include "models/layout/configuration.h"
#include "models/layout/power_wall.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "sim/units.h"

/* A run's row. What is not known yet, or never, is null. */
#define NULL_INTEGER ROW_NULL
#define NULL_FLAG ROW_NULL
#define NULL_REAL NAN
#define NULL_TEXT NULL
#define KNOWN_ALWAYS true
#define KNOWN_TIMED isfinite(m->step_s)
#define KNOWN_WEEKS (m->weeks != NULL)

static double finite_or_null(double value)
{
    return isfinite(value) ? value : NAN;
}
#define CLEAN_INTEGER(value) (value)
#define CLEAN_FLAG(value) (value)
#define CLEAN_TEXT(value) (value)
#define CLEAN_REAL(value) finite_or_null(value)

#define X(column, type, unit, key, when, study, more, doc, getter)                                 \
    row->column = KNOWN_##when ? CLEAN_##type(getter) : NULL_##type;
static void ask_step(const struct metric_source *m, struct run_row *row)
{
    METRICS_OF_THE_STEP(X)
    METRICS_OF_THE_POWER(X)
}

static void ask_choice(const struct metric_source *m, struct run_row *row)
{
    METRICS_OF_THE_SCENARIO(X)
    METRICS_OF_THE_CHOICE(X)
    METRICS_OF_THE_PRICE(X)
}

static void ask_weeks(const struct metric_source *m, struct run_row *row)
{
    METRICS_OF_WEEKS(X)
}
#undef X

void metric_source_run(const struct metric_source *m, struct run_row *row)
{
    if (m->step != NULL)
        ask_step(m, row);
    ask_choice(m, row);
    ask_weeks(m, row);
}

/* Of studies. */
#define INFO_NO(...)
#define INFO_OF_WEEKS(...) {__VA_ARGS__, METRIC_OF_WEEKS},
#define INFO_OF_STEPS(...) {__VA_ARGS__, METRIC_OF_STEPS},
#define INFO_OF_BOTH(...) {__VA_ARGS__, METRIC_OF_BOTH},
#define INFO_OF_EACH(...) {__VA_ARGS__, METRIC_OF_BOTH},
#define X(column, type, unit, key, when, study, more, doc, getter)                                 \
    INFO_##study(#key, doc, unit, more)
const struct study_metric_info study_metrics[METRIC_COUNT] = {METRICS(X)};
#undef X

int metric_find(const char *name)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (strcmp(study_metrics[i].name, name) == 0)
            return i;
    return -1;
}

struct summary_range metric_range(enum study_metric metric)
{
    const bool share = strcmp(study_metrics[metric].unit, "1") == 0;
    return (struct summary_range){0.0, share ? 1.0 : INFINITY};
}

#define STEP_NO(key, when, getter)
#define STEP_OF_WEEKS(key, when, getter)
#define STEP_OF_STEPS(key, when, getter) STEP_OF_BOTH(key, when, getter)
#define STEP_OF_EACH(key, when, getter) STEP_OF_BOTH(key, when, getter)
#define STEP_OF_BOTH(key, when, getter)                                                            \
    values[METRIC_##key] = KNOWN_##when ? (double)(getter) : NAN;
void metric_source_step(const struct metric_source *m, double values[METRIC_COUNT])
{
#define X(column, type, unit, key, when, study, more, doc, getter) STEP_##study(key, when, getter)
    METRICS(X)
#undef X
}

#define PLAYED_NO(key, getter)
#define PLAYED_OF_STEPS(key, getter)
#define PLAYED_OF_BOTH(key, getter)
#define PLAYED_OF_EACH(key, getter) PLAYED_OF_WEEKS(key, getter)
#define PLAYED_OF_WEEKS(key, getter) values[METRIC_##key] = (double)(getter);
void metric_source_weeks(const struct metric_source *m, double values[METRIC_COUNT])
{
#define X(column, type, unit, key, when, study, more, doc, getter) PLAYED_##study(key, getter)
    METRICS(X)
#undef X
}
