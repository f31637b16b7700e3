#include "scenarios/catalogue/constant.h"

#include <math.h>
#include <string.h>

const char *const constant_origin_names[] = {"published", "specification", "measured",
                                             "fitted",    "assumed",       NULL};
const double constant_origin_error[ORIGIN_COUNT] = {
    [ORIGIN_PUBLISHED] = 0.0, [ORIGIN_SPECIFICATION] = 0.0, [ORIGIN_MEASURED] = 0.05,
    [ORIGIN_FITTED] = 0.15,   [ORIGIN_ASSUMED] = 0.3,
};

enum constant_origin constant_origin_of(const char *source)
{
    static const struct {
        const char *word;
        enum constant_origin origin;
    } words[] = {
        {"assumed", ORIGIN_ASSUMED},
        {"not measured", ORIGIN_ASSUMED},
        {"fit:", ORIGIN_FITTED},
        {"fitted", ORIGIN_FITTED},
        {"tests/validation/", ORIGIN_MEASURED},
        {"data sheet", ORIGIN_SPECIFICATION},
        {"white paper", ORIGIN_SPECIFICATION},
        {"specification", ORIGIN_SPECIFICATION},
    };
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(source, words[i].word) != NULL)
            return words[i].origin;
    return ORIGIN_PUBLISHED;
}

static double *field(struct configuration *c, const struct constant *constant)
{
    return (double *)(void *)((char *)c + constant->offset);
}

double constant_value(const struct configuration *c, const struct constant *constant)
{
    return *(const double *)(const void *)((const char *)c + constant->offset);
}

void constant_scale(struct configuration *c, const struct constant *constant, double factor)
{
    double *value = field(c, constant);
    *value = fmin(fmax(*value * factor, constant->minimum), constant->maximum);
}
