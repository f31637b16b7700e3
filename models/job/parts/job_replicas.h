/* job_replicas.h - a part of the player `job`: which data-parallel replicas take part.
 *
 * A replica stands on nodes by their positions in the job; without one of them it is out, and comes
 * back by a restart of the whole job or, alone, by a chain of its own. Knows neither nodes nor
 * time. */
#ifndef ORRERY_MODELS_JOB_PARTS_JOB_REPLICAS_H
#define ORRERY_MODELS_JOB_PARTS_JOB_REPLICAS_H

#include "models/job/parts/job_spec.h"
#include "sim/arena.h"

struct replica {
    uint32_t missing; /* positions without a node */
    bool out;         /* of the job: something is missing, or it is on its way back */
    bool alone;       /* it comes back by itself, not by a restart of the job */
    bool ready;       /* ... with the next step */
    uint64_t version; /* of its way back */
    uint64_t stamp;
};
struct job_replicas {
    const struct job_spec *spec; /* which stand where */
    struct replica *replicas;
    uint32_t count;
    uint32_t up;                   /* that take part in steps */
    uint32_t *out_list, out_count; /* those that do not */
    uint64_t stamps;
};
struct replicas_touched {
    uint32_t running, whole; /* in the job; with all their nodes */
};

/* Borrows `spec`. */
void job_replicas_create(struct job_replicas *replicas, struct arena *arena,
                         const struct job_spec *spec);
bool job_replicas_any_up(const struct job_replicas *replicas, uint32_t position);

/* It is out from now on (again: on another way back). */
void job_replicas_leave(struct job_replicas *replicas, uint32_t replica, bool alone);
/* A position has no node any more: all that stand there are out. */
void job_replicas_lose(struct job_replicas *replicas, uint32_t position, bool alone);
/* One of its positions has a node again; true: it has all of them. */
bool job_replicas_gain(struct job_replicas *replicas, uint32_t replica);
/* Its own chain, of this version, is over; false: it has left again since. */
bool job_replicas_ready(struct job_replicas *replicas, uint32_t replica, uint64_t version);
/* Those that are ready take part from the next step on. */
void job_replicas_join(struct job_replicas *replicas);
/* The whole job restarted: all that have their nodes are back. */
void job_replicas_return(struct job_replicas *replicas);

/* That would be in the job once it has restarted, if nothing is replaced. */
uint32_t job_replicas_whole(const struct job_replicas *replicas);
/* Counts those at several positions, each once: begun, then added to for each position. */
void job_replicas_count(struct job_replicas *replicas, struct replicas_touched *count);
void job_replicas_touch(struct job_replicas *replicas, uint32_t position,
                        struct replicas_touched *count);

/* Those with a rank at this position: number i of them, in order, and how many. Inline: several
 * times for each failure. */
static inline uint32_t job_replicas_of(const struct job_replicas *replicas, uint32_t position,
                                       uint32_t i)
{
    const struct job_spec *spec = replicas->spec;
    return spec->replicas_on != NULL
               ? spec->replicas_on[spec->replicas_begin[position] + i]
               : (uint32_t)((uint64_t)position * spec->replicas / spec->nodes) + i;
}

static inline uint32_t job_replicas_at(const struct job_replicas *replicas, uint32_t position)
{
    const struct job_spec *spec = replicas->spec;
    if (spec->replicas_on != NULL)
        return spec->replicas_begin[position + 1] - spec->replicas_begin[position];
    uint64_t end = ((uint64_t)position + 1) * spec->replicas;
    return (uint32_t)((end - 1) / spec->nodes) - job_replicas_of(replicas, position, 0) + 1;
}

#endif
