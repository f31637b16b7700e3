/* study_merge.h - the shards of a study, joined: what one process would have played.
 *
 * Every shard is a complete database of `orrery study --shard i/n`; their order does not matter.
 * The files are hostile: they are read as a report reads them, must be of one study, of this
 * version, and hold exactly the replications that each shard has to play. Summaries are computed
 * from all replications, as a single process does. It needs neither the scenario nor its
 * catalogue. */
#ifndef ORRERY_ANALYSIS_STUDY_STUDY_MERGE_H
#define ORRERY_ANALYSIS_STUDY_STUDY_MERGE_H

#include "analysis/study/study.h"

/* The whole study, ready to be stored and told; all of it lives in the arena. False with a sentence
 * that says what to do where a shard is missing, given twice, incomplete, damaged or foreign. */
bool study_merge(struct arena *arena, const char *const *paths, unsigned count, struct study *out,
                 struct error *error);

#endif
