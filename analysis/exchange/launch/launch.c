#include "analysis/exchange/launch/launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/exchange/launch/launch_job.h"
#include "analysis/output/text/version.h"
#include "sim/plural.h"

#define X(name) &launch_##name,
const struct launch_kind *const launch_kinds[] = {
#include "analysis/exchange/launch/launch_list.h"
};
#undef X
KIND_TABLE(launch)

#define X(name) #name,
const char *const launch_names[] = {
#include "analysis/exchange/launch/launch_list.h"
    NULL};
#undef X
const char *const launch_weight_names[] = {"refused", "differs", "yours", NULL};

/* Slurm reads its lines up to the first command. */
static void write_head(const struct launch_kind *kind, const struct launch_job *job,
                       struct launch_text *text)
{
    const struct layout_spec *l = &job->c->layout;
    launch_line(text, "#!/bin/bash");
    launch_line(text, "#SBATCH --job-name=%.64s", job->name);
    launch_line(text, "#SBATCH --nodes=%" PRIu64, job->gpus.hosts);
    launch_line(text, "#SBATCH --ntasks-per-node=1");
    launch_line(text, "#SBATCH --gpus-per-node=%" PRIu64, job->gpus.host_gpus);
    if (job->gpus.segment > 1)
        launch_line(text, "#SBATCH --segment=%" PRIu64, job->gpus.segment);
    launch_line(text, "#SBATCH --exclusive");
    launch_line(text, "#SBATCH --requeue");
    launch_line(text, "#SBATCH --open-mode=append");
    launch_line(text, "#");
    char experts[64] = "";
    if (job->c->model.moe.experts > 0)
        snprintf(experts, sizeof experts, ", ep %" PRIu64, configuration_expert_ranks(job->c).ep);
    launch_line(text,
                "# %s on %" PRIu64 " %s: tp %" PRIu64 ", pp %" PRIu64 ", vpp %" PRIu64
                ", dp %" PRIu64 ", cp %" PRIu64 "%s, microbatch %" PRIu64 ", %s",
                job->name, job->gpus.ranks, job->card, l->tp, l->pp, l->pipeline.vpp, l->dp, l->cp,
                experts, l->microbatch, l->data.sharding->head.name);
    launch_line(text, "# for %s, by orrery %s.", kind->version, ORRERY_VERSION);
    launch_line(text, "# `sbatch` it, or run it on each host with HEAD set to the first. Words in");
    launch_line(text, "# capitals can be set from outside.");
}

static void write_notes(const struct launch_text *notes, struct launch_text *text)
{
    static const char *const titles[] = {"Refused", "Differs", "Yours"};
    enum {
        WIDTH = 96
    };
    for (uint32_t i = 0; i < notes->note_count; i++) {
        const char *rest = notes->notes[i].text;
        launch_line(text, "#");
        for (bool first = true; *rest != '\0'; first = false) {
            size_t bytes = strlen(rest), room = WIDTH - 13;
            if (bytes > room) {
                for (bytes = room; bytes > 0 && rest[bytes] != ' ';)
                    bytes--;
                bytes = bytes > 0 ? bytes : strcspn(rest, " ");
            }
            launch_line(text, "# %-8s %.*s", first ? titles[notes->notes[i].weight] : "",
                        (int)bytes, rest);
            rest += bytes + strspn(rest + bytes, " ");
        }
    }
    launch_line(text, "set -euo pipefail");
}

/* One torchrun on each host; they meet at the first. */
static void write_run(const struct launch_job *job, struct launch_text *text)
{
    launch_line(text, "%s", "");
    launch_line(text,
                "TORCHRUN=(torchrun --nnodes=%" PRIu64 " --nproc-per-node=%" PRIu64
                " --rdzv-backend=c10d)",
                job->gpus.hosts, job->gpus.host_gpus);
    launch_line(text, "if [ -n \"${SLURM_JOB_ID:-}\" ]; then");
    launch_line(text, "    HEAD=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n1)");
    launch_line(text, "    RUN=(srun \"${TORCHRUN[@]}\" --rdzv-id=\"$SLURM_JOB_ID\""
                      " --rdzv-endpoint=\"$HEAD:29500\")");
    launch_line(text, "else");
    launch_line(text, "    RUN=(\"${TORCHRUN[@]}\" --rdzv-id=orrery"
                      " --rdzv-endpoint=\"${HEAD:-localhost}:29500\")");
    launch_line(text, "fi");
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
                          struct launch_text *text)
{
    const struct software_profile *s = &job->c->software;
    if (strcmp(software_framework(s), kind->software) != 0) {
        launch_say(text, LAUNCH_DIFFERS,
                   "the step was simulated as the profile %s runs it: %s fuses, overlaps and "
                   "allocates in its own way; `--set software=%s` simulates that",
                   launch_clean(text->arena, s->name), kind->head.name, kind->software);
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

static void write_script(const struct launch_kind *kind, const struct launch_job *job,
                         struct launch_text *out)
{
    /* The notes stand above what their writing goes along with. */
    struct launch_text body = {.arena = out->arena,
                               .notes = out->notes,
                               .note_count = out->note_count,
                               .note_capacity = out->note_capacity};
    kind->write(job, &body);
    out->notes = body.notes;
    out->note_count = body.note_count;
    out->note_capacity = body.note_capacity;
    out->refused = body.refused; /* what it lacks may be met as it is written: then nothing is */
    if (out->refused)
        return;
    write_head(kind, job, out);
    write_notes(&body, out);
    write_run(job, out);
    for (uint32_t i = 0; i < body.line_count; i++)
        launch_line(out, "%s", body.lines[i]);
}

void launch_write(const struct launch_kind *kind, const struct configuration *c,
                  struct arena *arena, struct launch_text *out)
{
    struct launch_job job;
    launch_job_fill(c, arena, &job);
    *out = (struct launch_text){.arena = arena};
    check_hosts(&job, out);
    if (kind->check != NULL)
        kind->check(&job, out);
    note_software(kind, &job, out);
    launch_note_captured(&job, out);
    if (!out->refused)
        write_script(kind, &job, out);
}
