/* emit.h - a job file that plays a study, or searches a plan, in shards on a cluster and merges
 * them: for Slurm (a job array) or Kubernetes (an indexed Job).
 *
 * One file does all: each task plays shard i of n, with i from the engine and n written down, so
 * that an array which is submitted again in part stays the same work; it resumes, so that a task
 * which is requeued or evicted goes on; whoever finds every shard complete merges them, one at a
 * time. The script is POSIX shell. It knows neither: whether the line is sound is checked before.
 */
#ifndef ORRERY_ANALYSIS_COMMAND_EMIT_H
#define ORRERY_ANALYSIS_COMMAND_EMIT_H

#include "analysis/line/arguments.h"
#include "sim/arena.h"
#include "sim/error.h"

enum emit_engine {
    EMIT_SLURM,
    EMIT_K8S
};
extern const char *const emit_engine_names[];

/* Prints the file for a line (a->emit); `db`: the database of the whole. False with a sentence
 * where the line cannot stand in one. */
bool emit_job(const struct arguments *a, const char *db, struct arena *arena, FILE *out,
              struct error *error);

#endif
