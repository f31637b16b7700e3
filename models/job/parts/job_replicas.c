/* job_replicas.c - which data-parallel replicas take part.
 *
 * Invariants
 * 1. missing[r] counts the positions of replica r without a node; a replica with any is out of the
 *    job, and stays out until it comes back by a restart of the job or by its own chain.
 * 2. up + out_count == count; out_list has each replica that is out once. */
#include "models/job/parts/job_replicas.h"

#include "sim/check.h"

void job_replicas_create(struct job_replicas *replicas, struct arena *arena,
                         const struct job_spec *spec)
{
    *replicas =
        (struct job_replicas){.spec = spec,
                              .replicas = ARENA_ARRAY(arena, struct replica, spec->replicas),
                              .count = spec->replicas,
                              .up = spec->replicas,
                              .out_list = ARENA_ARRAY(arena, uint32_t, spec->replicas)};
}

bool job_replicas_any_up(const struct job_replicas *replicas, uint32_t position)
{
    for (uint32_t i = 0; i < job_replicas_at(replicas, position); i++)
        if (!replicas->replicas[job_replicas_of(replicas, position, i)].out)
            return true;
    return false;
}

void job_replicas_leave(struct job_replicas *replicas, uint32_t replica, bool alone)
{
    CHECK(replica < replicas->count);
    struct replica *of = &replicas->replicas[replica];
    of->version++;
    of->ready = false;
    of->alone = alone;
    if (!of->out) {
        of->out = true;
        replicas->out_list[replicas->out_count++] = replica;
        replicas->up--;
    }
    CHECK(replicas->up + replicas->out_count == replicas->count); /* 2 */
}

void job_replicas_lose(struct job_replicas *replicas, uint32_t position, bool alone)
{
    uint32_t count = job_replicas_at(replicas, position);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t replica = job_replicas_of(replicas, position, i);
        replicas->replicas[replica].missing++;
        job_replicas_leave(replicas, replica, alone);
    }
}

bool job_replicas_gain(struct job_replicas *replicas, uint32_t replica)
{
    struct replica *of = &replicas->replicas[replica];
    CHECK(of->missing > 0 && of->out); /* 1 */
    return --of->missing == 0;
}

bool job_replicas_ready(struct job_replicas *replicas, uint32_t replica, uint64_t version)
{
    struct replica *of = &replicas->replicas[replica];
    if (of->version != version)
        return false;
    CHECK(of->out && of->missing == 0); /* 1: who loses a node again leaves again */
    of->ready = true;
    return true;
}

static void come_back(struct replica *of)
{
    CHECK(of->out && of->missing == 0); /* 1 */
    of->out = of->ready = false;
    of->version++;
}

void job_replicas_join(struct job_replicas *replicas)
{
    for (uint32_t i = replicas->out_count; i-- > 0;) {
        struct replica *of = &replicas->replicas[replicas->out_list[i]];
        if (of->ready && of->missing == 0) {
            replicas->out_list[i] = replicas->out_list[--replicas->out_count];
            come_back(of);
            replicas->up++;
        }
    }
    CHECK(replicas->up + replicas->out_count == replicas->count); /* 2 */
}

void job_replicas_return(struct job_replicas *replicas)
{
    uint32_t still = 0;
    for (uint32_t i = 0; i < replicas->out_count; i++) {
        uint32_t replica = replicas->out_list[i];
        if (replicas->replicas[replica].missing > 0)
            replicas->out_list[still++] = replica;
        else
            come_back(&replicas->replicas[replica]);
    }
    replicas->out_count = still;
    replicas->up = replicas->count - still;
}

uint32_t job_replicas_whole(const struct job_replicas *replicas)
{
    uint32_t whole = replicas->up;
    for (uint32_t i = 0; i < replicas->out_count; i++)
        whole += replicas->replicas[replicas->out_list[i]].missing == 0 ? 1 : 0;
    return whole;
}

void job_replicas_count(struct job_replicas *replicas, struct replicas_touched *count)
{
    replicas->stamps++;
    *count = (struct replicas_touched){0};
}

void job_replicas_touch(struct job_replicas *replicas, uint32_t position,
                        struct replicas_touched *count)
{
    uint32_t at = job_replicas_at(replicas, position);
    for (uint32_t i = 0; i < at; i++) {
        struct replica *of = &replicas->replicas[job_replicas_of(replicas, position, i)];
        bool seen = of->stamp == replicas->stamps;
        count->running += !seen && !of->out ? 1 : 0;
        count->whole += !seen && of->missing == 0 ? 1 : 0;
        of->stamp = replicas->stamps;
    }
}
