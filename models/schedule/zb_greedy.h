/* zb_greedy.h - the order of zb-1p and zb-2p: passes put one after another on the ranks by their
 * times, as Qi et al. (arXiv:2401.10241, section 3.1; sail-sg/zero-bubble-pipeline-parallelism
 * megatron/core/pipeline_parallel/zerobubble/scheduler/zb.py, whose default it is) find it. */
#ifndef ORRERY_MODELS_SCHEDULE_ZB_GREEDY_H
#define ORRERY_MODELS_SCHEDULE_ZB_GREEDY_H

#include "models/schedule/schedule_kind.h"

/* The passes of a stage when no rank may keep more than `limit` forwards do; costs NULL: passes are
 * equal and messages free. All stages are ordered together: 3 x stages x microbatches passes are
 * put, once for each of the rule's eight variants, and the one with the shortest span of its worst
 * rank is taken, the first among equals. */
uint32_t zb_greedy_write(const struct schedule_shape *shape, uint32_t limit,
                         const struct pass_costs *costs, uint32_t stage, struct pass *out);

#endif
