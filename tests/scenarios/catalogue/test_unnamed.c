/* The profile of a scenario that names no framework is the middle of those in use: of every
 * framework its newest profiles. Figures are their median, errors at least as wide as they differ
 * and as any of them states, flags and choices what most of them do; what stays with one decision
 * (data parallelism by zero-1) or lets a layout be asked for at all is listed here. No figure comes
 * from a measured step. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/assemble/scenario.h"
#include "scenarios/describe/describe.h"
#include "tests/test.h"

enum {
    PROFILES_MAX = 32
};
static const char of_none[] = "unnamed";
static const char *const decided[] = {
    "bucket",      "gradients", "fp8_recipe",      "even_stages", "usual_attention",
    "interleaves", "year",      "block_recompute", "native",      "scan_time",
    "sparse_time", "cp_mixers", "makers_recipe",   "narrow_rows"};
/* Exact: they follow from decisions, not from how well something is done. */
static const char *const exact[] = {"bucket", "gradient_kept_bytes", "cp_gradient_bytes"};

static struct profiles {
    struct scenario *read[PROFILES_MAX];
    const struct software_profile *rows[PROFILES_MAX];
    unsigned count;
} in_use, superseded;
static struct scenario *own;

static bool is_of(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}
#define IS_OF(name, list) is_of(name, list, sizeof list / sizeof list[0])

static struct scenario *read_software(const char *line)
{
    char text[512];
    struct error error = {""};
    snprintf(text, sizeof text,
             "model: {layers: 2, hidden: 256, heads: 4, vocabulary: 1024}\n"
             "cluster: {gpu: h100-80gb-sxm, gpus: 8}\n"
             "training: {sequence: 512, global_batch: 16}\n%s",
             line);
    struct scenario *s = scenario_read("test.yaml", text, strlen(text), NULL, &error);
    assert_non_null(s);
    assert_int_equal(s->diagnostics.error_count, 0);
    return s;
}

static bool is_superseded(const struct software_profile *p, const struct profiles *all)
{
    for (unsigned i = 0; i < all->count; i++)
        if (*p->version.framework != '\0' &&
            strcmp(all->rows[i]->version.framework, p->version.framework) == 0 &&
            all->rows[i]->version.year > p->version.year)
            return true;
    return false;
}

static int set_up(void **state)
{
    struct arena *arena = arena_create();
    const struct catalogue_entry *entries;
    struct error error = {""};
    struct profiles all = {.count = 0};
    const unsigned count = describe_entries("software", NULL, arena, &entries, &error);
    assert_in_range(count, 9, PROFILES_MAX);
    for (unsigned i = 0; i < count; i++) {
        char line[128];
        if (strcmp(entries[i].name, of_none) == 0)
            continue;
        snprintf(line, sizeof line, "software: %s\n", entries[i].name);
        all.read[all.count] = read_software(line);
        all.rows[all.count] = &all.read[all.count]->configuration.software;
        if (all.rows[all.count]->offers.experts_alone) /* the middle is of what runs any model */
            scenario_destroy(all.read[all.count]);
        else
            all.count++;
    }
    for (unsigned i = 0; i < all.count; i++) {
        struct profiles *to = is_superseded(all.rows[i], &all) ? &superseded : &in_use;
        to->read[to->count] = all.read[i];
        to->rows[to->count++] = all.rows[i];
    }
    own = read_software("");
    arena_destroy(arena);
    return 0;
}

static int tear_down(void **state)
{
    for (unsigned i = 0; i < in_use.count; i++)
        scenario_destroy(in_use.read[i]);
    for (unsigned i = 0; i < superseded.count; i++)
        scenario_destroy(superseded.read[i]);
    scenario_destroy(own);
    return 0;
}

static const char *at(const struct software_profile *p, const struct param *param)
{
    return (const char *)p + param->offset;
}

static double number_of(const struct software_profile *p, const struct param *param)
{
    double out;
    memcpy(&out, at(p, param), sizeof out);
    return out;
}

static int choice_of(const struct software_profile *p, const struct param *param)
{
    int out;
    memcpy(&out, at(p, param), sizeof out);
    return param->type == PARAM_FLAG ? *(const bool *)at(p, param) : out;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_figure(const struct param *param)
{
    return param->type == PARAM_RATIO || param->type == PARAM_TIME || param->type == PARAM_BYTES ||
           param->type == PARAM_BANDWIDTH;
}

static void no_framework_is_the_middle(void **state)
{
    assert_string_equal(own->configuration.software.name, of_none);
    bool told = false;
    for (unsigned i = 0; i < own->choices.count; i++)
        told |= own->choices.rows[i].key == CHOICE_PROFILE &&
                strcmp(own->choices.rows[i].value, of_none) == 0;
    assert_true(told);
    struct scenario *named = read_software("software: nemo\n");
    for (unsigned i = 0; i < named->choices.count; i++)
        assert_int_not_equal(named->choices.rows[i].key, CHOICE_PROFILE);
    scenario_destroy(named);
    /* A figure alone names no framework. */
    named = read_software("software: {launch: 20us}\n");
    assert_string_equal(named->configuration.software.name, of_none);
    scenario_destroy(named);
}

static void figures_are_medians(void **state)
{
    unsigned differ = 0;
    assert_int_equal(in_use.count, 8);
    for (unsigned k = 0; k < software_param_count; k++) {
        const struct param *param = &software_params[k];
        double all[PROFILES_MAX];
        if (!is_figure(param) || IS_OF(param->name, decided))
            continue;
        for (unsigned i = 0; i < in_use.count; i++)
            all[i] = number_of(in_use.rows[i], param);
        qsort(all, in_use.count, sizeof all[0], ascending);
        const double median = 0.5 * (all[in_use.count / 2] + all[(in_use.count - 1) / 2]);
        const double here = number_of(&own->configuration.software, param);
        if (!(fabs(here - median) <= 1e-9 * fabs(median)))
            fail_msg("%s: %g, and the median is %g", param->name, here, median);
        differ += all[0] < all[in_use.count - 1];
    }
    assert_true(differ > 20);
}

/* What none of the eight is decides nothing; of a tie, what takes longer. */
static void flags_are_what_most_do(void **state)
{
    static const char *const slower_on[] = {"fp8_split_backward"};
    for (unsigned k = 0; k < software_param_count; k++) {
        const struct param *param = &software_params[k];
        if ((param->type != PARAM_FLAG && param->type != PARAM_CHOICE) ||
            IS_OF(param->name, decided))
            continue;
        const int here = choice_of(&own->configuration.software, param);
        unsigned alike = 0;
        for (unsigned i = 0; i < in_use.count; i++)
            alike += choice_of(in_use.rows[i], param) == here;
        if (2 * alike < in_use.count)
            fail_msg("%s: %u of %u profiles do so", param->name, alike, in_use.count);
        if (2 * alike == in_use.count && here != IS_OF(param->name, slower_on))
            fail_msg("%s: of a tie, what takes longer", param->name);
    }
}

/* Buckets are of those that share the optimizer's state alone, as it does. */
static void the_data_parallelism_is_of_one_kind(void **state)
{
    const struct software_profile *p = &own->configuration.software;
    double buckets[PROFILES_MAX];
    unsigned count = 0, buffers = 0;
    for (unsigned i = 0; i < in_use.count; i++) {
        if (strcmp(in_use.rows[i]->usual.sharding, p->usual.sharding) != 0)
            continue;
        buffers += in_use.rows[i]->data.gradients == p->data.gradients;
        buckets[count++] = in_use.rows[i]->data.bucket_bytes;
    }
    assert_int_equal(count, 3);
    qsort(buckets, count, sizeof buckets[0], ascending);
    assert_true(p->data.bucket_bytes == buckets[count / 2]);
    assert_int_equal(buffers, count);
    /* What lets a layout be asked for, any of them offers. */
    assert_true(p->pipeline.interleaves && p->pipeline.makers_recipe && p->offers.block_recompute &&
                p->offers.selective_recompute && p->offers.sequence_parallelism);
}

static const struct stated_figure *figure_of(const struct scenario *s, const char *name)
{
    char path[160];
    snprintf(path, sizeof path, "software.%s.%s", s->configuration.software.name, name);
    for (unsigned i = 0; i < s->stated.figure_count; i++)
        if (strcmp(s->stated.figures[i].name, path) == 0)
            return &s->stated.figures[i];
    return NULL;
}

static void errors_are_as_wide_as_they_differ(void **state)
{
    for (unsigned k = 0; k < software_param_count; k++) {
        const struct param *param = &software_params[k];
        const struct stated_figure *here = figure_of(own, param->name);
        double sum = 0.0, squares = 0.0, count = 0.0;
        if (!is_figure(param) || IS_OF(param->name, exact) || here == NULL || here->value <= 0.0)
            continue;
        for (unsigned i = 0; i < in_use.count; i++) {
            const struct stated_figure *f = figure_of(in_use.read[i], param->name);
            const double value = number_of(in_use.rows[i], param);
            if (f != NULL && f->error_ratio > here->error_ratio)
                fail_msg("%s: error %g, and %s states %g", param->name, here->error_ratio,
                         in_use.rows[i]->name, f->error_ratio);
            if (value <= 0.0)
                continue;
            sum += log(value);
            squares += log(value) * log(value);
            count += 1.0;
        }
        const double variance = (squares - sum * sum / count) / (count - 1.0);
        if (!(here->error_ratio >= sqrt(fmax(variance, 0.0)) - 1e-6))
            fail_msg("%s: error %g, and they differ by %g", param->name, here->error_ratio,
                     sqrt(variance));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_framework_is_the_middle),
        cmocka_unit_test(figures_are_medians),
        cmocka_unit_test(flags_are_what_most_do),
        cmocka_unit_test(the_data_parallelism_is_of_one_kind),
        cmocka_unit_test(errors_are_as_wide_as_they_differ),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
