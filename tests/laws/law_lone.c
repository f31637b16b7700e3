#include "tests/laws/law_lone.h"

#include <math.h>
#include <string.h>

#include "sim/check.h"

struct summing {
    const struct topology *topology;
    const struct law_activity *activity;
    double *load;
    double largest;
};

static void add_wire(void *context, uint32_t from_member, uint32_t to_member, double weight)
{
    struct summing *s = context;
    struct route route;
    topology_route(s->topology, s->activity->gpus[from_member], s->activity->gpus[to_member],
                   s->activity->flow_seed, &route);
    for (uint32_t i = 0; i < route.link_count; i++)
        s->load[route.links[i].value] += share_weight(weight / s->largest);
}

static void find_largest(void *context, uint32_t from_member, uint32_t to_member, double weight)
{
    struct summing *s = context;
    (void)from_member;
    (void)to_member;
    s->largest = fmax(s->largest, weight);
}

/* Loads relative to the busiest wire, whose weight is returned. */
static double sum_loads(const struct topology *topology, const struct law_activity *activity,
                        const struct group_shape *shape, double *load)
{
    uint32_t nodes[LONE_RANK_MAX];
    struct summing s = {topology, activity, load, 0.0};
    CHECK(activity->gpu_count <= LONE_RANK_MAX);
    for (uint32_t i = 0; i < activity->gpu_count; i++)
        nodes[i] = topology_node_of(topology, activity->gpus[i]);
    memset(load, 0, sizeof *load * topology->graph.link_count);
    activity->kind->wires(activity->op, shape, nodes, find_largest, &s);
    activity->kind->wires(activity->op, shape, nodes, add_wire, &s);
    return s.largest;
}

struct law_wires law_wire_rate(const struct topology *topology, const struct law_activity *activity,
                               const struct group_shape *shape, double *load)
{
    struct law_wires wires = {INFINITY, INFINITY, sum_loads(topology, activity, shape, load)};
    for (uint32_t l = 0; l < topology->graph.link_count; l++) {
        const struct link_type *link = graph_link_type(&topology->graph, (struct link_id){l});
        if (load[l] > 0.0) {
            const double rate = link->bytes_per_s / (load[l] * wires.weight);
            wires.any_bytes_per_s = fmin(wires.any_bytes_per_s, rate);
            wires.binding_bytes_per_s =
                link->binding ? fmin(wires.binding_bytes_per_s, rate) : wires.binding_bytes_per_s;
        }
    }
    return wires;
}

void law_lone_begin(struct law_lone *l, const struct topology *topology)
{
    *l = (struct law_lone){.sim = sim_create(1), .topology = topology};
    l->arena = sim_arena(l->sim);
    struct symmetry *y = &l->symmetry;
    const uint32_t links = topology->graph.link_count;
    y->ranks = ARENA_ARRAY(l->arena, struct rank_class, LONE_ACTIVITY_MAX * LONE_RANK_MAX);
    y->parties = ARENA_ARRAY(l->arena, struct party, LONE_ACTIVITY_MAX * LONE_RANK_MAX);
    y->groups = ARENA_ARRAY(l->arena, struct group_class, LONE_ACTIVITY_MAX);
    y->plans = ARENA_ARRAY(l->arena, struct played_plan, LONE_ACTIVITY_MAX);
    y->plan_of = ARENA_ARRAY(l->arena, uint32_t, LONE_ACTIVITY_MAX);
    y->uses = ARENA_ARRAY(l->arena, struct share_use, (size_t)LONE_ACTIVITY_MAX * links);
    y->links = ARENA_ARRAY(l->arena, struct link_class, links);
    y->link_class_count = links;
    for (uint32_t i = 0; i < links; i++) {
        y->links[i] = (struct link_class){
            .representative = i,
            .link_count = 1,
            .bytes_per_s = graph_link_type(&topology->graph, (struct link_id){i})->bytes_per_s};
    }
}

static void add_parties(struct symmetry *y, uint32_t group, uint32_t count)
{
    y->groups[group] = (struct group_class){
        .kind = STREAM_DP, .group_count = 1, .party_first = y->party_count, .party_count = count};
    for (uint32_t i = 0; i < count; i++) {
        struct rank_class *rank = &y->ranks[y->rank_class_count];
        *rank = (struct rank_class){.rank_count = 1, .speed_ratio = 1.0};
        for (unsigned s = 0; s < STREAM_COUNT; s++)
            rank->group[s] = GROUP_NONE;
        rank->group[STREAM_DP] = group;
        rank->party[STREAM_DP] = i;
        y->parties[y->party_count++] = (struct party){.rank_class = y->rank_class_count++,
                                                      .member_count = 1,
                                                      .stream = STREAM_DP,
                                                      .plan_first = group};
    }
}

bool law_lone_add(struct law_lone *l, const struct law_activity *activity)
{
    struct symmetry *y = &l->symmetry;
    struct group_shape shape;
    const uint32_t n = y->group_class_count;
    CHECK(n < LONE_ACTIVITY_MAX);
    collective_shape(l->topology, activity->gpus, activity->gpu_count, true, &shape);
    shape.dispatch = &dispatch_hierarchical; /* what only exchanges of experts look at */
    shape.routing = (struct routing){4 * activity->gpu_count, 2, 0, 0};
    struct collective_plan *plan = &l->plan[n];
    *plan = (struct collective_plan){.kind = activity->kind, .protocol = activity->protocol};
    if (!activity->kind->carries(activity->op, &shape) ||
        !activity->kind->plan(activity->op, &shape, activity->bytes, activity->protocol, plan))
        return false;
    double *load = ARENA_ARRAY(l->arena, double, l->topology->graph.link_count);
    l->wires[n] = law_wire_rate(l->topology, activity, &shape, load);
    const uint32_t first = y->use_count;
    for (uint32_t i = 0; i < l->topology->graph.link_count; i++)
        if (load[i] > 0.0 && graph_link_type(&l->topology->graph, (struct link_id){i})->binding)
            y->uses[y->use_count++] = (struct share_use){.link = i, .weight = load[i]};
    y->plans[n] = (struct played_plan){.tuned = *plan,
                                       .group = n,
                                       .bytes = activity->bytes,
                                       .latency_s = plan->latency_s,
                                       .cap_bytes_per_s = plan->cap_bytes_per_s,
                                       .wire_weight = l->wires[n].weight,
                                       .use_first = first,
                                       .use_count = y->use_count - first};
    y->plan_of[n] = n;
    y->plan_count = ++y->group_class_count;
    add_parties(y, n, activity->gpu_count);
    return true;
}

static void on_done(void *context, const struct attendance *activity)
{
    struct law_lone *l = context;
    for (uint32_t i = 0; i < activity->count; i++) {
        const struct attendee *who = &activity->attendees[i];
        CHECK(who->op == who->rank_class && activity->begin_s == 0.0);
        l->finish_s[who->rank_class] = activity->finish_s;
        l->told++;
    }
}

static void on_active(void *context, uint32_t rank_class, enum stream stream, bool active)
{
    (void)context;
    (void)rank_class;
    (void)stream;
    (void)active;
}

void law_lone_run(struct law_lone *l)
{
    l->network = network_create(l->sim, &l->symmetry, on_done, on_active, l);
    for (uint32_t r = 0; r < l->symmetry.rank_class_count; r++)
        network_post(l->network, r, STREAM_DP, 0, r, 0.0);
    sim_run(l->sim);
    CHECK(l->told == l->symmetry.rank_class_count);
}

double law_lone_finish_s(const struct law_lone *l, uint32_t n)
{
    const struct group_class *group = &l->symmetry.groups[n];
    const double finish_s = l->finish_s[l->symmetry.parties[group->party_first].rank_class];
    for (uint32_t i = 1; i < group->party_count; i++) {
        const uint32_t rank = l->symmetry.parties[group->party_first + i].rank_class;
        CHECK(l->finish_s[rank] == finish_s);
    }
    return finish_s;
}

void law_lone_end(struct law_lone *l)
{
    sim_destroy(l->sim);
}
