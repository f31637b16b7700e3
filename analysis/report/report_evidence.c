/* What the times of kernels rest on: a line for `run`, a table for `explain`. */
#include <string.h>

#include "analysis/report/report_parts.h"
#include "analysis/text/format.h"
#include "models/gpu/gpu.h"

static double ratio_of(const struct kernel_evidence_row *rows, size_t count, unsigned evidence)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].evidence, kernel_evidence_names[evidence]) == 0)
            sum += rows[i].time_ratio;
    return sum;
}

void report_evidence(const struct session *s, const struct record *record, bool all)
{
    enum {
        SHOWN_MOST = 15
    };
    size_t count, shown = 0;
    const struct kernel_evidence_row *rows = record_kernel_evidence(record, &count);
    if (count == 0)
        return;
    report_heading(s, "What the times of kernels rest on");
    fprintf(s->out,
            "  %s of the time on measured kernels, %s interpolated, %s extrapolated, %s on "
            "the model\n  %s%.160s%s\n",
            format_percent(ratio_of(rows, count, KERNEL_MEASURED)).s,
            format_percent(ratio_of(rows, count, KERNEL_INTERPOLATED)).s,
            format_percent(ratio_of(rows, count, KERNEL_EXTRAPOLATED)).s,
            format_percent(ratio_of(rows, count, KERNEL_MODELLED)).s, session_dim(s),
            format_shown(rows[0].profile).s, session_plain(s));
    for (size_t i = 0; all && i < count && shown < SHOWN_MOST; i++) {
        const struct kernel_evidence_row *row = &rows[i];
        if (strcmp(row->evidence, kernel_evidence_names[KERNEL_MEASURED]) == 0)
            continue;
        fprintf(s->out, "  %-24.40s %-13.20s %9s %7s\n", format_shown(row->kernel).s,
                format_shown(row->evidence).s, format_time(row->gpu_s).s,
                format_percent(row->time_ratio).s);
        shown++;
    }
}
