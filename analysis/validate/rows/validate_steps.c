/* Whole training steps (steps.csv): step time, peak memory, and whether it fits.
 *
 * Published memory is what the caching allocator counts, so what does not go through it (CUDA
 * context, communicator buffers) is left out of the peaks; the verdict is of the same peak with it,
 * against what a process can allocate. A step is timed although it does not fit here. At pass
 * detail the time is pass_step's; memory is the ledger's of the whole step at either. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/evidence/published_mfu.h"
#include "analysis/validate/rows/validate_run.h"
#include "models/step/estimate/pass.h"
#include "models/step/simulate/step.h"
#include "sim/units.h"

enum step_metric {
    STEP_TIME,
    PEAK_RESERVED,
    PEAK_ALLOCATED
};
static const char *const metrics[] = {"step_time", "peak_reserved", "peak_allocated", NULL};
static const char *const columns[] = {
    "row_id", "source",     "quality",      "step_time_s", "layers", "hidden",
    "heads",  "vocab",      "seq_len",      "gpu",         "gpus",   "tp",
    "pp",     "microbatch", "global_batch", "software",    NULL};
/* The software by its release: another one is no other layout. */
static const char *const group[] = {"source",       "model",     "gpu",      "gpus",     "seq_len",
                                    "global_batch", "precision", "software", "released", NULL};
static const char *const layout[] = {
    "tp",  "pp",   "dp",         "cp",        "ep",       "sequence_parallel",
    "vpp", "zero", "microbatch", "recompute", "schedule", NULL};

/* Is there more to compare than that it runs out? */
static bool asks_peak(const struct validate_row *row)
{
    return row->values[PEAK_RESERVED].has_measured || row->values[PEAK_ALLOCATED].has_measured ||
           row->measured != VERDICT_OOM;
}

/* When it does not fit on this card: what it would take on one without end, or, where it ran
 * out there too, what it took at least. */
static void needed(const struct configuration *c, const struct step *step, uint32_t program,
                   bool whole, struct ledger_result *out)
{
    struct ledger_limits limits = {INFINITY, c->software.memory.expandable_segments};
    const struct ledger_result *found = &step->memory[program].ledger;
    *out = *found;
    if (!found->failure.failed)
        return;
    if (whole)
        ledger_play(sim_arena(step->sim), step->lowered.programs[program], &limits, false, out);
    double least = c->gpu.hbm.usable_bytes + found->failure.short_bytes;
    out->peak_reserved_bytes = fmax(out->peak_reserved_bytes, least);
}

static void take_memory(const struct configuration *c, const struct step *step,
                        struct validate_row *row)
{
    double reserved = 0.0, allocated = 0.0, outside = 0.0;
    for (uint32_t i = 0; i < step->memory_count; i++) {
        struct ledger_result ledger;
        needed(c, step, i, asks_peak(row), &ledger);
        reserved = fmax(reserved, ledger.peak_reserved_bytes - ledger.outside_bytes);
        allocated = fmax(allocated, ledger.peak_allocated_bytes - ledger.outside_bytes);
        outside = fmax(outside, ledger.outside_bytes);
    }
    row->values[PEAK_RESERVED].predicted = reserved;
    row->values[PEAK_ALLOCATED].predicted = allocated;
    const bool known = step->fits || asks_peak(row);
    row->values[PEAK_RESERVED].has_predicted = row->values[PEAK_ALLOCATED].has_predicted = known;
    row->predicted = step->fits ? VERDICT_FITS : VERDICT_OOM;
    if (row->measured == VERDICT_OOM || row->predicted == VERDICT_OOM)
        validate_row_note(row, "reserves %.1f GiB%s beside %.1f outside the allocator; %.1f usable",
                          reserved / GIB, known ? "" : " or more", outside / GIB,
                          c->gpu.hbm.usable_bytes / GIB);
}

/* Do the cells of what was measured contradict each other? A row that a mistake of units, of cards
 * or of microbatches speaks against is off by a whole factor: from the square root of 2 on it is
 * nearer to twice than to once. Printed throughputs are within 2 % of the step times beside them
 * (780 rows of steps.csv: .4 %). */
static void check_measured(const struct validate_run *run, const struct validate_value *tokens,
                           struct validate_row *row)
{
    const double whole = M_SQRT2, rounded = 1.02;
    const struct validate_value *time = &row->values[STEP_TIME];
    const struct validate_value *reserved = &row->values[PEAK_RESERVED];
    const struct validate_value *allocated = &row->values[PEAK_ALLOCATED];
    const double of_time =
        (double)run->global_batch * (double)run->sequence / (time->measured * (double)run->gpus);
    if (row->refused)
        return;
    if (row->measured == VERDICT_OOM && (time->has_measured || tokens->has_measured))
        validate_row_refuse(
            row, REFUSAL_CELLS,
            "column outcome: oom, and %s has a value: a step that ran out of memory "
            "has no time; empty the cell, or correct the outcome",
            time->has_measured ? "step_time_s" : "tokens_per_s_per_gpu");
    else if (reserved->has_measured && allocated->has_measured &&
             allocated->measured > reserved->measured)
        validate_row_refuse(row, REFUSAL_CELLS,
                            "column peak_alloc_gib: %.4g is more than peak_reserved_gib, %.4g, "
                            "which holds it",
                            allocated->measured / GIB, reserved->measured / GIB);
    else if (time->has_measured && tokens->has_measured && of_time > 0.0 && run->gpus > 0) {
        const double ratio = fmax(tokens->measured / of_time, of_time / tokens->measured);
        if (ratio > whole)
            validate_row_refuse(row, REFUSAL_CELLS,
                                "column tokens_per_s_per_gpu: %.4g, and %.4g by step_time_s, "
                                "global_batch, seq_len and gpus: correct or empty the one that is "
                                "not of this run",
                                tokens->measured, of_time);
        else if (ratio > rounded)
            validate_row_note(row,
                              "tokens_per_s_per_gpu is %.4g, and %.4g by step_time_s, which is "
                              "taken",
                              tokens->measured, of_time);
    }
}

/* Of the word: ok, oom or nothing. */
static bool ran_out(struct cells *c)
{
    const char *outcome = validate_cells_word(c, "outcome");
    const bool oom = strcmp(outcome, "oom") == 0;
    if (!c->row->refused && !oom && *outcome != '\0' && strcmp(outcome, "ok") != 0)
        validate_row_refuse(c->row, REFUSAL_CELLS, "column outcome: no '%.40s'; known: ok, oom",
                            outcome);
    return oom;
}

static void take_measured(struct cells *c, const struct validate_run *run, struct validate_row *row)
{
    struct validate_value tokens = {0}, *time = &row->values[STEP_TIME];
    validate_cells_measured(c, "step_time_s", 1.0, time);
    validate_cells_measured(c, "peak_reserved_gib", GIB, &row->values[PEAK_RESERVED]);
    validate_cells_measured(c, "peak_alloc_gib", GIB, &row->values[PEAK_ALLOCATED]);
    validate_cells_measured(c, "tokens_per_s_per_gpu", 1.0, &tokens);
    const bool any =
        time->has_measured || tokens.has_measured || row->values[PEAK_RESERVED].has_measured ||
        row->values[PEAK_ALLOCATED].has_measured || *csv_cell(c->csv, c->record, "outcome") != '\0';
    row->measured = ran_out(c) ? VERDICT_OOM : any ? VERDICT_FITS : VERDICT_NONE;
    check_measured(run, &tokens, row);
    if (!time->has_measured && tokens.has_measured && run->gpus > 0) {
        time->has_measured = true;
        time->measured = (double)run->global_batch * (double)run->sequence /
                         (tokens.measured * (double)run->gpus);
    }
}

/* No step is shorter than its FLOPs at the peak. One of a thousandth of the peak was published
 * (nanotron, tp 32 over nodes), but is mostly one whose milliseconds are taken for seconds. */
static void check_time(const struct configuration *c, const struct step *step,
                       struct validate_row *row)
{
    const double low_ratio = 1e-3;
    const double measured_s = row->values[STEP_TIME].measured;
    const double ratio = step_peak_ratio(c, step->lowered.model_flops, measured_s);
    if (ratio > 1.0)
        validate_row_refuse(row, REFUSAL_CELLS,
                            "a step of %.4g s is an MFU of %.3g %%: step_time_s takes seconds, "
                            "tokens_per_s_per_gpu those of one GPU",
                            measured_s, 100.0 * ratio);
    else if (ratio < low_ratio && row->quality == QUALITY_CLEAN && row->note[0] == '\0')
        snprintf(row->note, sizeof row->note, "MFU %.3g %% as measured: is it in seconds?",
                 100.0 * ratio);
}

/* Is it better than all that was published of such a card, precision and kind of model? */
static void take_mfu(const struct configuration *c, const struct step *step,
                     struct validate_row *row)
{
    const struct published_mfu *highest = published_mfu_of(c);
    row->mfu_ratio =
        step_peak_ratio(c, step->lowered.model_flops, row->values[STEP_TIME].predicted);
    row->reached = highest != NULL && row->mfu_ratio > highest->mfu_ratio ? highest : NULL;
}

/* No peak is above what the card has. */
static bool fits_card(const struct configuration *c, struct validate_row *row)
{
    static const char *const of[] = {
        [PEAK_RESERVED] = "peak_reserved_gib", [PEAK_ALLOCATED] = "peak_alloc_gib"};
    for (unsigned m = PEAK_RESERVED; m <= PEAK_ALLOCATED; m++)
        if (row->values[m].has_measured && row->values[m].measured > c->gpu.hbm.bytes)
            validate_row_refuse(row, REFUSAL_CELLS,
                                "column %s: %.4g is more than the %.4g GiB of %s", of[m],
                                row->values[m].measured / GIB, c->gpu.hbm.bytes / GIB, c->gpu.name);
    return !row->refused;
}

static void simulate(const struct validation *v, const struct scenario *s, struct validate_row *row)
{
    const struct configuration *c = &s->configuration;
    const bool timed = row->values[STEP_TIME].has_measured;
    const bool by_pass = timed && v->detail == VALIDATE_PASS;
    struct step_options options = {.ignore_memory = true,
                                   .memory_only = !timed || by_pass,
                                   .fits_only = !timed && !asks_peak(row),
                                   .arena = v->scratch,
                                   .threads = 1};
    struct step *step;
    struct error error = {""};
    struct pass_played passes;
    if (!fits_card(c, row))
        return;
    /* Rows tell of no slow card, weak link or noise, which pass detail has not. */
    if ((by_pass && !pass_alone(c, &passes, &error)) || !step_run(c, &options, &step, &error)) {
        validate_row_refuse(row, REFUSAL_LAYOUT, "%.200s", error.text);
        return;
    }
    take_memory(c, step, row);
    if (timed) {
        row->values[STEP_TIME].has_predicted = true;
        row->values[STEP_TIME].predicted = by_pass ? passes.step_s : step->step_s;
        take_mfu(c, step, row);
        check_time(c, step, row);
    }
    step_destroy(step);
}

struct scenario *validate_steps_scenario(const struct validation *v, struct validate_row *row)
{
    struct cells cells = {v->csv, row->record, row};
    struct validate_run run;
    validate_run_read(&cells, &run);
    run.says.undated = *run.software == '\0';
    take_measured(&cells, &run, row);
    return validate_run_scenario(v, &run, row);
}

static bool write(const struct validation *v, struct validate_row *row, struct validate_text *out)
{
    struct cells cells = {v->csv, row->record, row};
    struct validate_run run;
    validate_run_read(&cells, &run);
    run.says.undated = *run.software == '\0';
    return !row->refused && validate_run_write(v, &run, out, row);
}

static void predict(const struct validation *v, struct validate_row *row)
{
    struct scenario *s = validate_steps_scenario(v, row);
    if (s != NULL)
        simulate(v, s, row);
    scenario_destroy(s);
}

static bool states(const struct validation *v, const struct validate_row *row, const char *path)
{
    const char *cell = csv_cell(v->csv, row->record, "stated");
    const size_t length = strlen(path);
    bool found = false;
    for (const char *at = cell; *at != '\0' && !found; at += strcspn(at, ";"), at += *at == ';')
        found = strncmp(at, path, length) == 0 && at[length] == '=';
    return found;
}

/* Facts that stand in no scenario, as the language has no key for them, by key. */
static void report_unheld(const struct validation *v, FILE *out)
{
    unsigned keys = 0;
    for (unsigned k = 0; validate_stated_unheld[k] != NULL; k++) {
        unsigned count = 0;
        for (size_t i = 0; i < v->row_count; i++)
            count += !v->rows[i].refused && states(v, &v->rows[i], validate_stated_unheld[k]);
        if (count > 0)
            fprintf(out, "%s %s (%u)",
                    keys++ == 0 ? "\nstated, without a key of the scenario language:" : ",",
                    validate_stated_unheld[k], count);
    }
    if (keys > 0)
        fputs(" (rows)\n", out);
}

/* Predictions that nobody has reached. */
static void report(const struct validation *v, FILE *out)
{
    unsigned count = 0;
    for (size_t i = 0; i < v->row_count; i++) {
        const struct validate_row *row = &v->rows[i];
        if (row->reached == NULL || row->refused)
            continue;
        if (count++ == 0)
            fputs("\npredicted above every clean row's MFU of the card, precision and kind of "
                  "model\n",
                  out);
        fprintf(out, "  %-52.52s %.1f %%, clean rows at most %.1f %% (%s)\n", row->id,
                100.0 * row->mfu_ratio, 100.0 * row->reached->mfu_ratio, row->reached->row);
    }
    report_unheld(v, out);
}

const struct validate_kind validate_steps = {
    .head = {.name = "steps",
             .doc =
                 "whole training steps: time, peak memory, out of memory or not, layouts compared"},
    .columns = columns,
    .metrics = metrics,
    .group = group,
    .layout = layout,
    .predict = predict,
    .write = write,
    .report = report,
    .has_details = true,
    .explained =
        "`orrery run` of this scenario gives the step time; one that does not fit it refuses",
};
