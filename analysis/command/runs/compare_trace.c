#include "analysis/command/runs/compare_trace.h"

#include <inttypes.h>

#include "analysis/command/line/card_agrees.h"
#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/explain/trace_simulated.h"
#include "analysis/output/text/format.h"
#include "analysis/record/evidence/record_run.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report_compare.h"
#include "analysis/tell/report/report_trace.h"
#include "scenarios/import/reader/import_open.h"
#include "sim/plural.h"

static int trouble(const struct session *session, const char *text, int code)
{
    fprintf(session->notes, "orrery compare: %s\n", text);
    return code;
}

static bool read_trace(const struct compare_arguments *a, struct arena *arena,
                       struct pytorch_step *out, struct error *error)
{
    struct import_file file;
    if (!import_open(arena, a->trace, PYTORCH_BYTES_MAX, &file, error))
        return false;
    return pytorch_spans_read(arena, file, a->has_step ? (int64_t)a->step : PYTORCH_UNTOLD, out,
                              error);
}

/* The rank that is asked for, or the trace's own: of a job of so many ranks. */
static bool choose_rank(const struct compare_arguments *a, const struct pytorch_step *trace,
                        uint64_t ranks, uint32_t *out, struct error *error)
{
    if (trace->world_size != PYTORCH_UNTOLD && (uint64_t)trace->world_size != ranks)
        return error_set(error,
                         "%s is of a job of %" PRId64 " ranks, and the scenario has %" PRIu64,
                         format_shown(a->trace).s, trace->world_size, ranks);
    const uint64_t rank = a->has_rank                     ? a->rank
                          : trace->rank != PYTORCH_UNTOLD ? (uint64_t)trace->rank
                                                          : 0;
    if (rank >= ranks)
        return error_set(error, "no rank %" PRIu64 ": the scenario has %" PRIu64, rank, ranks);
    *out = (uint32_t)rank;
    return true;
}

static int tell(const struct compare_arguments *a, struct session *session, struct arena *arena,
                const struct compared_trace *told, const struct step *step)
{
    struct trace_comparison comparison;
    struct error error = {""};
    struct trace_span *simulated;
    const uint32_t count = trace_simulated(arena, step, told->rank, &simulated);
    const struct trace_span *const spans[TRACE_SIDES] = {told->step->spans, simulated};
    const uint32_t counts[TRACE_SIDES] = {told->step->count, count};
    if (!trace_compare(arena, spans, counts, &comparison, &error))
        return trouble(session, error.text, EXIT_REJECTED);
    if (a->csv && !a->json)
        report_trace_csv(&comparison, session->out);
    else
        document_print(report_trace(arena, told, &comparison), report_trace_lines, a->json,
                       session);
    return EXIT_OK;
}

/* Of what does not fit: where, and EXIT_NOTHING_FITS. */
static int refuse(struct session *session, struct arena *arena, const struct scenario *scenario,
                  const struct step *step)
{
    struct result result;
    struct record record;
    result_gather(scenario, step, &result);
    record_of_run(arena, &result, false, &record);
    fputs(report_unfit_text("A", "there is no time to compare", &record), session->notes);
    return EXIT_NOTHING_FITS;
}

static int simulate(const struct compare_arguments *a, struct session *session, struct arena *arena,
                    const struct scenario *scenario, const struct pytorch_step *trace)
{
    const struct step_options how = {.threads = 1};
    struct compared_trace told = {.path = a->trace, .scenario = scenario, .step = trace};
    struct error error = {""};
    struct step *step;
    span_unknown(arena, trace->spans, trace->count, &told.unknown);
    if (!step_run(&scenario->configuration, &how, &step, &error))
        return trouble(session, error.text, EXIT_REJECTED);
    told.ranks = (uint32_t)step->counts.ranks;
    told.simulated_step_s = step->step_s;
    int code = EXIT_REJECTED;
    if (!choose_rank(a, trace, step->counts.ranks, &told.rank, &error))
        code = trouble(session, error.text, EXIT_REJECTED);
    else
        code = step->fits ? tell(a, session, arena, &told, step)
                          : refuse(session, arena, scenario, step);
    step_destroy(step);
    return code;
}

int compare_trace(const struct compare_arguments *a, struct session *session, struct arena *arena)
{
    struct pytorch_step trace;
    struct error error = {""};
    struct scenario *scenario;
    if (!read_trace(a, arena, &trace, &error))
        return trouble(session, error.text, EXIT_REJECTED);
    if (trace.mended > 0)
        fprintf(session->notes, "orrery compare: %s: %u byte%s that %s no text, read as '?'\n",
                format_shown(a->trace).s, trace.mended, plural_s(trace.mended),
                trace.mended == 1 ? "is" : "are");
    int code =
        load_scenario(&a->line, a->line.positional[0], &a->scenario, session, false, &scenario);
    if (code != EXIT_OK)
        return code;
    const struct card_told told = {.name = trace.device.name,
                                   .memory_bytes = trace.device.memory_bytes,
                                   .sm_count = trace.device.sm_count};
    const struct card_arguments how = {a->scenario.catalogue, a->other_card};
    code = card_agrees(&a->line, how, session, a->trace, scenario->configuration.gpu.name, &told)
               ? simulate(a, session, arena, scenario, &trace)
               : EXIT_REJECTED;
    scenario_destroy(scenario);
    return code;
}
