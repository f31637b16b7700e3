/* small_read.h - reads the scenario of a fuzz input, where reading it is quick. */
#ifndef ORRERY_TESTS_FUZZ_SMALL_READ_H
#define ORRERY_TESTS_FUZZ_SMALL_READ_H

#include <stddef.h>

#include "scenarios/assemble/scenario.h"

/* Reads a scenario as scenario_read does, or returns NULL where the model has so many layers on so
 * many GPUs that choosing its layout, which plays steps, would take longer than an input may.
 * scenario_destroy frees it. */
struct scenario *small_read(const char *text, size_t text_bytes, struct scenario_options *options);

#endif
