/* rental.h - what is rented for a job, and what that costs.
 *
 * GPUs are rented in units: the chassis of a node that has several (the trays of an NVL72 rack),
 * else whole nodes as they are built. Every unit on which a rank stands is paid whole; the GPUs of
 * it on which none does draw idle power. A spare is as many units as the fullest node of the job
 * takes. What a step costs and what weeks cost both follow from here. */
#ifndef ORRERY_MODELS_LAYOUT_RENTAL_H
#define ORRERY_MODELS_LAYOUT_RENTAL_H

#include "models/layout/configuration.h"

struct rental {
    uint64_t paid_gpus, spare_gpus; /* of the units of the job, and of those of one spare */
    double gpu_hour_usd;            /* the price; NAN: not known, and so are those that follow */
    double job_hour_usd, spare_hour_usd;
};
/* The layout of `c` is sound: its ranks stand on its nodes. */
void rental_of(const struct configuration *c, struct rental *out);

#endif
