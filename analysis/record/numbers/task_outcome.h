/* task_outcome.h - what a task graph of execution traces was, and how it was played: what report,
 * document and timeline are made of. All is borrowed. */
#ifndef ORRERY_ANALYSIS_RECORD_NUMBERS_TASK_OUTCOME_H
#define ORRERY_ANALYSIS_RECORD_NUMBERS_TASK_OUTCOME_H

#include "analysis/record/numbers/record.h"
#include "models/step/tasks/task_play.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/import/chakra/chakra_tasks.h"

struct task_outcome {
    const struct scenario *scenario;
    const char *prefix; /* of the traces */
    const struct task_graph *graph;
    const struct task_played *played;
    const struct chakra_counts *counts;
};
/* Into the columns of the row that count nodes. */
void task_outcome_counts(const struct chakra_counts *counts, struct task_step_row *row);
/* As a report knows it: the rows of task_step, task_rank and task_group, and of message what the
 * scenario left open; no others. */
void task_outcome_record(struct arena *arena, const struct task_outcome *outcome,
                         struct record *out);

#endif
