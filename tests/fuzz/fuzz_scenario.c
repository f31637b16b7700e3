/* The reader of scenarios under libFuzzer. The first line of an input may be `--set TEXT`; the rest
 * is the file. Whatever the bytes: no crash, no hang, problems with places, and a result either
 * sound or refused. */
#include <stdio.h>

#include "sim/check.h"
#include "tests/fuzz/set_line.h"

static void check_problems(const struct scenario *scenario)
{
    unsigned errors = 0;
    for (unsigned i = 0; i < scenario->diagnostics.problem_count; i++) {
        const struct problem *problem = &scenario->diagnostics.problems[i];
        CHECK(problem->line > 0 && problem->column > 0 && problem->width > 0);
        CHECK(problem->text && *problem->text);
        for (const char *at = problem->text; *at; at++)
            CHECK((unsigned char)*at >= 0x20 && *at != 0x7F);
        errors += problem->warning ? 0 : 1;
    }
    CHECK(scenario->diagnostics.error_count >= errors);
    CHECK(scenario->diagnostics.error_count == 0 || errors > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario *scenario = set_line_scenario(data, size);
    if (scenario == NULL)
        return 0;
    check_problems(scenario);
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere) {
        scenario_print_problems(scenario, nowhere, true);
        fclose(nowhere);
    }
    scenario_destroy(scenario);
    return 0;
}
