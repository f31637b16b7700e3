#include "tests/fuzz/small_read.h"

#include "sim/check.h"

enum {
    CHOICE_LAYER_MAX = 2048 /* GPUs x layers: bounds the trials that choose a layout */
};

struct scenario *small_read(const char *text, size_t text_bytes, struct scenario_options *options)
{
    struct error error = {{0}};
    options->layout_open = true;
    struct scenario *open = scenario_read("fuzz.yaml", text, text_bytes, options, &error);
    CHECK(open != NULL);
    const struct configuration *c = &open->configuration;
    bool small = open->diagnostics.error_count > 0 ||
                 (uint64_t)configuration_gpus(c) * c->model.layers <= CHOICE_LAYER_MAX;
    scenario_destroy(open);
    options->layout_open = false;
    return small ? scenario_read("fuzz.yaml", text, text_bytes, options, &error) : NULL;
}
