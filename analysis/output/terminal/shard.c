#include "analysis/output/terminal/shard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/output/text/format.h"
#include "sim/plural.h"

enum {
    NUMBER_MAX = 1000000000 /* of an environment variable */
};

/* A whole number that ends at `end`; false without a digit, and past NUMBER_MAX. */
static bool whole(const char *text, const char *end, uint64_t *out)
{
    if (text == end)
        return false;
    for (*out = 0; text < end; text++) {
        if (*text < '0' || *text > '9')
            return false;
        *out = 10 * *out + (uint64_t)(*text - '0');
        if (*out > NUMBER_MAX)
            return false;
    }
    return true;
}

static bool variable(const char *name, uint64_t *out, struct error *error)
{
    const char *value = getenv(name);
    if (value == NULL)
        return error_set(error, "%s is not set; write --shard i/n", name);
    return whole(value, value + strlen(value), out) ||
           error_set(error, "%s is '%s', no whole number; write --shard i/n", name,
                     format_shown(value).s);
}

static bool take(uint64_t index, uint64_t count, struct shard *out, struct error *error)
{
    if (count < 1 || count > SHARD_MAX)
        return error_set(error, "%llu shards: from 1 to %d are possible", (unsigned long long)count,
                         SHARD_MAX);
    if (index < 1 || index > count)
        return error_set(error, "shard %llu of %llu: shards are counted from 1 to n",
                         (unsigned long long)index, (unsigned long long)count);
    *out = (struct shard){(unsigned)index, (unsigned)count};
    return true;
}

bool shard_read_stated(const char *text, struct shard *out, struct error *error)
{
    const char *slash = strchr(text, '/');
    uint64_t index, count;
    if (slash == NULL || !whole(text, slash, &index) ||
        !whole(slash + 1, slash + strlen(slash), &count))
        return error_set(error, "'%s' is no shard; write i/n, as in 2/8, or auto",
                         format_shown(text).s);
    return take(index, count, out, error);
}

/* `stated`: how many shards there are; 0: the engine tells. */
typedef bool engine_fn(uint64_t stated, struct shard *out, struct error *error);

static bool read_slurm(uint64_t stated, struct shard *out, struct error *error)
{
    uint64_t id, least, most, step, count;
    if (!variable("SLURM_ARRAY_TASK_ID", &id, error))
        return false;
    if (stated > 0)
        return take(id, stated, out, error);
    if (!variable("SLURM_ARRAY_TASK_MIN", &least, error) ||
        !variable("SLURM_ARRAY_TASK_MAX", &most, error) ||
        !variable("SLURM_ARRAY_TASK_STEP", &step, error) ||
        !variable("SLURM_ARRAY_TASK_COUNT", &count, error))
        return false;
    if (step == 0 || id < least || id > most || (id - least) % step != 0 ||
        (most - least) / step + 1 != count)
        return error_set(error,
                         "this Slurm array is no whole range of indices: use --array=1-n and "
                         "write n into the job file, --shard \"$SLURM_ARRAY_TASK_ID/n\"");
    return take((id - least) / step + 1, count, out, error);
}

static bool read_kubernetes(uint64_t stated, struct shard *out, struct error *error)
{
    uint64_t index;
    if (!variable("JOB_COMPLETION_INDEX", &index, error))
        return false;
    if (stated == 0)
        return error_set(error,
                         "Kubernetes does not tell how many indices a Job has; write --shard "
                         "auto/n with its `completions`");
    return take(index + 1, stated, out, error);
}

static bool read_ranks(uint64_t stated, struct shard *out, struct error *error)
{
    uint64_t rank, size;
    if (!variable("OMPI_COMM_WORLD_RANK", &rank, error) ||
        !variable("OMPI_COMM_WORLD_SIZE", &size, error))
        return false;
    if (stated > 0 && stated != size)
        return error_set(error, "%llu shards are stated, and mpirun started %llu ranks",
                         (unsigned long long)stated, (unsigned long long)size);
    return take(rank + 1, size, out, error);
}

static const struct engine {
    const char *sign; /* the variable that tells that it is there */
    engine_fn *read;
} engines[] = {{"SLURM_ARRAY_TASK_ID", read_slurm},
               {"JOB_COMPLETION_INDEX", read_kubernetes},
               {"OMPI_COMM_WORLD_RANK", read_ranks}};

static bool read_engine(uint64_t stated, struct shard *out, struct error *error)
{
    const struct engine *found = NULL;
    for (unsigned i = 0; i < sizeof engines / sizeof engines[0]; i++) {
        if (getenv(engines[i].sign) == NULL)
            continue;
        if (found != NULL)
            return error_set(error, "auto: both %s and %s are set; write --shard i/n", found->sign,
                             engines[i].sign);
        found = &engines[i];
    }
    if (found == NULL)
        return error_set(error, "auto: neither a Slurm array (SLURM_ARRAY_TASK_ID) nor an index of "
                                "Kubernetes (JOB_COMPLETION_INDEX) nor a rank of Open MPI "
                                "(OMPI_COMM_WORLD_RANK) is here; write --shard i/n");
    return found->read(stated, out, error);
}

bool shard_read(const char *text, struct shard *out, struct error *error)
{
    static const char automatic[] = "auto";
    const char *rest = text + sizeof automatic - 1;
    uint64_t stated = 0;
    if (strncmp(text, automatic, sizeof automatic - 1) != 0)
        return shard_read_stated(text, out, error);
    if (*rest == '\0')
        return read_engine(0, out, error);
    if (*rest != '/' || !whole(rest + 1, rest + strlen(rest), &stated) || stated == 0)
        return error_set(error, "'%s' is no shard; write auto, or auto/n with the number of shards",
                         format_shown(text).s);
    return read_engine(stated, out, error);
}

void shard_tell_merge(FILE *out, const struct shard *shard)
{
    fprintf(out, "when all are done: orrery merge ... --db FILE, with the %u database%s\n",
            shard->count, plural_s(shard->count));
}
