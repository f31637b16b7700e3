#include "tests/models/step/task_case.h"

#include <math.h>

#include "sim/random.h"
#include "tests/models/program/lower_case.h"
#include "tests/test.h"
#include "topology/topology_kind.h"

void task_case_begin(struct task_case *t, uint32_t ranks)
{
    struct arena *arena = arena_create();
    *t = (struct task_case){.arena = arena, .c = lower_case()};
    const uint64_t nodes = ranks <= 8 ? 1 : (ranks + 7) / 8;
    t->c.cluster.node.kind = &topology_nvlink_island;
    t->c.cluster.node.nvlink.exchange_ratio = 0.77;
    t->c.cluster.node.gpus = nodes == 1 ? ranks : 8;
    t->c.cluster.node.nic.count = t->c.cluster.node.gpus;
    t->c.cluster.nodes = nodes;
    t->c.cluster.node.pcie.bytes_per_s = 50e9;
    t->c.cluster.node.nic.efficiency_ratio = 1.0;
    t->c.cluster.fabric.kind = &topology_rail;
    t->c.cluster.fabric.options = (struct kind_options){{32, 1}};
    t->c.cluster.fabric.efficiency_ratio = 1.0;
    t->graph.nodes = ARENA_ARRAY(arena, struct task_node, TASK_CASE_MAX);
    t->graph.rank_first = ARENA_ARRAY(arena, uint32_t, TASK_CASE_MAX);
    t->graph.waits = ARENA_ARRAY(arena, uint32_t, TASK_CASE_MAX);
    t->graph.meetings = ARENA_ARRAY(arena, struct task_meeting, TASK_CASE_MAX);
    t->graph.groups = ARENA_ARRAY(arena, struct task_group, TASK_CASE_MAX);
    t->graph.members = ARENA_ARRAY(arena, uint32_t, TASK_CASE_MAX);
}

void task_case_end(struct task_case *t)
{
    arena_destroy(t->arena);
}

uint32_t task_case_rank(struct task_case *t)
{
    t->graph.rank_first[t->graph.rank_count + 1] = t->graph.node_count;
    return t->graph.rank_count++;
}

static uint32_t add(struct task_case *t, struct task_node node)
{
    struct task_graph *g = &t->graph;
    assert_true(g->rank_count > 0 && g->node_count < TASK_CASE_MAX);
    node.id = g->node_count - g->rank_first[g->rank_count - 1] + 100;
    node.name = "node";
    node.wait_first = g->wait_count;
    g->nodes[g->node_count] = node;
    g->rank_first[g->rank_count] = g->node_count + 1;
    return g->node_count++;
}

uint32_t task_case_node(struct task_case *t, enum task_lane lane, double work_s)
{
    return add(t,
               (struct task_node){.lane = (uint8_t)lane, .work_s = work_s, .meeting = TASK_NONE});
}

uint32_t task_case_attend(struct task_case *t, uint32_t meeting)
{
    return add(t, (struct task_node){.lane = TASK_NO_LANE, .meeting = meeting});
}

void task_case_wait(struct task_case *t, uint32_t for_node)
{
    assert_true(t->graph.wait_count < TASK_CASE_MAX);
    t->graph.nodes[t->graph.node_count - 1].wait_count++;
    t->graph.waits[t->graph.wait_count++] = for_node;
}

uint32_t task_case_group(struct task_case *t, const uint32_t *ranks, uint32_t count, bool pair)
{
    struct task_graph *g = &t->graph;
    assert_true(g->member_count + count <= TASK_CASE_MAX);
    g->groups[g->group_count] = (struct task_group){
        .name = "group", .member_first = g->member_count, .member_count = count, .pair = pair};
    for (uint32_t i = 0; i < count; i++)
        g->members[g->member_count++] = ranks[i];
    return g->group_count++;
}

uint32_t task_case_meeting(struct task_case *t, uint32_t group, enum comm_op op, double bytes)
{
    assert_true(t->graph.meeting_count < TASK_CASE_MAX);
    t->graph.meetings[t->graph.meeting_count] =
        (struct task_meeting){.group = group, .op = op, .bytes = bytes};
    return t->graph.meeting_count++;
}

struct task_played *task_case_play(struct task_case *t)
{
    struct task_played *played = ARENA_NEW(t->arena, struct task_played);
    struct error error = {""};
    if (!task_play(t->arena, &t->graph, &t->c, played, &error))
        fail_msg("refused: %s", error.text);
    return played;
}

const char *task_case_refused(struct task_case *t)
{
    struct task_played played;
    struct error error = {""};
    if (task_play(t->arena, &t->graph, &t->c, &played, &error))
        fail_msg("played, %g s", played.step_s);
    return arena_text(t->arena, error.text);
}

/* Meetings 0 .. n-1 come in this order on every rank, so that nothing waits in a circle. */
void task_case_random(struct task_case *t, uint64_t seed)
{
    struct random_stream *draw = random_create(t->arena, seed, 0, "tasks");
    const uint32_t ranks = 2 + (uint32_t)(random_uniform(draw) * 4.0);
    const uint32_t meetings = (uint32_t)(random_uniform(draw) * 12.0);
    uint32_t group[12];
    for (uint32_t g = 0; g < meetings; g++) {
        uint32_t members[8], count = 0;
        for (uint32_t r = 0; r < ranks; r++)
            if (random_uniform(draw) < 0.6)
                members[count++] = r;
        if (count == 0 || (g > 0 && random_uniform(draw) < 0.5)) {
            group[g] = g > 0 ? group[g - 1] : task_case_group(t, (uint32_t[]){0, 1}, 2, false);
            continue;
        }
        group[g] = task_case_group(t, members, count, false);
    }
    for (uint32_t m = 0; m < meetings; m++)
        task_case_meeting(t, group[m], COMM_ALL_REDUCE, 0.0);
    for (uint32_t r = 0; r < ranks; r++) {
        const uint32_t first = t->graph.node_count;
        task_case_rank(t);
        for (uint32_t m = 0; m <= meetings; m++) {
            const uint32_t between = (uint32_t)(random_uniform(draw) * 5.0);
            for (uint32_t i = 0; i < between; i++) {
                const double work_s = floor(random_uniform(draw) * 6.0);
                task_case_node(t, (enum task_lane)(random_uniform(draw) * 4.0), work_s);
                while (t->graph.node_count - first > 1 && random_uniform(draw) < 0.4)
                    task_case_wait(t, first + (uint32_t)(random_uniform(draw) *
                                                         (t->graph.node_count - first - 1)));
            }
            const struct task_group *g = m < meetings ? &t->graph.groups[group[m]] : NULL;
            for (uint32_t i = 0; g != NULL && i < g->member_count; i++) {
                if (t->graph.members[g->member_first + i] != r)
                    continue;
                task_case_attend(t, m);
                if (t->graph.node_count - first > 1 && random_uniform(draw) < 0.7)
                    task_case_wait(t, t->graph.node_count - 2);
            }
        }
    }
}
