#include "analysis/exchange/launch/launch_compose.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/exchange/launch/launch_job.h"
#include "analysis/output/text/format.h"
#include "sim/plural.h"

static void note_room(const struct launch_room *room, struct launch_text *text)
{
    const struct text needed = format_bytes(room->needed_bytes);
    const struct text usable = format_bytes(room->usable_bytes);
    if (!room->known || room->fits)
        return;
    if (room->host)
        launch_say(text, LAUNCH_YOURS,
                   "it does not fit in memory: the CPUs of a node need %s and have %s; `orrery "
                   "memory` says what fills them",
                   needed.s, usable.s);
    else
        launch_say(text, LAUNCH_YOURS,
                   "it does not fit in memory: stage %" PRIu32
                   " needs %s a card and %s are usable; "
                   "`orrery memory` says what fills it",
                   room->stage, needed.s, usable.s);
}

/* What holds for each framework. */
static void check_hosts(const struct launch_job *job, struct launch_text *text)
{
    const struct configuration *c = job->c;
    const uint64_t chassis = c->cluster.node.chassis_gpus;
    const uint64_t host = chassis > 0 ? chassis : c->cluster.node.gpus;
    const uint64_t hosts = configuration_gpus(c) / host;
    if (job->gpus.hosts > hosts) {
        launch_say(text, LAUNCH_REFUSED,
                   "torchrun starts the same number of ranks on each host: %" PRIu64
                   " ranks do not divide over %" PRIu64 " host%s of %" PRIu64 " GPU%s",
                   job->gpus.ranks, hosts, plural_s(hosts), host, plural_s(host));
    } else if (job->gpus.hosts > 1 && job->gpus.host_gpus < host) {
        launch_say(text, LAUNCH_DIFFERS,
                   "%" PRIu64 " ranks do not fill hosts of %" PRIu64
                   " GPUs: torchrun starts %" PRIu64 " on each of %" PRIu64
                   " hosts, and the other GPUs stay idle",
                   job->gpus.ranks, host, job->gpus.host_gpus, job->gpus.hosts);
    }
    if (job->gpus.segment > 0 && job->gpus.segment < job->gpus.rack_hosts &&
        job->gpus.segment < job->gpus.hosts) {
        launch_say(text, LAUNCH_DIFFERS,
                   "%" PRIu64
                   " hosts of each NVLink domain were simulated: segments have one size, "
                   "and %" PRIu64 " hosts are taken %" PRIu64 " at a time",
                   job->gpus.rack_hosts, job->gpus.hosts, job->gpus.segment);
    }
    if (job->gpus.segment > 1) {
        launch_say(text, LAUNCH_YOURS,
                   "--segment keeps each %" PRIu64 " hosts in one NVLink domain where Slurm has "
                   "topology/block; elsewhere choose hosts that do",
                   job->gpus.segment);
    }
    if (c->layout.placement == PLACEMENT_SCATTERED) {
        launch_say(
            text, LAUNCH_DIFFERS,
            "ranks were simulated going round the nodes: torchrun numbers them host by host, "
            "so that neighbours share a node");
    }
}

static void note_software(const struct launch_kind *kind, const struct launch_job *job,
                          const struct launch_beside *beside, struct launch_text *text)
{
    const struct software_profile *s = &job->c->software;
    if (strcmp(software_framework(s), kind->software) != 0) {
        launch_say(text, LAUNCH_DIFFERS,
                   "the step was simulated as the profile %s runs it: %s fuses, overlaps and "
                   "allocates in its own way; `--set software=%s` %s",
                   launch_clean(text->arena, s->name), kind->head.name, kind->software,
                   beside->profile_refused ? "breaks a rule with this scenario" : "simulates that");
    } else if (strcmp(s->name, kind->software) != 0 && s->usual.execution == EXECUTION_ANY) {
        launch_say(text, LAUNCH_DIFFERS,
                   "the step was simulated as the older profile %s runs it: `--set software=%s` "
                   "simulates this version",
                   launch_clean(text->arena, s->name), kind->software);
    }
    if (!job->c->training.causal) {
        launch_say(text, LAUNCH_REFUSED,
                   "the step was simulated without a causal mask: this script trains a causal "
                   "language model, whose attention costs half");
    }
}

void launch_compose(const struct launch_kind *kind, const struct configuration *c,
                    const struct launch_beside *beside, struct arena *arena,
                    struct launch_text *out)
{
    struct launch_job job;
    launch_job_fill(c, &beside->saves, arena, &job);
    *out = (struct launch_text){.arena = arena};
    note_room(&beside->room, out);
    check_hosts(&job, out);
    if (kind->check != NULL)
        kind->check(&job, out);
    note_software(kind, &job, beside, out);
    launch_note_captured(&job, out);
    if (!out->refused)
        kind->write(&job, out);
}
