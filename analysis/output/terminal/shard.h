/* shard.h - which part of a piece of work this process has: shard i of n, stated, or as the engine
 * that started many processes tells each (`--shard auto`).
 *
 * Read from the environment, which is hostile as the command line is: a Slurm array
 * (SLURM_ARRAY_TASK_ID, _MIN, _MAX, _STEP, _COUNT; sbatch(1)), a Kubernetes indexed Job
 * (JOB_COMPLETION_INDEX; Job v1), ranks of Open MPI (OMPI_COMM_WORLD_RANK, _SIZE; mpirun(1)). An
 * array that was submitted again in part counts its own tasks only, so job files state n. It knows
 * no command and does not divide the work. */
#ifndef ORRERY_ANALYSIS_OUTPUT_TERMINAL_SHARD_H
#define ORRERY_ANALYSIS_OUTPUT_TERMINAL_SHARD_H

#include <stdio.h>

#include "sim/error.h"

enum {
    SHARD_MAX = 1000 /* indices of a Slurm array reach 1000 (MaxArraySize 1001) */
};
struct shard {
    unsigned index; /* 1 to count */
    unsigned count; /* 0: all of the work */
};
/* "2/8"; false with a sentence for anything else. */
bool shard_read_stated(const char *text, struct shard *out, struct error *error);
/* The same, "auto", and "auto/8" where the engine does not tell how many there are. */
bool shard_read(const char *text, struct shard *out, struct error *error);
/* How the databases of all shards become one. */
void shard_tell_merge(FILE *out, const struct shard *shard);

#endif
