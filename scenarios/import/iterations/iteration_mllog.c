/* iteration_mllog.c - result logs of MLPerf Training (mlcommons/logging, mllog/mllog.py and
 * mllog/constants.py): `:::MLLOG {...}` events with `time_ms`.
 *
 * `train_step_time` of `tracked_stats` is the time of a step in seconds, with `step` or
 * `samples_count` in its metadata (samples over global_batch_size are steps). A log without it has
 * blocks: from block_start to block_stop, without the evaluations in between, over their steps. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "scenarios/import/iterations/iteration_row.h"
#include "sim/units.h"

#define TOKEN ":::MLLOG"

/* The first of the names that is a number; NAN: none. */
static double member(const json_t *object, const char *one, const char *other)
{
    const json_t *json = json_object_get(object, one);
    if (!json_is_number(json) && other != NULL)
        json = json_object_get(object, other);
    return json_is_number(json) ? json_number_value(json) : NAN;
}

/* The iteration of an event by its metadata; NAN: not told. */
static double number_of(const struct iteration_reading *r, const json_t *metadata)
{
    const double step = member(metadata, "step", "step_num");
    const double samples = member(metadata, "samples_count", "first_epoch_num");
    return isnan(step) && r->mllog.batch > 0.0 ? samples / r->mllog.batch : step;
}

static bool take_stats(struct iteration_reading *r, const struct iteration_line *line,
                       const json_t *value, const json_t *metadata)
{
    const double step_s = member(value, "train_step_time", NULL);
    double number = number_of(r, metadata);
    if (isnan(step_s))
        return true;
    if (isnan(number))
        number = (double)(r->mllog.counted + 1);
    r->mllog.counted++;
    return iteration_row_see(r, line,
                             &(struct iteration_seen){floor(number), step_s, NAN, r->mllog.batch});
}

static bool take_block(struct iteration_reading *r, const struct iteration_line *line,
                       const json_t *metadata)
{
    const double number = number_of(r, metadata);
    const double steps = number - r->mllog.block_number;
    const double spent_s = line->at_s - r->mllog.block_since_s - r->mllog.block_pause_s;
    r->mllog.block_since_s = NAN;
    /* Those that track their steps have been told. */
    if (r->mllog.counted > 0 || !(steps >= 1.0) || !(spent_s > 0.0))
        return true;
    return iteration_row_see(
        r, line, &(struct iteration_seen){floor(number), spent_s / steps, NAN, r->mllog.batch});
}

static void take_evaluation(struct iteration_reading *r, double at_s)
{
    const double spent_s = at_s - r->mllog.evaluation_since_s;
    if (spent_s > 0.0) {
        iteration_row_wait(r, ITERATION_EVALUATION, spent_s);
        r->mllog.block_pause_s += spent_s;
    }
    r->mllog.evaluation_since_s = NAN;
}

static bool take(struct iteration_reading *r, const struct iteration_line *line, const json_t *json)
{
    const char *key = json_string_value(json_object_get(json, "key"));
    const json_t *value = json_object_get(json, "value");
    const json_t *metadata = json_object_get(json, "metadata");
    if (key == NULL)
        return true;
    if (strcmp(key, "global_batch_size") == 0 && json_is_number(value))
        r->mllog.batch = json_number_value(value);
    else if (strcmp(key, "max_sequence_length") == 0 && json_is_number(value))
        r->out->sequence = json_number_value(value);
    else if (strcmp(key, "tracked_stats") == 0)
        return take_stats(r, line, value, metadata);
    else if (strcmp(key, "block_start") == 0) {
        r->mllog.block_since_s = line->at_s;
        r->mllog.block_pause_s = 0.0;
        r->mllog.block_number = number_of(r, metadata);
    } else if (strcmp(key, "block_stop") == 0)
        return take_block(r, line, metadata);
    else if (strcmp(key, "eval_start") == 0)
        r->mllog.evaluation_since_s = line->at_s;
    else if (strcmp(key, "eval_stop") == 0)
        take_evaluation(r, line->at_s);
    return true;
}

/* The event's own clock is in the place of the line's. */
static bool look(struct iteration_reading *r, const struct iteration_line *line)
{
    const char *token = strstr(line->text, TOKEN);
    json_error_t wrong;
    if (token == NULL)
        return true;
    json_t *json = json_loads(token + strlen(TOKEN), 0, &wrong);
    if (json == NULL)
        return true; /* cut, or two processes wrote at once */
    const double at_s = member(json, "time_ms", NULL) * MILLISECOND;
    const struct iteration_line timed = {line->text, line->rank, at_s, true};
    if (!r->mllog.begun || at_s < r->out->begin_s)
        r->out->begin_s = at_s;
    r->mllog.begun = true;
    const bool good = take(r, &timed, json);
    json_decref(json);
    return good;
}

const struct iteration_format_kind iteration_format_mllog = {
    .head = {.name = "mllog", .doc = "result logs of MLPerf Training"},
    .form = ":::MLLOG {...} with train_step_time in tracked_stats, or blocks",
    .look = look,
};
