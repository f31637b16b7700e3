/* task_outcome.h - what a task graph of execution traces was, and how it was played: what report,
 * document and timeline are made of. All is borrowed. */
#ifndef ORRERY_ANALYSIS_RESULT_TASK_OUTCOME_H
#define ORRERY_ANALYSIS_RESULT_TASK_OUTCOME_H

#include "models/step/task_play.h"
#include "scenarios/build/scenario.h"
#include "scenarios/import/chakra_tasks.h"

struct task_outcome {
    const struct scenario *scenario;
    const char *prefix; /* of the traces */
    const struct task_graph *graph;
    const struct task_played *played;
    const struct chakra_counts *counts;
};
/* Of the mean rank; sums to the step. */
static inline double task_outcome_part_s(const struct task_outcome *o, enum task_part part)
{
    double sum_s = 0.0;
    for (uint32_t rank = 0; rank < o->graph->rank_count; rank++)
        sum_s += o->played->parts_s[rank][part];
    return sum_s / (double)o->graph->rank_count;
}

#endif
