/* device.h - what the measuring logic asks of a card: the door between the logic, which is plain C
 * and tested, and the calls of a vendor.
 *
 * Two implementations: simulated.h (known times, noise, drift, throttling, faults) and cuda/. A
 * device measures one point at a time: `prepare` allocates its operands, several copies of them so
 * that they do not stay in the second-level cache, and fills them with random data; `run` carries
 * the kernel out so many times, one behind the other, and says how long all of them took by the
 * card's own clock; `release` frees. `sense` reads clock, power and what slows the card down.
 * Seconds, hertz, watts, degrees Celsius. Plain data, also for C++. */
#ifndef ORRERY_MODELS_PROFILE_DEVICE_H
#define ORRERY_MODELS_PROFILE_DEVICE_H

#include "models/profile/point.h"

#ifdef __cplusplus
extern "C" {
#endif

enum device_answer {
    DEVICE_DONE,
    DEVICE_UNSUPPORTED, /* this card, or this build, has no such kernel; the sentence says what */
    DEVICE_FAILED,      /* a call failed: this point is left out */
    DEVICE_LOST         /* the card does not answer any more: the session ends */
};
enum device_slowing {        /* bits */
    DEVICE_POWER_CAP = 1,    /* as in any long job */
    DEVICE_TOO_HOT = 2,      /* cooling does not suffice */
    DEVICE_HARDWARE_SLOW = 4 /* power brake, or a fault: not what the card can do */
};
enum {
    DEVICE_TEXT_BYTES = 96
};
/* What a profile says of the machine on which it was taken. "" or 0: not known. */
struct device_facts {
    char device[DEVICE_TEXT_BYTES]; /* "NVIDIA H200" */
    char driver[DEVICE_TEXT_BYTES], runtime[DEVICE_TEXT_BYTES];
    char libraries[DEVICE_TEXT_BYTES]; /* "cublasLt 13.0.2, cudnn 9.13.0" */
    double memory_bytes, power_cap_w, clock_max_hz;
    double cards; /* in this machine */
};
struct device_state {
    double clock_hz, power_w;
    unsigned slowing; /* bits of enum device_slowing */
};
struct calibrate_device {
    void *state;
    enum device_answer (*describe)(void *state, struct device_facts *out, struct error *error);
    enum device_answer (*prepare)(void *state, const struct calibrate_point *point,
                                  struct error *error);
    enum device_answer (*run)(void *state, unsigned count, double *seconds, struct error *error);
    void (*release)(void *state); /* behind every prepare, whatever it answered */
    enum device_answer (*sense)(void *state, struct device_state *out, struct error *error);
    double (*now_s)(void *state); /* of a clock on the wall, from any start */
    void (*rest)(void *state, double seconds);
};

#ifdef __cplusplus
}
#endif

#endif
