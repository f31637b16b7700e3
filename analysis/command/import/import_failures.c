/* import_failures.c - a log of failures, in any format, as a scenario takes it: laws that were
 * fitted to it, and a trace. */
#include "analysis/command/import/import_kind.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "analysis/command/line/command.h"
#include "analysis/output/terminal/output.h"
#include "analysis/output/text/format.h"
#include "scenarios/import/failures/failure_fit.h"
#include "scenarios/import/failures/failure_format_kind.h"
#include "scenarios/import/reader/time_stamp.h"
#include "scenarios/language/names.h"
#include "scenarios/language/quantity.h"
#include "sim/plural.h"

enum {
    USUAL_GPUS_PER_NODE = 8,
    TEXT_BYTES = 64
};
struct told {
    const struct failure_log *log;
    const struct failure_rules *rules;
    const struct failure_fit *fits;
    const char *const *names; /* of the causes */
    uint32_t count;
};

static int wrong(struct session *session, const char *option, const char *why)
{
    fprintf(session->notes, "orrery import: %s: %s\n", option, why);
    return EXIT_USAGE;
}

static int read_rules(const struct import_arguments *a, struct session *session,
                      const struct failure_format_kind *format, struct failure_rules *out)
{
    static const char form[] = "expected a moment, as 2026-01-01 or 2026-01-01T08:00:00+01:00";
    *out = (struct failure_rules){
        .start_s = NAN,
        .end_s = NAN,
        .gpus = a->watch.gpus,
        .host = a->watch.host,
        .gpus_per_node = a->gpus_per_node > 0 ? a->gpus_per_node : USUAL_GPUS_PER_NODE,
        .merge_s = a->watch.merge_s > 0.0 ? a->watch.merge_s : format->merge_s,
    };
    if (a->watch.start != NULL && !time_stamp_read(a->watch.start, &out->start_s))
        return wrong(session, "--start", form);
    if (a->watch.end != NULL && !time_stamp_read(a->watch.end, &out->end_s))
        return wrong(session, "--end", form);
    if (a->watch.end != NULL && a->watch.start == NULL)
        return wrong(session, "--end", "needs --start, too");
    if (a->watch.gpus == 0)
        return wrong(session, "--gpus", "say how many GPUs were watched: rates are by unit");
    return out->gpus % out->gpus_per_node == 0
               ? EXIT_OK
               : wrong(session, "--gpus", "is no multiple of --gpus-per-node");
}

/* What can be shown of each cause, as `failures:` takes it: no two alike. One word for two kinds of
 * units bears each time its kind. */
static const char **name_causes(struct arena *arena, const struct failure_fit *fits, uint32_t count)
{
    const char **names = ARENA_ARRAY(arena, const char *, count + 1);
    const char **shown = ARENA_ARRAY(arena, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        names[i] = shown[i] = arena_text(arena, format_shown(fits[i].cause).s);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t alike = 0;
        for (uint32_t j = 0; j < count; j++)
            alike += strcmp(shown[j], shown[i]) == 0;
        if (alike > 1)
            names[i] = names_apart(arena, shown[i], failure_unit_names[fits[i].unit_kind],
                                   (struct name_list){names, count});
    }
    return names;
}

/* `mean` is how the section spells it: mtbf of lives, mean of repairs. */
static void print_law(FILE *out, const struct duration_fit *fit, const char *mean)
{
    char text[TEXT_BYTES];
    quantity_write(PARAM_TIME, fit->duration.mean_s, text, sizeof text);
    fprintf(out, "law: %s, %s: %s", duration_law_names[fit->duration.law], mean, text);
    if (duration_has_shape(fit->duration.law))
        fprintf(out, ", shape: %.3g", fit->duration.shape);
}

static void print_error(FILE *out, double ratio)
{
    if (isfinite(ratio))
        fprintf(out, " +- %.*f %%", ratio < 0.0995 ? 1 : 0, 100.0 * ratio);
}

/* What the other laws would be, as comments. */
static void print_others(FILE *out, const struct failure_fit *fit)
{
    for (unsigned i = 0; i < FAILURE_LAWS; i++) {
        const struct duration_fit *other = &fit->fits[i];
        if (i == fit->best || !isfinite(other->criterion))
            continue;
        fputs("    # ", out);
        print_law(out, other, "mtbf");
        fprintf(out, ": AICc %.1f higher\n", other->criterion - fit->fits[fit->best].criterion);
    }
}

/* The errors that are known, behind the name of what they are of. */
static void print_errors(FILE *out, const struct duration_fit *fit, const char *mean)
{
    fprintf(out, "%s", mean);
    print_error(out, fit->mean_error);
    if (duration_has_shape(fit->duration.law)) {
        fputs(", shape", out);
        print_error(out, fit->shape_error);
    }
}

static bool has_repair(const struct failure_fit *fit)
{
    return fit->unit_kind != UNIT_JOB && fit->repair.told + fit->repair.in_place > 0;
}

/* As keys of a cause: the share that a restart repairs, and how long the others take. */
static void print_repair(FILE *out, const struct failure_fit *fit)
{
    const struct failure_repair *repair = &fit->repair;
    if (!has_repair(fit))
        return;
    if (repair->in_place > 0)
        fprintf(out, ", in_place: %.6g",
                (double)repair->in_place / (repair->told + repair->in_place));
    if (repair->told > 0) {
        fputs(", repair: {", out);
        print_law(out, &repair->fit, "mean");
        fputc('}', out);
    }
}

static void print_repair_basis(FILE *out, const struct failure_fit *fit)
{
    const struct failure_repair *repair = &fit->repair;
    const uint32_t silent = fit->failures - repair->told - repair->in_place;
    if (!has_repair(fit))
        return;
    fprintf(out, "    # repair: %u of %u", repair->told, fit->failures);
    if (repair->told > 0 && repair->fit.duration.law == DURATION_FIXED)
        fputs(", all alike", out);
    else if (repair->told > 0)
        print_errors(out, &repair->fit, "; mean");
    if (repair->in_place > 0)
        fprintf(out, "; %u of 0s, which a restart repairs", repair->in_place);
    if (silent > 0)
        fprintf(out, "; %u without one are repaired as these", silent);
    fputc('\n', out);
}

static void print_cause(FILE *out, const struct failure_fit *fit, const char *cause)
{
    const char *unit = failure_unit_names[fit->unit_kind];
    const struct duration_fit *best = &fit->fits[fit->best];
    if (fit->units == 0.0) {
        fputs("  # ", out);
        format_quoted(out, cause);
        fprintf(out,
                ": %u of a %s, whose number the log does not tell: mtbf is that number x the "
                "watch / %u",
                fit->failures, unit, fit->failures);
        print_repair(out, fit);
        fputc('\n', out);
        return;
    }
    fputs("  - {cause: ", out);
    format_quoted(out, cause);
    fprintf(out, ", unit: %s, ", unit);
    print_law(out, best, "mtbf");
    print_repair(out, fit);
    fprintf(out, "}\n    # %u of %.0f; ", fit->failures, fit->units);
    print_errors(out, best, "mtbf");
    fputc('\n', out);
    print_repair_basis(out, fit);
    print_others(out, fit);
}

static void print_left_out(FILE *out, const struct told *told)
{
    const struct failure_log *log = told->log;
    char burst[TEXT_BYTES];
    quantity_write(PARAM_TIME, told->rules->merge_s, burst, sizeof burst);
    if (log->merged + log->outside + log->passed > 0)
        fprintf(out,
                "# left out: %u repeat%s of a failure, %u outside of the watch, %u line%s of "
                "something else\n",
                log->merged, plural_s(log->merged), log->outside, log->passed,
                plural_s(log->passed));
    if (log->merged > 0)
        fprintf(out,
                "# a repeat has the cause and the unit (of a job: the nodes) of a failure within "
                "%s before it\n",
                burst);
    if (log->among > 0)
        fprintf(out,
                "# %u failure%s of one node of several: on the first of them, since the log does "
                "not tell which (sacct: FailedNode)\n",
                log->among, plural_s(log->among));
    if (log->followed > 0)
        fprintf(out,
                "# left out: %u Xid%s that came within %s of another on the same unit: the first "
                "names the cause\n",
                log->followed, plural_s(log->followed), burst);
    if (log->stood > 0)
        fprintf(out,
                "# left out: %u Xid%s that the first sample of a GPU already showed: when is not "
                "known\n",
                log->stood, plural_s(log->stood));
    if (log->quiet > 0)
        fprintf(out, "# left out: %u sample%s without a new Xid\n", log->quiet,
                plural_s(log->quiet));
    if (log->endless > 0)
        fprintf(out, "# left out: %u failure%s whose end Slurm does not know (Unknown)\n",
                log->endless, plural_s(log->endless));
}

/* Of a log that names no year: how lines were read whose order does not fit their dates. */
static void print_years(FILE *out, const struct failure_years *years)
{
    static const char head[] = "# lines without a year that step back in time on their node: ";
    if (years->back > 0)
        fprintf(out, "%s%u, line %u first; only one year has their dates in the watch\n", head,
                years->back, years->back_line);
    if (years->turned > 0)
        fprintf(out, "%s%u, line %u first; taken as a later year\n", head, years->turned,
                years->turned_line);
}

/* Rows without a repair beside rows that state one, and repairs that no law takes. */
static void print_repairs(FILE *out, const struct told *told)
{
    uint32_t silent = 0, stated = 0, jobs = 0;
    for (uint32_t i = 0; i < told->count; i++) {
        const struct failure_fit *fit = &told->fits[i];
        const uint32_t own = fit->repair.told + fit->repair.in_place;
        stated += own;
        if (fit->unit_kind == UNIT_JOB)
            jobs += own;
        else
            silent += fit->failures - own;
    }
    if (stated > 0 && silent > 0)
        fprintf(out,
                "# %u failure%s without a repair: as the other rows of the cause, and where none "
                "states one, recovery.repair\n",
                silent, plural_s(silent));
    if (jobs > 0)
        fprintf(out, "# left out: %u repair%s of jobs: no node is repaired\n", jobs,
                plural_s(jobs));
}

static void print_yaml(FILE *out, const struct told *told)
{
    char watch[TEXT_BYTES];
    bool fitted = false;
    quantity_write(PARAM_TIME, told->log->watched_s, watch, sizeof watch);
    fprintf(out, "# %u failure%s in %s of %" PRIu64 " GPU%s, %" PRIu64 " in a node%s\n",
            told->log->count, plural_s(told->log->count), watch, told->rules->gpus,
            plural_s(told->rules->gpus), told->rules->gpus_per_node,
            told->log->end_told ? "" : "; the watch ends with the log's last moment");
    print_left_out(out, told);
    print_repairs(out, told);
    print_years(out, &told->log->years);
    for (uint32_t i = 0; i < told->count; i++)
        fitted = fitted || told->fits[i].units > 0.0;
    fputs(fitted ? "failures:\n" : "# no cause with a known number of units\n", out);
    for (uint32_t i = 0; i < told->count; i++)
        print_cause(out, &told->fits[i], told->names[i]);
}

static void print_cell(FILE *out, const char *text)
{
    const struct shown shown = format_shown(text);
    fputc('"', out);
    for (const char *c = shown.s; *c != '\0'; c++) {
        if (*c == '"')
            fputc('"', out);
        fputc(*c, out);
    }
    fputc('"', out);
}

static void print_trace(FILE *out, const struct failure_log *log)
{
    fputs("at,unit_kind,unit,cause,repair\n", out);
    for (uint32_t i = 0; i < log->count; i++) {
        const struct failure_record *r = &log->rows[i];
        fprintf(out, "%.3fs,%s,%" PRIu64 ",", r->at_s, failure_unit_names[r->unit_kind], r->unit);
        print_cell(out, r->cause);
        if (r->repair_s >= 0.0)
            fprintf(out, ",%.3fs\n", r->repair_s);
        else
            fputs(",\n", out);
    }
}

static bool write_trace(const char *path, struct session *session, const struct failure_log *log,
                        struct error *error)
{
    struct output output;
    if (!output_begin(&output, session, path, OUTPUT_CSV, error))
        return false;
    print_trace(output.out, log);
    return output_end(&output, session, true, error);
}

static int run(struct importing *i)
{
    const struct failure_format_kind *format = (const struct failure_format_kind *)i->form;
    struct failure_rules rules;
    struct failure_log log;
    struct failure_fit *fits;
    struct error error = {""};
    uint32_t count;
    int code = read_rules(i->a, i->session, format, &rules);
    if (code != EXIT_OK)
        return code;
    if (!failure_log_read(i->arena, i->file, format, &rules, &log, &error) ||
        !failure_fit(i->arena, &log, &rules, &fits, &count, &error))
        return importing_trouble(i, &error, EXIT_REJECTED);
    if (i->a->output != NULL && !write_trace(i->a->output, i->session, &log, &error))
        return importing_trouble(i, &error, EXIT_TROUBLE);
    const char **names = name_causes(i->arena, fits, count);
    print_yaml(i->session->out, &(struct told){&log, &rules, fits, names, count});
    return EXIT_OK;
}

static const char *const takes[] = {"--output", "--gpus", "--gpus-per-node", "--start", "--end",
                                    "--merge",  NULL};

static bool form_takes(const struct kind *form, const char *option)
{
    return ((const struct failure_format_kind *)form)->hostless && strcmp(option, "--host") == 0;
}

const struct import_kind import_failures = {
    .head = {.name = "failures", .doc = "a log of failures"},
    .file = "FILE",
    .forms = failure_format_at,
    .takes = takes,
    .form_takes = form_takes,
    .bytes_max = IMPORT_BYTES_MAX,
    .run = run,
};
