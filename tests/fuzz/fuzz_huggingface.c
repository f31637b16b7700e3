/* The reader of a Hugging Face config.json under libFuzzer; what it takes also goes through a
 * scenario that names it. Whatever the bytes: no crash, and a model whose counts are finite or a
 * problem. The file lies in memory, so that no disk is touched. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "models/plan/rule_of_thumb.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/catalogue/huggingface.h"
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

/* Does the reader itself take it? Far quicker than a scenario with its catalogue. */
static bool taken(int file)
{
    char path[64];
    struct arena *arena = arena_create();
    struct problems *problems = ARENA_NEW(arena, struct problems);
    struct source *source = ARENA_NEW(arena, struct source);
    problems->arena = arena;
    *source = (struct source){.name = "fuzz.yaml", .text = "hf"};
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct mark where = {source, 1, 1, 1};
    bool good = huggingface_read(arena, path, where, NULL, problems) != NULL;
    CHECK(good || (problems->error_count > 0 && *problems->kept[0].text != '\0'));
    arena_destroy(arena);
    return good;
}

static void check_counts(const struct configuration *c)
{
    struct rule_of_thumb rule;
    rule_of_thumb(c, &rule);
    CHECK(isfinite(rule.parameters) && rule.parameters > 0.0);
    CHECK(isfinite(rule.total_bytes) && rule.total_bytes > 0.0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int file = memfd_create("config.json", MFD_CLOEXEC);
    CHECK(file >= 0 && write(file, data, size) == (ssize_t)size);
    if (taken(file)) {
        struct scenario *scenario = read_with(file);
        if (scenario->diagnostics.error_count == 0)
            check_counts(&scenario->configuration);
        scenario_destroy(scenario);
    }
    close(file);
    return 0;
}
