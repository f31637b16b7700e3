#include "analysis/record/evidence/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/record/evidence/evidence_collectives.h"
#include "models/lower/stage/lower.h"
#include "models/profile/profile_time.h"
#include "sim/list.h"
#include "sim/plural.h"

struct evidence_sum {
    const char *kernel;
    enum kernel_evidence evidence;
    double gpu_s; /* of all ranks */
};
struct evidence_sums {
    struct arena *arena;
    struct evidence_sum *rows;
    uint32_t count, room;
    double all_s;
};

/* Calls `each` for each kernel of each program with the times that it runs in a step, all ranks. */
typedef void kernel_fn(void *context, const struct op_kernel *kernel, double times);

static void each_kernel(struct arena *arena, const struct lowered *lowered, kernel_fn *each,
                        void *context)
{
    double *ranks = ARENA_ARRAY(arena, double, lowered->program_count);
    for (uint32_t r = 0; r < lowered->rank_count; r++)
        ranks[lowered->program_of_rank[r]] += 1.0;
    for (uint32_t i = 0; i < lowered->program_count; i++) {
        const struct program *p = lowered->programs[i];
        double *times = ARENA_ARRAY(arena, double, p->cost_count);
        for (uint32_t k = 0; k < p->op_count; k++)
            if (p->ops[k].kind == OP_COMPUTE)
                times[p->ops[k].cost] += ranks[i];
        for (uint32_t row = 0; row < p->cost_count; row++)
            for (uint32_t k = 0; k < p->costs[row].kernel_count; k++)
                each(context, &p->kernels[p->costs[row].kernel_first + k], times[row]);
    }
}

static void add_up(void *context, const struct op_kernel *kernel, double times)
{
    struct evidence_sums *sums = context;
    uint32_t i = 0;
    while (i < sums->count && (sums->rows[i].evidence != kernel->evidence ||
                               strcmp(sums->rows[i].kernel, kernel->name) != 0))
        i++;
    if (i == sums->count) {
        LIST_ROOM(sums->arena, sums->rows, sums->count, 1, sums->room);
        sums->rows[sums->count++] = (struct evidence_sum){kernel->name, kernel->evidence, 0.0};
    }
    sums->rows[i].gpu_s += times * kernel->gpu_s;
    sums->all_s += times * kernel->gpu_s;
}

static const enum kernel_evidence evidence_of[COLLECTIVE_BASIS_COUNT] = {
    [COLLECTIVE_MODELLED] = KERNEL_MODELLED,
    [COLLECTIVE_EXTRAPOLATED] = KERNEL_EXTRAPOLATED,
    [COLLECTIVE_INTERPOLATED] = KERNEL_INTERPOLATED,
    [COLLECTIVE_MEASURED] = KERNEL_MEASURED,
};

/* Collectives and messages by operation and group, as long as each takes with its wires alone. */
static void add_collectives(const struct collective_use *uses, uint32_t count,
                            struct evidence_sums *sums)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct op_kernel whole = {
            .name = arena_format(sums->arena, "%s, %u in %u node%s", comm_op_names[uses[i].op],
                                 uses[i].ranks, uses[i].nodes, plural_s(uses[i].nodes)),
            .evidence = evidence_of[uses[i].basis],
            .gpu_s = uses[i].gpu_s,
        };
        add_up(sums, &whole, 1.0);
    }
}

static int longest_first(const void *a, const void *b)
{
    const struct evidence_sum *x = a, *y = b;
    if (x->gpu_s != y->gpu_s)
        return x->gpu_s < y->gpu_s ? 1 : -1;
    int names = strcmp(x->kernel, y->kernel);
    return names != 0 ? names : (int)x->evidence - (int)y->evidence;
}

void evidence_add(const struct configuration *c, const struct step *step, struct record *out)
{
    struct evidence_sums sums = {.arena = out->arena};
    if (c->kernels.lookup == NULL)
        return;
    each_kernel(out->arena, &step->lowered, add_up, &sums);
    if (c->collectives.count > 0) {
        uint32_t count;
        const struct collective_use *uses = evidence_collective_uses(out->arena, c, step, &count);
        add_collectives(uses, count, &sums);
        evidence_tell_points(c, uses, count, (double)step->lowered.rank_count, out);
    }
    qsort(sums.rows, sums.count, sizeof *sums.rows, longest_first);
    struct kernel_evidence_row *row = record_add(out, ROW_kernel_evidence, sums.count);
    for (uint32_t i = 0; i < sums.count; i++) {
        const struct evidence_sum *sum = &sums.rows[i];
        *row++ = (struct kernel_evidence_row){
            .kernel = sum->kernel,
            .evidence = kernel_evidence_names[sum->evidence],
            .gpu_s = sum->gpu_s / (double)step->lowered.rank_count,
            .time_ratio = sum->gpu_s / sums.all_s,
            .profile = c->kernels.name,
        };
    }
}

struct shape_weights {
    struct calibrate_plan *plan;
    double rank_count;
};

static void weigh(void *context, const struct op_kernel *kernel, double times)
{
    struct shape_weights *w = context;
    if (kernel->shape > 0)
        w->plan->rows[kernel->shape - 1].weight_s += times * kernel->gpu_s / w->rank_count;
}

void evidence_shapes(struct arena *arena, const struct configuration *c,
                     struct calibrate_plan *plan)
{
    struct configuration asking = *c;
    struct lowered lowered;
    asking.kernels = (struct kernel_source){profile_time_lookup, profile_time_ask(arena, plan), ""};
    lower_timed(arena, &asking, &lowered);
    struct shape_weights weights = {plan, (double)lowered.rank_count};
    each_kernel(arena, &lowered, weigh, &weights);
}
