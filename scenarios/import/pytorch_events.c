#include "scenarios/import/pytorch_events.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/language/source.h"
#include "sim/units.h"

/* Nothing in a step takes longer, and no trace begins further from its zero: 2000 years. */
#define DUR_MOST_S 3600.0
#define TIME_MOST_S 63e9
#define STEP_MARK "ProfilerStep#"

struct event_reading {
    struct arena *arena;
    const char *path;
    struct error *error;
    struct pytorch_events *out;
};

static bool bad(const struct event_reading *r, size_t event, const char *why)
{
    return error_set(r->error, "%s: traceEvents[%zu]: %s", r->path, event, why);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static int64_t integer_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? json_integer_value(value) : PYTORCH_UNTOLD;
}

static const char *kept(struct arena *arena, const char *text)
{
    return *text == '\0' ? "" : source_clean(arena, text); /* templates go on for thousands */
}

static void read_sizes(const json_t *sizes, struct pytorch_operand *out)
{
    const size_t count = json_array_size(sizes);
    out->rank = 0;
    if (count > PYTORCH_SIZES_MAX)
        return;
    for (size_t i = 0; i < count; i++) {
        const json_t *size = json_array_get(sizes, i);
        if (!json_is_integer(size) || json_integer_value(size) < 1 ||
            json_integer_value(size) > PYTORCH_SIZE_MOST)
            return;
        out->size[i] = (double)json_integer_value(size);
    }
    out->rank = (unsigned)count;
}

static const struct pytorch_operands *read_operands(struct arena *arena, const json_t *args)
{
    const json_t *dims = json_object_get(args, "Input Dims");
    const json_t *types = json_object_get(args, "Input type");
    const json_t *values = json_object_get(args, "Concrete Inputs");
    const size_t all = json_array_size(dims);
    const size_t count = all < PYTORCH_OPERANDS_MAX ? all : PYTORCH_OPERANDS_MAX;
    if (count == 0)
        return NULL;
    struct pytorch_operands *out = ARENA_NEW(arena, struct pytorch_operands);
    struct pytorch_operand *of = ARENA_ARRAY(arena, struct pytorch_operand, count);
    for (size_t i = 0; i < count; i++) {
        const char *type = json_string_value(json_array_get(types, i));
        const char *value = json_string_value(json_array_get(values, i));
        read_sizes(json_array_get(dims, i), &of[i]);
        of[i].type = kept(arena, type != NULL ? type : "");
        of[i].value = kept(arena, value != NULL ? value : "");
    }
    *out = (struct pytorch_operands){(unsigned)count, of};
    return out;
}

static double count_of(const json_t *args, const char *key)
{
    const int64_t value = integer_of(args, key);
    return value > 0 ? (double)value : 0.0;
}

static const struct pytorch_collective *read_collective(struct arena *arena, const json_t *args)
{
    if (json_object_get(args, "Collective name") == NULL)
        return NULL;
    struct pytorch_collective *out = ARENA_NEW(arena, struct pytorch_collective);
    *out = (struct pytorch_collective){
        .name = kept(arena, text_of(args, "Collective name")),
        .type = kept(arena, text_of(args, "dtype")),
        .in = count_of(args, "In msg nelems"),
        .out = count_of(args, "Out msg nelems"),
        .ranks = count_of(args, "Group size"),
        .members = arena_text(arena, text_of(args, "Process Group Ranks")),
    };
    return out;
}

static bool category_of(const json_t *event, enum pytorch_category *out)
{
    static const struct {
        const char *cat;
        enum pytorch_category category;
    } known[] = {{"cpu_op", PYTORCH_OPERATOR},     {"cuda_runtime", PYTORCH_LAUNCH},
                 {"cuda_driver", PYTORCH_LAUNCH},  {"kernel", PYTORCH_KERNEL},
                 {"gpu_memcpy", PYTORCH_COPY},     {"gpu_memset", PYTORCH_COPY},
                 {"user_annotation", PYTORCH_STEP}};
    const char *cat = text_of(event, "cat");
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].cat, cat) == 0) {
            *out = known[i].category;
            return *out != PYTORCH_STEP ||
                   strncmp(text_of(event, "name"), STEP_MARK, strlen(STEP_MARK)) == 0;
        }
    }
    return false;
}

/* Begin and length; those of operators and launches may be missing. */
static bool read_times(const struct event_reading *r, size_t index, const json_t *event,
                       struct pytorch_event *out)
{
    const json_t *ts = json_object_get(event, "ts"), *dur = json_object_get(event, "dur");
    const bool on_gpu = out->category == PYTORCH_KERNEL || out->category == PYTORCH_COPY;
    if (!on_gpu && (ts == NULL || dur == NULL))
        return true;
    out->begin_s = json_number_value(ts) * MICROSECOND;
    out->dur_s = json_number_value(dur) * MICROSECOND;
    if (!json_is_number(dur) || !(out->dur_s >= 0.0) || out->dur_s > DUR_MOST_S)
        return bad(r, index,
                   on_gpu ? "a kernel's dur is no number of us from 0 to an hour"
                          : "its dur is no number of us from 0 to an hour");
    if (!json_is_number(ts) || !(fabs(out->begin_s) <= TIME_MOST_S))
        return bad(r, index, "its ts is no moment in us");
    return true;
}

static bool read_event(struct event_reading *r, size_t index, const json_t *event)
{
    struct pytorch_event *out = &r->out->rows[r->out->count];
    const json_t *args = json_object_get(event, "args");
    *out = (struct pytorch_event){.step = PYTORCH_UNTOLD};
    if (!category_of(event, &out->category))
        return true;
    if (!read_times(r, index, event, out))
        return false;
    out->name = kept(r->arena, text_of(event, "name"));
    out->external = integer_of(args, "External id");
    out->correlation = integer_of(args, "correlation");
    out->stream = integer_of(args, "stream");
    if (out->category == PYTORCH_OPERATOR)
        out->operands = read_operands(r->arena, args);
    if (out->category == PYTORCH_KERNEL)
        out->collective = read_collective(r->arena, args);
    if (out->category == PYTORCH_STEP)
        out->step = strtol(out->name + strlen(STEP_MARK), NULL, 10);
    r->out->count++;
    return true;
}

static bool read_device(struct event_reading *r, const json_t *root)
{
    const json_t *devices = json_object_get(root, "deviceProperties");
    const json_t *job = json_object_get(root, "distributedInfo");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const char *name = text_of(json_array_get(devices, i), "name");
        if (i > 0 && strcmp(name, text_of(json_array_get(devices, 0), "name")) != 0)
            return error_set(r->error, "%s: cards of two kinds: a profile is of one", r->path);
    }
    snprintf(r->out->device, sizeof r->out->device, "%s",
             source_quote(r->arena, text_of(json_array_get(devices, 0), "name")));
    r->out->devices = (unsigned)json_array_size(devices);
    r->out->rank = integer_of(job, "rank");
    r->out->world_size = integer_of(job, "world_size");
    return true;
}

/* A trace of several ranks has kernels of several cards, whose streams have the same numbers. */
static bool check_one_card(struct event_reading *r, const json_t *events)
{
    int64_t first = PYTORCH_UNTOLD;
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i);
        const int64_t device = integer_of(json_object_get(event, "args"), "device");
        if (strcmp(text_of(event, "cat"), "kernel") != 0 || device == PYTORCH_UNTOLD)
            continue;
        if (first != PYTORCH_UNTOLD && device != first)
            return bad(r, i, "a kernel of a second card: give the trace of one rank");
        first = device;
    }
    return true;
}

static bool read_root(struct event_reading *r, const json_t *root)
{
    const json_t *events = json_object_get(root, "traceEvents");
    const json_t *version = json_object_get(root, "schemaVersion");
    const size_t count = json_array_size(events);
    if (!json_is_array(events))
        return error_set(r->error, "%s: no list traceEvents: this is no trace of a profiler",
                         r->path);
    if (version != NULL && json_integer_value(version) != 1)
        return error_set(r->error, "%s: schemaVersion is not 1, which is known", r->path);
    if (count > PYTORCH_EVENTS_MAX)
        return error_set(r->error, "%s: more than %d events; record fewer steps", r->path,
                         PYTORCH_EVENTS_MAX);
    if (!read_device(r, root) || !check_one_card(r, events))
        return false;
    r->out->rows = ARENA_ARRAY(r->arena, struct pytorch_event, count + 1);
    for (size_t i = 0; i < count; i++)
        if (!read_event(r, i, json_array_get(events, i)))
            return false;
    return true;
}

bool pytorch_events_read(struct arena *arena, struct import_file file, struct pytorch_events *out,
                         struct error *error)
{
    struct event_reading r = {.arena = arena, .path = file.path, .error = error, .out = out};
    json_error_t why;
    *out = (struct pytorch_events){.rows = NULL};
    if (file.bytes > IMPORT_BYTES_MAX)
        return error_set(error, "%s: more than %d MiB; record fewer steps", file.path,
                         IMPORT_BYTES_MAX >> 20);
    json_t *root = json_loadb(file.text, file.bytes, JSON_REJECT_DUPLICATES, &why);
    if (root == NULL)
        return error_set(error, "%s:%d: no JSON: %s", file.path, why.line,
                         source_clean(arena, why.text));
    const bool good = read_root(&r, root);
    json_decref(root);
    return good;
}
