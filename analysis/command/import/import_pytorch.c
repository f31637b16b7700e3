/* import_pytorch.c - kernels of a trace of torch.profiler, into a profile. */
#include "analysis/command/import/import_kind.h"
#include "analysis/command/import/import_profile.h"
#include "analysis/command/line/command.h"
#include "analysis/output/text/format.h"
#include "analysis/tell/report/report_trace.h"
#include "scenarios/import/trace/pytorch_trace.h"
#include "sim/plural.h"

static int run(struct importing *i)
{
    struct error error = {""};
    struct pytorch_trace trace;
    const unsigned gpus_per_node = (unsigned)(i->a->gpus_per_node % UINT32_MAX);
    bool added;
    if (i->a->output == NULL) {
        fputs("orrery import pytorch: give --output FILE, the profile to write or to add to\n",
              i->session->notes);
        return EXIT_USAGE;
    }
    if (!pytorch_trace_read(i->arena, i->file, gpus_per_node, &trace, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    if (!importing_agrees(i, (struct card_told){.name = trace.device.name,
                                                .memory_bytes = trace.device.memory_bytes,
                                                .sm_count = trace.device.sm_count}))
        return EXIT_REJECTED;
    const struct import_points points = {trace.points,
                                         trace.point_count,
                                         trace.device.name,
                                         i->a->card.gpu,
                                         i->a->card.catalogue,
                                         "trace of the PyTorch profiler",
                                         0.0};
    if (!import_profile(i->arena, &points, i->a->output, &added, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    fprintf(i->session->out, "%s: %u point%s of %u operator%s%s, %s of %s in kernels\n",
            format_shown(i->a->output).s, trace.point_count, plural_s(trace.point_count),
            trace.operators, plural_s(trace.operators), added ? " added" : "",
            format_percent(trace.points_s / trace.kernels_s).s, format_time(trace.kernels_s).s);
    if (trace.mended > 0)
        fprintf(i->session->notes, "orrery import: %s: %u byte%s that %s no text, read as '?'\n",
                format_shown(i->file.path).s, trace.mended, plural_s(trace.mended),
                trace.mended == 1 ? "is" : "are");
    if (*pytorch_trace_left(i->arena, &trace) != '\0')
        fprintf(i->session->out, "left out: %s\n", pytorch_trace_left(i->arena, &trace));
    report_unknown(i->session, &trace.unknown);
    if (trace.collectives_left > 0)
        fprintf(i->session->out,
                "%u kind%s of collectives left out: fewer than three kernels within 5 %% of the "
                "shortest, so that none can be told to have waited for nobody\n",
                trace.collectives_left, plural_s(trace.collectives_left));
    return EXIT_OK;
}

static const char *const takes[] = {IMPORT_TAKES_CARD, "--output", "--gpus-per-node", NULL};

const struct import_kind import_pytorch = {
    .head = {.name = "pytorch",
             .doc = "kernels and collectives of a trace of torch.profiler, likewise"},
    .file = "FILE",
    .takes = takes,
    .bytes_max = PYTORCH_BYTES_MAX,
    .run = run,
};
