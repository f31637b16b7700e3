/* worker_loads.c - what each wire carried when, found out again after the play.
 *
 * The play keeps when activities began and finished, not the rates between. An activity that shares
 * no wire moves at its ceiling from its begin on. Those that share are shared out again: they start
 * and end at the instants of the play, and the rates between depend on what is there alone
 * (sim/share.h), so they are those of the play. What is left at the end of an activity is what its
 * last piece carries, so nothing is lost to rounding.
 *
 * Of activities that begin and end at one instant begins come first: an activity may take no time.
 */
#include <math.h>
#include <stdlib.h>

#include "models/step/simulate/worker_state.h"
#include "sim/list.h"

#define NO_SLOT UINT32_MAX

struct sharer { /* an activity on shared wires */
    const struct played_plan *plan;
    double begin_s, end_s; /* on the wire */
    double left;           /* in units of share: bytes on its busiest wire */
    double rate, since_s;
    uint32_t rank_class, share; /* share: its id while it moves */
};
struct loads {
    const struct worker *worker;
    worker_load_fn *take;
    void *context;
    struct arena *arena;
    struct sharer *sharers;
    uint32_t sharer_count, sharer_capacity;
    struct share *share;
    uint32_t *sharer_of, sharer_of_capacity; /* [id of share] */
};

/* Of rows of uses: `moved` units pass in this time. */
static void tell_uses(const struct loads *loads, uint32_t first, uint32_t count,
                      struct worker_load load, double moved)
{
    const struct share_use *uses = loads->worker->symmetry->uses;
    for (uint32_t i = first; i < first + count; i++) {
        load.link = uses[i].link;
        load.bytes = moved * uses[i].weight;
        if (load.bytes > 0.0)
            loads->take(loads->context, &load);
    }
}

static void tell_plan(const struct loads *loads, const struct played_plan *plan,
                      struct worker_load load, double moved)
{
    tell_uses(loads, plan->use_first, plan->use_count, load, moved);
    tell_uses(loads, plan->own_first, plan->own_count, load, moved);
}

static void tell_moved(const struct loads *loads, struct sharer *s, double now_s, double moved)
{
    const struct worker_load load = {
        .rank_class = s->rank_class, .from_s = s->since_s, .until_s = now_s};
    tell_plan(loads, s->plan, load, moved);
    s->left -= moved;
    s->since_s = now_s;
}

static void add_activity(struct loads *loads, const struct played_plan *plan, uint32_t rank_class,
                         const struct op_times *times)
{
    const double units = plan->bytes * plan->wire_weight;
    if (units <= 0.0)
        return;
    if (plan->use_count == 0) {
        const double wire_s = plan->bytes / plan->cap_bytes_per_s;
        tell_plan(loads, plan,
                  (struct worker_load){.rank_class = rank_class,
                                       .from_s = times->begin_s,
                                       .until_s = times->begin_s + wire_s},
                  units);
        return;
    }
    LIST_ROOM(loads->arena, loads->sharers, loads->sharer_count, 1, loads->sharer_capacity);
    loads->sharers[loads->sharer_count++] = (struct sharer){
        .plan = plan,
        .begin_s = times->begin_s,
        .end_s = worker_later(times->begin_s, times->finish_s - plan->latency_s),
        .left = units,
        .rank_class = rank_class,
        .share = NO_SLOT,
    };
}

/* Every party of an activity posts it; the first one speaks for all. */
static void gather_class(struct loads *loads, uint32_t rank_class)
{
    const struct worker *worker = loads->worker;
    const struct symmetry *y = worker->symmetry;
    const struct rank_class *mine = &y->ranks[rank_class];
    const struct program *program = worker->lowered->programs[mine->program];
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct op *op = &program->ops[i];
        if (op->kind == OP_COMPUTE || mine->group[op->stream] == GROUP_NONE ||
            mine->party[op->stream] != 0)
            continue;
        const struct group_class *group = &y->groups[mine->group[op->stream]];
        const uint32_t plan = y->plan_of[y->parties[group->party_first].plan_first + op->cost];
        if (plan == PLAN_NONE)
            continue;
        const struct op_times times = worker_times(worker, rank_class, i);
        add_activity(loads, &y->plans[plan], rank_class, &times);
    }
}

static int compare_ends(const void *a, const void *b)
{
    const struct sharer *x = *(const struct sharer *const *)a,
                        *y = *(const struct sharer *const *)b;
    return x->end_s != y->end_s ? (x->end_s > y->end_s) - (x->end_s < y->end_s) : (x > y) - (x < y);
}

static int compare_begins(const void *a, const void *b)
{
    const struct sharer *x = *(const struct sharer *const *)a,
                        *y = *(const struct sharer *const *)b;
    return x->begin_s != y->begin_s ? (x->begin_s > y->begin_s) - (x->begin_s < y->begin_s)
                                    : (x > y) - (x < y);
}

static void start(struct loads *loads, struct sharer *s, double now_s)
{
    const struct played_plan *plan = s->plan;
    const uint32_t id =
        share_start(loads->share, now_s,
                    (struct share_demand){s->left, plan->cap_bytes_per_s * plan->wire_weight, 1.0},
                    loads->worker->symmetry->uses + plan->use_first, plan->use_count);
    if (id >= loads->sharer_of_capacity) {
        const uint32_t count = loads->sharer_of_capacity;
        LIST_ROOM(loads->arena, loads->sharer_of, count, id + 1 - count, loads->sharer_of_capacity);
    }
    loads->sharer_of[id] = (uint32_t)(s - loads->sharers);
    s->share = id;
    s->since_s = now_s;
}

static void end(const struct loads *loads, struct sharer *s, double now_s)
{
    tell_moved(loads, s, now_s, s->left);
    share_finish(loads->share, now_s, s->share);
}

static void solve(struct loads *loads, double now_s)
{
    const uint32_t *changed = NULL;
    const size_t count = share_solve(loads->share, now_s, &changed);
    for (size_t i = 0; i < count; i++) {
        struct sharer *s = &loads->sharers[loads->sharer_of[changed[i]]];
        if (now_s > s->since_s)
            tell_moved(loads, s, now_s, fmin(s->left, s->rate * (now_s - s->since_s)));
        s->rate = share_rate(loads->share, changed[i]);
    }
}

static struct sharer **sorted(const struct loads *loads, int compare(const void *, const void *))
{
    struct sharer **rows = ARENA_ARRAY(loads->arena, struct sharer *, loads->sharer_count);
    for (uint32_t i = 0; i < loads->sharer_count; i++)
        rows[i] = &loads->sharers[i];
    qsort(rows, loads->sharer_count, sizeof *rows, compare);
    return rows;
}

static void share_again(struct loads *loads)
{
    const struct symmetry *y = loads->worker->symmetry;
    const uint32_t count = loads->sharer_count;
    struct sharer **begins = sorted(loads, compare_begins), **ends = sorted(loads, compare_ends);
    double *capacity = ARENA_ARRAY(loads->arena, double, y->link_class_count);
    for (uint32_t i = 0; i < y->link_class_count; i++)
        capacity[i] = y->links[i].bytes_per_s;
    loads->share = share_create(loads->arena, y->link_class_count, capacity);
    for (uint32_t begun = 0, ended = 0; ended < count;) {
        const double begin_s = begun < count ? begins[begun]->begin_s : INFINITY;
        const double now_s = fmin(begin_s, ends[ended]->end_s);
        while (begun < count && begins[begun]->begin_s == now_s)
            start(loads, begins[begun++], now_s);
        while (ended < count && ends[ended]->end_s == now_s)
            end(loads, ends[ended++], now_s);
        solve(loads, now_s);
    }
}

void worker_loads(const struct worker *worker, worker_load_fn *take, void *context)
{
    struct loads loads = {
        .worker = worker, .take = take, .context = context, .arena = arena_create()};
    for (uint32_t i = 0; i < worker->symmetry->rank_class_count; i++)
        gather_class(&loads, i);
    if (loads.sharer_count > 0)
        share_again(&loads);
    arena_destroy(loads.arena);
}
