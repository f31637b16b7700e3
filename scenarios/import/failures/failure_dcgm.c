/* failure_dcgm.c - samples of DCGM_FI_DEV_XID_ERRORS with their times: lines of the exposition
 * format, or what Prometheus' /api/v1/query_range and /query answer (prometheus.io/docs/prometheus/
 * latest/querying/api: result of type matrix or vector). */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "scenarios/import/failures/failure_log_state.h"
#include "sim/list.h"
#include "sim/units.h"

#define GAUGE_NAME "DCGM_FI_DEV_XID_ERRORS"

enum {
    GAUGES_MAX = 1 << 16
};

/* The last value of one GPU's gauge. */
struct gauge {
    const char *host, *part;
    double value;
};
struct gauges {
    struct gauge *rows;
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

static bool find_gauge(struct failure_reading *r, struct gauges *g, const char *host,
                       const char *part, struct gauge **out)
{
    uint32_t i = 0;
    while (i < g->count &&
           (strcmp(g->rows[i].part, part) != 0 || strcmp(g->rows[i].host, host) != 0))
        i++;
    if (i == GAUGES_MAX)
        return import_text_bad(&r->text, "more than %d GPUs", GAUGES_MAX);
    if (i == g->count) {
        LIST_ROOM(r->arena, g->rows, g->count, 1, g->room);
        g->rows[g->count++] = (struct gauge){host, part, NAN};
    }
    *out = &g->rows[i];
    return true;
}

/* The gauge keeps the last Xid, so that a new value alone is an event. */
static bool take_sample(struct failure_reading *r, struct gauges *gauges,
                        struct failure_sight *sight, double value)
{
    struct gauge *gauge = NULL;
    if (!find_gauge(r, gauges, sight->host, sight->part, &gauge))
        return false;
    const double before = gauge->value;
    gauge->value = value;
    failure_log_moment(r, sight->at_s);
    /* What stood there when the watch began came before it. */
    if (isnan(before) || value == before || value == 0.0) {
        ++*(isnan(before) && value > 0.0 ? &r->out->stood : &r->out->quiet);
        return true;
    }
    if (!failure_xid_cause(r, (unsigned)value, &sight->cause, &sight->unit_kind)) {
        r->out->passed++;
        return true;
    }
    if (sight->unit_kind == UNIT_JOB)
        sight->host = sight->part = NULL;
    return failure_log_see(r, sight);
}

/* NAME{labels} VALUE TIME. */
static bool read_sample(struct failure_reading *r, struct gauges *gauges, char *line)
{
    char *close = strrchr(line, '}'), *words[3];
    double value = 0.0, time_ms = 0.0;
    const unsigned count = close != NULL ? import_text_words(close + 1, words, 3) : 0;
    if (count < 1 || count > 2 || !import_text_number(words[0], &value) || value < 0.0 ||
        value > FAILURE_XID_MAX || value != floor(value))
        return import_text_bad(&r->text,
                               "a sample of Xid errors has labels, a number from 0 to "
                               "%d, and its time",
                               FAILURE_XID_MAX);
    if (count == 1 || !import_text_number(words[1], &time_ms) || !(time_ms > 0.0))
        return import_text_bad(&r->text, "a sample without its time in ms: the exporter's own page "
                                         "tells none, take the samples of Prometheus");
    struct failure_sight sight = {.at_s = time_ms * MILLISECOND, .repair_s = -1.0};
    sight.host = label(r, line, "Hostname");
    sight.part = label(r, line, "gpu");
    if (sight.host == NULL || sight.part == NULL)
        return import_text_bad(&r->text, "a sample without the labels Hostname and gpu");
    return take_sample(r, gauges, &sight, value);
}

/* One [seconds, "value"] of a series. */
static bool read_pair(struct failure_reading *r, struct gauges *gauges, const json_t *metric,
                      const json_t *pair)
{
    const char *text = json_string_value(json_array_get(pair, 1));
    const json_t *at = json_array_get(pair, 0);
    struct failure_sight sight = {.at_s = json_number_value(at), .repair_s = -1.0};
    double value;
    if (!json_is_number(at) || !(sight.at_s > 0.0) || text == NULL ||
        !import_text_number(text, &value) || value < 0.0 || value > FAILURE_XID_MAX ||
        value != floor(value))
        return import_text_bad(
            &r->text, "a sample is [seconds since 1970, \"number from 0 to %d\"]", FAILURE_XID_MAX);
    const char *host = json_string_value(json_object_get(metric, "Hostname"));
    const char *part = json_string_value(json_object_get(metric, "gpu"));
    if (host == NULL || part == NULL)
        return import_text_bad(&r->text, "a series without the labels Hostname and gpu");
    sight.host = arena_text(r->arena, host);
    sight.part = arena_text(r->arena, part);
    return take_sample(r, gauges, &sight, value);
}

static bool read_series(struct failure_reading *r, struct gauges *gauges, const json_t *series)
{
    const json_t *metric = json_object_get(series, "metric"), *pair;
    const json_t *one = json_object_get(series, "value");
    const char *name = json_string_value(json_object_get(metric, "__name__"));
    size_t index;
    if (name != NULL && strcmp(name, GAUGE_NAME) != 0) {
        r->out->passed++;
        return true;
    }
    if (one != NULL)
        return read_pair(r, gauges, metric, one);
    json_array_foreach(json_object_get(series, "values"), index, pair)
    {
        if (!read_pair(r, gauges, metric, pair))
            return false;
    }
    return true;
}

static bool read_answer(struct failure_reading *r)
{
    struct gauges gauges = {NULL, 0, 0};
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
        good = good && read_series(r, &gauges, series);
    }
    json_decref(whole);
    return good;
}

static bool read_log(struct failure_reading *r)
{
    struct gauges gauges = {NULL, 0, 0};
    if (r->text.at[strspn(r->text.at, " \t\r\n")] == '{')
        return read_answer(r);
    for (char *line = import_text_line(&r->text); line != NULL; line = import_text_line(&r->text))
        if (strncmp(line, GAUGE_NAME "{", strlen(GAUGE_NAME "{")) != 0)
            r->out->passed++;
        else if (!read_sample(r, &gauges, line))
            return false;
    return true;
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
