/* mllog.c - the events of a log, one line after the other.
 *
 *     nothing   -> starting  init_start                         [take_init_start]
 *     starting  -> running   run_start, behind init_stop or not [take_run_start]
 *     running   -> over      run_stop                           [take_run_stop]
 *
 * Blocks count while it runs; init_start and run_start in `running` or `over` begin a second run,
 * which is refused. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "scenarios/import/mllog/mllog.h"
#include "sim/list.h"
#include "sim/units.h"

#define TOKEN ":::MLLOG"

/* A second is what clocks of the processes of one run may differ by. */
static const double clocks_differ_s = 1.0;
/* time_ms of 1990 and of 2100. */
static const double first_ms = 6.3e11, last_ms = 4.1e12;

struct event {
    const char *key;
    double at_s;
    json_t *value, *metadata;
};
struct mllog_reading {
    struct import_text text;
    struct mllog *log;
    struct mllog_mark block, epoch; /* open since; at_s NAN: none */
    double evaluation_since_s;      /* NAN: none */
    double block_evaluation_s, epoch_evaluation_s;
    unsigned last_line; /* of run.last_s */
};

static const struct {
    const char *key;
    enum mllog_count count;
} count_keys[] = {
    {"tensor_parallelism", MLLOG_TP},        {"pipeline_parallelism", MLLOG_PP},
    {"context_parallelism", MLLOG_CP},       {"expert_parallelism", MLLOG_EP},
    {"micro_batch_size", MLLOG_MICROBATCH},  {"global_batch_size", MLLOG_GLOBAL_BATCH},
    {"max_sequence_length", MLLOG_SEQUENCE}, {"gradient_accumulation_steps", MLLOG_ACCUMULATION},
    {"lora_rank", MLLOG_LORA_RANK},
};
static const struct {
    const char *key;
    enum mllog_word word;
} word_keys[] = {
    {"submission_benchmark", MLLOG_BENCHMARK},
    {"submission_platform", MLLOG_PLATFORM},
    {"submission_org", MLLOG_ORGANISATION},
    {"lowest_numerical_precision_in_linear", MLLOG_PRECISION},
};

/* A number, or a text that is one; NAN: neither. */
static double number_of(const json_t *json)
{
    double value;
    const char *text = json_string_value(json);
    if (json_is_number(json))
        return json_number_value(json);
    return text != NULL && import_text_number(text, &value) ? value : NAN;
}

static bool take_count(struct mllog_reading *r, enum mllog_count count, const struct event *e)
{
    const double value = number_of(e->value);
    if (count == MLLOG_ACCUMULATION && (!(value >= 1.0) || value != floor(value)))
        return true; /* some log a quotient or nothing */
    if (!(value >= 1.0) || value > MLLOG_COUNT_MAX || value != floor(value))
        return import_text_bad(&r->text, "%s is no whole number from 1 to %d", e->key,
                               MLLOG_COUNT_MAX);
    if (r->log->counts[count].value > 0.0 && r->log->counts[count].value != value)
        return import_text_bad(&r->text,
                               "%s is %.0f here and %.0f in line %u: two runs in one file? "
                               "Give the log of one",
                               e->key, value, r->log->counts[count].value,
                               r->log->counts[count].line);
    r->log->counts[count].value = value;
    r->log->counts[count].line = r->text.line;
    return true;
}

static bool take_word(struct mllog_reading *r, enum mllog_word word, const struct event *e)
{
    const char *text = json_string_value(e->value), *before = r->log->words[word].text;
    if (text == NULL || *text == '\0')
        return true;
    if (before != NULL && strcmp(before, text) != 0)
        return import_text_bad(&r->text,
                               "%s is %s here and not that of line %u: two runs in one file? "
                               "Give the log of one",
                               e->key, import_text_quote(&r->text, text), r->log->words[word].line);
    r->log->words[word].text = arena_text(r->log->arena, text);
    r->log->words[word].line = r->text.line;
    return true;
}

static bool again(struct mllog_reading *r, const char *key)
{
    return import_text_bad(&r->text,
                           "%s again: the file holds several runs, or a run that was started "
                           "again; cut it, one run a file",
                           key);
}

static bool take_init_start(struct mllog_reading *r, const struct event *e)
{
    if (!isnan(r->log->run.run_start_s) || !isnan(r->log->run.init_stop_s))
        return again(r, e->key);
    r->log->run.init_start_s = fmin(r->log->run.init_start_s, e->at_s); /* of several processes */
    return true;
}

static bool take_init_stop(struct mllog_reading *r, const struct event *e)
{
    if (!isnan(r->log->run.init_stop_s))
        return again(r, e->key);
    if (isnan(r->log->run.init_start_s) || e->at_s < r->log->run.init_start_s)
        return import_text_bad(&r->text,
                               "init_stop without an init_start before it: the log is cut");
    r->log->run.init_stop_s = e->at_s;
    return true;
}

static bool take_run_start(struct mllog_reading *r, const struct event *e)
{
    if (!isnan(r->log->run.run_start_s))
        return again(r, e->key);
    if (isnan(r->log->run.init_start_s) || e->at_s < r->log->run.init_start_s)
        return import_text_bad(&r->text,
                               "run_start without an init_start before it: the log is cut");
    r->log->run.run_start_s = e->at_s;
    return true;
}

static bool take_run_stop(struct mllog_reading *r, const struct event *e)
{
    const char *status = json_string_value(json_object_get(e->metadata, "status"));
    if (!isnan(r->log->run.run_stop_s))
        return again(r, e->key);
    if (isnan(r->log->run.run_start_s) || e->at_s < r->log->run.run_start_s)
        return import_text_bad(&r->text, "run_stop without a run_start before it: the log is cut");
    r->log->run.run_stop_s = e->at_s;
    r->log->run.status = status != NULL ? import_text_quote(&r->text, status) : NULL;
    return true;
}

/* The first of the names that is there; NAN: none. */
static double metadata_of(const struct event *e, const char *first, const char *second,
                          const char *third)
{
    const char *const names[] = {first, second, third};
    for (unsigned i = 0; i < sizeof names / sizeof names[0] && names[i] != NULL; i++)
        if (json_object_get(e->metadata, names[i]) != NULL)
            return number_of(json_object_get(e->metadata, names[i]));
    return NAN;
}

static struct mllog_mark mark_of(const struct event *e)
{
    return (struct mllog_mark){
        .at_s = e->at_s,
        .step = metadata_of(e, "step", "step_num", NULL),
        .samples = metadata_of(e, "samples_count", "first_epoch_num", "epoch_num"),
        .count = metadata_of(e, "epoch_count", NULL, NULL),
    };
}

static bool running(const struct mllog_reading *r)
{
    return !isnan(r->log->run.run_start_s) && isnan(r->log->run.run_stop_s);
}

/* A start of a span, which leaves out one that is open. */
static bool take_start(struct mllog_reading *r, const struct event *e, struct mllog_spans *spans,
                       struct mllog_mark *open, double *evaluation_s)
{
    if (!running(r))
        return true;
    spans->halves += isnan(open->at_s) ? 0 : 1;
    *open = mark_of(e);
    *evaluation_s = 0.0;
    return true;
}

static bool take_stop(struct mllog_reading *r, const struct event *e, struct mllog_spans *spans,
                      struct mllog_mark *open, double evaluation_s)
{
    if (!running(r))
        return true;
    if (isnan(open->at_s)) {
        spans->halves++;
        return true;
    }
    if (e->at_s < open->at_s)
        return import_text_bad(&r->text, "%s is before the start that it ends", e->key);
    if (spans->count == MLLOG_ROWS_MAX)
        return import_text_bad(&r->text, "more than %d of %s", MLLOG_ROWS_MAX, e->key);
    LIST_ROOM(r->log->arena, spans->rows, spans->count, 1, spans->room);
    spans->rows[spans->count++] =
        (struct mllog_span){*open, mark_of(e), evaluation_s, r->text.line};
    open->at_s = NAN;
    return true;
}

static bool take_evaluation(struct mllog_reading *r, const struct event *e, bool begins)
{
    if (begins) {
        r->evaluation_since_s = e->at_s;
    } else if (!isnan(r->evaluation_since_s)) {
        const double spent_s = fmax(e->at_s - r->evaluation_since_s, 0.0);
        r->block_evaluation_s += spent_s;
        r->epoch_evaluation_s += spent_s;
        r->evaluation_since_s = NAN;
    }
    return true;
}

static bool add_value(struct mllog_reading *r, struct mllog_series *series, const char *name,
                      const json_t *json)
{
    const double value = number_of(json);
    if (json == NULL || json_is_null(json) || !running(r))
        return true;
    if (!(value > 0.0) || !isfinite(value))
        return import_text_bad(&r->text, "%s of tracked_stats is no number above 0", name);
    if (series->count == MLLOG_ROWS_MAX)
        return import_text_bad(&r->text, "more than %d values of %s", MLLOG_ROWS_MAX, name);
    LIST_ROOM(r->log->arena, series->rows, series->count, 1, series->room);
    series->rows[series->count++] = value;
    series->sum += value;
    series->line = r->text.line;
    return true;
}

static bool take_stats(struct mllog_reading *r, const struct event *e)
{
    return add_value(r, &r->log->step_times, "train_step_time",
                     json_object_get(e->value, "train_step_time")) &&
           add_value(r, &r->log->throughputs, "throughput",
                     json_object_get(e->value, "throughput"));
}

static bool take_timed(struct mllog_reading *r, const struct event *e)
{
    const char *key = e->key;
    struct mllog *log = r->log;
    if (strcmp(key, "init_start") == 0)
        return take_init_start(r, e);
    if (strcmp(key, "init_stop") == 0)
        return take_init_stop(r, e);
    if (strcmp(key, "run_start") == 0)
        return take_run_start(r, e);
    if (strcmp(key, "run_stop") == 0)
        return take_run_stop(r, e);
    if (strcmp(key, "block_start") == 0)
        return take_start(r, e, &log->blocks, &r->block, &r->block_evaluation_s);
    if (strcmp(key, "block_stop") == 0)
        return take_stop(r, e, &log->blocks, &r->block, r->block_evaluation_s);
    if (strcmp(key, "epoch_start") == 0)
        return take_start(r, e, &log->epochs, &r->epoch, &r->epoch_evaluation_s);
    if (strcmp(key, "epoch_stop") == 0)
        return take_stop(r, e, &log->epochs, &r->epoch, r->epoch_evaluation_s);
    if (strcmp(key, "eval_start") == 0 || strcmp(key, "eval_stop") == 0)
        return take_evaluation(r, e, strcmp(key, "eval_start") == 0);
    return strcmp(key, "tracked_stats") != 0 || take_stats(r, e);
}

static bool take_clock(struct mllog_reading *r, const struct event *e)
{
    double *last_s = &r->log->run.last_s;
    /* Of every node, in the order in which its output came. */
    if (strcmp(e->key, "cache_clear") == 0 || strcmp(e->key, "init_start") == 0)
        return true;
    if (!isnan(*last_s) && e->at_s < *last_s - clocks_differ_s)
        return import_text_bad(&r->text,
                               "time_ms goes back by %.3g s against line %u: two runs, or clocks "
                               "of two machines, in one file",
                               *last_s - e->at_s, r->last_line);
    if (isnan(*last_s) || e->at_s > *last_s) {
        *last_s = e->at_s;
        r->last_line = r->text.line;
    }
    return true;
}

static bool take_event(struct mllog_reading *r, const struct event *e)
{
    r->log->lines.events++;
    if (strncmp(e->key, "power_", 6) == 0 || strcmp(e->key, "interconnect_power_est") == 0 ||
        strcmp(e->key, "conversion_eff") == 0) {
        r->log->lines.power++; /* with clocks of their own */
        return true;
    }
    if (!take_clock(r, e))
        return false;
    for (unsigned i = 0; i < sizeof count_keys / sizeof count_keys[0]; i++)
        if (strcmp(e->key, count_keys[i].key) == 0)
            return take_count(r, count_keys[i].count, e);
    for (unsigned i = 0; i < sizeof word_keys / sizeof word_keys[0]; i++)
        if (strcmp(e->key, word_keys[i].key) == 0)
            return take_word(r, word_keys[i].word, e);
    return take_timed(r, e);
}

static bool take_time(struct mllog_reading *r, const json_t *json, double *at_s)
{
    const double ms = json_is_number(json) ? json_number_value(json) : NAN;
    *at_s = ms * MILLISECOND;
    if (ms >= first_ms && ms <= last_ms)
        return true;
    if (ms >= first_ms * MILLISECOND && ms <= last_ms * MILLISECOND)
        return import_text_bad(&r->text, "time_ms %.0f is in seconds; MLPerf logs milliseconds",
                               ms);
    return import_text_bad(&r->text,
                           "time_ms is no time in milliseconds since 1970, of the years 1990 to "
                           "2100");
}

static bool take_object(struct mllog_reading *r, json_t *json)
{
    struct event e = {.key = json_string_value(json_object_get(json, "key")),
                      .value = json_object_get(json, "value"),
                      .metadata = json_object_get(json, "metadata")};
    if (e.key == NULL)
        return import_text_bad(&r->text, "an event without a key");
    return take_time(r, json_object_get(json, "time_ms"), &e.at_s) && take_event(r, &e);
}

static bool take_line(struct mllog_reading *r, const char *line)
{
    json_error_t wrong;
    const char *token = strstr(line, TOKEN);
    const char *text = token != NULL ? token + strlen(TOKEN) : "";
    text += strspn(text, " \t");
    if (*text != '{') {
        r->log->lines.no_events++;
        return true;
    }
    if (strstr(text, TOKEN " {") != NULL)
        return import_text_bad(&r->text, "two events in one line: two processes wrote at once; "
                                         "break the line between them");
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);
    if (json == NULL)
        return import_text_bad(&r->text,
                               "what follows :::MLLOG is no JSON (%s): the line is cut, "
                               "or two processes wrote into it",
                               import_text_quote(&r->text, wrong.text));
    const bool good = take_object(r, json);
    json_decref(json);
    return good;
}

static bool check_whole(const struct mllog *log, struct error *error)
{
    if (log->lines.events == 0)
        return error_set(error,
                         "%s: no line with :::MLLOG {...}: it is no result log of MLPerf Training "
                         "from v0.7 on",
                         log->path);
    if (log->words[MLLOG_BENCHMARK].text == NULL)
        return error_set(error, "%s: no submission_benchmark: which model ran is not told",
                         log->path);
    if (isnan(log->run.run_start_s))
        return error_set(error, "%s: no run_start: the run did not begin, or the log is cut",
                         log->path);
    if (log->counts[MLLOG_GLOBAL_BATCH].value == 0.0)
        return error_set(error, "%s: no global_batch_size: how much a step trains is not told",
                         log->path);
    return true;
}

bool mllog_read(struct arena *arena, const struct import_file *file, struct mllog *out,
                struct error *error)
{
    struct mllog_reading r = {
        .log = out, .block.at_s = NAN, .epoch.at_s = NAN, .evaluation_since_s = NAN};
    *out =
        (struct mllog){.arena = arena, .path = file->path, .run = {NAN, NAN, NAN, NAN, NAN, NULL}};
    if (!import_text_begin(&r.text, arena, file, error))
        return false;
    for (char *line = import_text_line(&r.text); line != NULL; line = import_text_line(&r.text))
        if (!take_line(&r, line))
            return false;
    out->blocks.halves += isnan(r.block.at_s) ? 0 : 1;
    return check_whole(out, error);
}
