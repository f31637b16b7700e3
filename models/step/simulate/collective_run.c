#include "models/step/simulate/collective_run.h"

#include <math.h>

#include "models/collective/collective_kind.h"
#include "models/schedule/schedule_kind.h"
#include "models/sharding/sharding_kind.h"
#include "models/step/simulate/worker.h"
#include "sim/check.h"

/* One rank's program: the operation once for each size, on one stream. */
static struct program *write_program(struct arena *arena, enum op_kind kind, enum stream stream,
                                     const struct collective_sizes *sizes, uint32_t stage)
{
    struct program_writer *w = program_begin(arena, stage);
    for (uint32_t i = 0; i < sizes->count; i++)
        program_op(w, (struct op){
                          .kind = (uint8_t)kind,
                          .stream = (uint8_t)stream,
                          .cost = program_transfer(w, sizes->op, sizes->bytes[i]),
                          .host = program_host(w, 0.0),
                          .name = (uint16_t)program_name(w, comm_op_names[sizes->op]),
                          .microbatch = UINT16_MAX,
                          .layer = UINT16_MAX,
                      });
    return program_end(w);
}

static void write_programs(struct arena *arena, const struct collective_sizes *sizes,
                           uint64_t ranks, struct lowered *out)
{
    bool message = sizes->op == COMM_SEND;
    out->rank_count = (uint32_t)ranks;
    out->program_count = message ? 2 : 1;
    out->programs = ARENA_ARRAY(arena, struct program *, out->program_count);
    out->program_of_rank = ARENA_ARRAY(arena, uint32_t, ranks);
    if (!message) {
        out->programs[0] = write_program(arena, OP_COLLECTIVE, STREAM_DP, sizes, 0);
        out->streams = 1u << STREAM_DP;
        return;
    }
    out->programs[0] = write_program(arena, OP_SEND, STREAM_SEND_NEXT, sizes, 0);
    out->programs[1] = write_program(arena, OP_RECV, STREAM_RECV_PREV, sizes, 1);
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

static const struct played_plan *plan_of(const struct symmetry *symmetry, enum comm_op op,
                                         uint32_t transfer)
{
    enum stream stream = op == COMM_SEND ? STREAM_SEND_NEXT : STREAM_DP;
    const struct rank_class *first = &symmetry->ranks[symmetry->class_of_rank[0]];
    CHECK(first->group[stream] != GROUP_NONE);
    const struct group_class *group = &symmetry->groups[first->group[stream]];
    const struct party *party = &symmetry->parties[group->party_first + first->party[stream]];
    uint32_t plan = symmetry->plan_of[party->plan_first + transfer];
    CHECK(plan != PLAN_NONE);
    return &symmetry->plans[plan];
}

/* The machine, and all sizes on it: wires do not depend on the size, so they are measured once. */
struct sweep {
    struct topology topology;
    struct layout layout;
    struct lowered lowered;
    struct symmetry symmetry;
};

/* One size alone: the program of each rank is its one op. */
static double play_s(const struct sweep *sweep, uint64_t seed, uint32_t index)
{
    struct sim *sim = sim_create(seed);
    struct worker_options options = {.seed = seed};
    struct lowered alone = sweep->lowered;
    double time_s = 0.0;
    alone.programs = ARENA_ARRAY(sim_arena(sim), struct program *, alone.program_count);
    for (uint32_t p = 0; p < alone.program_count; p++) {
        struct program *program = ARENA_NEW(sim_arena(sim), struct program);
        *program = *sweep->lowered.programs[p];
        program->ops += index;
        program->op_count = 1;
        alone.programs[p] = program;
    }
    struct worker *worker = worker_create(sim, &sweep->symmetry, &alone, &sweep->layout, &options);
    worker_start(worker);
    sim_run(sim);
    for (uint32_t i = 0; i < sweep->symmetry.rank_class_count; i++)
        time_s = fmax(time_s, worker_finish_s(worker, i));
    sim_destroy(sim);
    return time_s;
}

bool collective_sweep(const struct configuration *c, const struct collective_sizes *sizes,
                      uint64_t ranks, struct collective_result *out, struct error *error)
{
    const enum comm_op op = sizes->op;
    CHECK(ranks >= 2 && (op != COMM_SEND || ranks % 2 == 0));
    CHECK(ranks <= c->cluster.nodes * c->cluster.node.gpus);
    struct configuration group = one_group(c, op, ranks);
    struct arena *arena = arena_create();
    struct sweep sweep = {0};
    if (!topology_build(arena, &group.cluster, &sweep.topology, error)) {
        arena_destroy(arena);
        return false;
    }
    write_programs(arena, sizes, ranks, &sweep.lowered);
    layout_build(arena, &group, sweep.lowered.streams, &sweep.layout);
    symmetry_build(arena,
                   &(struct symmetry_input){&group, &sweep.topology, &sweep.layout, &sweep.lowered},
                   false, &sweep.symmetry);
    for (uint32_t i = 0; i < sizes->count; i++) {
        struct collective_result *r = &out[i];
        const uint32_t transfer = sweep.lowered.programs[0]->ops[i].cost;
        const struct played_plan *plan = plan_of(&sweep.symmetry, op, transfer);
        *r = (struct collective_result){.bytes = sizes->bytes[i],
                                        .time_s = play_s(&sweep, c->seed, i)};
        r->algorithm = plan->tuned.kind != NULL ? plan->tuned.kind->head.name : "none";
        r->protocol = protocol_names[plan->tuned.protocol];
        r->algbw_bytes_per_s = r->bytes / r->time_s;
        r->busbw_bytes_per_s = r->algbw_bytes_per_s * collective_bus_factor(op, (uint32_t)ranks);
    }
    arena_destroy(arena);
    return true;
}

bool collective_run(const struct configuration *c, enum comm_op op, uint64_t ranks, double bytes,
                    struct collective_result *out, struct error *error)
{
    return collective_sweep(c, &(struct collective_sizes){op, &bytes, 1}, ranks, out, error);
}
