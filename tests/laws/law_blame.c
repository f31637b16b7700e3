#include "tests/laws/law_blame.h"

#include <math.h>
#include <stdio.h>

#include "models/schedule/schedule_kind.h"

/* The stream that carries a part, by what it is for; STREAM_COMPUTE carries work. */
static enum breakdown_part part_of_stream(unsigned stream)
{
    switch (stream) {
    case STREAM_TP:
        return PART_EXPOSED_TP;
    case STREAM_CP:
    case STREAM_CP_HEADS:
        return PART_EXPOSED_CP;
    case STREAM_EP:
        return PART_EXPOSED_EP;
    case STREAM_SEND_NEXT:
    case STREAM_RECV_PREV:
    case STREAM_SEND_PREV:
    case STREAM_RECV_NEXT:
        return PART_EXPOSED_PP;
    case STREAM_TO_HOST:
    case STREAM_FROM_HOST:
        return PART_OFFLOAD;
    default:
        return PART_EXPOSED_DP;
    }
}

static enum breakdown_part part_of_kernel(unsigned phase)
{
    if (phase == PHASE_RECOMPUTE)
        return PART_RECOMPUTE;
    return phase == PHASE_OPTIMIZER ? PART_OPTIMIZER : PART_COMPUTE;
}

/* What the compute stream of this class was busy with. */
static void busy_s(const struct law_play *p, uint32_t rank_class, double out[PART_COUNT])
{
    const struct program *program = p->lowered.programs[p->symmetry.ranks[rank_class].program];
    for (unsigned part = 0; part < PART_COUNT; part++)
        out[part] = 0.0;
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct op *op = &program->ops[i];
        const struct op_times times = worker_times(p->worker, rank_class, i);
        if (op->stream == STREAM_COMPUTE)
            out[part_of_kernel(op->phase)] += times.finish_s - times.begin_s;
    }
}

static bool has_slow_card(const struct configuration *c)
{
    for (uint32_t i = 0; i < c->perturbation_count; i++)
        if (c->perturbations[i].what == PERTURB_GPU_SPEED)
            return true;
    return c->kernel_jitter_sigma > 0.0;
}

/* May a rank of this play wait for it? */
static void possible_waits(const struct law_play *p, bool out[PART_COUNT])
{
    for (unsigned part = 0; part < PART_COUNT; part++)
        out[part] = false;
    out[PART_STRAGGLER] = has_slow_card(p->c);
    out[PART_BUBBLE] = p->c->layout.pp > 1;
    for (uint32_t k = 0; k < p->lowered.program_count; k++) {
        const struct program *program = p->lowered.programs[k];
        for (uint32_t i = 0; i < program->op_count; i++) {
            const struct op *op = &program->ops[i];
            if (op->stream != STREAM_COMPUTE)
                out[part_of_stream(op->stream)] = true;
            if (program->hosts[op->host] > 0.0)
                out[PART_HOST] = true;
        }
    }
}

static bool is_busy_part(unsigned part)
{
    return part == PART_COMPUTE || part == PART_RECOMPUTE || part == PART_OPTIMIZER;
}

const char *law_parts_fault(const struct law_play *p, uint32_t rank_class,
                            const double parts[PART_COUNT], char text[LAW_TEXT])
{
    double busy[PART_COUNT];
    bool possible[PART_COUNT];
    busy_s(p, rank_class, busy);
    possible_waits(p, possible);
    for (unsigned part = 0; part < PART_COUNT; part++) {
        if (is_busy_part(part) && !(fabs(parts[part] - busy[part]) <= 1e-12 * p->step_s)) {
            snprintf(text, LAW_TEXT, "class %u: %s says %.17g s, its kernels take %.17g",
                     rank_class, breakdown_names[part], parts[part], busy[part]);
            return text;
        }
        if (!is_busy_part(part) && !possible[part] && parts[part] != 0.0) {
            snprintf(text, LAW_TEXT, "class %u: %s says %.17g s, and nobody has any", rank_class,
                     breakdown_names[part], parts[part]);
            return text;
        }
    }
    return NULL;
}

const char *law_blame_fault(const struct law_play *p, char text[LAW_TEXT])
{
    double bubble_s = 0.0;
    for (uint32_t i = 0; i < p->symmetry.rank_class_count; i++) {
        double parts[PART_COUNT];
        worker_breakdown(p->worker, i, parts);
        bubble_s += parts[PART_BUBBLE];
        const char *fault = law_parts_fault(p, i, parts, text);
        if (fault != NULL)
            return fault;
    }
    const struct layout_spec *l = &p->c->layout;
    const bool none =
        l->pipeline.schedule->placement == PLACED_BOTH_WAYS && l->pp == 2; /* p/2 - 1 = 0 */
    return l->pp > 1 && bubble_s == 0.0 && !none ? "a pipeline without a bubble" : NULL;
}
