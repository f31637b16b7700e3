/* launched_gpus.c - how many GPUs a launch has, and how layers lie in its pipeline. */
#include <inttypes.h>

#include "scenarios/import/launched/launched.h"

enum {
    GPUS_MAX = 1000000000 /* so that sizes of batches can be multiplied by them */
};

/* As the file says them, if it does. */
static uint64_t said_gpus(struct launched *l, const struct launched_hosts *o, int *place)
{
    *place = o->world;
    if (o->world != LAUNCHED_NOTHING && launched_has(l, o->world))
        return launched_count(l, o->world, 1);
    *place = o->ranks;
    if (launched_has(l, o->ranks))
        return launched_count(l, o->ranks, 1) * launched_count(l, o->hosts, 1);
    *place = o->slurm_hosts;
    if (launched_has(l, o->slurm_hosts) && launched_has(l, o->slurm_gpus))
        return launched_count(l, o->slurm_hosts, 1) * launched_count(l, o->slurm_gpus, 1);
    if (launched_has(l, o->slurm_hosts) && launched_has(l, o->slurm_tasks))
        return launched_count(l, o->slurm_hosts, 1) * launched_count(l, o->slurm_tasks, 1);
    *place = LAUNCHED_NOTHING;
    return 0;
}

void launched_replicas(struct launched *l, const struct launched_hosts *o, uint64_t gpus,
                       struct launched_ranks *ranks)
{
    int place = LAUNCHED_NOTHING;
    const uint64_t said = l->whole || gpus == 0 ? said_gpus(l, o, &place) : 0;
    if (l->whole && said > 0 && gpus > 0 && gpus != said)
        launched_bad(l, place, "the run has %" PRIu64 " GPUs, not %" PRIu64 " (--gpus)", said,
                     gpus);
    l->gpus = gpus > 0 ? gpus : said;
    if (l->gpus > GPUS_MAX)
        launched_bad(l, place, "makes %" PRIu64 " GPUs", l->gpus);
    if (l->gpus == 0 || l->broken)
        return;
    const double product = (double)ranks->tp * (double)ranks->pp * (double)ranks->cp;
    const uint64_t least = product <= (double)l->gpus ? ranks->tp * ranks->pp * ranks->cp : 0;
    if (least == 0 || l->gpus % least != 0)
        launched_bad(l, place,
                     "%" PRIu64 " GPUs do not divide by tp %" PRIu64 " x pp %" PRIu64
                     " x cp %" PRIu64 "; --gpus N says how many there are",
                     l->gpus, ranks->tp, ranks->pp, ranks->cp);
    if (l->broken)
        return;
    ranks->dp = l->gpus / least;
    if (place == o->ranks && launched_count(l, o->hosts, 1) > 1 &&
        launched_count(l, o->ranks, 1) % 4 != 0) /* hosts that are not full */
        launched_key(l, LAUNCHED_CLUSTER, o->hosts, "nodes: %" PRIu64,
                     launched_count(l, o->hosts, 1));
    launched_key(l, LAUNCHED_CLUSTER, place, "gpus: %" PRIu64, l->gpus);
}

/* Evenly, as models/layout/configuration_split.c spreads them. */
static bool spread_is(const unsigned *chunks, unsigned count, uint64_t layers)
{
    for (unsigned i = 0; i < count; i++)
        if (chunks[i] != layers / count + (i < layers % count))
            return false;
    return true;
}

/* The same where embedding and head are layers too. */
static bool ends_count(const unsigned *chunks, unsigned count, uint64_t layers)
{
    bool is = count > 1;
    for (unsigned i = 0; i < count; i++) {
        const uint64_t whole = (layers + 2) / count + (i < (layers + 2) % count);
        is = is && chunks[i] + (i == 0) + (i + 1 == count) == whole;
    }
    return is;
}

bool launched_spread(struct launched *l, int option, const unsigned *chunks, unsigned count)
{
    const enum launched_section to = LAUNCHED_LAYOUT;
    const unsigned first = chunks[0], last = chunks[count - 1];
    uint64_t layers = 0;
    for (unsigned i = 0; i < count; i++)
        layers += chunks[i];
    const bool even = spread_is(chunks, count, layers);
    if (even) {
        launched_key(l, to, option, "ends_count: false");
    } else if (ends_count(chunks, count, layers)) {
        launched_key(l, to, option, "ends_count: true");
    } else if (count > 1 && first > 0 && spread_is(chunks + 1, count - 1, layers - first)) {
        launched_key(l, to, option, "first_stage_layers: %u", first);
    } else if (count > 1 && last > 0 && spread_is(chunks, count - 1, layers - last)) {
        launched_key(l, to, option, "last_stage_layers: %u", last);
    } else if (count > 2 && first > 0 && last > 0 &&
               spread_is(chunks + 1, count - 2, layers - first - last)) {
        launched_key(l, to, option, "first_stage_layers: %u", first);
        launched_key(l, to, option, "last_stage_layers: %u", last);
    } else {
        launched_key(l, to, option, "ends_count: false");
        launched_warn(l, option, "layers cannot be given stage by stage: they are spread evenly");
    }
    return even && layers % count == 0;
}
