#include "tests/kind_defaults.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sim/check.h"

static double default_of(const struct param *option)
{
    CHECK(option->fallback != NULL);
    if (option->type == PARAM_FLAG)
        return strcmp(option->fallback, "true") == 0 ? 1.0 : 0.0;
    char *end;
    const double value = strtod(option->fallback, &end);
    const bool percent = strcmp(end, "%") == 0;
    CHECK(end != option->fallback && (*end == '\0' || percent));
    return percent ? value / 100.0 : value;
}

struct kind_options kind_defaults(const struct kind *kind)
{
    struct kind_options out = {{0}};
    for (unsigned i = 0; i < kind->options.count; i++) {
        const struct param *option = &kind->options.rows[i];
        CHECK(option->offset < KIND_OPTION_MAX);
        out.value[option->offset] = default_of(option);
    }
    return out;
}
