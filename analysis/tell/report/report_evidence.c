/* What the times of kernels rest on: a line for `run`, a table for `explain`. */
#include <string.h>

#include "analysis/output/text/format.h"
#include "analysis/output/text/wrap.h"
#include "analysis/tell/report/report_parts.h"
#include "models/gpu/gpu.h"
#include "scenarios/language/source.h"

static double ratio_of(const struct kernel_evidence_row *rows, size_t count, unsigned evidence)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].evidence, kernel_evidence_names[evidence]) == 0)
            sum += rows[i].time_ratio;
    return sum;
}

/* What of the profile was not used, and what it lacks. */
static void print_points(const struct session *s, const struct record *record)
{
    size_t count;
    bool lacks = false;
    const struct message_row *rows = record_message(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].severity, "profile") != 0)
            continue;
        fputs("  ", s->out);
        wrap_print(s->out, s->width, source_clean(record->arena, rows[i].text), 2);
        lacks = lacks || strcmp(rows[i].key, "lacking") == 0;
    }
    if (lacks)
        fprintf(s->out,
                "  %s'orrery profile shapes SCENARIO' lists the lines of nccl-tests that "
                "measure them%s\n",
                session_dim(s), session_plain(s));
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
    print_points(s, record);
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
