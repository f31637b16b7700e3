/* The fleets of the catalogue against the counts that they were made from (failures.csv): by cause,
 * and the mean time between failures of a job on the whole machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "models/fleet/fleet.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/language/csv.h"
#include "sim/units.h"
#include "tests/test.h"

static struct scenario *read_fleet(const char *name, unsigned nodes)
{
    char text[512];
    struct error error = {{0}};
    snprintf(text, sizeof text,
             "model: {preset: llama3-8b}\ntraining: {sequence: 8192, global_batch: %u}\n"
             "cluster: {gpu: h100-80gb-sxm, nodes: %u, fabric: ib-ndr-8x400}\n"
             "run: {duration: 54d}\nfailures: [{preset: %s}]\n",
             8 * nodes, nodes, name);
    struct scenario *scenario = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    assert_non_null(scenario);
    if (scenario->diagnostics.error_count > 0)
        fail_msg("%s: %s", name, scenario->diagnostics.problems[0].text);
    return scenario;
}

static double mtbf_h(const char *name, unsigned nodes)
{
    struct scenario *scenario = read_fleet(name, nodes);
    double hours = fleet_job_mtbf_s(job_fleet(&scenario->job)) / HOUR;
    scenario_destroy(scenario);
    return hours;
}

/* Hours as printed, by column mttf_h, or days x 24 / count of failures.csv. */
static void test_of_the_whole_machine(void **state)
{
    static const struct {
        const char *fleet;
        unsigned nodes;
        double hours, relative;
    } rows[] = {
        {"llama3-405b", 2048, 54.0 * 24.0 / 419.0, 1e-5},
        {"rsc-1", 2048, 24.0 / (2048.0 * 6.50e-3), 1e-5},
        {"rsc-1", 16384, 0.2254, 1e-3},
        {"rsc-1", 128, 28.8, 2e-3},
        {"rsc-2", 1, 10256.4, 1e-5},
        {"ft-hsdp", 12500, 0.3, 1e-9},
        {"opt-175b", 124, 60.0 * 24.0 / 105.0, 1e-5},
        {"delta-a100", 56, 1.4, 0.05}, /* its errors by kind add up to one every 1.4 h */
        {"delta-h100", 76, 1.9, 1e-3},
        {"crusoe-h200", 200, 120.0 * 24.0 / 205.0, 1e-5},
        {"lablup-b200", 63, 55.0 * 24.0 / 10.0, 1e-5},
        {"titan-new", 1, 3552800.0 / 8.0, 1e-3},
        {"airesim", 4096, 24.0 * 100.0 / (4096.0 * (0.85 + 0.15 * 6.0)), 1e-9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double hours = mtbf_h(rows[i].fleet, rows[i].nodes);
        if (!(fabs(hours - rows[i].hours) < rows[i].relative * rows[i].hours))
            fail_msg("%s: %.6g h, not %.6g", rows[i].fleet, hours, rows[i].hours);
    }
}

static double units(const struct job_spec *job, const struct failure_cause *cause)
{
    return cause->unit == UNIT_GPU   ? (double)job->nodes * job->gpus_per_node
           : cause->unit == UNIT_NIC ? (double)job->nodes * job->nics_per_node
                                     : (cause->unit == UNIT_NODE ? (double)job->nodes : 1.0);
}

/* Table 5 of Llama 3, cause by cause in its order: days x units / mtbf is the printed count. */
static void test_llama3_by_cause(void **state)
{
    struct arena *arena = arena_create();
    struct error error;
    struct csv csv;
    struct scenario *scenario = read_fleet("llama3-405b", 2048);
    const struct job_spec *job = &scenario->job;
    unsigned met = 0;
    if (!csv_read(arena, VALIDATION "/failures.csv", &csv, &error))
        fail_msg("%s", error.text);
    for (size_t row = 0; row < csv.row_count; row++) {
        double count = strtod(csv_cell(&csv, row, "count"), NULL);
        double days = strtod(csv_cell(&csv, row, "days"), NULL);
        if (strncmp(csv_cell(&csv, row, "source"), "Llama3", 6) != 0 || met == 18)
            continue;
        const struct failure_cause *cause = &job->causes[met++];
        double wanted = days * DAY * units(job, cause) / cause->mtbf_s;
        if (!(fabs(wanted - count) <= 1e-4 * count))
            fail_msg("%s: %g failures, not %g", cause->name, wanted, count);
    }
    assert_int_equal(met, 18);
    assert_int_equal(job->cause_count, 18);
    scenario_destroy(scenario);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_the_whole_machine),
        cmocka_unit_test(test_llama3_by_cause),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
