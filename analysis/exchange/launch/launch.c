#include "analysis/exchange/launch/launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/exchange/launch/launch_compose.h"
#include "analysis/exchange/launch/launch_job.h"
#include "analysis/exchange/launch/launch_unsaid.h"
#include "analysis/output/text/version.h"

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

static void write_notes(struct launch_text *text)
{
    static const char *const titles[] = {"Refused", "Differs", "Yours"};
    enum {
        WIDTH = 96
    };
    for (uint32_t i = 0; i < text->note_count; i++) {
        const char *rest = text->notes[i].text;
        launch_line(text, "#");
        for (bool first = true; *rest != '\0'; first = false) {
            size_t bytes = strlen(rest), room = WIDTH - 13;
            if (bytes > room) {
                for (bytes = room; bytes > 0 && rest[bytes] != ' ';)
                    bytes--;
                bytes = bytes > 0 ? bytes : strcspn(rest, " ");
            }
            launch_line(text, "# %-8s %.*s", first ? titles[text->notes[i].weight] : "", (int)bytes,
                        rest);
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

void launch_write(const struct launch_kind *kind, const struct configuration *c,
                  const struct launch_beside *beside, struct arena *arena, struct launch_text *out)
{
    static const struct launch_beside nothing = {.room.known = false};
    struct launch_job job;
    struct launch_text body;
    beside = beside != NULL ? beside : &nothing;
    launch_compose(kind, c, beside, arena, &body);
    if (!body.refused)
        launch_unsaid(kind, c, beside, &body);
    *out = (struct launch_text){.arena = arena,
                                .notes = body.notes,
                                .note_count = body.note_count,
                                .note_capacity = body.note_capacity,
                                .refused = body.refused};
    if (out->refused)
        return;
    launch_job_fill(c, &beside->saves, arena, &job);
    write_head(kind, &job, out);
    write_notes(out);
    write_run(&job, out);
    for (uint32_t i = 0; i < body.line_count; i++)
        launch_line(out, "%s", body.lines[i]);
}
