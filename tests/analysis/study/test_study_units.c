/* Every metric that a study can have as its objective is printed with its unit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/study/study_report.h"
#include "tests/test.h"

enum {
    POINTS = 4
};
static struct study study;

/* Four stages of a pipeline, played once. */
static void make(struct arena *arena)
{
    static const struct scenario_options plain = {0};
    static struct study_options options = {.path = "a.yaml", .scenario = &plain};
    struct error error = {""};
    study = (struct study){.arena = arena,
                           .options = &options,
                           .vary_count = 1,
                           .name = "Units",
                           .point_count = POINTS};
    assert_true(study_vary_read(arena, "layout.pp=1,2,4,8", &study.varies[0], &error));
    study.points = ARENA_ARRAY(arena, struct study_point, POINTS);
    for (size_t p = 0; p < POINTS; p++) {
        struct study_point *point = &study.points[p];
        *point =
            (struct study_point){.share = {0, 1}, .replications = 1, .fits = true, .done = true};
        point->values = arena_array(arena, sizeof *point->values, 1, _Alignof(double));
        point->marks.young_s = point->marks.exact_s = NAN;
        for (unsigned m = 0; m < METRIC_COUNT; m++)
            point->values[0][m] = NAN;
    }
}

/* To be freed. */
static char *report(void)
{
    static char *text;
    size_t size;
    struct study_list list = {0};
    struct session session = {.out = open_memstream(&text, &size)};
    list.count = study_order(&study, 0, &list.points);
    study_optimum(&study, &list.optimum);
    study_report(&session, &study, &list);
    fclose(session.out);
    return text;
}

/* Units as people read them, of each that the list of metrics has. A count has none; that of tokens
 * stands in the metric's name. */
static bool carries_unit(const struct study_metric_info *metric, const char *figure)
{
    static const struct {
        const char *unit, *shown;
    } units[] = {{"s", "|us|ms|s|min|h|d|"},  {"1", "|%|"},
                 {"B", "|B|KiB|MiB|GiB|"},    {"USD", "|USD|"},
                 {"J", "|J|Wh|kWh|MWh|GWh|"}, {"W", "|W|kW|MW|GW|"}};
    const char *last = strrchr(figure, ' ');
    if (*metric->unit == '\0')
        return true;
    if (strncmp(metric->unit, "tokens", strlen("tokens")) == 0)
        return strstr(metric->name, "tokens") != NULL;
    char word[32];
    snprintf(word, sizeof word, "|%s|", last != NULL ? last + 1 : "");
    for (unsigned i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strcmp(units[i].unit, metric->unit) == 0)
            return strstr(units[i].shown, word) != NULL;
    return false;
}

static void test_units(void **state)
{
    static const double sizes[] = {0.25, 900.0, 2e10};
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            char figure[64] = "";
            struct arena *arena = arena_create();
            make(arena);
            study.objective = (enum study_metric)m;
            for (size_t p = 0; p < POINTS; p++)
                study.points[p].values[0][m] = sizes[i] * (double)(p + 1);
            char *text = report();
            char *best = strstr(text, "\nbest ");
            assert_non_null(best);
            assert_int_equal(sscanf(best, "\nbest %*[^:]: %63[^\n]", figure), 1);
            *strstr(figure, " at ") = '\0';
            if (!carries_unit(&study_metrics[m], figure))
                fail_msg("%s of %g %s is printed as %s", study_metrics[m].name, sizes[i],
                         study_metrics[m].unit, figure);
            free(text);
            arena_destroy(arena);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
