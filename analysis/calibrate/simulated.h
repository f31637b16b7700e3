/* simulated.h - a card that is not there, with times that are known: what the measuring logic is
 * tested on, and what a stranger can try the calibrator on.
 *
 * A launch takes the known time of its point, times noise, now and then a hiccup, times a drift
 * that dies away from the start of each point, divided by the clock that heat leaves. Faults strike
 * where they are told to. Its clock is simulated: nothing waits. */
#ifndef ORRERY_ANALYSIS_CALIBRATE_SIMULATED_H
#define ORRERY_ANALYSIS_CALIBRATE_SIMULATED_H

#include <stdint.h>

#include "models/profile/device.h"

typedef double simulated_time_fn(const struct calibrate_point *point); /* seconds of a launch */

struct simulated_card {
    const char *name;          /* NULL: "simulated" */
    simulated_time_fn *time_s; /* NULL: simulated_time_s */
    double noise_ratio;        /* standard deviation of a run of launches */
    double hiccup_probability; /* of a run to take hiccup_factor as long */
    double hiccup_factor;
    double drift_ratio;     /* a point begins so much slower ... */
    double drift_s;         /* ... and loses it with this time constant of work */
    double hot_after_s;     /* of work without a rest; 0: never */
    double hot_clock_ratio; /* clock when hot */
    bool power_capped;
    const char *unsupported_type; /* NULL: all are there */
    unsigned fails_each;          /* N: every Nth point fails; 0: none */
    double lost_after_s;          /* of its clock; 0: never */
    double prepare_s;             /* that allocation and filling take */
    double tick_s;                /* resolution of its clock; 0: none */
    uint64_t seed;
};
/* What stands behind device.state; its owner zeroes it. */
struct simulated_state {
    struct simulated_card card;
    struct calibrate_point point;
    double now_s, worked_s, point_worked_s;
    uint64_t random;
    unsigned prepared; /* points so far */
    bool ready;
};
/* A device on `state`, which it borrows. */
struct calibrate_device simulated_device(struct simulated_state *state,
                                         const struct simulated_card *card);
/* A plain card: 400 TFLOP/s of 16-bit products, 800 of eight bit, 200 of tf32, 3 TB/s, 25 GB/s to
 * the host, 4 us to start. */
double simulated_time_s(const struct calibrate_point *point);

#endif
