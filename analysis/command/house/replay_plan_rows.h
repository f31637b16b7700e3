/* replay_plan_rows.h - layouts of a search as rows of the page's document.
 *
 * Rows stand in groups: one for each fate, of broken rules one for each rule. Every layout that was
 * played op by op is among the rows; of the others those of a group are taken at even distances, so
 * that a picture keeps its shape: by their step where they were timed, else by their place. */
#ifndef ORRERY_ANALYSIS_COMMAND_HOUSE_REPLAY_PLAN_ROWS_H
#define ORRERY_ANALYSIS_COMMAND_HOUSE_REPLAY_PLAN_ROWS_H

#include <stdio.h>

#include "analysis/command/plan/plan_diary.h"

enum {
    REPLAY_GROUPS_MAX = 96 /* fates, and rules: each is a key of a scenario */
};
struct replay_group {
    enum search_fate fate;
    const char *rule;      /* of FATE_RULE: the key; else NULL */
    uint64_t count, drawn; /* layouts; of these in the document */
};
struct replay_rows {
    struct arena *arena;
    size_t machine; /* its number */
    uint64_t first; /* rows of the document before its own */
    struct replay_group groups[REPLAY_GROUPS_MAX];
    unsigned group_count;
    uint32_t *chosen; /* by row of the search: where it stands among these rows, from 1; 0: left
                         out */
    uint64_t count;
    uint64_t *leaders; /* by rank: where it stands, from 0 */
};
/* Fills all but arena, machine and first: at most so many rows with a step time, beside those that
 * were played, and so many without. */
void replay_rows_choose(struct replay_rows *rows, const struct search *search, uint64_t timed,
                        uint64_t rest);
/* The names of the columns, as a JSON array. */
void replay_rows_columns(FILE *out);
/* The chosen rows, a JSON array each, with a comma before all but the first of the document. */
void replay_rows_write(struct replay_rows *rows, const struct plan_seen *seen, FILE *out);

#endif
