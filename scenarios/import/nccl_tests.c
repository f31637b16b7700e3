#include "scenarios/import/nccl_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/collective/collective_kind.h"
#include "scenarios/language/source.h"
#include "sim/list.h"
#include "sim/units.h"

enum {
    WORDS_MAX = 40,
    HOSTS_MAX = 4096,
    RANKS_MAX = 1 << 20
};
/* Figures are printed with two decimals, of large ones with three or four digits. */
#define AGREE_RATIO 0.02
#define AGREE_BYTES_PER_S (0.011 * GIGA)

enum nccl_column {
    NCCL_COLUMN_SIZE,
    NCCL_COLUMN_TYPE,
    NCCL_COLUMN_TIME,
    NCCL_COLUMN_ALGBW,
    NCCL_COLUMN_BUSBW,
    NCCL_COLUMN_WRONG,
    NCCL_COLUMN_COUNT
};
static const char *const nccl_columns[NCCL_COLUMN_COUNT] = {"size",  "type",  "time",
                                                            "algbw", "busbw", "#wrong"};
struct places { /* of one of the two halves of a table; index + 1, 0: no such column */
    unsigned of[NCCL_COLUMN_COUNT];
};
struct sample {
    struct calibrate_point point;
    double time_s;
    unsigned order;
};
struct nccl_reading {
    struct import_text text;
    struct arena *arena;
    const char *given_op, *op;
    const char *hosts[HOSTS_MAX];
    unsigned host_count, rank_count;
    struct places halves[2]; /* out of place, in place */
    unsigned half_count, width;
    bool in_table;
    struct sample *samples;
    unsigned sample_count, sample_room;
    struct nccl_tests *out;
};

/* What one of nccl-tests' programs is called in a step: "alltoall_perf" -> "all_to_all"; names of
 * steps stay. NULL: none that a step plays. */
static const char *nccl_tests_op(const char *program)
{
    static const char *const others[][2] = {
        {"alltoall", "all_to_all"}, {"sendrecv", "send"}, {"allreduce", "all_reduce"}};
    size_t length = strlen(program);
    if (length > 5 && strcmp(program + length - 5, "_perf") == 0)
        length -= 5;
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strlen(others[i][0]) == length && strncmp(others[i][0], program, length) == 0)
            return others[i][1];
    for (int op = 0; op <= (int)COMM_SEND; op++)
        if (strlen(comm_op_names[op]) == length && strncmp(comm_op_names[op], program, length) == 0)
            return comm_op_names[op];
    return NULL;
}

static enum comm_op op_of(const char *name)
{
    int op = 0;
    while (strcmp(comm_op_names[op], name) != 0)
        op++;
    return (enum comm_op)op;
}

static bool take_op(struct nccl_reading *r, const char *program)
{
    r->op = nccl_tests_op(program);
    return r->op != NULL ||
           import_text_bad(&r->text, "'%s' is no collective that a step plays; leave its table out",
                           import_text_quote(&r->text, program));
}

static unsigned host_number(const struct nccl_reading *r, const char *host)
{
    unsigned i = 0;
    while (i < r->host_count && strcmp(r->hosts[i], host) != 0)
        i++;
    return i;
}

/* "Rank  0 Group  0 Pid 123 on host device  0 [0x07] NVIDIA H100": words behind the '#'. */
static bool read_rank(struct nccl_reading *r, char **words, unsigned count)
{
    double rank = -1.0;
    unsigned on = 2, device = 0;
    if (!import_text_number(words[1], &rank) || rank < 0.0 || rank >= RANKS_MAX)
        return import_text_bad(&r->text, "the number of a rank is no number");
    if (rank == 0.0) {
        r->rank_count = r->host_count = 0;
        r->in_table = false;
    }
    if (rank != r->rank_count)
        return import_text_bad(&r->text, "rank %g behind %u ranks: outputs are mixed, or cut", rank,
                               r->rank_count);
    for (; on + 1 < count && strcmp(words[on], "on") != 0; on++)
        if (strcmp(words[on], "Group") == 0 && strcmp(words[on + 1], "0") != 0)
            return import_text_bad(&r->text, "several groups at once: their wires are shared, and "
                                             "no time is that of a group alone");
    for (device = on; device < count && words[device][0] != '['; device++)
        ;
    if (on + 1 >= count || device + 1 >= count)
        return import_text_bad(&r->text, "a 'Rank' line names host and device");
    unsigned host = host_number(r, words[on + 1]);
    if (host == HOSTS_MAX)
        return import_text_bad(&r->text, "more than %d hosts", HOSTS_MAX);
    r->hosts[host] = words[on + 1];
    r->host_count += host == r->host_count;
    r->rank_count++;
    char name[DEVICE_TEXT_BYTES] = "";
    for (unsigned i = device + 1; i < count; i++) {
        const size_t used = strlen(name);
        snprintf(name + used, sizeof name - used, "%s%s", used > 0 ? " " : "", words[i]);
    }
    if (r->out->device[0] == '\0')
        snprintf(r->out->device, sizeof r->out->device, "%s", name);
    return strcmp(r->out->device, name) == 0 ||
           import_text_bad(&r->text, "a rank on %s after one on %s: a profile is of one card",
                           import_text_quote(&r->text, name),
                           import_text_quote(&r->text, r->out->device));
}

/* The header of a table: words behind the '#'. */
static bool read_header(struct nccl_reading *r, char **words, unsigned count)
{
    r->half_count = 0;
    r->width = count;
    memset(r->halves, 0, sizeof r->halves);
    struct places common = {{0}};
    for (unsigned i = 0; i < count; i++) {
        unsigned column = 0;
        const char *name = strcmp(words[i], "error") == 0 ? "#wrong" : words[i];
        if (strcmp(words[i], "cputime") == 0)
            return import_text_bad(&r->text, "these are times of the CPU: run without -C 1");
        while (column < NCCL_COLUMN_COUNT && strcmp(nccl_columns[column], name) != 0)
            column++;
        if (column == NCCL_COLUMN_COUNT)
            continue;
        if (column == NCCL_COLUMN_TIME && ++r->half_count > 2)
            return import_text_bad(&r->text, "more than two columns 'time'");
        struct places *places = column < NCCL_COLUMN_TIME ? &common : NULL;
        if (places == NULL && r->half_count > 0)
            places = &r->halves[r->half_count - 1];
        if (places == NULL || places->of[column] != 0)
            return import_text_bad(&r->text, "the column '%s' stands twice, or before its 'time'",
                                   nccl_columns[column]);
        places->of[column] = i + 1;
    }
    for (unsigned h = 0; h < r->half_count; h++) {
        r->halves[h].of[NCCL_COLUMN_SIZE] = common.of[NCCL_COLUMN_SIZE];
        r->halves[h].of[NCCL_COLUMN_TYPE] = common.of[NCCL_COLUMN_TYPE];
        if (r->halves[h].of[NCCL_COLUMN_ALGBW] == 0 || r->halves[h].of[NCCL_COLUMN_BUSBW] == 0)
            return import_text_bad(&r->text, "a column 'time' without algbw and busbw behind it");
    }
    if (r->half_count == 0 || common.of[NCCL_COLUMN_TYPE] == 0)
        return import_text_bad(&r->text, "this header has no columns 'type' and 'time'");
    r->op = r->op != NULL ? r->op : r->given_op;
    if (r->op == NULL)
        return import_text_bad(&r->text, "which collective is it? Nothing above says so: give --op "
                                         "all_reduce, all_gather, ...");
    if (r->rank_count < 2)
        return import_text_bad(&r->text, "no 'Rank' lines above say how many GPUs took part: keep "
                                         "the head of the output");
    r->in_table = true;
    r->out->table_count++;
    return true;
}

/* The units of a table: "(B) (elements) (us) (GB/s) (GB/s) ...". */
static bool read_units(struct nccl_reading *r, char **words, unsigned count)
{
    static const char *const known[] = {"(B)", "(elements)", "(us)", "(GB/s)", "(%)"};
    for (unsigned i = 0; i < count; i++) {
        unsigned k = 0;
        while (k < sizeof known / sizeof known[0] && strcmp(known[k], words[i]) != 0)
            k++;
        if (words[i][0] == '(' && k == sizeof known / sizeof known[0])
            return import_text_bad(&r->text, "the unit %s: nccl-tests prints B, us and GB/s",
                                   import_text_quote(&r->text, words[i]));
    }
    return true;
}

/* "Collective test starting: all_reduce_perf": a new output, whose ranks follow. */
static bool read_start(struct nccl_reading *r, char **words, unsigned count)
{
    r->in_table = false;
    r->rank_count = r->host_count = 0;
    return count < 4 || take_op(r, words[3]);
}

static bool read_comment(struct nccl_reading *r, char *line)
{
    char *words[WORDS_MAX];
    unsigned count = import_text_words(line + 1, words, WORDS_MAX);
    if (count > WORDS_MAX)
        return true;
    if (count >= 2 && strcmp(words[0], "Rank") == 0)
        return read_rank(r, words, count);
    if (count >= 2 && strcmp(words[0], "size") == 0)
        return read_header(r, words, count);
    if (count >= 1 && words[0][0] == '(' && r->in_table)
        return read_units(r, words, count);
    if (count >= 3 && strcmp(words[0], "Collective") == 0 && strcmp(words[1], "test") == 0 &&
        strcmp(words[2], "starting:") == 0)
        return read_start(r, words, count);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(words[0], "Out") == 0 && strcmp(words[i], "FAILED") == 0)
            return import_text_bad(&r->text, "values came out wrong: these runs measured nothing");
    return true;
}

/* The number format in a profile; "": one that no step sends. */
static const char *type_of(const char *type)
{
    static const char *const types[][2] = {
        {"float", "fp32"}, {"half", "fp16"},    {"bfloat16", "bf16"}, {"f8e4m3", "fp8"},
        {"f8e5m2", "fp8"}, {"fp8_e4m3", "fp8"}, {"fp8_e5m2", "fp8"}};
    static const char *const others[] = {"int8",  "uint8",  "int32",  "uint32",
                                         "int64", "uint64", "double", NULL};
    for (unsigned i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i][0], type) == 0)
            return types[i][1];
    for (unsigned i = 0; others[i] != NULL; i++)
        if (strcmp(others[i], type) == 0)
            return "";
    return NULL;
}

static bool agree(double said, double expected)
{
    return fabs(said - expected) <= AGREE_RATIO * expected + AGREE_BYTES_PER_S;
}

/* The time of one half of a row, once its bandwidths agree with it. */
static bool read_half(struct nccl_reading *r, char **words, const struct places *places,
                      double bytes, double *time_s)
{
    double figures[NCCL_COLUMN_COUNT] = {0.0};
    for (unsigned c = NCCL_COLUMN_TIME; c <= NCCL_COLUMN_BUSBW; c++) {
        const char *word = words[places->of[c] - 1];
        if (!import_text_number(word, &figures[c]) || figures[c] < 0.0)
            return import_text_bad(&r->text, "%s: '%s' is no number from 0 up", nccl_columns[c],
                                   import_text_quote(&r->text, word));
    }
    const char *wrong =
        places->of[NCCL_COLUMN_WRONG] != 0 ? words[places->of[NCCL_COLUMN_WRONG] - 1] : "0";
    double values = 0.0;
    if (import_text_number(wrong, &values) && values >= 1.0)
        return import_text_bad(&r->text, "%g wrong values: this run measured nothing", values);
    *time_s = figures[NCCL_COLUMN_TIME] * MICROSECOND;
    if (*time_s <= 0.0)
        return import_text_bad(&r->text, "a time of 0");
    const double algbw = bytes / *time_s;
    if (!agree(figures[NCCL_COLUMN_ALGBW] * GIGA, algbw))
        return import_text_bad(&r->text,
                               "%g B in %g us are %.4g GB/s, and algbw says %g: the units "
                               "are not B, us and GB/s",
                               bytes, figures[NCCL_COLUMN_TIME], algbw / GIGA,
                               figures[NCCL_COLUMN_ALGBW]);
    const double factor = collective_bus_factor(op_of(r->op), r->rank_count);
    return agree(figures[NCCL_COLUMN_BUSBW] * GIGA, algbw * factor) ||
           import_text_bad(&r->text,
                           "busbw is %.4g of algbw, that of %s among %u ranks %.4g: it is "
                           "another collective (--op), or 'Rank' lines are missing",
                           figures[NCCL_COLUMN_BUSBW] / figures[NCCL_COLUMN_ALGBW], r->op,
                           r->rank_count, factor);
}

static void keep(struct nccl_reading *r, double bytes, const char *type, double time_s)
{
    LIST_ROOM(r->arena, r->samples, r->sample_count, 1, r->sample_room);
    struct sample *s = &r->samples[r->sample_count];
    *s = (struct sample){
        .point = {.kind = POINT_COLLECTIVE}, .time_s = time_s, .order = r->sample_count};
    snprintf(s->point.name, sizeof s->point.name, "%s", r->op);
    snprintf(s->point.type, sizeof s->point.type, "%s", type);
    s->point.size[0] = r->rank_count;
    s->point.size[1] = bytes;
    s->point.size[2] = r->host_count > 1 ? r->host_count : 0.0;
    r->sample_count++;
}

static bool read_row(struct nccl_reading *r, char *line)
{
    char *words[WORDS_MAX];
    unsigned count = import_text_words(line, words, WORDS_MAX);
    const struct places *first = &r->halves[0];
    double bytes = 0.0;
    /* -S 1 adds a timestamp of one or two words at the end */
    if (count < r->width || count > r->width + 2 || count > WORDS_MAX)
        return import_text_bad(&r->text,
                               "%u words, and the header has %u columns: the row is cut "
                               "or mixed with another output",
                               count, r->width);
    if (!import_text_number(words[first->of[NCCL_COLUMN_SIZE] - 1], &bytes) || bytes < 0.0 ||
        bytes != floor(bytes))
        return import_text_bad(&r->text, "size: '%s' is no count of bytes",
                               import_text_quote(&r->text, words[first->of[NCCL_COLUMN_SIZE] - 1]));
    const char *type = type_of(words[first->of[NCCL_COLUMN_TYPE] - 1]);
    if (type == NULL)
        return import_text_bad(&r->text, "type: '%s' is none of nccl-tests'",
                               import_text_quote(&r->text, words[first->of[NCCL_COLUMN_TYPE] - 1]));
    if (bytes == 0.0 || *type == '\0') {
        r->out->left_out++;
        return true;
    }
    for (unsigned h = 0; h < r->half_count; h++) {
        double time_s = 0.0;
        if (!read_half(r, words, &r->halves[h], bytes, &time_s))
            return false;
        if (r->sample_count == 2 * NCCL_TESTS_ROWS_MAX)
            return import_text_bad(&r->text, "more than %d rows", NCCL_TESTS_ROWS_MAX);
        keep(r, bytes, type, time_s);
    }
    const char *problem = point_problem(&r->samples[r->sample_count - 1].point);
    return problem == NULL || import_text_bad(&r->text, "%s", problem);
}

static int compare_samples(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    char lines[2][POINT_LINE_BYTES];
    point_print(&a->point, lines[0]);
    point_print(&b->point, lines[1]);
    const int by_line = strcmp(lines[0], lines[1]);
    return by_line != 0 ? by_line : (a->order > b->order) - (a->order < b->order);
}

static void make_points(struct nccl_reading *r)
{
    double times[MEASURE_SAMPLES_MAX];
    r->out->points = ARENA_ARRAY(r->arena, struct measured_point, r->sample_count);
    qsort(r->samples, r->sample_count, sizeof *r->samples, compare_samples);
    for (unsigned i = 0, next; i < r->sample_count; i = next) {
        unsigned count = 0;
        for (next = i;
             next < r->sample_count && point_same(&r->samples[next].point, &r->samples[i].point);
             next++)
            if (count < MEASURE_SAMPLES_MAX)
                times[count++] = r->samples[next].time_s;
        struct measured_point *point = &r->out->points[r->out->point_count++];
        *point =
            (struct measured_point){.point = r->samples[i].point, .measurement = {.settled = true}};
        measure_samples(times, count, &point->measurement);
    }
}

bool nccl_tests_read(struct arena *arena, struct import_file file, const char *op,
                     struct nccl_tests *out, struct error *error)
{
    struct nccl_reading *r = ARENA_NEW(arena, struct nccl_reading);
    *out = (struct nccl_tests){.points = NULL};
    *r = (struct nccl_reading){.arena = arena, .out = out};
    if (op != NULL && (r->given_op = nccl_tests_op(op)) == NULL)
        return error_set(error,
                         "no collective '%s'; one of all_reduce, all_gather, reduce_scatter, "
                         "broadcast, all_to_all, send",
                         source_quote(arena, op));
    if (!import_text_begin(&r->text, arena, &file, error))
        return false;
    for (char *line = import_text_line(&r->text); line != NULL; line = import_text_line(&r->text)) {
        line += strspn(line, " \t");
        const bool row =
            r->in_table && *line >= '0' && *line <= '9' && strstr(line, "NCCL") == NULL;
        if (*line == '#' ? !read_comment(r, line) : row && !read_row(r, line))
            return false;
    }
    if (out->table_count == 0)
        return error_set(error, "%s: no table of nccl-tests: its header begins with '# size'",
                         file.path);
    if (r->sample_count == 0)
        return error_set(error, "%s: no row that a step can use: the output is cut, or of integers",
                         file.path);
    make_points(r);
    return true;
}
