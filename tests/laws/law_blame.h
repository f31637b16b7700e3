/* law_blame.h - does the breakdown blame the right part? Busy time is counted again from the ops
 * that were played; a wait may only go to what the ranks of this play have. */
#ifndef ORRERY_TESTS_LAW_BLAME_H
#define ORRERY_TESTS_LAW_BLAME_H

#include "tests/laws/law_books.h"

/* These parts of a rank class: `compute`, `recompute` and `optimizer` are the time of its kernels
 * of those phases and nothing else; a part of traffic is nothing where no rank has such traffic,
 * `host` where no launch takes time, `straggler` where all cards are alike, `bubble` without a
 * pipeline. NULL, or a sentence. */
const char *law_parts_fault(const struct law_play *p, uint32_t rank_class,
                            const double parts[PART_COUNT], char text[LAW_TEXT]);
/* The same of what the worker says of every class; where there is a pipeline there is a bubble. */
const char *law_blame_fault(const struct law_play *p, char text[LAW_TEXT]);

#endif
