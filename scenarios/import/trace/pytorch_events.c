#include "scenarios/import/trace/pytorch_events.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/import/reader/json_walk.h"
#include "scenarios/language/source.h"
#include "sim/list.h"
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
    uint32_t room;
    int64_t card;   /* of the kernels so far; PYTORCH_UNTOLD: not told */
    json_t *others; /* members beside the events */
    bool listed;    /* the events were there */
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

/* By its name, or as profilers before PyTorch 2.0 spelt it. */
static const json_t *either(const json_t *object, const char *key, const char *before)
{
    const json_t *value = json_object_get(object, key);
    return value != NULL ? value : json_object_get(object, before);
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
    const json_t *dims = either(args, "Input Dims", "Input dims");
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
    } known[] = {{"cpu_op", PYTORCH_OPERATOR},      {"cuda_runtime", PYTORCH_LAUNCH},
                 {"cuda_driver", PYTORCH_LAUNCH},   {"kernel", PYTORCH_KERNEL},
                 {"gpu_memcpy", PYTORCH_COPY},      {"gpu_memset", PYTORCH_COPY},
                 {"user_annotation", PYTORCH_STEP}, {"Operator", PYTORCH_OPERATOR},
                 {"Runtime", PYTORCH_LAUNCH},       {"Kernel", PYTORCH_KERNEL},
                 {"Memcpy", PYTORCH_COPY},          {"Memset", PYTORCH_COPY}};
    const char *cat = text_of(event, "cat");
    const bool mark = strncmp(text_of(event, "name"), STEP_MARK, strlen(STEP_MARK)) == 0;
    unsigned i = 0;
    while (i < sizeof known / sizeof known[0] && strcmp(known[i].cat, cat) != 0)
        i++;
    if (i == sizeof known / sizeof known[0])
        return false;
    *out = known[i].category == PYTORCH_OPERATOR && mark ? PYTORCH_STEP : known[i].category;
    return *out != PYTORCH_STEP || mark;
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

/* A trace of several ranks has kernels of several cards, whose streams have the same numbers. */
static bool check_one_card(struct event_reading *r, size_t index, const json_t *args)
{
    const int64_t card = integer_of(args, "device");
    if (card != PYTORCH_UNTOLD && r->card != PYTORCH_UNTOLD && card != r->card)
        return bad(r, index, "a kernel of a second card: give the trace of one rank");
    r->card = card != PYTORCH_UNTOLD ? card : r->card;
    return true;
}

static bool read_event(struct event_reading *r, size_t index, const json_t *event)
{
    enum pytorch_category category;
    const json_t *args = json_object_get(event, "args");
    if (!category_of(event, &category))
        return true;
    if (r->out->count == PYTORCH_EVENTS_MAX)
        return error_set(r->error,
                         "%s: more than %d operators, launches and kernels; record fewer "
                         "steps",
                         r->path, PYTORCH_EVENTS_MAX);
    LIST_ROOM(r->arena, r->out->rows, r->out->count, 1, r->room);
    struct pytorch_event *out = &r->out->rows[r->out->count];
    *out = (struct pytorch_event){.category = category, .step = PYTORCH_UNTOLD};
    if (!read_times(r, index, event, out) ||
        (category == PYTORCH_KERNEL && !check_one_card(r, index, args)))
        return false;
    out->name = kept(r->arena, text_of(event, "name"));
    const json_t *external = either(args, "External id", "external id");
    out->external = json_is_integer(external) ? json_integer_value(external) : PYTORCH_UNTOLD;
    out->correlation = integer_of(args, "correlation");
    out->stream = integer_of(args, "stream");
    out->thread = integer_of(event, "tid");
    if (out->category == PYTORCH_OPERATOR)
        out->operands = read_operands(r->arena, args);
    if (out->category == PYTORCH_KERNEL)
        out->collective = read_collective(r->arena, args);
    if (out->category == PYTORCH_STEP)
        out->step = strtol(out->name + strlen(STEP_MARK), NULL, 10);
    r->out->count++;
    return true;
}

static bool read_device(struct event_reading *r)
{
    const json_t *devices = json_object_get(r->others, "deviceProperties");
    const json_t *job = json_object_get(r->others, "distributedInfo");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const char *name = text_of(json_array_get(devices, i), "name");
        if (i > 0 && strcmp(name, text_of(json_array_get(devices, 0), "name")) != 0)
            return error_set(r->error, "%s: cards of two kinds: a profile is of one", r->path);
    }
    const json_t *first = json_array_get(devices, 0);
    const double sms = count_of(first, "numSms");
    struct pytorch_device *device = &r->out->device;
    snprintf(device->name, sizeof device->name, "%s",
             source_quote(r->arena, text_of(first, "name")));
    device->memory_bytes = count_of(first, "totalGlobalMem");
    device->sm_count = sms < UINT32_MAX ? (unsigned)sms : 0;
    r->out->devices = (unsigned)json_array_size(devices);
    r->out->rank = integer_of(job, "rank");
    r->out->world_size = integer_of(job, "world_size");
    return true;
}

/* Functions of Python may have names that the profiler writes as they are (pytorch/pytorch issues
 * 98432, 113001, 121219). */
static bool no_json(const struct event_reading *r, unsigned line, const char *why)
{
    return error_set(r->error, "%s:%u: no JSON: %s%s", r->path, line, source_clean(r->arena, why),
                     r->listed ? "; names that the profiler did not escape may do that: record "
                                 "with with_stack=False"
                               : "");
}

static bool broken(const struct event_reading *r, const struct json_walk *walk)
{
    return walk->at == walk->end
               ? error_set(r->error,
                           "%s:%u: no JSON: the file is cut; copy it again, or record again",
                           r->path, walk->line)
               : no_json(r, walk->line, "a separator is missing");
}

/* A parsed value; NULL with a sentence. */
static json_t *parsed(const struct event_reading *r, struct json_piece piece)
{
    json_error_t why;
    json_t *value =
        json_loadb(piece.text, piece.bytes, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);
    if (value == NULL)
        no_json(r, piece.line + (unsigned)(why.line > 0 ? why.line - 1 : 0), why.text);
    return value;
}

static bool read_events(struct event_reading *r, struct json_piece list)
{
    struct json_walk walk;
    struct json_piece piece;
    enum json_step step;
    if (!json_walk_enter(&walk, list) || walk.close != ']')
        return true;
    r->listed = true;
    for (size_t i = 0; (step = json_walk_next(&walk, NULL, &piece)) == JSON_WALK_PIECE; i++) {
        json_t *event = parsed(r, piece);
        const bool good = event != NULL && read_event(r, i, event);
        json_decref(event);
        if (!good)
            return false;
    }
    return step == JSON_WALK_END || broken(r, &walk);
}

static bool read_other(struct event_reading *r, json_t *name, struct json_piece piece)
{
    json_t *value = parsed(r, piece);
    return value != NULL && (json_object_set_new(r->others, json_string_value(name), value) == 0 ||
                             no_json(r, piece.line, "a name that is no text"));
}

static bool read_member(struct event_reading *r, struct json_piece name_piece,
                        struct json_piece piece)
{
    json_t *name = parsed(r, name_piece);
    if (name == NULL)
        return false;
    const char *text = json_string_value(name);
    const bool events = text != NULL && strcmp(text, "traceEvents") == 0;
    bool good;
    if (json_object_get(r->others, text) != NULL || (events && r->listed))
        good = no_json(r, name_piece.line, "a duplicate name");
    else
        good = events ? read_events(r, piece) : read_other(r, name, piece);
    json_decref(name);
    return good;
}

static bool read_root(struct event_reading *r, struct import_file file)
{
    struct json_walk walk;
    struct json_piece name, piece;
    enum json_step step = JSON_WALK_END;
    if (!json_walk_enter(&walk, (struct json_piece){file.text, file.bytes, 1}))
        return walk.at == walk.end ? broken(r, &walk) : no_json(r, walk.line, "'{' expected");
    if (walk.close == '}')
        while ((step = json_walk_next(&walk, &name, &piece)) == JSON_WALK_PIECE)
            if (!read_member(r, name, piece))
                return false;
    if (step == JSON_WALK_BROKEN)
        return broken(r, &walk);
    const json_t *version = json_object_get(r->others, "schemaVersion");
    if (!r->listed)
        return error_set(r->error, "%s: no list traceEvents: this is no trace of a profiler",
                         r->path);
    if (!json_walk_done(&walk))
        return no_json(r, walk.line, "something stands behind its end");
    if (version != NULL && json_integer_value(version) != 1)
        return error_set(r->error, "%s: schemaVersion is not 1, which is known", r->path);
    return read_device(r);
}

/* Names of Python functions are known to hold bytes that are no text (pytorch/kineto issue 988);
 * nothing that is read here does. Outside of a string '?' is refused by the parser. */
static unsigned mend(struct import_file file)
{
    unsigned mended = 0;
    for (size_t i = 0; i < file.bytes;) {
        const unsigned char c = (unsigned char)file.text[i];
        const bool plain = (c >= ' ' && c < 0x7f) || c == '\n' || c == '\r' || c == '\t';
        const unsigned length = plain     ? 1
                                : c < ' ' ? 0
                                          : source_sequence(file.text + i, file.bytes - i);
        if (length == 0) {
            file.text[i] = '?';
            mended++;
        }
        i += length > 0 ? length : 1;
    }
    return mended;
}

bool pytorch_events_read(struct arena *arena, struct import_file file, struct pytorch_events *out,
                         struct error *error)
{
    struct event_reading r = {
        .arena = arena, .path = file.path, .error = error, .out = out, .card = PYTORCH_UNTOLD};
    *out = (struct pytorch_events){.rows = NULL};
    if (file.bytes > PYTORCH_BYTES_MAX)
        return error_set(error, "%s: more than %d MiB; record fewer steps", file.path,
                         PYTORCH_BYTES_MAX >> 20);
    out->mended = mend(file);
    r.others = json_object();
    const bool good = read_root(&r, file);
    json_decref(r.others);
    return good;
}

bool pytorch_events_idle(const char *path, const struct pytorch_events *events, struct error *error)
{
    if (events->count == 0)
        return error_set(error,
                         "%s: neither kernels nor operators of torch.profiler in it: it is another "
                         "program's timeline (one of `orrery export` is compared by its database)",
                         path);
    return error_set(error, "%s: no kernel in it: record ProfilerActivity.CUDA, too", path);
}
