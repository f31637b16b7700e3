/* A whole step of a scenario's text under libFuzzer: see small_step.h for what must hold. */
#include "tests/fuzz/set_line.h"
#include "tests/fuzz/small_step.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario *scenario = set_line_scenario(data, size);
    if (scenario) {
        small_step(scenario);
        scenario_destroy(scenario);
    }
    return 0;
}
