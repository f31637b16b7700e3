#include "models/lower/plan/lower_pace.h"

#include "models/gpu/gpu_power.h"

static void add_kernels(const struct configuration *c, const struct segment_kernels *kernels,
                        double times, struct gpu_work *sum)
{
    const struct gpu_spec rated = gpu_power_rated(&c->gpu);
    for (unsigned i = 0; i < kernels->count; i++) {
        const struct kernel *k = &kernels->kernels[i];
        const double time_s = gpu_kernel_time_s(&rated, &c->kernels, k);
        const struct gpu_work one = gpu_work_of(&rated, k, time_s);
        gpu_work_add(sum, &one, times);
    }
}

void lower_pace_add(const struct configuration *c, const struct layer *layer, double times,
                    struct gpu_work *sum)
{
    for (unsigned i = 0; i < layer->segment_count; i++) {
        const struct segment *g = &layer->segments[i];
        add_kernels(c, &g->forward, times, sum);
        add_kernels(c, &g->dgrad, times, sum);
        add_kernels(c, &g->wgrad, times, sum);
    }
}
