#include "analysis/calibrate/simulated.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/check.h"
#include "sim/units.h"

#define START_S (4.0 * MICROSECOND)
#define CLOCK_HZ (1.8 * GIGA)

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), in [0, 1). */
static double uniform(struct simulated_state *s)
{
    uint64_t z = s->random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* The sum of twelve uniforms: mean 6, variance 1, symmetric. */
static double normal(struct simulated_state *s)
{
    double sum = -6.0;
    for (unsigned i = 0; i < 12; i++)
        sum += uniform(s);
    return sum;
}

static double product_rate(const char *type)
{
    double bytes = point_type_bytes(type);
    return (bytes == 1.0 ? 800.0 : bytes == 2.0 ? 400.0 : 200.0) * TERA;
}

double simulated_time_s(const struct calibrate_point *point)
{
    double flops = point_flops(point), bytes = point_bytes(point);
    double rate = point->kind == POINT_ATTENTION ? 0.6 * product_rate(point->type)
                                                 : product_rate(point->type);
    switch (point->kind) {
    case POINT_GROUPED:
        return fmax(flops / rate, bytes / (3.0 * TERA)) + START_S * point_size(point, "batch");
    case POINT_COPY:
        return bytes / (25.0 * GIGA) + 2.0 * START_S;
    case POINT_LAUNCH:
        return START_S * point_size(point, "count");
    case POINT_COLLECTIVE:
        return bytes / (200.0 * GIGA) + 5.0 * START_S;
    case POINT_GEMM:
    case POINT_ATTENTION:
    case POINT_MEMORY:
        return fmax(flops / rate, bytes / (3.0 * TERA)) + START_S;
    case POINT_KIND_COUNT:
        break;
    }
    UNREACHABLE("kind is an enum point_kind");
}

static bool is_hot(const struct simulated_state *s)
{
    return s->card.hot_after_s > 0.0 && s->worked_s > s->card.hot_after_s;
}

static bool is_lost(const struct simulated_state *s, struct error *error)
{
    if (s->card.lost_after_s <= 0.0 || s->now_s < s->card.lost_after_s)
        return false;
    error_set(error, "the simulated card has fallen off the bus");
    return true;
}

static enum device_answer describe(void *state, struct device_facts *out, struct error *error)
{
    struct simulated_state *s = state;
    *out = (struct device_facts){
        .memory_bytes = 80.0 * GIGA, .power_cap_w = 700.0, .clock_max_hz = CLOCK_HZ, .cards = 1.0};
    snprintf(out->device, sizeof out->device, "%s", s->card.name ? s->card.name : "simulated");
    snprintf(out->driver, sizeof out->driver, "none");
    snprintf(out->runtime, sizeof out->runtime, "none");
    snprintf(out->libraries, sizeof out->libraries, "none: times of a formula");
    return is_lost(s, error) ? DEVICE_LOST : DEVICE_DONE;
}

static enum device_answer prepare(void *state, const struct calibrate_point *point,
                                  struct error *error)
{
    struct simulated_state *s = state;
    CHECK(!s->ready);
    if (is_lost(s, error))
        return DEVICE_LOST;
    s->now_s += s->card.prepare_s;
    s->prepared++;
    if (s->card.unsupported_type && strcmp(point->type, s->card.unsupported_type) == 0) {
        error_set(error, "the simulated card has no %s", point->type);
        return DEVICE_UNSUPPORTED;
    }
    if (s->card.fails_each > 0 && s->prepared % s->card.fails_each == 0) {
        error_set(error, "the simulated card failed, as it was told to");
        return DEVICE_FAILED;
    }
    s->point = *point;
    s->point_worked_s = 0.0;
    s->ready = true;
    return DEVICE_DONE;
}

static enum device_answer run(void *state, unsigned count, double *seconds, struct error *error)
{
    struct simulated_state *s = state;
    const struct simulated_card *card = &s->card;
    CHECK(s->ready && count > 0);
    double each_s = card->time_s ? card->time_s(&s->point) : simulated_time_s(&s->point);
    double factor = 1.0 + card->noise_ratio * normal(s);
    if (uniform(s) < card->hiccup_probability)
        factor *= card->hiccup_factor;
    if (card->drift_ratio != 0.0)
        factor *= 1.0 + card->drift_ratio * exp(-s->point_worked_s / card->drift_s);
    if (is_hot(s))
        factor /= card->hot_clock_ratio;
    *seconds = count * each_s * factor;
    if (card->tick_s > 0.0)
        *seconds = ceil(*seconds / card->tick_s) * card->tick_s;
    s->now_s += *seconds;
    s->worked_s += *seconds;
    s->point_worked_s += *seconds;
    return is_lost(s, error) ? DEVICE_LOST : DEVICE_DONE;
}

static void release(void *state)
{
    ((struct simulated_state *)state)->ready = false;
}

static enum device_answer sense(void *state, struct device_state *out, struct error *error)
{
    const struct simulated_state *s = state;
    bool hot = is_hot(s);
    *out = (struct device_state){
        .clock_hz = CLOCK_HZ * (hot ? s->card.hot_clock_ratio : 1.0),
        .power_w = s->card.power_capped ? 700.0 : 500.0,
        .slowing = (s->card.power_capped ? (unsigned)DEVICE_POWER_CAP : 0u) |
                   (hot ? (unsigned)DEVICE_TOO_HOT : 0u),
    };
    return is_lost(s, error) ? DEVICE_LOST : DEVICE_DONE;
}

static double now_s(void *state)
{
    return ((const struct simulated_state *)state)->now_s;
}

static void rest(void *state, double seconds)
{
    struct simulated_state *s = state;
    s->now_s += seconds;
    s->worked_s = 0.0; /* it is cool again */
}

struct calibrate_device simulated_device(struct simulated_state *state,
                                         const struct simulated_card *card)
{
    *state = (struct simulated_state){.card = *card, .random = card->seed};
    return (struct calibrate_device){state, describe, prepare, run, release, sense, now_s, rest};
}
