/* gpu_work.c - mixtures of kernels under a power cap.
 *
 * Invariant 1: more clock is more power: energy never falls with it and time never rises. */
#include "models/gpu/gpu_work.h"

#include <math.h>

#include "models/gpu/gpu_power.h"
#include "sim/check.h"

enum {
    HALVINGS = 60 /* of [floor, 1]: below the last bit */
};

/* Energy of a FLOP of a large product beside its usual traffic, J. */
static double flop_j(const struct gpu_spec *rated, const struct kernel *kernel)
{
    double rate = rated->peak_flops_per_s[kernel->peak] * rated->gemm.efficiency_ratio;
    double usual = gpu_power_usual_traffic(rated, kernel->element_bytes) * gpu_power_byte_j(rated);
    return rate > 0.0 ? fmax(gpu_power_dynamic_w(rated) / rate - usual, 0.0) : 0.0;
}

static double traffic_bytes(const struct gpu_spec *gpu, const struct kernel *kernel)
{
    double usual = gpu_power_usual_traffic(gpu, kernel->element_bytes) * kernel->flops;
    return kernel->kind == KERNEL_GEMM ? fmax(kernel->bytes, usual) : kernel->bytes;
}

struct gpu_work gpu_work_of(const struct gpu_spec *gpu, const struct kernel *kernel, double time_s)
{
    const struct gpu_spec rated = gpu_power_rated(gpu);
    const double most_j = gpu_power_dynamic_w(&rated) * time_s;
    const bool streams = kernel->kind == KERNEL_MEMORY;
    const double bytes = traffic_bytes(gpu, kernel);
    struct gpu_work work = {.time_s = time_s};
    if (!(time_s > 0.0))
        return work;
    double memory = fmin(bytes / gpu_power_stream_bytes_per_s(&rated) / time_s, 1.0);
    work.clocked_s = streams ? 0.0 : time_s * (1.0 - memory * memory * memory);
    work.byte_j = fmin(bytes * gpu_power_byte_j(&rated), most_j);
    work.flop_j =
        streams ? 0.0 : fmin(kernel->flops * flop_j(&rated, kernel), most_j - work.byte_j);
    return work;
}

void gpu_work_add(struct gpu_work *sum, const struct gpu_work *part, double times)
{
    sum->time_s += part->time_s * times;
    sum->clocked_s += part->clocked_s * times;
    sum->flop_j += part->flop_j * times;
    sum->byte_j += part->byte_j * times;
}

/* Voltage of a clock, both as shares of those at boost. */
static double voltage(const struct gpu_spec *gpu, double clock)
{
    return fmax(clock, gpu->power.voltage_floor_ratio);
}

/* Share of the boost clock that a large product runs at, at tdp. */
static double product_clock(const struct gpu_spec *gpu)
{
    return gpu->gemm.efficiency_ratio / gpu_power_issue_ratio(gpu);
}

/* Dynamic energy of the work at a clock, J. */
static double energy_j(const struct gpu_spec *gpu, const struct gpu_work *work, double clock)
{
    double ratio = voltage(gpu, clock) / voltage(gpu, product_clock(gpu));
    return work->flop_j * ratio * ratio + work->byte_j;
}

double gpu_work_wanted_w(const struct gpu_spec *gpu, const struct gpu_work *work)
{
    return work->time_s > 0.0 ? energy_j(gpu, work, 1.0) / work->time_s : 0.0;
}

double gpu_work_draw_w(const struct gpu_spec *gpu, const struct gpu_work *work)
{
    return gpu_power_static_w(gpu) + fmin(gpu_work_wanted_w(gpu, work), gpu_power_dynamic_w(gpu));
}

/* The clock that tdp leaves this work: its times hold there. */
static double tdp_clock(const struct gpu_spec *rated, const struct gpu_work *work)
{
    double budget_j = gpu_power_dynamic_w(rated) * work->time_s;
    double clock = product_clock(rated);
    if (!(work->flop_j > 0.0))
        return 1.0;
    double ratio = sqrt(fmax(budget_j - work->byte_j, work->flop_j) / work->flop_j);
    double at = voltage(rated, clock) * ratio;
    return at > voltage(rated, clock) ? fmin(at, 1.0) : clock;
}

static double time_at(const struct gpu_work *work, double tdp, double clock)
{
    return work->time_s + work->clocked_s * (tdp / clock - 1.0);
}

struct gpu_pace gpu_work_pace(const struct gpu_spec *gpu, const struct gpu_work *work)
{
    const struct gpu_spec rated = gpu_power_rated(gpu);
    if (!gpu_power_is_capped(gpu) || !(work->time_s > 0.0))
        return (struct gpu_pace){1.0, 1.0};
    const double budget_w = gpu_power_dynamic_w(gpu), floor = gpu->power.voltage_floor_ratio;
    const double tdp = tdp_clock(&rated, work);
    CHECK(budget_w > 0.0 && tdp > 0.0);
    double low = fmin(floor, 1.0), high = 1.0;
    if (energy_j(gpu, work, low) > budget_w * time_at(work, tdp, low)) {
        const double time_s = energy_j(gpu, work, low) / budget_w;
        const double waits_s = work->time_s - work->clocked_s;
        const double clock =
            work->clocked_s > 0.0 ? tdp * work->clocked_s / (time_s - waits_s) : low;
        return (struct gpu_pace){clock / tdp, time_s / work->time_s};
    }
    if (energy_j(gpu, work, high) > budget_w * time_at(work, tdp, high))
        for (int i = 0; i < HALVINGS; i++) { /* 1 */
            const double clock = 0.5 * (low + high);
            if (energy_j(gpu, work, clock) > budget_w * time_at(work, tdp, clock))
                high = clock;
            else
                low = clock;
        }
    else
        low = high;
    return (struct gpu_pace){low / tdp, time_at(work, tdp, low) / work->time_s};
}

struct gpu_spec gpu_work_card(const struct gpu_spec *gpu, const struct gpu_work *work)
{
    struct gpu_spec out = gpu_power_rated(gpu);
    if (!gpu_power_is_capped(gpu))
        return *gpu;
    const double ratio = gpu_work_pace(gpu, work).clock_ratio;
    const double stream = gpu_power_stream_bytes_per_s(gpu) / gpu->hbm.bytes_per_s;
    out.clock_hz *= ratio;
    out.hbm.efficiency_ratio = fmin(out.hbm.efficiency_ratio, stream);
    for (unsigned i = 0; i < PEAK_COUNT; i++)
        out.peak_flops_per_s[i] *= ratio;
    for (unsigned kernel = 0; kernel < ATTENTION_KERNEL_COUNT; kernel++) {
        for (unsigned causal = 0; causal < 2; causal++) {
            out.attention.forward[kernel][causal].ceiling_flops_per_s *= ratio;
            out.attention.backward[kernel][causal].ceiling_flops_per_s *= ratio;
        }
    }
    return out;
}
