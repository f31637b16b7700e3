/* The laws of duration_list.h, scaled from the mean 1 to a given one. */
#include "models/duration/duration.h"

#include <math.h>
#include <stddef.h>

#include "sim/check.h"

struct duration_kind {
    double (*quantile)(double mean, double shape, double u);
    double (*residual)(double mean, double shape, double u);
    double (*survival)(double shape, double x);
    double (*log_density)(double shape, double x);
    double (*residual_survival)(double shape, double x);
    const struct duration_shape *shape;
};
static const struct duration_kind kinds[DURATION_LAW_COUNT] = {
#define X(NAME, name)                                                                              \
    [DURATION_##NAME] = {duration_##name##_quantile,          duration_##name##_residual,          \
                         duration_##name##_survival,          duration_##name##_log_density,       \
                         duration_##name##_residual_survival, &duration_##name##_shape},
#include "models/duration/duration_list.h"
#undef X
};
const char *const duration_law_names[DURATION_LAW_COUNT + 1] = {
#define X(NAME, name) [DURATION_##NAME] = #name,
#include "models/duration/duration_list.h"
#undef X
};

static const struct duration_kind *kind_of(int law)
{
    CHECK(law >= 0 && law < DURATION_LAW_COUNT);
    return &kinds[law];
}

const struct duration_shape *duration_shape_of(int law)
{
    return kind_of(law)->shape;
}

double duration_quantile_s(const struct duration *d, double u)
{
    CHECK(u > 0.0 && u < 1.0);
    return d->mean_s == 0.0 ? 0.0 : kind_of(d->law)->quantile(d->mean_s, d->shape, u);
}

double duration_residual_s(const struct duration *d, double u)
{
    CHECK(u > 0.0 && u < 1.0);
    return d->mean_s == 0.0 ? 0.0 : kind_of(d->law)->residual(d->mean_s, d->shape, u);
}

double duration_survival(const struct duration *d, double t_s)
{
    if (t_s < 0.0)
        return 1.0;
    return d->mean_s == 0.0 ? 0.0 : kind_of(d->law)->survival(d->shape, t_s / d->mean_s);
}

double duration_log_density(const struct duration *d, double t_s)
{
    CHECK(t_s > 0.0 && d->mean_s > 0.0 && d->law != DURATION_FIXED);
    return kind_of(d->law)->log_density(d->shape, t_s / d->mean_s) - log(d->mean_s);
}

double duration_residual_survival(const struct duration *d, double t_s)
{
    CHECK(d->mean_s > 0.0 && d->law != DURATION_FIXED);
    return t_s <= 0.0 ? 1.0 : kind_of(d->law)->residual_survival(d->shape, t_s / d->mean_s);
}
