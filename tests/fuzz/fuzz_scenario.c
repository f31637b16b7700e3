/* The reader of scenarios under libFuzzer. The first line of an input may be `--set TEXT`; the rest
 * is the file. Whatever the bytes: no crash, no hang, problems with places, and a result either
 * sound or refused. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "scenarios/scenario.h"
#include "sim/check.h"

enum {
    SET_MAX = 255
};

/* Takes a leading `--set TEXT` line off the input. */
static void take_set(const char **text, size_t *size, char set[SET_MAX + 1])
{
    const char *newline = memchr(*text, '\n', *size);
    set[0] = '\0';
    if (newline == NULL || *size < 6 || memcmp(*text, "--set ", 6) != 0)
        return;
    size_t length = (size_t)(newline - *text) - 6;
    if (length > SET_MAX)
        return;
    memcpy(set, *text + 6, length);
    set[length] = '\0';
    *size -= (size_t)(newline + 1 - *text);
    *text = newline + 1;
}

static void check_problems(const struct scenario *scenario)
{
    unsigned errors = 0;
    for (unsigned i = 0; i < scenario->problem_count; i++) {
        const struct problem *problem = &scenario->problems[i];
        CHECK(problem->line > 0 && problem->column > 0 && problem->width > 0);
        CHECK(problem->text && *problem->text);
        for (const char *at = problem->text; *at; at++)
            CHECK((unsigned char)*at >= 0x20 && *at != 0x7F);
        errors += problem->warning ? 0 : 1;
    }
    CHECK(scenario->error_count >= errors);
    CHECK(scenario->error_count == 0 || errors > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    char set[SET_MAX + 1];
    take_set(&text, &size, set);
    const char *sets[] = {set};
    struct scenario_options options = {.sets = sets, .set_count = *set ? 1 : 0};
    struct error error = {{0}};
    struct scenario *scenario = scenario_read("fuzz.yaml", text, size, &options, &error);
    CHECK(scenario != NULL);
    check_problems(scenario);
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere) {
        scenario_print_problems(scenario, nowhere, true);
        fclose(nowhere);
    }
    scenario_destroy(scenario);
    return 0;
}
