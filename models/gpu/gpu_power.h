/* gpu_power.h - what the power cap of a card leaves for arithmetic.
 *
 * The sustained rates of struct gpu_spec hold at tdp_w. Of the cap, a static part (idle, leakage,
 * clocks) comes first; the rest feeds arithmetic and HBM. What follows holds for one kernel that
 * runs on and on; of a mixture, as training is, gpu_work.h. Rate goes with the clock; above
 * voltage_floor_ratio of the boost clock the voltage falls with the clock, and power with its third
 * power; below, the voltage stays and power goes with the clock. Never more than the card can
 * issue. Formulas, sources and limits: docs/models/kernel.md. */
#ifndef ORRERY_MODELS_GPU_GPU_POWER_H
#define ORRERY_MODELS_GPU_GPU_POWER_H

#include "models/gpu/gpu_spec.h"

/* What the card may draw, W: its cap, or tdp where that is less. No vendor lets a higher cap be
 * set, and no draw was measured there. */
double gpu_power_limit_w(const struct gpu_spec *gpu);
/* Is the cap below tdp? */
bool gpu_power_is_capped(const struct gpu_spec *gpu);
/* Static power at the cap, W: static_ratio of tdp at tdp, and from there straight down to idle_w in
 * a card that draws no more than that. What the cap leaves beside it, W. */
double gpu_power_static_w(const struct gpu_spec *gpu);
double gpu_power_dynamic_w(const struct gpu_spec *gpu);
/* The same card with its cap at tdp. */
struct gpu_spec gpu_power_rated(const struct gpu_spec *gpu);
/* Energy of a byte of HBM, J. */
double gpu_power_byte_j(const struct gpu_spec *gpu);
/* Does the cap leave anything beside the static part? Else the card cannot run. */
bool gpu_power_suffices(const struct gpu_spec *gpu);
/* Shares of the peak: what a large aligned product can issue, and what the cap sustains of it
 * where HBM moves gpu_power_usual_traffic. */
double gpu_power_issue_ratio(const struct gpu_spec *gpu);
double gpu_power_sustained_ratio(const struct gpu_spec *gpu);
/* Energy of a byte of HBM over the budget of a FLOP at that sustained rate: FLOP/B. */
double gpu_power_byte_flops(const struct gpu_spec *gpu, enum peak_kind peak);
/* HBM bytes of a FLOP in a large product of this element: each wave of 256 x 128 tiles, a square
 * patch, reads its rows and columns. B/FLOP. */
double gpu_power_usual_traffic(const struct gpu_spec *gpu, double element_bytes);
/* HBM rate of a streaming kernel, bytes/s. */
double gpu_power_stream_bytes_per_s(const struct gpu_spec *gpu);
/* Time of attention that takes `tdp_s` at tdp: its FLOPs cost what those of products do, or less
 * where it is faster than these; a lower cap stretches it once they want more than it leaves. */
double gpu_power_attention_s(const struct gpu_spec *gpu, const struct kernel *kernel, double tdp_s);
/* The same card before the cap has lowered its clock: in short runs. */
struct gpu_spec gpu_power_unthrottled(const struct gpu_spec *gpu);

#endif
