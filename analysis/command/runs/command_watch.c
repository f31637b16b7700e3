#include <math.h>

#include "analysis/command/line/command.h"
#include "analysis/command/line/load.h"
#include "analysis/output/text/format.h"
#include "analysis/record/evidence/record_run.h"
#include "analysis/record/evidence/uncertainty.h"
#include "analysis/tell/document/document_lines.h"
#include "analysis/tell/report/report_compare.h"
#include "analysis/tell/watched/watched.h"
#include "models/step/simulate/step.h"
#include "scenarios/import/reader/import_open.h"
#include "sim/pool.h"

enum {
    DRAWS = 128 /* as many as `run --uncertainty` makes */
};
/* Steps and stamps disagree where one is nearer to twice than to once the other. */
static const double agree_ratio = M_SQRT2;

static const char *const format_names[] = {
#define X(name) #name,
#include "scenarios/import/iterations/iteration_format_list.h"
#undef X
    NULL};

struct watch_arguments {
    struct arguments line;
    struct scenario_arguments scenario;
    unsigned format;
    uint64_t windows, threads;
    bool has_format, json;
};
#define ARGUMENTS struct watch_arguments
static const struct option options[] = {
    {"--format", OPTION_CHOICE, FIELD_GIVEN(format, has_format), "NAME", format_names,
     "who wrote the log (the one whose lines are most of it)"},
    {"--windows", OPTION_SOME, FIELD_USUAL(windows, "10"), "N", NULL,
     "number of windows to summarise the log in"},
    OPTION_SCENARIO_ROWS(scenario),
    OPTION_THREADS_ROW(threads, "threads that share the draws of the forecast (all processors); "
                                "results do not depend on their number"),
    OPTION_JSON_ROW(json),
    OPTION_END};

static int trouble(const struct session *session, const struct error *error, int code)
{
    fprintf(session->notes, "orrery watch: %s\n", error->text);
    return code;
}

/* What does not agree is told, and the report stands. */
static void tell_doubts(const struct session *session, const struct watch *w)
{
    const double ratio = w->clock_ratio;
    if (w->source == WATCH_RATE && (ratio > agree_ratio || ratio < 1.0 / agree_ratio))
        fprintf(session->notes,
                "orrery watch: %s: between its stamps steps take %.3g times as long as by its "
                "tokens a second with the batch, the sequence and the GPUs of the scenario: are "
                "they those of the run?\n",
                format_shown(w->log->path).s, ratio);
    if (w->source == WATCH_TOLD && ratio < 1.0 / agree_ratio)
        fprintf(session->notes,
                "orrery watch: %s: the times of its steps add up to %.3g times what passes "
                "between its stamps: is a row of each step missing a unit, or from two runs at "
                "once?\n",
                format_shown(w->log->path).s, 1.0 / ratio);
}

/* Times of steps of another batch, or of longer sequences, say nothing about the scenario's: where
 * no row is of its own the log is refused; where some are, those that are not are told. */
static int check_work(const struct session *session, const struct iteration_log *log,
                      const struct configuration *c)
{
    const double batch = (double)c->training.global_batch, sequence = (double)c->training.sequence;
    const struct iteration *other = NULL;
    uint32_t stated = 0, others = 0;
    struct error error;
    for (uint32_t i = 0; i < log->count; i++) {
        if (isnan(log->rows[i].batch))
            continue;
        stated++;
        if (log->rows[i].batch == batch)
            continue;
        others++;
        other = other != NULL ? other : &log->rows[i];
    }
    if (others > 0 && others == stated)
        return error_set(&error,
                         "%s:%u: a step of the log has a global batch of %.0f, one of the scenario "
                         "of %.0f: their times cannot be compared; was it another run? Else give "
                         "--set training.global_batch=%.0f",
                         log->path, other->line, other->batch, batch, other->batch),
               trouble(session, &error, EXIT_REJECTED);
    if (log->sequence > 0.0 && log->sequence != sequence)
        return error_set(&error,
                         "%s: sequences of the log have %.0f tokens, those of the scenario %.0f: "
                         "their times cannot be compared; was it another run? Else give "
                         "--set training.sequence=%.0f",
                         log->path, log->sequence, sequence, log->sequence),
               trouble(session, &error, EXIT_REJECTED);
    if (others > 0)
        fprintf(
            session->notes,
            "orrery watch: %s: %u of its %u rows have another global batch than the %.0f of the "
            "scenario (line %u: %.0f): their times are none of its steps\n",
            format_shown(log->path).s, others, log->count, batch, other->line, other->batch);
    return EXIT_OK;
}

static void tell(const struct watch_arguments *a, struct session *session, struct arena *arena,
                 const struct watch *watch, const struct uncertain_step *step)
{
    struct watch_levels levels;
    struct watch_goodput goodput;
    watch_levels_find(arena, watch, (uint32_t)a->windows, &levels);
    watch_goodput_find(watch, &goodput);
    const struct watch_told told = {
        .scenario = step->scenario,
        .step_s = step->step_s,
        .p10_s = uncertainty_step_s(step, 0.1),
        .p50_s = uncertainty_step_s(step, 0.5),
        .p90_s = uncertainty_step_s(step, 0.9),
        .below_ratio = uncertainty_step_below(step, levels.all.p50_s),
        .watch = watch,
        .levels = &levels,
        .goodput = &goodput,
    };
    tell_doubts(session, watch);
    document_print(watched_document(arena, &told), watched_lines, a->json, session);
}

/* EXIT_OK where the step fits: it has a time. */
static int check_fits(const struct watch_arguments *a, const struct session *session,
                      struct arena *arena, const struct scenario *scenario)
{
    const struct step_options how = {.threads = 1};
    struct error error = {""};
    struct result result;
    struct record record;
    struct step *step;
    if (!step_run(&scenario->configuration, &how, &step, &error))
        return trouble(session, &error, EXIT_REJECTED);
    const bool fits = step->fits;
    result_gather(scenario, step, &result);
    record_of_run(arena, &result, false, &record);
    if (!fits)
        fputs(report_unfit_text(a->line.positional[0], "there is no forecast", &record),
              session->notes);
    step_destroy(step);
    return fits ? EXIT_OK : EXIT_NOTHING_FITS;
}

static int read_log(const struct watch_arguments *a, const struct session *session,
                    struct arena *arena, struct iteration_log *log)
{
    const char *path = a->line.positional[1];
    const struct iteration_format_kind *format =
        a->has_format ? iteration_format_kinds[a->format] : NULL;
    struct error error = {""};
    struct import_file file;
    if (!import_open(arena, path, IMPORT_BYTES_MAX, &file, &error))
        return trouble(session, &error, load_refused_code(path));
    return iteration_log_read(arena, &file, format, log, &error)
               ? EXIT_OK
               : trouble(session, &error, EXIT_REJECTED);
}

static int watch(const struct watch_arguments *a, struct session *session, struct arena *arena,
                 const struct scenario *scenario)
{
    const struct configuration *c = &scenario->configuration;
    const struct watch_work work = {configuration_tokens(c), configuration_ranks(c)};
    const struct uncertainty_options how = {
        .seed = c->seed,
        .draw_count = DRAWS,
        .threads = arguments_threads(a->threads, pool_threads_available())};
    struct uncertain_step step;
    struct iteration_log log;
    struct watch read;
    struct error error = {""};
    int code = read_log(a, session, arena, &log);
    if (code == EXIT_OK)
        code = check_work(session, &log, c);
    if (code == EXIT_OK && !watch_read(arena, &log, work, &read, &error))
        code = trouble(session, &error, EXIT_REJECTED);
    if (code == EXIT_OK)
        code = check_fits(a, session, arena, scenario);
    if (code == EXIT_OK && !uncertainty_draw(arena, scenario, &how, &step, &error))
        code = trouble(session, &error, EXIT_REJECTED);
    if (code == EXIT_OK)
        tell(a, session, arena, &read, &step);
    return code;
}

static int run(const void *line, struct session *session)
{
    const struct watch_arguments *a = line;
    struct scenario *scenario;
    if (a->line.positional_count != 2) {
        fputs("orrery watch: takes a scenario and a log; see 'orrery watch --help'\n",
              session->notes);
        return EXIT_USAGE;
    }
    int code =
        load_scenario(&a->line, a->line.positional[0], &a->scenario, session, false, &scenario);
    if (code != EXIT_OK)
        return code;
    struct arena *arena = arena_create();
    code = watch(a, session, arena, scenario);
    arena_destroy(arena);
    scenario_destroy(scenario);
    return code;
}

static void formats(FILE *out)
{
    fputs("formats of logs:\n", out);
    for (unsigned i = 0; i < iteration_format_kind_count; i++)
        fprintf(out, "  %-18s %s\n", iteration_format_kinds[i]->head.name,
                iteration_format_kinds[i]->head.doc);
}

const struct command command_watch = {
    .head = {.name = "watch",
             .doc = "compares the log of a training run with the forecast: step times, what "
                    "changed, restarts, goodput"},
    .positional = "SCENARIO LOG",
    .options = options,
    .bytes = sizeof(struct watch_arguments),
    .rows = formats,
    .details = "LOG is what the run printed, with whatever stands before and between its lines; - "
               "reads\nstandard input.",
    .example = "orrery watch scenarios/hello-8-gpus.yaml train.log",
    .run = run,
};
