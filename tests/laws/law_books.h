/* law_books.h - the books of a play: bytes and times counted again from programs, groups and
 * routes alone, beside what the players report.
 *
 * Each function returns NULL when the book closes, else a sentence in `text`. They use neither the
 * tallies of the network nor the folding: traffic is walked group by group on the real links. */
#ifndef ORRERY_TESTS_LAW_BOOKS_H
#define ORRERY_TESTS_LAW_BOOKS_H

#include "tests/laws/law_play.h"

enum {
    LAW_TEXT = 200
};
/* Each member of a group sends and receives the same operations and sizes, in the same order. */
const char *law_partners_fault(const struct law_play *p, char text[LAW_TEXT]);
/* Activities and payload: what the programs ask for is what was posted and what was moved. */
const char *law_payload_fault(const struct law_play *p, char text[LAW_TEXT]);
/* Every link class carried what crosses its first real link. */
const char *law_links_fault(const struct law_play *p, char text[LAW_TEXT]);
/* An unfolded play: a link that is left out of the sharing, because its groups never meet, never
 * carries two activities at once. */
const char *law_own_fault(const struct law_play *p, char text[LAW_TEXT]);
/* What a step allocates is freed in it, or stays from the first step on; the allocator agrees. */
const char *law_memory_fault(const struct program *program, char text[LAW_TEXT]);
/* The parts of each rank class are not negative and add up to the step. */
const char *law_tiles_fault(const struct law_play *p, char text[LAW_TEXT]);
/* Spans of waiting and ops of compute tile the step of each rank class; by part, spans add up to
 * the breakdown, but for the pace, which is inside the ops. */
const char *law_idle_fault(const struct law_play *p, char text[LAW_TEXT]);
/* Do these parts add up to step_s, to a relative 1e-12? */
bool law_tiles(const double parts[PART_COUNT], double step_s);

#endif
