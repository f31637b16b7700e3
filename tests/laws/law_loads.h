/* law_loads.h - what worker_loads says the wires carried, counted again.
 *
 * Of each class of links: the pieces add up to network_link_bytes (which law_links_fault holds
 * against the real links); no piece lies outside the step; at no instant do the pieces of a link
 * carry more than its capacity. An instant is longer than 1e-12 of the step, which is more than the
 * ends of activities are rounded by. */
#ifndef ORRERY_TESTS_LAW_LOADS_H
#define ORRERY_TESTS_LAW_LOADS_H

#include "tests/laws/law_books.h"

/* NULL, or a sentence in `text`. */
const char *law_loads_fault(const struct law_play *p, char text[LAW_TEXT]);
/* Of these pieces; any order. */
const char *law_pieces_fault(const struct law_play *p, const struct worker_load *pieces,
                             uint32_t count, char text[LAW_TEXT]);

#endif
