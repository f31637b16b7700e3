/* iteration_nemo.c - NeMo: the step timing of its progress printer and of Lightning's progress bar:
 *
 *     Training epoch 0, iteration 9/249 | lr: ... | global_step: 9 | ... |
 *         train_step_timing in s: 2.505
 *     Epoch 0: : 4%|4  | 9/249 [00:31<10:48, global_step=9.000, train_step_timing in s=2.510]
 *
 * each in one line (nemo/lightning/pytorch/callbacks/progress_printer.py; exp_manager's
 * TimingCallback). A bar is drawn over itself by carriage returns. Global steps count from 0. Saves
 * are told by Megatron's checkpoint functions: "Global Checkpoint Save : Rank: 0 : ... : Save
 * duration: 4.389s". */
#include <math.h>
#include <string.h>

#include "scenarios/import/iterations/iteration_row.h"

static double number_of(const char *text)
{
    const double global = iteration_line_number(iteration_line_after(text, "global_step"));
    const char *at = strstr(text, "iteration ");
    return isnan(global) && at != NULL ? iteration_line_number(at + strlen("iteration ")) : global;
}

static void look_between(struct iteration_reading *r, const char *text)
{
    if (strstr(text, "Global Checkpoint Save") != NULL && strstr(text, "Rank: 0 ") != NULL)
        iteration_row_wait(r, ITERATION_SAVE,
                           iteration_line_number(iteration_line_after(text, "Save duration")));
    if (strstr(text, "Global Checkpoint Load") != NULL)
        iteration_row_wait(
            r, ITERATION_LOAD,
            iteration_line_number(iteration_line_after(text, "Time spent in load_checkpoint")));
    if (strstr(text, "Restored all states from the checkpoint") != NULL)
        iteration_row_load(r, NAN);
}

static bool look(struct iteration_reading *r, const struct iteration_line *line)
{
    const char *time = iteration_line_after(line->text, "train_step_timing in s");
    const double step_s = iteration_line_number(time), number = number_of(line->text);
    if (isnan(step_s) || isnan(number)) {
        look_between(r, line->text);
        return true;
    }
    return step_s == 0.0 || /* rounded to nothing: it did not train yet */
           iteration_row_see(r, line,
                             &(struct iteration_seen){floor(number), step_s, NAN,
                                                      iteration_line_number(iteration_line_after(
                                                          line->text, "global_batch_size"))});
}

const struct iteration_format_kind iteration_format_nemo = {
    .head = {.name = "nemo", .doc = "step timing of NeMo's printer and Lightning's progress bar"},
    .form = "... global_step: N | ... | train_step_timing in s: T",
    .look = look,
    .redraws = true,
};
