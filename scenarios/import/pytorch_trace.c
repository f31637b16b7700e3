#include "scenarios/import/pytorch_trace.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/language/source.h"
#include "sim/units.h"

enum {
    SIZE_MOST = 1 << 30,
    RANK_MOST = 3
};
/* No kernel of a step takes longer. */
#define KERNEL_MOST_S 3600.0

struct product {
    json_int_t id;
    struct calibrate_point point;
    double s;
};
struct pytorch_reading {
    struct arena *arena;
    const char *path;
    struct error *error;
    struct product *products; /* by id */
    unsigned count;
    struct pytorch_trace *out;
};

static bool bad(const struct pytorch_reading *r, size_t event, const char *why)
{
    return error_set(r->error, "%s: traceEvents[%zu]: %s", r->path, event, why);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* The sizes of an operand; how many, 0: none such. */
static unsigned sizes_of(const json_t *dims, size_t operand, double out[RANK_MOST])
{
    const json_t *sizes = json_array_get(dims, operand);
    const size_t count = json_array_size(sizes);
    for (size_t i = 0; i < count && i < RANK_MOST; i++) {
        const json_t *size = json_array_get(sizes, i);
        if (!json_is_integer(size) || json_integer_value(size) < 1 ||
            json_integer_value(size) > SIZE_MOST)
            return 0;
        out[i] = (double)json_integer_value(size);
    }
    return count <= RANK_MOST ? (unsigned)count : 0;
}

static const char *type_of(const json_t *types, size_t operand)
{
    const char *type = json_string_value(json_array_get(types, operand));
    if (type != NULL && strcmp(type, "c10::BFloat16") == 0)
        return "bf16";
    return type != NULL && strcmp(type, "c10::Half") == 0 ? "fp16" : "";
}

/* The product of an operator; false: it is none, or not told whole. */
static bool product_of(const json_t *event, struct calibrate_point *out)
{
    static const struct {
        const char *name;
        unsigned first, rank; /* of its operands */
    } known[] = {
        {"aten::mm", 0, 2}, {"aten::addmm", 1, 2}, {"aten::bmm", 0, 3}, {"aten::baddbmm", 1, 3}};
    const json_t *args = json_object_get(event, "args");
    const json_t *dims = json_object_get(args, "Input Dims");
    const json_t *types = json_object_get(args, "Input type");
    double a[RANK_MOST] = {0.0}, b[RANK_MOST] = {0.0};
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(known[i].name, text_of(event, "name")) != 0)
            continue;
        const unsigned first = known[i].first, rank = known[i].rank, x = rank - 2;
        const char *type = type_of(types, first);
        if (*type == '\0' || strcmp(type, type_of(types, first + 1)) != 0 ||
            sizes_of(dims, first, a) != rank || sizes_of(dims, first + 1, b) != rank ||
            a[x + 1] != b[x] || (x > 0 && a[0] != b[0]))
            return false;
        *out = (struct calibrate_point){.kind = POINT_GEMM};
        snprintf(out->name, sizeof out->name, "-");
        snprintf(out->type, sizeof out->type, "%s", type);
        memcpy(out->size, (double[]){a[x], b[x + 1], a[x + 1], x > 0 ? a[0] : 1.0},
               4 * sizeof *out->size);
        return point_problem(out) == NULL;
    }
    return false;
}

static int compare_ids(const void *left, const void *right)
{
    const struct product *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

static bool is_cat(const json_t *event, const char *cat)
{
    return strcmp(text_of(event, "cat"), cat) == 0;
}

static bool id_of(const json_t *event, json_int_t *out)
{
    const json_t *id = json_object_get(json_object_get(event, "args"), "External id");
    *out = json_integer_value(id);
    return json_is_integer(id);
}

static bool find_products(struct pytorch_reading *r, const json_t *events)
{
    const size_t count = json_array_size(events);
    r->products = ARENA_ARRAY(r->arena, struct product, count + 1);
    for (size_t i = 0; i < count; i++) {
        const json_t *event = json_array_get(events, i);
        struct product *p = &r->products[r->count];
        if (is_cat(event, "cpu_op") && id_of(event, &p->id) && product_of(event, &p->point))
            r->count++;
    }
    qsort(r->products, r->count, sizeof *r->products, compare_ids);
    for (unsigned i = 1; i < r->count; i++)
        if (r->products[i].id == r->products[i - 1].id)
            return error_set(r->error,
                             "%s: two operators have the External id %" PRId64
                             ": traces are mixed; give those of one rank",
                             r->path, (int64_t)r->products[i].id);
    return true;
}

static bool add_kernels(struct pytorch_reading *r, const json_t *events)
{
    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *event = json_array_get(events, i), *dur = json_object_get(event, "dur");
        struct product key = {.id = 0};
        if (!is_cat(event, "kernel"))
            continue;
        const double s = json_number_value(dur) * MICROSECOND;
        if (!json_is_number(dur) || !(s >= 0.0) || s > KERNEL_MOST_S)
            return bad(r, i, "a kernel's dur is no number of us from 0 to an hour");
        r->out->kernels_s += s;
        struct product *p = id_of(event, &key.id) ? bsearch(&key, r->products, r->count,
                                                            sizeof *r->products, compare_ids)
                                                  : NULL;
        if (p != NULL)
            p->s += s;
    }
    return true;
}

static int compare_points(const void *left, const void *right)
{
    const struct product *a = left, *b = right;
    const int types = strcmp(a->point.type, b->point.type);
    if (types != 0)
        return types;
    for (unsigned i = 0; i < 4; i++)
        if (a->point.size[i] != b->point.size[i])
            return a->point.size[i] < b->point.size[i] ? -1 : 1;
    return compare_ids(a, b);
}

static void make_points(struct pytorch_reading *r)
{
    double times[MEASURE_SAMPLES_MAX];
    struct pytorch_trace *out = r->out;
    out->points = ARENA_ARRAY(r->arena, struct measured_point, r->count + 1);
    qsort(r->products, r->count, sizeof *r->products, compare_points);
    for (unsigned i = 0, next; i < r->count; i = next) {
        unsigned count = 0;
        for (next = i;
             next < r->count && point_same(&r->products[next].point, &r->products[i].point);
             next++) {
            out->products_s += r->products[next].s;
            out->products += r->products[next].s > 0.0;
            if (count < MEASURE_SAMPLES_MAX && r->products[next].s > 0.0)
                times[count++] = r->products[next].s;
        }
        if (count == 0)
            continue;
        struct measured_point *point = &out->points[out->point_count++];
        *point = (struct measured_point){.point = r->products[i].point,
                                         .measurement = {.settled = true}};
        measure_samples(times, count, &point->measurement);
    }
}

static bool read_device(struct pytorch_reading *r, const json_t *root)
{
    const json_t *devices = json_object_get(root, "deviceProperties");
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const char *name = text_of(json_array_get(devices, i), "name");
        if (i > 0 && strcmp(name, text_of(json_array_get(devices, 0), "name")) != 0)
            return error_set(r->error, "%s: cards of two kinds: a profile is of one", r->path);
    }
    snprintf(r->out->device, sizeof r->out->device, "%s",
             source_quote(r->arena, text_of(json_array_get(devices, 0), "name")));
    return true;
}

static bool read_root(struct pytorch_reading *r, const json_t *root)
{
    const json_t *events = json_object_get(root, "traceEvents");
    const json_t *version = json_object_get(root, "schemaVersion");
    if (!json_is_array(events))
        return error_set(r->error, "%s: no list traceEvents: this is no trace of a profiler",
                         r->path);
    if (version != NULL && json_integer_value(version) != 1)
        return error_set(r->error, "%s: schemaVersion is not 1, which is known", r->path);
    if (json_array_size(events) > PYTORCH_EVENTS_MAX)
        return error_set(r->error, "%s: more than %d events; record fewer steps", r->path,
                         PYTORCH_EVENTS_MAX);
    if (!read_device(r, root) || !find_products(r, events) || !add_kernels(r, events))
        return false;
    if (r->out->kernels_s <= 0.0)
        return error_set(r->error, "%s: no kernel in it: record ProfilerActivity.CUDA, too",
                         r->path);
    make_points(r);
    return r->out->point_count > 0 ||
           error_set(r->error,
                     "%s: no product with its shape in bf16 or fp16: record with "
                     "record_shapes=True",
                     r->path);
}

bool pytorch_trace_read(struct arena *arena, struct import_file file, struct pytorch_trace *out,
                        struct error *error)
{
    struct pytorch_reading r = {.arena = arena, .path = file.path, .error = error, .out = out};
    json_error_t why;
    *out = (struct pytorch_trace){.points = NULL};
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
