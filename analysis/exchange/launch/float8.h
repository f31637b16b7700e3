/* float8.h - 8-bit linear layers of torchtitan: its converters of modules, and what they lack. */
#ifndef ORRERY_ANALYSIS_EXCHANGE_LAUNCH_FLOAT8_H
#define ORRERY_ANALYSIS_EXCHANGE_LAUNCH_FLOAT8_H

#include "analysis/exchange/launch/launch_job.h"

/* The options of the converter, which is told what stays in 16 bits; without 8-bit layers none. */
void float8_write(const struct launch_job *job, struct launch_text *text);
/* What the converter does otherwise. `shard`: data ranks that share one copy of the weights;
 * `compiled`: the script compiles the model. */
void float8_note(const struct launch_job *job, uint64_t shard, bool compiled,
                 struct launch_text *text);

#endif
