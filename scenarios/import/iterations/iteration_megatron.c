/* iteration_megatron.c - Megatron-LM and its kin:
 *
 *     [2026-11-03 04:05:06.789012] iteration       10/  500000 | consumed samples: ... |
 *         elapsed time per iteration (ms): 3104.5 | throughput per GPU (TFLOP/s/GPU): 412.3 | ...
 *
 * in one line (megatron/training/training.py, training_log). The time is the mean of the
 * iterations since the line before. Checkpoints and evaluations stop that clock; how long each took
 * say its timers, "save-checkpoint ....: (least, most)" in milliseconds over the ranks
 * (megatron/core/timers.py); training waits for the slowest. Megatron-DeepSpeed prints (s). */
#include <math.h>
#include <string.h>

#include "scenarios/import/iterations/iteration_row.h"
#include "sim/units.h"

/* "iteration      10/  500000", not "at iteration 10 to /path": the number; NAN: another line. */
static double number_of(const char *text)
{
    static const char word[] = "iteration ";
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        const char *digits = at + strlen(word);
        digits += strspn(digits, " ");
        const size_t count = strspn(digits, "0123456789");
        if (count > 0 && digits[count + strspn(digits + count, " ")] == '/')
            return iteration_line_number(digits);
    }
    return NAN;
}

/* "save-checkpoint ......: (81.2, 93.4)" in milliseconds, the most. */
static double timer_s(const char *text, const char *name)
{
    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
        const char *behind = at + strlen(name);
        behind += strspn(behind, " ");
        const size_t dots = strspn(behind, ".");
        behind += dots;
        if (dots == 0 || strncmp(behind, ": (", 3) != 0)
            continue;
        const char *comma = strchr(behind, ',');
        return comma == NULL ? NAN : iteration_line_number(comma + 1) * MILLISECOND;
    }
    return NAN;
}

static void look_between(struct iteration_reading *r, const char *text)
{
    static const char loaded[] = "successfully loaded checkpoint from ", at[] = " at iteration ";
    const char *load = strstr(text, loaded);
    iteration_row_wait(r, ITERATION_SAVE, timer_s(text, "save-checkpoint"));
    iteration_row_wait(r, ITERATION_LOAD, timer_s(text, "load-checkpoint"));
    iteration_row_wait(r, ITERATION_EVALUATION, timer_s(text, "evaluate"));
    if (load == NULL)
        return;
    const char *number = strstr(load, at);
    iteration_row_load(r, number != NULL ? iteration_line_number(number + strlen(at)) : NAN);
}

static bool look(struct iteration_reading *r, const struct iteration_line *line)
{
    static const char elapsed[] = "elapsed time per iteration (";
    const char *time = strstr(line->text, elapsed);
    const double number = time != NULL ? number_of(line->text) : NAN;
    if (isnan(number)) {
        look_between(r, line->text);
        return true;
    }
    const char *unit = time + strlen(elapsed);
    const bool milli = strncmp(unit, "ms)", 3) == 0, whole = strncmp(unit, "s)", 2) == 0;
    const double value = iteration_line_number(iteration_line_after(unit, ")"));
    if ((!milli && !whole) || isnan(value))
        return true; /* the line is cut */
    return iteration_row_see(
        r, line,
        &(struct iteration_seen){
            number, milli ? value * MILLISECOND : value, NAN,
            iteration_line_number(iteration_line_after(line->text, "global batch size"))});
}

const struct iteration_format_kind iteration_format_megatron = {
    .head = {.name = "megatron", .doc = "iteration lines of Megatron-LM and Megatron-DeepSpeed"},
    .form = "iteration N/M | ... | elapsed time per iteration (ms): T | ...",
    .look = look,
};
