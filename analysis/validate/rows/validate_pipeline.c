/* Pipeline schedules (pipeline.csv). With profiled times of the passes and of a transfer, the
 * schedule alone is played: no kernel model. Without, the whole step is simulated from the shape.
 * Peak memory is always that of the whole step. Every step is also compared with 1f1b of the same
 * model, stages and microbatches, predicted and measured; the 1f1b rows themselves have no ratio.
 *
 * What the columns leave out: interleaved has one layer in each chunk; first and last stage hold
 * one layer less where layers + 2 is a multiple of the stages; the vocabulary is GPT-2's. */
#include "analysis/validate/rows/validate_run.h"

#include <stdio.h>
#include <string.h>

#include "analysis/validate/rows/validate_passes.h"
#include "models/lower/plan/lower_plan.h"
#include "models/schedule/schedule_kind.h"
#include "models/step/simulate/step.h"
#include "sim/units.h"

enum pipeline_metric {
    RATIO,
    STEP_TIME,
    PEAK_MEMORY
};
enum {
    GPT_VOCABULARY = 50257
};
static const char *const metrics[] = {"ratio", "step_time", "peak_memory", NULL};
static const char *const columns[] = {
    "row_id", "layers",       "hidden",   "heads",           "seq_len",     "gpu",
    "stages", "microbatches", "schedule", "microbatch_size", "step_time_s", NULL};

static void say_origins(const struct validate_run *run, bool vocabulary,
                        struct validate_origins *out)
{
    const struct schedule_kind *kind = schedule_find(run->schedule);
    bool interleaved = kind != NULL && run->layout.vpp > 1;
    validate_origins_add(out, "pp", "column stages");
    validate_origins_add(out, "gpus", "column stages");
    validate_origins_add(out, "dp", "chosen: one pipeline");
    validate_origins_add(out, "microbatch", "column microbatch_size");
    validate_origins_add(out, "global_batch", "columns microbatches and microbatch_size");
    validate_origins_add(out, "recompute", "chosen: the passes that were timed have none");
    validate_origins_add(out, "tied_embeddings", "chosen: as in the GPT family");
    validate_origins_add(out, "vpp",
                         kind != NULL && kind->chunks > 0 ? "chosen: what the schedule asks for"
                         : interleaved                    ? "chosen: one layer in each chunk"
                                                          : "chosen: one chunk");
    if (!vocabulary)
        validate_origins_add(out, "vocab", "chosen: that of GPT-2");
}

static void read_run(struct cells *c, struct validate_run *run)
{
    validate_run_read(c, run);
    const struct schedule_kind *kind = schedule_find(run->schedule);
    bool interleaved = kind != NULL && kind->interleaved;
    run->layout.pp = validate_cells_count(c, "stages", 1);
    run->layout.dp = 1;
    run->layout.microbatch = validate_cells_count(c, "microbatch_size", 1);
    run->global_batch = run->layout.microbatch * validate_cells_count(c, "microbatches", 1);
    run->gpus = run->layout.pp;
    if (*run->model.ffn == '\0')
        validate_origins_add(&run->origins, "ffn", "chosen: as in the GPT family");
    if (*run->model.positions == '\0')
        validate_origins_add(&run->origins, "positions", "chosen: as in the GPT family");
    run->model.ffn = *run->model.ffn != '\0' ? run->model.ffn : ffn_names[FFN_GELU];
    run->model.positions =
        *run->model.positions != '\0' ? run->model.positions : position_names[POSITION_LEARNED];
    run->recompute = recompute_names[RECOMPUTE_NONE];
    run->model.tied_embeddings = FLAG_TRUE;
    bool vocabulary = run->model.vocabulary > 0;
    run->model.vocabulary = vocabulary ? run->model.vocabulary : GPT_VOCABULARY;
    run->layout.ends_count = run->layout.pp > 1 && (run->model.layers + 2) % run->layout.pp == 0;
    uint64_t slots = run->model.layers + (run->layout.ends_count ? 2 : 0);
    if (run->layout.vpp == 0)
        run->layout.vpp = interleaved && run->layout.pp > 0 ? slots / run->layout.pp : 1;
    if (kind != NULL && kind->chunks > 0)
        run->layout.vpp = kind->chunks;
    say_origins(run, vocabulary, &run->origins);
}

static bool write(const struct validation *v, struct validate_row *row, struct validate_text *out)
{
    struct cells c = {v->csv, row->record, row};
    struct validate_run run;
    read_run(&c, &run);
    return !row->refused && validate_run_write(v, &run, out, row);
}

static void take_memory(const struct step *step, struct validate_row *row)
{
    struct validate_value *peak = &row->values[PEAK_MEMORY];
    for (uint32_t i = 0; i < step->memory_count; i++) {
        const struct ledger_result *ledger = &step->memory[i].ledger;
        double inside = ledger->peak_allocated_bytes - ledger->outside_bytes;
        peak->predicted = inside > peak->predicted ? inside : peak->predicted;
    }
    peak->has_predicted = true;
}

static void simulate(const struct scenario *s, bool timed, struct validate_row *row)
{
    struct step_options options = {.ignore_memory = true, .memory_only = !timed, .threads = 1};
    struct step *step;
    struct error error = {""};
    if (!step_run(&s->configuration, &options, &step, &error)) {
        validate_row_refuse(row, REFUSAL_LAYOUT, "%.200s", error.text);
        return;
    }
    take_memory(step, row);
    if (timed) {
        row->values[STEP_TIME].has_predicted = true;
        row->values[STEP_TIME].predicted = validate_passes_period_s(
            &s->configuration, step->worker, &step->symmetry, &step->lowered);
    }
    step_destroy(step);
}

static void play(const struct validation *v, const struct validate_run *run,
                 const struct validate_passes *passes, struct validate_row *row)
{
    double step_s;
    if (!validate_passes_play(v, run, passes, &step_s, row))
        return;
    row->values[STEP_TIME].has_predicted = true;
    row->values[STEP_TIME].predicted = step_s;
    snprintf(row->note, sizeof row->note, "from profiled passes");
}

static void predict(const struct validation *v, struct validate_row *row)
{
    struct cells c = {v->csv, row->record, row};
    struct validate_run run;
    struct validate_passes passes = {0};
    read_run(&c, &run);
    passes.forward_s = validate_cells_number(&c, "t_f_s", 0.0);
    passes.backward_s = validate_cells_number(&c, "t_b_s", 0.0);
    passes.weights_s = validate_cells_number(&c, "t_w_s", 0.0);
    passes.transfer_s = validate_cells_number(&c, "t_comm_s", 0.0);
    validate_cells_measured(&c, "step_time_s", 1.0, &row->values[STEP_TIME]);
    validate_cells_measured(&c, "peak_mem_gb", GIGA, &row->values[PEAK_MEMORY]);
    bool profiled = passes.forward_s > 0.0 && passes.backward_s > 0.0;
    struct scenario *s = validate_run_scenario(v, &run, row);
    if (s == NULL)
        return;
    if (s->configuration.layout.pipeline.schedule->splits && !(passes.weights_s > 0.0))
        profiled = false;
    simulate(s, !profiled, row);
    if (profiled && !row->refused) {
        struct arena *arena = arena_create();
        const struct lowering *l = lower_plan_lowering(arena, &s->configuration);
        const struct pass_costs costs = lower_plan_costs(arena, l);
        passes.kept_bytes = costs.kept_bytes;
        passes.late_bytes = costs.late_bytes;
        play(v, &run, &passes, row);
        arena_destroy(arena);
    }
    scenario_destroy(s);
}

/* The 1f1b row that a row is compared with; NULL: none, or itself. */
static const struct validate_row *reference_of(const struct validation *v, size_t index)
{
    static const char *const same[] = {"source",       "model",           "layers", "stages",
                                       "microbatches", "microbatch_size", NULL};
    const struct csv *csv = v->csv;
    size_t record = v->rows[index].record;
    for (size_t i = 0; i < v->row_count; i++) {
        size_t other = v->rows[i].record;
        if (i == index ||
            strcmp(csv_cell(csv, other, "schedule"), schedule_one_f_one_b.head.name) != 0 ||
            !v->rows[i].values[STEP_TIME].has_measured)
            continue;
        unsigned k = 0;
        while (same[k] != NULL &&
               strcmp(csv_cell(csv, record, same[k]), csv_cell(csv, other, same[k])) == 0)
            k++;
        if (same[k] == NULL)
            return &v->rows[i];
    }
    return NULL;
}

static void compare(const struct validation *v)
{
    for (size_t i = 0; i < v->row_count; i++) {
        struct validate_row *row = &v->rows[i];
        const struct validate_value *time = &row->values[STEP_TIME];
        const char *schedule = csv_cell(v->csv, row->record, "schedule");
        const struct validate_row *reference = reference_of(v, i);
        if (reference == NULL || strcmp(schedule, schedule_one_f_one_b.head.name) == 0)
            continue;
        const struct validate_value *base = &reference->values[STEP_TIME];
        struct validate_value *ratio = &row->values[RATIO];
        ratio->has_measured = time->has_measured;
        ratio->measured = time->measured / base->measured;
        ratio->has_predicted = time->has_predicted && base->has_predicted && !reference->refused;
        ratio->predicted = ratio->has_predicted ? time->predicted / base->predicted : 0.0;
    }
}

const struct validate_kind validate_pipeline = {
    .head = {.name = "pipeline",
             .doc =
                 "pipeline schedules from profiled passes: step time, ratio to 1f1b, peak memory"},
    .columns = columns,
    .metrics = metrics,
    .predict = predict,
    .write = write,
    .explained = "this scenario gives the peak memory, and the step time where no passes were "
                 "profiled; else the schedule is played with t_f_s, t_b_s, t_w_s and t_comm_s",
    .compare = compare,
};
