#include "models/step/simulate/step_power.h"

#include <math.h>

#include "models/gpu/gpu_power.h"
#include "models/gpu/gpu_work.h"
#include "models/layout/power_wall.h"
#include "models/layout/rental.h"
#include "sim/check.h"

enum power_phase step_power_phase(enum breakdown_part part)
{
    switch (part) {
    case PART_COMPUTE:
    case PART_RECOMPUTE:
        return POWER_COMPUTE;
    case PART_OPTIMIZER:
        return POWER_OPTIMIZER;
    case PART_EXPOSED_TP:
    case PART_EXPOSED_CP:
    case PART_EXPOSED_EP:
    case PART_EXPOSED_PP:
    case PART_EXPOSED_DP:
    case PART_OFFLOAD:
        return POWER_COMMUNICATION;
    case PART_BUBBLE:
    case PART_HOST:
    case PART_STRAGGLER:
    case PART_COUNT:
        break;
    }
    return POWER_WAITING;
}

void step_power_cards(const struct configuration *c, const struct program *program,
                      const double parts_s[PART_COUNT], struct step_cards *out)
{
    struct gpu_work work[POWER_PHASE_COUNT] = {0};
    const double static_w = gpu_power_static_w(&c->gpu);
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct op *op = &program->ops[i];
        if (op->kind != OP_COMPUTE)
            continue;
        const struct op_cost *cost = &program->costs[op->cost];
        const struct gpu_work one = {.flop_j = cost->flop_j, .byte_j = cost->byte_j};
        gpu_work_add(&work[op->phase == PHASE_OPTIMIZER ? POWER_OPTIMIZER : POWER_COMPUTE], &one,
                     1.0);
    }
    for (unsigned part = 0; part < PART_COUNT; part++)
        work[step_power_phase((enum breakdown_part)part)].time_s += parts_s[part];
    for (unsigned phase = 0; phase < POWER_PHASE_COUNT; phase++) {
        const double wanted_w = gpu_work_wanted_w(&c->gpu, &work[phase]);
        const double dynamic_w = fmin(wanted_w, gpu_power_dynamic_w(&c->gpu));
        out->time_s[phase] = work[phase].time_s;
        out->card_w[phase] = static_w + dynamic_w;
    }
}

void step_power_add(const struct configuration *c, const struct program *program,
                    const double parts_s[PART_COUNT], double share, struct step_power *out)
{
    struct step_cards cards;
    step_power_cards(c, program, parts_s, &cards);
    for (unsigned phase = 0; phase < POWER_PHASE_COUNT; phase++) {
        out->time_s[phase] += share * cards.time_s[phase];
        out->card_j[phase] += share * cards.card_w[phase] * cards.time_s[phase];
    }
}

/* Nobody stated what the node draws beside its cards. */
static void set_unknown(struct step_power *out)
{
    out->card_w = out->step_j = NAN;
    for (unsigned phase = 0; phase < POWER_PHASE_COUNT; phase++)
        out->time_s[phase] = out->card_j[phase] = out->phase_j[phase] = NAN;
}

void step_power_end(const struct configuration *c, double step_s, struct step_power *out)
{
    struct rental rental;
    double card_j = 0.0, step_j = 0.0;
    if (!(c->cluster.node.power.conversion_ratio > 0.0)) {
        set_unknown(out);
        return;
    }
    rental_of(c, &rental);
    const double ranks = (double)configuration_ranks(c);
    const double idle = (double)rental.paid_gpus - ranks;
    const double none_w = power_wall_w(c, 0.0), watt_w = power_wall_w(c, 1.0) - none_w;
    for (unsigned phase = 0; phase < POWER_PHASE_COUNT; phase++)
        card_j += out->card_j[phase];
    out->card_w = card_j / step_s;
    for (unsigned phase = 0; phase < POWER_PHASE_COUNT; phase++) {
        /* What stands beside the cards goes by time: phases tile the step. */
        out->phase_j[phase] = ranks * (watt_w * out->card_j[phase] + none_w * out->time_s[phase]);
        step_j += out->phase_j[phase];
    }
    const double idle_j = idle * power_wall_w(c, c->gpu.power.idle_w) * step_s;
    out->phase_j[POWER_WAITING] += idle_j;
    out->step_j = (ranks * power_wall_w(c, out->card_w)) * step_s + idle_j;
    CHECK(fabs(step_j + idle_j - out->step_j) <= 1e-6 * out->step_j);
}
