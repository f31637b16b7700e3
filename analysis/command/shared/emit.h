/* emit.h - a job file that plays a study, or searches a plan, in shards on a cluster and merges
 * them: for Slurm (a job array) or Kubernetes (an indexed Job).
 *
 * One file does all: each task plays shard i of n, with i from the engine and n written down, so
 * that an array which is submitted again in part stays the same work; it resumes, so that a task
 * which is requeued or evicted goes on; whoever finds every shard complete merges them, one at a
 * time. The script is POSIX shell. It knows neither: whether the line is sound is checked before.
 */
#ifndef ORRERY_ANALYSIS_COMMAND_SHARED_EMIT_H
#define ORRERY_ANALYSIS_COMMAND_SHARED_EMIT_H

#include "analysis/command/line/arguments.h"
#include "sim/arena.h"
#include "sim/error.h"

enum emit_engine {
    EMIT_SLURM,
    EMIT_K8S
};
extern const char *const emit_engine_names[];

/* Which part of the work a line has played, and by how many threads. */
struct share_arguments {
    const char *shard; /* "2/8"; NULL: all of it */
    uint64_t threads;  /* 0: not said */
    uint64_t shards;   /* of the job file */
    enum emit_engine emit;
    bool has_emit, has_shards;
};

#define OPTION_SHARDS_ROW(share)                                                                   \
    {                                                                                              \
        "--shards", OPTION_SOME, FIELD_GIVEN_USUAL(share.shards, share.has_shards, "8"), "N",      \
            NULL, "with --emit: number of shards"                                                  \
    }

/* Prints the file for a line (share->emit); `db`: the database of the whole. False with a sentence
 * where the line cannot stand in one. */
bool emit_job(const struct arguments *line, const struct share_arguments *share, const char *db,
              struct arena *arena, FILE *out, struct error *error);

#endif
