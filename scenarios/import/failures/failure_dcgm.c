/* failure_dcgm.c - samples of DCGM_FI_DEV_XID_ERRORS with their times: lines of the exposition
 * format, or what Prometheus' /api/v1/query_range and /query answer (prometheus.io/docs/prometheus/
 * latest/querying/api: result of type matrix or vector). The samples of a GPU are put in the order
 * of their times, whatever their order in the file. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/failures/failure_log_state.h"
#include "sim/list.h"
#include "sim/units.h"

#define GAUGE_NAME "DCGM_FI_DEV_XID_ERRORS"

struct sample {
    const char *host, *part; /* whose gauge */
    double at_s, value;
    unsigned line;
};
struct samples {
    struct sample *rows;
    uint32_t count, room;
};

/* The value of a label: name="..."; NULL: there is none. */
static const char *label(struct failure_reading *r, const char *labels, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = strstr(labels, name); at != NULL; at = strstr(at + 1, name)) {
        const char *end = strncmp(at + length, "=\"", 2) == 0 ? strchr(at + length + 2, '"') : NULL;
        if (end != NULL && (at[-1] == '{' || at[-1] == ','))
            return arena_format(r->arena, "%.*s", (int)(end - at - (ptrdiff_t)length - 2),
                                at + length + 2);
    }
    return NULL;
}

static void keep(struct failure_reading *r, struct samples *samples, struct sample sample)
{
    sample.line = r->text.line;
    LIST_ROOM(r->arena, samples->rows, samples->count, 1, samples->room);
    samples->rows[samples->count++] = sample;
}

static int compare_gauges(const struct sample *a, const struct sample *b)
{
    const int hosts = strcmp(a->host, b->host);
    return hosts != 0 ? hosts : strcmp(a->part, b->part);
}

/* By gauge and time. */
static int compare_samples(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    const int gauges = compare_gauges(a, b);
    if (gauges != 0)
        return gauges;
    if (a->at_s != b->at_s)
        return a->at_s < b->at_s ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* The gauge keeps the last Xid, so that a new value alone is an event. `before`: the sample before
 * it of the same gauge; NULL: there is none, and what stands there has no known time. */
static bool take_sample(struct failure_reading *r, const struct sample *before,
                        const struct sample *sample)
{
    struct failure_sight sight = {
        .at_s = sample->at_s, .host = sample->host, .part = sample->part, .repair_s = -1.0};
    r->text.line = sample->line;
    failure_log_moment(r, sample->at_s);
    if (before == NULL || sample->value == before->value || sample->value == 0.0) {
        ++*(before == NULL && sample->value > 0.0 ? &r->out->stood : &r->out->quiet);
        return true;
    }
    if (sample->at_s == before->at_s)
        return import_text_bad(&r->text,
                               "two values of GPU %s of %s at one moment; keep one series of "
                               "each GPU",
                               import_text_quote(&r->text, sample->part),
                               import_text_quote(&r->text, sample->host));
    if (!failure_xid_cause(r, (unsigned)sample->value, &sight.cause, &sight.unit_kind)) {
        r->out->passed++;
        return true;
    }
    return failure_log_see(r, &sight);
}

static bool take_samples(struct failure_reading *r, struct samples *samples)
{
    struct sample *rows = samples->rows;
    if (samples->count > 0)
        qsort(rows, samples->count, sizeof *rows, compare_samples);
    for (uint32_t i = 0; i < samples->count; i++) {
        const bool first = i == 0 || compare_gauges(&rows[i - 1], &rows[i]) != 0;
        if (!take_sample(r, first ? NULL : &rows[i - 1], &rows[i]))
            return false;
    }
    return true;
}

static bool read_value(const char *text, double *out)
{
    return import_text_number(text, out) && *out >= 0.0 && *out <= FAILURE_XID_MAX &&
           *out == floor(*out);
}

/* NAME{labels} VALUE TIME. */
static bool read_sample(struct failure_reading *r, struct samples *samples, char *line)
{
    char *close = strrchr(line, '}'), *words[3];
    struct sample sample = {.host = label(r, line, "Hostname"), .part = label(r, line, "gpu")};
    double time_ms = 0.0;
    const unsigned count = close != NULL ? import_text_words(close + 1, words, 3) : 0;
    if (count < 1 || count > 2 || !read_value(words[0], &sample.value))
        return import_text_bad(&r->text,
                               "a sample of Xid errors has labels, a number from 0 to "
                               "%d, and its time",
                               FAILURE_XID_MAX);
    if (count == 1 || !import_text_number(words[1], &time_ms) || !(time_ms > 0.0))
        return import_text_bad(&r->text, "a sample without its time in ms: the exporter's own page "
                                         "tells none, take the samples of Prometheus");
    if (sample.host == NULL || sample.part == NULL)
        return import_text_bad(&r->text, "a sample without the labels Hostname and gpu");
    sample.at_s = time_ms * MILLISECOND;
    keep(r, samples, sample);
    return true;
}

/* One [seconds, "value"] of a series. */
static bool read_pair(struct failure_reading *r, struct samples *samples, struct sample sample,
                      const json_t *pair)
{
    const char *text = json_string_value(json_array_get(pair, 1));
    const json_t *at = json_array_get(pair, 0);
    sample.at_s = json_number_value(at);
    if (!json_is_number(at) || !(sample.at_s > 0.0) || text == NULL ||
        !read_value(text, &sample.value))
        return import_text_bad(
            &r->text, "a sample is [seconds since 1970, \"number from 0 to %d\"]", FAILURE_XID_MAX);
    keep(r, samples, sample);
    return true;
}

static bool read_series(struct failure_reading *r, struct samples *samples, const json_t *series)
{
    const json_t *metric = json_object_get(series, "metric"), *pair;
    const json_t *one = json_object_get(series, "value");
    const char *name = json_string_value(json_object_get(metric, "__name__"));
    const char *host = json_string_value(json_object_get(metric, "Hostname"));
    const char *part = json_string_value(json_object_get(metric, "gpu"));
    size_t index;
    if (name != NULL && strcmp(name, GAUGE_NAME) != 0) {
        r->out->passed++;
        return true;
    }
    if (host == NULL || part == NULL)
        return import_text_bad(&r->text, "a series without the labels Hostname and gpu");
    const struct sample sample = {.host = arena_text(r->arena, host),
                                  .part = arena_text(r->arena, part)};
    if (one != NULL)
        return read_pair(r, samples, sample, one);
    json_array_foreach(json_object_get(series, "values"), index, pair)
    {
        if (!read_pair(r, samples, sample, pair))
            return false;
    }
    return true;
}

static bool read_answer(struct failure_reading *r, struct samples *samples)
{
    json_error_t fault;
    size_t index;
    json_t *whole = json_loadb(r->text.at, (size_t)(r->text.end - r->text.at), 0, &fault), *series;
    const json_t *result = json_object_get(json_object_get(whole, "data"), "result");
    bool good = json_is_array(result);
    r->text.line = whole == NULL && fault.line > 0 ? (unsigned)fault.line : 1;
    if (whole == NULL)
        import_text_bad(&r->text, "not JSON: %s", import_text_quote(&r->text, fault.text));
    else if (!good)
        import_text_bad(&r->text,
                        "this JSON is no answer of Prometheus' query_range: it has no list "
                        "data.result");
    json_array_foreach(result, index, series)
    {
        good = good && read_series(r, samples, series);
    }
    json_decref(whole);
    return good;
}

static bool read_lines(struct failure_reading *r, struct samples *samples)
{
    for (char *line = import_text_line(&r->text); line != NULL; line = import_text_line(&r->text))
        if (strncmp(line, GAUGE_NAME "{", strlen(GAUGE_NAME "{")) != 0)
            r->out->passed++;
        else if (!read_sample(r, samples, line))
            return false;
    return true;
}

static bool read_log(struct failure_reading *r)
{
    struct samples samples = {NULL, 0, 0};
    const bool json = r->text.at[strspn(r->text.at, " \t\r\n")] == '{';
    return (json ? read_answer(r, &samples) : read_lines(r, &samples)) && take_samples(r, &samples);
}

const struct failure_format_kind failure_format_dcgm = {
    .head = {.name = "dcgm",
             .doc = "the same from samples of DCGM_FI_DEV_XID_ERRORS with their times, or of the\n"
                    "JSON that Prometheus' query_range answers"},
    .read = read_log,
    .merge_s = FAILURE_BURST_S,
    .chains = true,
    .json = true,
};
