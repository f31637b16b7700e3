/* Forward and backward of one layer (layers.csv): a short model of such layers on one group of
 * tensor-parallel ranks is simulated as a whole step, and the layers in its middle are timed from
 * the end of one to the end of the next: where the pipeline of host and GPU runs evenly. Backward
 * holds recomputation and weight gradients. */
#include "analysis/validate/rows/validate_run.h"

#include <math.h>

#include "models/step/simulate/step.h"

enum {
    LAYERS = 8,
    FIRST = 2, /* timed: the layers after FIRST, up to LAST */
    LAST = 5
};
static const char *const metrics[] = {"forward", "backward", NULL};
static const char *const columns[] = {"row_id", "layers", "hidden",     "heads", "vocab", "seq_len",
                                      "gpu",    "tp",     "microbatch", "fwd_s", "bwd_s", NULL};

static bool is_backward(const struct op *op)
{
    return op->phase == PHASE_BACKWARD || op->phase == PHASE_RECOMPUTE;
}

/* When the last op of a layer ends in this direction, on any stream. */
static double end_of(const struct step *step, uint16_t layer, bool backward)
{
    const struct program *program = step->lowered.programs[0];
    double end_s = 0.0;
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct op *op = &program->ops[i];
        if (op->layer == layer && (backward ? is_backward(op) : op->phase == PHASE_FORWARD))
            end_s = fmax(end_s, worker_times(step->worker, 0, i).finish_s);
    }
    return end_s;
}

static void time_layers(const struct step *step, struct validate_row *row)
{
    double count = LAST - FIRST;
    double forward_s = end_of(step, LAST, false) - end_of(step, FIRST, false);
    double backward_s = end_of(step, FIRST, true) - end_of(step, LAST, true);
    row->values[0].predicted = forward_s / count;
    row->values[1].predicted = backward_s / count;
    row->values[0].has_predicted = row->values[1].has_predicted = true;
}

static void read_run(struct cells *c, struct validate_run *run)
{
    validate_run_read(c, run);
    run->model.layers = LAYERS;
    run->gpus = run->layout.tp;
    run->global_batch = run->layout.microbatch;
    validate_origins_add(&run->origins, "layers",
                         "chosen: enough that those in the middle run evenly");
    validate_origins_add(&run->origins, "gpus", "column tp");
    validate_origins_add(&run->origins, "global_batch", "column microbatch: one of them");
}

static bool write(const struct validation *v, struct validate_row *row, struct validate_text *out)
{
    struct cells c = {v->csv, row->record, row};
    struct validate_run run;
    read_run(&c, &run);
    return !row->refused && validate_run_write(v, &run, out, row);
}

static void predict(const struct validation *v, struct validate_row *row)
{
    struct cells c = {v->csv, row->record, row};
    struct validate_run run;
    read_run(&c, &run);
    validate_cells_measured(&c, "fwd_s", 1.0, &row->values[0]);
    validate_cells_measured(&c, "bwd_s", 1.0, &row->values[1]);
    struct scenario *s = validate_run_scenario(v, &run, row);
    if (s == NULL)
        return;
    struct step_options options = {.ignore_memory = true, .threads = 1};
    struct step *step;
    struct error error = {""};
    if (step_run(&s->configuration, &options, &step, &error)) {
        time_layers(step, row);
        step_destroy(step);
    } else {
        validate_row_refuse(row, REFUSAL_LAYOUT, "%.200s", error.text);
    }
    scenario_destroy(s);
}

const struct validate_kind validate_layers = {
    .head = {.name = "layers", .doc = "forward and backward of one transformer layer"},
    .columns = columns,
    .metrics = metrics,
    .predict = predict,
    .write = write,
    .explained =
        "of this scenario, a layer is a third of the time from the end of the third to the sixth",
};
