/* profile_from.h - a profile of published rows, to use them as if they were measured here.
 *
 * Reads the files of tests/validation: kernels (rates of products, fused attention, copies) and
 * collectives inside a node. (Not operators: they were taken on rested cards, before the power cap
 * has lowered the clock, and a step is no such run.) Rows of quality other than clean, best shapes
 * of a search, unfused attention and rows without a shape are left out. Rows of one shape become
 * one point: their median, their spread. Nothing of the kind is published for a single row, so its
 * spread is 0. */
#ifndef ORRERY_ANALYSIS_COMMAND_EXCHANGE_PROFILE_FROM_H
#define ORRERY_ANALYSIS_COMMAND_EXCHANGE_PROFILE_FROM_H

#include "sim/arena.h"
#include "sim/error.h"

struct profile_from_report {
    unsigned rows, points, left_out; /* rows of the GPU */
};
/* False with a sentence; a file that is there already is not written over. */
bool profile_from(struct arena *arena, const char *csv, const char *gpu, const char *output,
                  struct profile_from_report *report, struct error *error);

#endif
