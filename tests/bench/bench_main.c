/* orrery-bench [--json] [--only TEXT]: one line for each row of bench_list.h. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

enum {
    RUNS = 20
};

struct row {
    const struct bench *bench, *yardstick;
    double size, yardstick_size;
    const char *name, *unit;
    double aim;
};

struct result {
    double median, yardstick_median;
};

static double clock_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double work_per_s(const struct bench *bench, void *state)
{
    double begin_s = clock_s();
    double work = bench->run(state);
    return work / (clock_s() - begin_s);
}

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double median(double *values)
{
    qsort(values, RUNS, sizeof *values, compare);
    return 0.5 * (values[RUNS / 2 - 1] + values[RUNS / 2]);
}

/* The row and its yardstick in turn, so that both meet the same neighbours on the machine. One run
 * of each before, for caches and page faults. */
static struct result measure(const struct row *row)
{
    void *state = row->bench->prepare(row->size);
    void *yardstick_state = row->yardstick->prepare(row->yardstick_size);
    double values[RUNS], yardstick_values[RUNS];
    row->bench->run(state);
    row->yardstick->run(yardstick_state);
    for (int i = 0; i < RUNS; i++) {
        values[i] = work_per_s(row->bench, state);
        yardstick_values[i] = work_per_s(row->yardstick, yardstick_state);
    }
    row->bench->release(state);
    row->yardstick->release(yardstick_state);
    return (struct result){.median = median(values), .yardstick_median = median(yardstick_values)};
}

static void print_row(const struct row *row, struct result result, bool json, bool first)
{
    double ratio = result.median / result.yardstick_median;
    if (json)
        printf("%s\n  {\"name\": \"%s\", \"unit\": \"%s/s\", \"median\": %.6g, \"aim\": %.6g, "
               "\"yardstick\": %.6g, \"ratio\": %.6g}",
               first ? "" : ",", row->name, row->unit, result.median, row->aim,
               result.yardstick_median, ratio);
    else
        printf("%-46s %10.4g %s/s, aim %.3g (%.2f of it); %.3g of the yardstick's %.3g/s\n",
               row->name, result.median, row->unit, row->aim, result.median / row->aim, ratio,
               result.yardstick_median);
    fflush(stdout);
}

int main(int argument_count, char **arguments)
{
    static const struct row rows[] = {
#define X(benchmark, row_size, stick, stick_size, row_name, row_unit, row_aim)                     \
    {&benchmark, &stick, row_size, stick_size, row_name, row_unit, row_aim},
        BENCH_LIST
#undef X
    };
    bool json = false, first = true;
    const char *only = "";
    for (int i = 1; i < argument_count; i++) {
        if (strcmp(arguments[i], "--json") == 0) {
            json = true;
        } else if (strcmp(arguments[i], "--only") == 0 && i + 1 < argument_count) {
            only = arguments[++i];
        } else {
            fprintf(stderr, "usage: orrery-bench [--json] [--only TEXT]\n");
            return 2;
        }
    }
    printf("%s", json ? "[" : "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strstr(rows[i].name, only) == NULL)
            continue;
        print_row(&rows[i], measure(&rows[i]), json, first);
        first = false;
    }
    printf("%s", json ? "\n]\n" : "");
    return 0;
}
