/* measure.c - see measure.h.
 *
 * Invariants
 * 1. Samples stand in the order in which they were taken; medians work on a copy.
 * 2. Every sample is positive and finite: what the device says otherwise is a failure of it. */
#include "models/profile/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"

#define NORMAL_95 1.959963984540054 /* two-sided 95 % of a normal law */
#define MAD_SCALE 1.482602218505602 /* median absolute deviation to standard deviation, normal */
#define OUTLIER_DEVIATIONS 3.0
/* A deviation smaller than this share of the median is none: without it the samples of a card
 * whose clock ticks coarsely have a median deviation of zero, and all others are outliers. */
#define OUTLIER_LEAST_RATIO 2e-3
#define DRIFT_DEVIATIONS 2.0 /* by chance once in 22: a few samples more */
#define LAUNCHES_MAX 100000.0

enum {
    SAMPLES_BETWEEN_LOOKS = 8 /* asking a driver for the power takes about as long as a sample */
};

struct measure_state {
    const struct calibrate_device *device;
    const struct measure_rules *rules;
    struct measurement *out;
    double samples[MEASURE_SAMPLES_MAX];
    unsigned count;
    unsigned looks, shown[8]; /* by bit of enum device_slowing */
    double clock_hz, power_w; /* sums over looks */
    double start_s;
    unsigned launches; /* of a sample */
};

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const double *sorted, unsigned count)
{
    return 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
}

/* Drops outliers of sorted samples in place; returns how many are left, the median among them. */
static unsigned drop_outliers(double *sorted, unsigned count)
{
    double away[MEASURE_SAMPLES_MAX];
    double median = median_of(sorted, count);
    for (unsigned i = 0; i < count; i++)
        away[i] = fabs(sorted[i] - median);
    qsort(away, count, sizeof *away, ascending);
    double limit =
        fmax(OUTLIER_DEVIATIONS * MAD_SCALE * median_of(away, count), OUTLIER_LEAST_RATIO * median);
    unsigned left = 0;
    for (unsigned i = 0; i < count; i++)
        if (fabs(sorted[i] - median) <= limit)
            sorted[left++] = sorted[i];
    return left;
}

/* Bounds of the median's 95 % interval among sorted samples: ranks n/2 -+ z sqrt(n)/2. */
static void interval(const double *sorted, unsigned count, double *low, double *high)
{
    double reach = NORMAL_95 * sqrt((double)count);
    double first = floor(0.5 * ((double)count - reach)), last = ceil(0.5 * ((double)count + reach));
    *low = sorted[first < 1.0 ? 0 : (unsigned)first - 1];
    *high = sorted[last + 1.0 > (double)count ? count - 1 : (unsigned)last];
}

void measure_samples(double *seconds, unsigned count, struct measurement *out)
{
    double low, high;
    CHECK(count > 0 && count <= MEASURE_SAMPLES_MAX);
    qsort(seconds, count, sizeof *seconds, ascending);
    CHECK(seconds[0] > 0.0 && isfinite(seconds[count - 1])); /* 2 */
    unsigned left = drop_outliers(seconds, count);
    interval(seconds, left, &low, &high);
    out->median_s = median_of(seconds, left);
    out->spread_ratio = 0.5 * (high - low) / out->median_s;
    out->samples = left;
    out->outliers = count - left;
}

static void summarise(const struct measure_state *m, unsigned first, unsigned count,
                      struct measurement *out)
{
    double copy[MEASURE_SAMPLES_MAX]; /* 1 */
    memcpy(copy, m->samples + first, sizeof *copy * count);
    measure_samples(copy, count, out);
}

/* Did the newer half of the samples come from another law than the older? By the rank sum of Mann
 * and Whitney (Annals of Mathematical Statistics 18, 1947): of all pairs, in how many the older is
 * the larger. Then the older half is dropped. */
static bool drop_older_half(struct measure_state *m)
{
    unsigned half = m->count / 2;
    double larger = 0.0, older = (double)half, newer = (double)(m->count - half);
    for (unsigned i = 0; i < half; i++)
        for (unsigned k = half; k < m->count; k++)
            larger += m->samples[i] > m->samples[k]    ? 1.0
                      : m->samples[i] == m->samples[k] ? 0.5
                                                       : 0;
    double deviation = sqrt(older * newer * (older + newer + 1.0) / 12.0);
    double largest = m->samples[0], least = m->samples[0];
    for (unsigned i = 1; i < m->count; i++) {
        largest = fmax(largest, m->samples[i]);
        least = fmin(least, m->samples[i]);
    }
    bool same = largest - least <= OUTLIER_LEAST_RATIO * least;
    if (same || fabs(larger - 0.5 * older * newer) <= DRIFT_DEVIATIONS * deviation)
        return false;
    m->count -= half;
    memmove(m->samples, m->samples + half, sizeof *m->samples * m->count);
    return true;
}

static enum device_answer look(struct measure_state *m, struct error *error)
{
    struct device_state state = {0};
    enum device_answer answer = m->device->sense(m->device->state, &state, error);
    if (answer != DEVICE_DONE)
        return answer;
    m->looks++;
    m->clock_hz += state.clock_hz;
    m->power_w += state.power_w;
    for (unsigned bit = 0; bit < 8; bit++)
        m->shown[bit] += state.slowing >> bit & 1u;
    return DEVICE_DONE;
}

static enum device_answer run(struct measure_state *m, unsigned count, double *seconds,
                              struct error *error)
{
    enum device_answer answer = m->device->run(m->device->state, count, seconds, error);
    if (answer == DEVICE_DONE && !(*seconds > 0.0 && isfinite(*seconds))) {
        error_set(error, "the card's clock says that %u launch%s took %g s", count,
                  count == 1 ? "" : "es", *seconds);
        return DEVICE_FAILED;
    }
    return answer;
}

/* Lets libraries load, caches fill and the clock fall to where long work keeps it; finds how many
 * launches a sample needs. */
static enum device_answer warm_up(struct measure_state *m, struct error *error)
{
    double once_s = 0.0, done_s = 0.0;
    unsigned count = 1;
    enum device_answer answer = run(m, 1, &once_s, error);
    while (answer == DEVICE_DONE && done_s < m->rules->warmup_s) {
        double seconds = 0.0;
        answer = run(m, count, &seconds, error);
        if (answer != DEVICE_DONE)
            break;
        done_s += seconds;
        once_s = seconds / count;
        count = (unsigned)fmin(fmax(ceil(m->rules->sample_s / once_s), 1.0), LAUNCHES_MAX);
    }
    m->launches = (unsigned)fmin(fmax(ceil(m->rules->sample_s / once_s), 1.0), LAUNCHES_MAX);
    return answer;
}

static bool out_of_time(const struct measure_state *m)
{
    return m->device->now_s(m->device->state) - m->start_s >= m->rules->budget_s;
}

/* Samples until the aim is met, the time or the room is used up. */
static enum device_answer sample(struct measure_state *m, struct error *error)
{
    unsigned most = m->rules->samples_most;
    CHECK(most >= MEASURE_SAMPLES_LEAST && most <= MEASURE_SAMPLES_MAX);
    for (;;) {
        double seconds = 0.0;
        enum device_answer answer = run(m, m->launches, &seconds, error);
        if (answer == DEVICE_DONE && m->count % SAMPLES_BETWEEN_LOOKS == 0)
            answer = look(m, error);
        if (answer != DEVICE_DONE)
            return answer;
        m->samples[m->count++] = seconds / m->launches;
        bool last = m->count == most || out_of_time(m);
        if (m->count < MEASURE_SAMPLES_LEAST && !last)
            continue;
        summarise(m, 0, m->count, m->out);
        bool narrow =
            m->count >= MEASURE_SAMPLES_LEAST && m->out->spread_ratio <= m->rules->spread_ratio;
        if (!last && (!narrow || drop_older_half(m)))
            continue;
        m->out->settled = narrow;
        return DEVICE_DONE;
    }
}

static void tell_looks(const struct measure_state *m)
{
    for (unsigned bit = 0; bit < 8; bit++)
        if (2 * m->shown[bit] >= m->looks)
            m->out->slowing |= 1u << bit;
    m->out->clock_hz = m->clock_hz / m->looks;
    m->out->power_w = m->power_w / m->looks;
}

enum device_answer measure_point(const struct calibrate_device *device,
                                 const struct calibrate_point *point,
                                 const struct measure_rules *rules, struct measurement *out,
                                 struct error *error)
{
    struct measure_state m = {.device = device, .rules = rules, .out = out};
    *out = (struct measurement){0};
    m.start_s = device->now_s(device->state);
    enum device_answer answer = device->prepare(device->state, point, error);
    if (answer == DEVICE_DONE)
        answer = warm_up(&m, error);
    if (answer == DEVICE_DONE)
        answer = sample(&m, error);
    device->release(device->state);
    if (answer == DEVICE_DONE)
        tell_looks(&m);
    return answer;
}
