/* study_emit.h - a job file that plays a study in shards on a cluster and merges them: for Slurm
 * (a job array) or Kubernetes (an indexed Job).
 *
 * One file does all: each task plays shard i of n, with i from the engine and n written down, so
 * that an array which is submitted again in part stays the same study; it resumes, so that a task
 * which is requeued or evicted goes on; whoever finds every shard complete merges them, one at a
 * time. The script is POSIX shell. It knows no study: whether the line is sound is checked before.
 */
#ifndef ORRERY_ANALYSIS_COMMAND_STUDY_EMIT_H
#define ORRERY_ANALYSIS_COMMAND_STUDY_EMIT_H

#include "analysis/line/arguments.h"
#include "sim/arena.h"
#include "sim/error.h"

enum study_engine {
    STUDY_SLURM,
    STUDY_K8S
};
extern const char *const study_engine_names[];

/* Prints the file for the line `a` of `study` (a->emit). False with a sentence where the line
 * cannot stand in one. */
bool study_emit(const struct arguments *a, struct arena *arena, FILE *out, struct error *error);

#endif
