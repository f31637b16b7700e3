/* set_line.h - a fuzz input that is a scenario: its first line may be `--set TEXT`. */
#ifndef ORRERY_TESTS_FUZZ_SET_LINE_H
#define ORRERY_TESTS_FUZZ_SET_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "scenarios/assemble/scenario.h"

enum {
    SET_MAX = 255
};

/* Reads the input as the command line would read a file; see small_read. */
struct scenario *set_line_scenario(const uint8_t *data, size_t size);

#endif
