#include "models/step/simulate/collective_run.h"

#include <math.h>

#include "models/collective/collective_kind.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/worker.h"
#include "sim/check.h"

/* One rank's program: one op on one stream. */
static struct program *one_op(struct arena *arena, enum op_kind kind, enum stream stream,
                              enum comm_op op, double bytes, uint32_t stage)
{
    struct program_writer *w = program_begin(arena, stage);
    program_op(w, (struct op){
                      .kind = (uint8_t)kind,
                      .stream = (uint8_t)stream,
                      .cost = program_transfer(w, op, bytes),
                      .host = program_host(w, 0.0),
                      .name = (uint16_t)program_name(w, comm_op_names[op]),
                      .microbatch = UINT16_MAX,
                      .layer = UINT16_MAX,
                  });
    return program_end(w);
}

static void write_programs(struct arena *arena, enum comm_op op, uint64_t ranks, double bytes,
                           struct lowered *out)
{
    bool message = op == COMM_SEND;
    out->rank_count = (uint32_t)ranks;
    out->program_count = message ? 2 : 1;
    out->programs = ARENA_ARRAY(arena, struct program *, out->program_count);
    out->program_of_rank = ARENA_ARRAY(arena, uint32_t, ranks);
    if (!message) {
        out->programs[0] = one_op(arena, OP_COLLECTIVE, STREAM_DP, op, bytes, 0);
        out->streams = 1u << STREAM_DP;
        return;
    }
    out->programs[0] = one_op(arena, OP_SEND, STREAM_SEND_NEXT, op, bytes, 0);
    out->programs[1] = one_op(arena, OP_RECV, STREAM_RECV_PREV, op, bytes, 1);
    out->streams = 1u << STREAM_SEND_NEXT | 1u << STREAM_RECV_PREV;
    for (uint64_t rank = ranks / 2; rank < ranks; rank++)
        out->program_of_rank[rank] = 1;
}

/* All ranks in one data-parallel group; for messages, two stages whose peers stand ranks/2 apart.
 */
static struct configuration one_group(const struct configuration *c, enum comm_op op,
                                      uint64_t ranks)
{
    struct configuration group = *c;
    uint64_t stages = op == COMM_SEND ? 2 : 1;
    group.layout = (struct layout_spec){
        .tp = 1,
        .cp = 1,
        .pp = stages,
        .dp = ranks / stages,
        .pipeline.vpp = 1,
        .microbatch = 1,
        .pipeline.schedule = &schedule_one_f_one_b,
        .data.sharding = sharding_find("zero-0"),
        .placement = c->layout.placement,
        .order = "tp-cp-dp-pp",
    };
    return group;
}

static const struct played_plan *plan_of(const struct symmetry *symmetry, enum comm_op op)
{
    enum stream stream = op == COMM_SEND ? STREAM_SEND_NEXT : STREAM_DP;
    const struct rank_class *first = &symmetry->ranks[symmetry->class_of_rank[0]];
    CHECK(first->group[stream] != GROUP_NONE);
    const struct group_class *group = &symmetry->groups[first->group[stream]];
    const struct party *party = &symmetry->parties[group->party_first + first->party[stream]];
    uint32_t plan = symmetry->plan_of[party->plan_first];
    CHECK(plan != PLAN_NONE);
    return &symmetry->plans[plan];
}

bool collective_run(const struct configuration *c, enum comm_op op, uint64_t ranks, double bytes,
                    struct collective_result *out, struct error *error)
{
    CHECK(ranks >= 2 && (op != COMM_SEND || ranks % 2 == 0));
    CHECK(ranks <= c->cluster.nodes * c->cluster.node.gpus);
    struct configuration group = one_group(c, op, ranks);
    struct sim *sim = sim_create(c->seed);
    struct arena *arena = sim_arena(sim);
    struct topology topology = {0};
    if (!topology_build(arena, &group.cluster, &topology, error)) {
        sim_destroy(sim);
        return false;
    }
    struct lowered lowered = {0};
    struct layout layout = {0};
    struct symmetry symmetry = {0};
    struct worker_options options = {.seed = c->seed};
    write_programs(arena, op, ranks, bytes, &lowered);
    layout_build(arena, &group, lowered.streams, &layout);
    symmetry_build(arena, &(struct symmetry_input){&group, &topology, &layout, &lowered}, false,
                   &symmetry);
    struct worker *worker = worker_create(sim, &symmetry, &lowered, &layout, &options);
    worker_start(worker);
    sim_run(sim);
    *out = (struct collective_result){.bytes = bytes};
    for (uint32_t i = 0; i < symmetry.rank_class_count; i++)
        out->time_s = fmax(out->time_s, worker_finish_s(worker, i));
    const struct played_plan *plan = plan_of(&symmetry, op);
    out->algorithm = plan->tuned.kind != NULL ? plan->tuned.kind->head.name : "none";
    out->protocol = protocol_names[plan->tuned.protocol];
    out->algbw_bytes_per_s = bytes / out->time_s;
    out->busbw_bytes_per_s = out->algbw_bytes_per_s * collective_bus_factor(op, (uint32_t)ranks);
    sim_destroy(sim);
    return true;
}
