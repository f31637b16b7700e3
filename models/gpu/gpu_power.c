/* gpu_power.c - the sustained clock under a power cap. */
#include "models/gpu/gpu_power.h"

#include <math.h>

#include "sim/check.h"

#define USUAL_TILE_ROWS 256.0
#define USUAL_TILE_COLUMNS 128.0

static double rated_w(const struct gpu_spec *gpu)
{
    return gpu->power.tdp_w > 0.0 ? gpu->power.tdp_w : gpu->power.cap_w;
}

double gpu_power_limit_w(const struct gpu_spec *gpu)
{
    return fmin(gpu->power.cap_w, rated_w(gpu));
}

bool gpu_power_is_capped(const struct gpu_spec *gpu)
{
    return gpu->power.cap_w < rated_w(gpu);
}

/* Of a card at tdp. What of it an idle card does not draw is leakage of a hot one and clocks:
 * temperature rises in proportion to power, and so does leakage over some tens of kelvin. */
double gpu_power_static_w(const struct gpu_spec *gpu)
{
    double rated = rated_w(gpu), at_tdp = gpu->power.static_ratio * rated;
    double idle = fmin(gpu->power.idle_w, at_tdp);
    double hot = rated > idle ? (at_tdp - idle) / (rated - idle) : 0.0;
    return at_tdp - hot * (rated - gpu_power_limit_w(gpu));
}

double gpu_power_dynamic_w(const struct gpu_spec *gpu)
{
    return gpu_power_limit_w(gpu) - gpu_power_static_w(gpu);
}

struct gpu_spec gpu_power_rated(const struct gpu_spec *gpu)
{
    struct gpu_spec out = *gpu;
    out.power.cap_w = out.power.tdp_w = rated_w(gpu);
    return out;
}

bool gpu_power_suffices(const struct gpu_spec *gpu)
{
    return gpu_power_dynamic_w(gpu) > 0.0;
}

double gpu_power_issue_ratio(const struct gpu_spec *gpu)
{
    return fmax(gpu->gemm.burst_ratio, gpu->gemm.efficiency_ratio);
}

/* Dynamic power at a share of the boost clock, over that at all of it: V^2 f, with V in proportion
 * to the clock down to the floor. */
static double power_of_clock(double clock, double floor)
{
    return clock * pow(fmax(clock, floor), 2.0);
}

static double clock_of_power(double power, double floor)
{
    return power > pow(floor, 3.0) ? cbrt(power) : power / pow(floor, 2.0);
}

double gpu_power_sustained_ratio(const struct gpu_spec *gpu)
{
    double issue = gpu_power_issue_ratio(gpu), floor = gpu->power.voltage_floor_ratio;
    if (!gpu_power_is_capped(gpu))
        return gpu->gemm.efficiency_ratio;
    const struct gpu_spec rated = gpu_power_rated(gpu);
    double ratio = gpu_power_dynamic_w(gpu) / gpu_power_dynamic_w(&rated);
    CHECK(gpu_power_suffices(gpu) && ratio > 0.0);
    double at_tdp = power_of_clock(gpu->gemm.efficiency_ratio / issue, floor);
    return issue * clock_of_power(at_tdp * ratio, floor);
}

double gpu_power_byte_j(const struct gpu_spec *gpu)
{
    return gpu->power.memory_ratio * rated_w(gpu) / gpu->hbm.bytes_per_s;
}

double gpu_power_byte_flops(const struct gpu_spec *gpu, enum peak_kind peak)
{
    double flops_per_s = gpu->peak_flops_per_s[peak] * gpu_power_sustained_ratio(gpu);
    return gpu_power_byte_j(gpu) * flops_per_s / gpu_power_dynamic_w(gpu);
}

double gpu_power_usual_traffic(const struct gpu_spec *gpu, double element_bytes)
{
    double side = sqrt((double)gpu->sm_count);
    double elements = side * (USUAL_TILE_ROWS + USUAL_TILE_COLUMNS);
    double flops = 2.0 * (double)gpu->sm_count * USUAL_TILE_ROWS * USUAL_TILE_COLUMNS;
    return elements * element_bytes / flops;
}

double gpu_power_stream_bytes_per_s(const struct gpu_spec *gpu)
{
    double rate = gpu->hbm.bytes_per_s * gpu->hbm.efficiency_ratio;
    double energy_j = gpu_power_byte_j(gpu);
    return energy_j > 0.0 ? fmin(rate, gpu_power_dynamic_w(gpu) / energy_j) : rate;
}

double gpu_power_attention_s(const struct gpu_spec *gpu, const struct kernel *kernel, double tdp_s)
{
    double products = gpu->peak_flops_per_s[kernel->peak] * gpu->gemm.efficiency_ratio;
    double clock = gpu_power_sustained_ratio(gpu) / gpu->gemm.efficiency_ratio;
    return fmax(tdp_s, fmin(kernel->flops / products, tdp_s) / clock);
}

struct gpu_spec gpu_power_unthrottled(const struct gpu_spec *gpu)
{
    struct gpu_spec out = *gpu;
    out.gemm.efficiency_ratio = gpu_power_issue_ratio(gpu);
    out.power.cap_w = out.power.tdp_w = gpu_power_limit_w(gpu);
    out.power.memory_ratio = 0.0;
    return out;
}
