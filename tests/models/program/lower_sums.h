/* lower_sums.h - sums over programs that laws of the lowering compare with closed forms. */
#ifndef ORRERY_TESTS_LOWER_SUMS_H
#define ORRERY_TESTS_LOWER_SUMS_H

#include "models/lower/stage/lower.h"

/* Bytes of a tenant that stay: setup, and what the first step builds for good. */
double sum_static_bytes(const struct program *p, enum tenant tenant);
/* The most bytes of a tenant alive at once in a step, beside what stays. */
double sum_peak_bytes(const struct program *p, enum tenant tenant);
/* FLOPs of compute ops of one phase. */
double sum_flops(const struct program *p, enum phase phase);
/* Elements a rank sends on a stream: an all-reduce counts twice (scatter, then gather). */
double sum_elements(const struct program *p, enum stream stream, enum phase phase,
                    double element_bytes);
unsigned count_ops(const struct program *p, enum phase phase, uint16_t layer, uint16_t microbatch);

#endif
