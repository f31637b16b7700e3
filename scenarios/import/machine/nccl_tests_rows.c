/* nccl_tests_rows.c - one measurement: its collective, whether its figures agree, its point. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/collective/collective_kind.h"
#include "scenarios/import/machine/nccl_tests_state.h"
#include "sim/list.h"
#include "sim/units.h"

/* Figures are printed with two decimals, of large ones with three or four digits. */
#define AGREE_RATIO 0.02
#define AGREE_GB_PER_S 0.011
/* Of large figures the operation must be told from its neighbours. */
#define GUESS_RATIO 0.003

/* Letters and digits alone, of the same case: "All_Reduce" is "allreduce". */
static bool same_letters(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "_-");
        b += strspn(b, "_-");
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (*a == '\0')
            return true;
    }
}

const char *nccl_tests_op(const char *program)
{
    char name[32];
    size_t length = strlen(program);
    if (length > 5 && strcmp(program + length - 5, "_perf") == 0)
        length -= 5;
    if (length >= sizeof name)
        return NULL;
    memcpy(name, program, length);
    name[length] = '\0';
    if (same_letters(name, "sendrecv"))
        return comm_op_names[COMM_SEND];
    for (int op = 0; op <= (int)COMM_SEND; op++)
        if (same_letters(name, comm_op_names[op]))
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

bool nccl_tests_take_op(struct nccl_reading *r, const char *program)
{
    r->op = nccl_tests_op(program);
    return r->op != NULL ||
           import_text_bad(&r->text, "'%s' is no collective that a step plays; leave its table out",
                           import_text_quote(&r->text, program));
}

bool nccl_tests_question(const struct nccl_reading *r)
{
    return import_text_bad(&r->text,
                           "which collective is it? Nothing above says so, and busbw over "
                           "algbw fits several or none: give --op all_reduce, "
                           "all_gather, ...");
}

/* What src/ of nccl-tests prints of each: a redop or `none`, a root or -1, and whether its values
 * are checked in place (reportErrors). */
static const struct nccl_words {
    enum comm_op op;
    bool reduces, rooted, apart;
} known[] = {{COMM_ALL_REDUCE, true, false, false},     {COMM_ALL_GATHER, false, false, false},
             {COMM_REDUCE_SCATTER, true, false, false}, {COMM_BROADCAST, false, true, false},
             {COMM_ALL_TO_ALL, false, false, true},     {COMM_SEND, true, false, true}};

static bool is_told(const char *hint)
{
    return hint != NULL && *hint != '\0';
}

/* The column that this operation does not print so; NULL: none. */
static const char *contradicts(const struct nccl_words *words, const struct nccl_hints *hints)
{
    if (is_told(hints->redop) && (strcmp(hints->redop, "none") != 0) != words->reduces)
        return "redop";
    if (is_told(hints->root) && (strcmp(hints->root, "-1") != 0) != words->rooted)
        return "root";
    return hints->in_place_unchecked && !words->apart ? "#wrong in place" : NULL;
}

const char *nccl_tests_guess(unsigned ranks, const struct nccl_times *times,
                             const struct nccl_hints *hints)
{
    const bool told = is_told(hints->redop) && is_told(hints->root);
    const char *found = NULL;
    unsigned count = 0;
    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        const double expected = times->algbw * collective_bus_factor(known[i].op, ranks);
        const bool fits = fabs(times->busbw - expected) <= GUESS_RATIO * expected + AGREE_GB_PER_S;
        if (!fits || contradicts(&known[i], hints) != NULL)
            continue;
        found = comm_op_names[known[i].op];
        count++;
    }
    /* Without those columns `reduce`, which no step plays, looks like others; nothing looks like an
     * all-reduce, whose factor alone is above 1. */
    return count == 1 && (told || times->busbw > times->algbw + AGREE_GB_PER_S) ? found : NULL;
}

const char *nccl_tests_type(const char *type)
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
    return fabs(said - expected) <= AGREE_RATIO * expected + AGREE_GB_PER_S;
}

static bool check(const struct nccl_reading *r, const struct nccl_times *times)
{
    if (times->wrong >= 1.0)
        return import_text_bad(&r->text, "%g wrong values: this run measured nothing",
                               times->wrong);
    if (times->time_us <= 0.0)
        return import_text_bad(&r->text, "a time of 0");
    const double algbw = times->bytes / (times->time_us * MICROSECOND) / GIGA;
    if (!agree(times->algbw, algbw))
        return import_text_bad(&r->text,
                               "%g B in %g us are %.4g GB/s, and algbw says %g: the units "
                               "are not B, us and GB/s",
                               times->bytes, times->time_us, algbw, times->algbw);
    const double factor = collective_bus_factor(op_of(r->op), r->rank_count);
    return agree(times->busbw, algbw * factor) ||
           import_text_bad(&r->text,
                           "busbw is %.4g of algbw, that of %s among %u ranks %.4g: it is "
                           "another collective (--op), or 'Rank' lines are missing",
                           times->busbw / times->algbw, r->op, r->rank_count, factor);
}

static bool check_hints(const struct nccl_reading *r, const struct nccl_hints *hints)
{
    unsigned row = 0;
    while (strcmp(comm_op_names[known[row].op], r->op) != 0)
        row++;
    const char *column = contradicts(&known[row], hints);
    return column == NULL ||
           import_text_bad(&r->text,
                           "%s is not what %s prints there (redop %s, root %s, values in place "
                           "%schecked): it is another collective (--op)",
                           column, r->op, known[row].reduces ? "sum" : "none",
                           known[row].rooted ? "0" : "-1", known[row].apart ? "never " : "");
}

bool nccl_tests_keep(struct nccl_reading *r, const char *type, const struct nccl_times *times,
                     const struct nccl_hints *hints)
{
    if (!check(r, times) || !check_hints(r, hints))
        return false;
    if (r->sample_count == 2 * NCCL_TESTS_ROWS_MAX)
        return import_text_bad(&r->text, "more than %d rows", NCCL_TESTS_ROWS_MAX);
    LIST_ROOM(r->arena, r->samples, r->sample_count, 1, r->sample_room);
    struct nccl_sample *s = &r->samples[r->sample_count];
    *s = (struct nccl_sample){.point = {.kind = POINT_COLLECTIVE},
                              .time_s = times->time_us * MICROSECOND,
                              .order = r->sample_count};
    snprintf(s->point.name, sizeof s->point.name, "%s", r->op);
    snprintf(s->point.type, sizeof s->point.type, "%s", type);
    s->point.size[0] = r->rank_count;
    s->point.size[1] = times->bytes;
    s->point.size[2] = r->host_count > 1 ? r->host_count : 0.0;
    r->sample_count++;
    const char *problem = point_problem(&s->point);
    return problem == NULL || import_text_bad(&r->text, "%s", problem);
}

static int compare_samples(const void *left, const void *right)
{
    const struct nccl_sample *a = left, *b = right;
    char lines[2][POINT_LINE_BYTES];
    point_print(&a->point, lines[0]);
    point_print(&b->point, lines[1]);
    const int by_line = strcmp(lines[0], lines[1]);
    return by_line != 0 ? by_line : (a->order > b->order) - (a->order < b->order);
}

void nccl_tests_points(struct nccl_reading *r)
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
