/* constant.h - a figure of the catalogue that is not exact, as one scenario stands on it.
 *
 * Each has a name that is the same in every scenario ("gpu.h100-80gb-sxm.gemm_efficiency"), so that
 * two scenarios can share its draws, and a relative standard error: the catalogue's, or where it
 * states none the usual one of the figure's origin, which its source tells. Figures that the
 * scenario gives itself are exact, and so are defaults of the tables. */
#ifndef ORRERY_SCENARIOS_CATALOGUE_CONSTANT_H
#define ORRERY_SCENARIOS_CATALOGUE_CONSTANT_H

#include "models/layout/configuration.h"

enum constant_origin {
    ORIGIN_PUBLISHED,     /* read in a paper or in the source of the software */
    ORIGIN_SPECIFICATION, /* of a data sheet */
    ORIGIN_MEASURED,      /* on kernels or collectives */
    ORIGIN_FITTED,        /* to training steps */
    ORIGIN_ASSUMED,       /* derived from a sibling, or not measured */
    ORIGIN_COUNT
};
extern const char *const constant_origin_names[]; /* NULL-ended */
/* Relative standard error of a figure of this origin that states none; 0: exact. */
extern const double constant_origin_error[ORIGIN_COUNT];

struct constant {
    const char *name;
    size_t offset; /* of a double in struct configuration */
    double minimum, maximum;
    double error_ratio; /* standard deviation of its logarithm; above 0 */
    enum constant_origin origin;
    bool stated; /* the error stands in the catalogue */
};

/* By its words: "assumed", "not measured"; "fit"; "tests/validation"; "data sheet", "white paper",
 * "specification"; else published. */
enum constant_origin constant_origin_of(const char *source);
double constant_value(const struct configuration *c, const struct constant *constant);
/* Multiplies it, inside its range. */
void constant_scale(struct configuration *c, const struct constant *constant, double factor);

#endif
