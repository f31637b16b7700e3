/* law_fold.h - the law that folded equals unfolded, for one case: shared by the pairwise test and
 * the exhaustive program. */
#ifndef ORRERY_TESTS_LAW_FOLD_H
#define ORRERY_TESTS_LAW_FOLD_H

#include "tests/laws/law_case.h"

struct fold_report {
    char description[400];
    char fault[300]; /* "" when the law holds */
    uint32_t class_count, rank_count;
};
/* Plays the case folded and unfolded; with `whole_steps` also by step_run. The case is legal. */
bool law_fold_holds(const struct law_case *k, unsigned rank_max, bool whole_steps,
                    struct fold_report *report);

#endif
