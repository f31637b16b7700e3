/* cuda_sense.c - clock, power and what slows the card, from NVML, which comes with the
 * driver and is loaded when the program runs: its header is not everywhere. Names and numbers by
 * NVIDIA's NVML API reference (nvmlDeviceGetCurrentClocksThrottleReasons, nvmlClockType_t). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/calibrate/cuda/cuda_parts.h"

#define MILLIWATT 1e-3
#define MEGAHERTZ 1e6

enum nvml_number {
    NVML_CLOCK_SM = 1,
    NVML_VERSION_BYTES = 80
};
#define NVML_SW_POWER_CAP 0x4ull
#define NVML_HW_SLOWDOWN 0x8ull
#define NVML_SW_THERMAL 0x20ull
#define NVML_HW_THERMAL 0x40ull
#define NVML_HW_POWER_BRAKE 0x80ull

typedef struct nvml_card *nvml_card_ref;
struct cuda_senses {
    void *library;
    nvml_card_ref card;
    int (*init)(void);
    int (*shutdown)(void);
    int (*by_bus)(const char *bus, nvml_card_ref *out);
    int (*clock)(nvml_card_ref card, int which, unsigned *mhz);
    int (*max_clock)(nvml_card_ref card, int which, unsigned *mhz);
    int (*power)(nvml_card_ref card, unsigned *milliwatt);
    int (*cap)(nvml_card_ref card, unsigned *milliwatt);
    int (*slowing)(nvml_card_ref card, unsigned long long *reasons);
    int (*driver)(char *out, unsigned room);
};

static bool find(struct cuda_senses *s, const char *name, void *function)
{
    void *symbol = dlsym(s->library, name);
    *(void **)function = symbol;
    return symbol != NULL;
}

static bool load(struct cuda_senses *s)
{
    s->library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    return s->library != NULL && find(s, "nvmlInit_v2", &s->init) &&
           find(s, "nvmlShutdown", &s->shutdown) &&
           find(s, "nvmlDeviceGetHandleByPciBusId_v2", &s->by_bus) &&
           find(s, "nvmlDeviceGetClockInfo", &s->clock) &&
           find(s, "nvmlDeviceGetMaxClockInfo", &s->max_clock) &&
           find(s, "nvmlDeviceGetPowerUsage", &s->power) &&
           find(s, "nvmlDeviceGetEnforcedPowerLimit", &s->cap) &&
           find(s, "nvmlDeviceGetCurrentClocksThrottleReasons", &s->slowing) &&
           find(s, "nvmlSystemGetDriverVersion", &s->driver);
}

void cuda_sense_open(struct cuda_machine *m)
{
    char bus[32];
    struct cuda_senses *s = calloc(1, sizeof *s);
    if (s == NULL)
        return;
    if (load(s) && s->init() == 0) {
        if (cudaDeviceGetPCIBusId(bus, sizeof bus, m->device) == cudaSuccess &&
            s->by_bus(bus, &s->card) == 0) {
            m->sense = s;
            return;
        }
        s->shutdown();
    }
    if (s->library != NULL)
        dlclose(s->library);
    free(s);
}

void cuda_sense_close(struct cuda_machine *m)
{
    struct cuda_senses *s = m->sense;
    if (s == NULL)
        return;
    s->shutdown();
    dlclose(s->library);
    free(s);
    m->sense = NULL;
}

void cuda_sense_facts(struct cuda_machine *m, struct device_facts *out)
{
    struct cuda_senses *s = m->sense;
    char version[NVML_VERSION_BYTES] = "";
    unsigned value = 0;
    if (s == NULL) {
        snprintf(out->driver, sizeof out->driver, "not known");
        return;
    }
    if (s->driver(version, sizeof version) == 0)
        snprintf(out->driver, sizeof out->driver, "%.79s", version);
    if (s->cap(s->card, &value) == 0)
        out->power_cap_w = MILLIWATT * value;
    if (s->max_clock(s->card, NVML_CLOCK_SM, &value) == 0)
        out->clock_max_hz = MEGAHERTZ * value;
}

enum device_answer cuda_sense(struct cuda_machine *m, struct device_state *out, struct error *error)
{
    struct cuda_senses *s = m->sense;
    unsigned value = 0;
    unsigned long long reasons = 0;
    (void)error;
    *out = (struct device_state){0};
    if (s == NULL)
        return DEVICE_DONE;
    if (s->clock(s->card, NVML_CLOCK_SM, &value) == 0)
        out->clock_hz = MEGAHERTZ * value;
    if (s->power(s->card, &value) == 0)
        out->power_w = MILLIWATT * value;
    if (s->slowing(s->card, &reasons) == 0)
        out->slowing =
            (reasons & NVML_SW_POWER_CAP ? (unsigned)DEVICE_POWER_CAP : 0u) |
            (reasons & (NVML_SW_THERMAL | NVML_HW_THERMAL) ? (unsigned)DEVICE_TOO_HOT : 0u) |
            (reasons & (NVML_HW_SLOWDOWN | NVML_HW_POWER_BRAKE) ? (unsigned)DEVICE_HARDWARE_SLOW
                                                                : 0u);
    return DEVICE_DONE;
}
