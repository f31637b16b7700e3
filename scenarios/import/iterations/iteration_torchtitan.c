/* iteration_torchtitan.c - torchtitan:
 *
 *     [rank0]:[titan] 2026-11-03 04:05:06,789 - root - INFO - step: 10  loss:  7.1  ...
 *         memory: 44.1GiB(55.7%)  tps: 5,762  tflops: 412.3  mfu: 41.7%
 *
 * in one line (torchtitan/components/metrics.py, MetricsProcessor.log). It prints no time but
 * `tps`, tokens a second of a device since the line before: the tokens that a replica read, over
 * its time and over the devices that share a replica, so tokens of a step / (devices x time). That
 * time holds what was saved and validated in between (the clock is set back at the line only).
 * Lines "validate step:" are none of training. */
#include <math.h>
#include <string.h>

#include "scenarios/import/iterations/iteration_row.h"

/* The number behind "step:", which no other word touches; NAN: another line. */
static double number_of(const char *text)
{
    static const char word[] = "step:", validation[] = "validate ";
    const char *at = strstr(text, word);
    if (at == NULL || (at > text && at[-1] != ' ' && at[-1] != '\t'))
        return NAN;
    if ((size_t)(at - text) >= strlen(validation) &&
        strncmp(at - strlen(validation), validation, strlen(validation)) == 0)
        return NAN;
    return iteration_line_number(at + strlen(word));
}

/* "Finished saving the checkpoint in 5.53 seconds.", with or without words between. */
static double spent_s(const char *text, const char *what)
{
    const char *at = strstr(text, what);
    const char *in = at != NULL ? strstr(at, "in ") : NULL;
    while (in != NULL && isnan(iteration_line_number(in + 3)))
        in = strstr(in + 1, "in ");
    return in != NULL ? iteration_line_number(in + 3) : NAN;
}

static void look_between(struct iteration_reading *r, const char *text)
{
    const char *load = strstr(text, "Loading the checkpoint");
    iteration_row_wait(r, ITERATION_SAVE, spent_s(text, "Finished saving the checkpoint"));
    iteration_row_wait(r, ITERATION_LOAD, spent_s(text, "Finished loading the checkpoint"));
    if (load == NULL)
        return;
    const char *folder = strstr(load, "step-"), *words = strstr(load, "at step ");
    iteration_row_load(r, folder != NULL  ? iteration_line_number(folder + strlen("step-"))
                          : words != NULL ? iteration_line_number(words + strlen("at step "))
                                          : NAN);
}

static bool look(struct iteration_reading *r, const struct iteration_line *line)
{
    const double number = number_of(line->text);
    const char *rate = iteration_line_after(line->text, "tps");
    if (rate == NULL) /* before February 2025: words */
        rate = iteration_line_after(line->text, "wps");
    if (isnan(number) || rate == NULL) {
        look_between(r, line->text);
        return true;
    }
    const double tokens_per_s = iteration_line_number(rate);
    if (!(tokens_per_s > 0.0))
        return true; /* rounded to nothing, or cut */
    return iteration_row_see(r, line, &(struct iteration_seen){number, NAN, tokens_per_s, NAN});
}

const struct iteration_format_kind iteration_format_torchtitan = {
    .head = {.name = "torchtitan", .doc = "step lines of torchtitan, by their tokens a second"},
    .form = "step: N  loss: ...  memory: ...  tps: T  ...",
    .look = look,
    .pauses_inside = true,
};
