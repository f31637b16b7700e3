/* The reader of a Hugging Face config.json under libFuzzer, through a scenario that names it.
 * Whatever the bytes: no crash, and a model whose counts are finite or a problem. The file lies in
 * memory, so that no disk is touched. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "models/step.h"
#include "scenarios/scenario.h"
#include "sim/check.h"

static struct scenario *read_with(int file)
{
    char text[256];
    snprintf(text, sizeof text,
             "model: {hf: /proc/self/fd/%d}\ncluster: {gpu: h100-80gb-sxm, node: dgx-h100}\n"
             "training: {sequence: 1024, global_batch: 8}\n",
             file);
    struct error error = {{0}};
    struct scenario *scenario = scenario_read("fuzz.yaml", text, strlen(text), NULL, &error);
    CHECK(scenario != NULL);
    return scenario;
}

static void check_counts(const struct configuration *c)
{
    struct rule_of_thumb rule;
    step_rule_of_thumb(c, &rule);
    CHECK(isfinite(rule.parameters) && rule.parameters > 0.0);
    CHECK(isfinite(rule.total_bytes) && rule.total_bytes > 0.0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("config.json", MFD_CLOEXEC);
    CHECK(file >= 0 && write(file, data, size) == (ssize_t)size);
    struct scenario *scenario = read_with(file);
    close(file);
    if (scenario->error_count == 0)
        check_counts(&scenario->configuration);
    else
        CHECK(scenario->problem_count > 0 && *scenario->problems[0].text != '\0');
    scenario_destroy(scenario);
    return 0;
}
