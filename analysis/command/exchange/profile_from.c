#include "analysis/command/exchange/profile_from.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "models/profile/profile.h"
#include "scenarios/language/csv.h"

/* The size of copies is not published, and of large ones does not matter. */
#define COPY_BYTES 4294967296.0

struct from_row {
    const struct csv *csv;
    size_t row;
    struct calibrate_point point;
    double time_s;
};
typedef bool row_reader_fn(struct from_row *r);

static const char *cell(const struct from_row *r, const char *name)
{
    return csv_cell(r->csv, r->row, name);
}

/* A positive number; `fallback` for an empty cell, NAN for anything else. */
static double number(const struct from_row *r, const char *name, double fallback)
{
    const char *text = cell(r, name);
    char *end;
    if (*text == '\0')
        return fallback;
    double value = strtod(text, &end);
    return *end == '\0' && isfinite(value) && value > 0.0 ? value : NAN;
}

static void set_type(struct from_row *r, const char *type)
{
    snprintf(r->point.type, sizeof r->point.type, "%s", type);
}

static void begin(struct from_row *r, enum calibrate_kind kind, const char *name)
{
    r->point = (struct calibrate_point){.kind = kind};
    snprintf(r->point.name, sizeof r->point.name, "%s", name);
    set_type(r, cell(r, "dtype"));
}

static void set_sizes(struct from_row *r, const double *sizes, unsigned count)
{
    memcpy(r->point.size, sizes, count * sizeof *sizes);
}

static void take_attention(struct from_row *r, const char *name, bool causal, bool backward)
{
    double tokens = number(r, "seq_len", NAN), heads = number(r, "heads", NAN);
    double size = number(r, "head_dim", NAN);
    begin(r, POINT_ATTENTION, name);
    r->point.causal = causal;
    r->point.backward = backward;
    set_sizes(r, (double[]){number(r, "batch", 1.0), tokens, tokens, heads, heads, size, size},
              POINT_AXES);
}

static bool read_kernel(struct from_row *r)
{
    const char *kind = cell(r, "kind"), *implementation = cell(r, "implementation");
    double rate = number(r, "flops_per_s", NAN);
    if (strcmp(kind, "hbm_copy") == 0) {
        begin(r, POINT_MEMORY, "stream");
        set_type(r, "bf16");
        r->point.size[0] = COPY_BYTES;
        r->time_s = COPY_BYTES / number(r, "bytes_per_s", NAN);
        return true;
    }
    if (strcmp(kind, "gemm") == 0 && strcmp(implementation, "cublaslt") == 0) {
        begin(r, POINT_GEMM, "-");
        set_sizes(r,
                  (double[]){number(r, "m", NAN), number(r, "n", NAN), number(r, "k", NAN),
                             number(r, "batch", 1.0)},
                  4);
        r->time_s = point_flops(&r->point) / rate;
        return true;
    }
    bool backward = strcmp(kind, "attention_bwd") == 0;
    bool fused = strcmp(implementation, "math") != 0 && *cell(r, "causal") != '\0';
    if (!fused || (!backward && strcmp(kind, "attention_fwd") != 0))
        return false;
    take_attention(r, implementation, strcmp(cell(r, "causal"), "1") == 0, backward);
    r->time_s = point_flops(&r->point) / rate;
    return true;
}

static bool read_collective(struct from_row *r)
{
    double ranks = number(r, "gpus", NAN);
    if (ranks != number(r, "gpus_per_node", NAN))
        return false;
    begin(r, POINT_COLLECTIVE, cell(r, "op"));
    set_type(r, "bf16"); /* not published; time goes by bytes */
    set_sizes(r, (double[]){ranks, number(r, "size_bytes", NAN)}, 2);
    r->time_s = number(r, "time_s", NAN);
    return true;
}

static row_reader_fn *reader_of(const struct csv *csv)
{
    if (csv_column(csv, "gpu") < 0)
        return NULL;
    if (csv_column(csv, "flops_per_s") >= 0 && csv_column(csv, "implementation") >= 0)
        return read_kernel;
    if (csv_column(csv, "op") < 0 || csv_column(csv, "time_s") < 0)
        return NULL;
    return csv_column(csv, "size_bytes") >= 0 ? read_collective : NULL;
}

/* The rows of the GPU, those that make a point first. */
static unsigned read_rows(struct arena *arena, const struct csv *csv, const char *gpu,
                          row_reader_fn *read, struct from_row **out)
{
    struct from_row *rows = ARENA_ARRAY(arena, struct from_row, csv->row_count);
    unsigned count = 0;
    for (size_t i = 0; i < csv->row_count; i++) {
        struct from_row *r = &rows[count];
        *r = (struct from_row){.csv = csv, .row = i};
        bool good = strcmp(cell(r, "gpu"), gpu) == 0 && strcmp(cell(r, "quality"), "clean") == 0 &&
                    read(r) && point_problem(&r->point) == NULL && r->time_s > 0.0;
        count += good;
    }
    *out = rows;
    return count;
}

/* One point of all rows of the shape of row `first`; rows taken get no time. */
static void gather(struct from_row *rows, unsigned count, unsigned first,
                   struct measured_point *out)
{
    double samples[MEASURE_SAMPLES_MAX];
    unsigned found = 0;
    out->point = rows[first].point;
    for (unsigned i = first; i < count && found < MEASURE_SAMPLES_MAX; i++) {
        if (rows[i].time_s <= 0.0 || !point_same(&rows[i].point, &out->point))
            continue;
        samples[found++] = rows[i].time_s;
        rows[i].time_s = 0.0;
    }
    out->measurement = (struct measurement){.settled = true};
    measure_samples(samples, found, &out->measurement);
}

static bool keep_all(struct profile_writer *writer, struct from_row *rows, unsigned count,
                     unsigned *points, struct error *error)
{
    for (unsigned i = 0; i < count; i++) {
        struct measured_point point;
        if (rows[i].time_s <= 0.0)
            continue;
        gather(rows, count, i, &point);
        if (!profile_keep(writer, &point, error))
            return false;
        ++*points;
    }
    return true;
}

static void describe(const struct csv *csv, const char *gpu, struct profile_head *head)
{
    *head = (struct profile_head){.facts = {.driver = "not said",
                                            .runtime = "not said",
                                            .libraries = "those of the sources",
                                            .cards = 1.0},
                                  .date = "as published"};
    snprintf(head->facts.device, sizeof head->facts.device, "%s", gpu);
    snprintf(head->gpu, sizeof head->gpu, "%s", gpu);
    const char *slash = strrchr(csv->path, '/');
    snprintf(head->method, sizeof head->method, "published rows of %.200s",
             slash != NULL ? slash + 1 : csv->path);
}

static unsigned rows_of(const struct csv *csv, const char *gpu)
{
    unsigned count = 0;
    for (size_t i = 0; i < csv->row_count; i++)
        count += strcmp(csv_cell(csv, i, "gpu"), gpu) == 0;
    return count;
}

bool profile_from(struct arena *arena, const char *path, const char *gpu, const char *output,
                  struct profile_from_report *report, struct error *error)
{
    struct csv csv;
    struct stat status;
    struct from_row *rows;
    struct profile_head head;
    struct measured_profile resumed;
    *report = (struct profile_from_report){0};
    if (!csv_read(arena, path, &csv, error))
        return false;
    row_reader_fn *read = reader_of(&csv);
    if (read == NULL)
        return error_set(error, "%s has the columns of neither kernels nor collectives", path);
    unsigned count = read_rows(arena, &csv, gpu, read, &rows);
    report->rows = rows_of(&csv, gpu);
    report->left_out = report->rows - count;
    if (count == 0)
        return error_set(error, "%s has no row of %s that makes a point", path, gpu);
    if (stat(output, &status) == 0)
        return error_set(error, "%s is there already: give another --output", output);
    describe(&csv, gpu, &head);
    struct profile_writer *writer = profile_write(arena, output, &head, &resumed, error);
    if (writer == NULL)
        return false;
    bool kept = keep_all(writer, rows, count, &report->points, error);
    return profile_close(writer, kept, error) && kept;
}
