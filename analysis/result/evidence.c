#include "analysis/result/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "models/gpu/calibrate/profile_time.h"
#include "sim/list.h"

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

/* The number of the plan by which the ranks of a class play an op; PLAN_NONE: nothing is sent. */
static uint32_t plan_of(const struct symmetry *y, const struct rank_class *ranks,
                        const struct op *op)
{
    if (op->kind == OP_COMPUTE || ranks->group[op->stream] == GROUP_NONE)
        return PLAN_NONE;
    const struct group_class *group = &y->groups[ranks->group[op->stream]];
    const struct party *party = &y->parties[group->party_first + ranks->party[op->stream]];
    const uint32_t plan = y->plan_of[party->plan_first + op->cost];
    return plan != PLAN_NONE && y->plans[plan].bytes > 0.0 ? plan : PLAN_NONE;
}

/* Collectives and messages by operation and group, as long as each takes with its wires alone. */
static void add_collectives(const struct step *step, struct evidence_sums *sums)
{
    const struct symmetry *y = &step->symmetry;
    double *times = ARENA_ARRAY(sums->arena, double, y->plan_count); /* of all ranks */
    const char **names = ARENA_ARRAY(sums->arena, const char *, y->plan_count);
    for (uint32_t r = 0; r < y->rank_class_count; r++) {
        const struct program *p = step->lowered.programs[y->ranks[r].program];
        for (uint32_t i = 0; i < p->op_count; i++) {
            const uint32_t plan = plan_of(y, &y->ranks[r], &p->ops[i]);
            if (plan == PLAN_NONE)
                continue;
            times[plan] += y->ranks[r].rank_count;
            names[plan] = comm_op_names[p->transfers[p->ops[i].cost].op];
        }
    }
    for (uint32_t i = 0; i < y->plan_count; i++) {
        const struct played_plan *plan = &y->plans[i];
        if (names[i] == NULL)
            continue;
        const struct group_shape *shape = &y->groups[plan->group].shape;
        const struct op_kernel whole = {
            .name = arena_format(sums->arena, "%s, %u in %u node%s", names[i], shape->ranks,
                                 shape->nodes, shape->nodes == 1 ? "" : "s"),
            .evidence = evidence_of[plan->tuned.basis],
            .gpu_s = plan->latency_s + plan->bytes / plan->cap_bytes_per_s,
        };
        add_up(sums, &whole, times[i]);
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
    if (c->collectives.count > 0)
        add_collectives(step, &sums);
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
