/* world_parts.h - what the step of a rank of a small world consists of, to the bit. */
#ifndef ORRERY_TESTS_WORLD_PARTS_H
#define ORRERY_TESTS_WORLD_PARTS_H

#include "tests/models/step/world.h"

/* The breakdown of a rank is this and adds up to the step; its spans of waiting add up to the same
 * and, with its compute, tile the step. */
void world_parts_are(const struct world *w, uint32_t rank, const double expected[PART_COUNT]);
/* A rank waits in these spans, and in no others. */
void world_idle_is(const struct world *w, uint32_t rank, const struct worker_idle *expected,
                   uint32_t expected_count);

#endif
