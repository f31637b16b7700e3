#include "tests/scenarios/assemble/weeks.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"

static const char *const sound[WEEKS_LINE_COUNT] = {
    "model: {preset: llama3-8b}",
    "cluster: {gpu: h100-80gb-sxm, node: dgx-h100, nodes: 4, fabric: ib-ndr-8x400}",
    "training: {sequence: 8192, global_batch: 64}",
    "layout: {tp: 8, pp: 2, schedule: 1f1b, microbatch: 1, recompute: none}",
    "run: {duration: 54d}",
    "failures: [{cause: gpu, mtbf: 5.8y}]",
    "checkpoint: {policy: sync, interval: 30min, storage: disk}",
    "storage: [{name: disk, total_write_bandwidth: 10GB/s}]",
    "recovery: {policy: hot-spare, spares: 2}",
};

struct scenario *weeks_read_text(const char *text)
{
    struct error error = {{0}};
    struct scenario *scenario = scenario_read("t.yaml", text, strlen(text), NULL, &error);
    if (scenario == NULL)
        fail_msg("%s", error.text);
    return scenario;
}

struct scenario *weeks_read_both(enum weeks_line line, const char *replacement,
                                 enum weeks_line other, const char *more)
{
    char text[4096];
    size_t at = 0;
    for (enum weeks_line i = 0; i < WEEKS_LINE_COUNT; i++) {
        const char *written = i == line ? replacement : i == other ? more : sound[i];
        at += (size_t)snprintf(text + at, sizeof text - at, "%s\n", written);
    }
    return weeks_read_text(text);
}

struct scenario *weeks_read(enum weeks_line line, const char *replacement)
{
    return weeks_read_both(line, replacement, WEEKS_LINE_COUNT, "");
}

void weeks_problems_are(const struct scenario *scenario, const char *wanted)
{
    char text[8192] = "";
    size_t at = 0;
    for (unsigned i = 0; i < scenario->diagnostics.problem_count && at < sizeof text; i++) {
        const struct problem *p = &scenario->diagnostics.problems[i];
        const char *file = strcmp(p->file, "t.yaml") == 0 ? "" : p->file;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s%s%u:%u: %s\n",
                               p->warning ? "~" : "", file, *file ? ":" : "", p->line, p->column,
                               p->text);
    }
    assert_string_equal(text, wanted);
}

void weeks_cases(const struct weeks_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *wanted = cases[i].problems;
        struct scenario *scenario = weeks_read(cases[i].line, cases[i].text);
        weeks_problems_are(scenario, wanted);
        assert_true((scenario->diagnostics.error_count > 0) == (*wanted != '\0' && *wanted != '~'));
        scenario_destroy(scenario);
    }
}
