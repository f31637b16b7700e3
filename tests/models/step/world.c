#include "tests/models/step/world.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/check.h"

enum {
    ROWS_MAX = 1024
};

void world_begin(struct world *w)
{
    *w = (struct world){.sim = sim_create(7)};
    w->arena = sim_arena(w->sim);
    struct symmetry *y = &w->symmetry;
    y->ranks = ARENA_ARRAY(w->arena, struct rank_class, WORLD_MAX);
    y->groups = ARENA_ARRAY(w->arena, struct group_class, WORLD_MAX);
    y->parties = ARENA_ARRAY(w->arena, struct party, ROWS_MAX);
    y->links = ARENA_ARRAY(w->arena, struct link_class, WORLD_MAX);
    y->plans = ARENA_ARRAY(w->arena, struct played_plan, ROWS_MAX);
    y->uses = ARENA_ARRAY(w->arena, struct share_use, ROWS_MAX);
    y->plan_of = ARENA_ARRAY(w->arena, uint32_t, ROWS_MAX * WORLD_TRANSFERS);
    y->class_of_rank = ARENA_ARRAY(w->arena, uint32_t, WORLD_MAX);
    memset(y->plan_of, 0xff, sizeof(uint32_t) * ROWS_MAX * WORLD_TRANSFERS);
    w->lowered.programs = w->programs;
    w->lowered.program_of_rank = ARENA_ARRAY(w->arena, uint32_t, WORLD_MAX);
}

void world_end(struct world *w)
{
    sim_destroy(w->sim);
}

uint32_t world_link(struct world *w, double bytes_per_s)
{
    w->symmetry.links[w->symmetry.link_class_count] =
        (struct link_class){.link_count = 1, .bytes_per_s = bytes_per_s};
    return w->symmetry.link_class_count++;
}

uint32_t world_program(struct world *w, struct program *program)
{
    CHECK(w->lowered.program_count < WORLD_MAX);
    w->programs[w->lowered.program_count] = program;
    return w->lowered.program_count++;
}

uint32_t world_rank(struct world *w, uint32_t program, double speed_ratio)
{
    struct symmetry *y = &w->symmetry;
    const uint32_t rank = y->rank_class_count++;
    CHECK(rank < WORLD_MAX);
    y->ranks[rank] = (struct rank_class){
        .program = program, .representative = rank, .rank_count = 1, .speed_ratio = speed_ratio};
    for (unsigned s = 0; s < STREAM_COUNT; s++)
        y->ranks[rank].group[s] = GROUP_NONE;
    y->class_of_rank[rank] = rank;
    w->lowered.program_of_rank[rank] = program;
    y->rank_count = w->lowered.rank_count = y->rank_class_count;
    return rank;
}

uint32_t world_group(struct world *w, enum stream kind, uint32_t count, const uint32_t *ranks,
                     uint32_t rank_count)
{
    struct symmetry *y = &w->symmetry;
    const uint32_t group = y->group_class_count++;
    y->groups[group] = (struct group_class){.kind = kind,
                                            .group_count = count,
                                            .party_first = y->party_count,
                                            .party_count = rank_count};
    for (uint32_t i = 0; i < rank_count; i++) {
        enum stream role = kind;
        if (i == 1 && kind == STREAM_SEND_NEXT)
            role = STREAM_RECV_PREV;
        else if (i == 1 && kind == STREAM_SEND_PREV)
            role = STREAM_RECV_NEXT;
        y->ranks[ranks[i]].group[role] = group;
        y->ranks[ranks[i]].party[role] = i;
        y->parties[y->party_count] = (struct party){.rank_class = ranks[i],
                                                    .member_count = 1,
                                                    .stream = role,
                                                    .plan_first = y->party_count * WORLD_TRANSFERS};
        y->party_count++;
    }
    return group;
}

void world_plan(struct world *w, uint32_t group, uint32_t transfer, double bytes, double latency_s,
                double cap_bytes_per_s, double wire_weight, const struct wire *wires,
                uint32_t count)
{
    struct symmetry *y = &w->symmetry;
    CHECK(transfer < WORLD_TRANSFERS && y->plan_count < ROWS_MAX);
    y->plans[y->plan_count] = (struct played_plan){.group = group,
                                                   .bytes = bytes,
                                                   .latency_s = latency_s,
                                                   .cap_bytes_per_s = cap_bytes_per_s,
                                                   .wire_weight = wire_weight,
                                                   .use_first = y->use_count,
                                                   .use_count = count};
    for (uint32_t i = 0; i < count; i++) {
        y->uses[y->use_count++] =
            (struct share_use){.link = wires[i].link, .weight = share_weight(wires[i].weight)};
    }
    const struct group_class *class = &y->groups[group];
    for (uint32_t i = 0; i < class->party_count; i++)
        y->plan_of[y->parties[class->party_first + i].plan_first + transfer] = y->plan_count;
    y->plan_count++;
}

void world_create(struct world *w)
{
    w->worker = worker_create(w->sim, &w->symmetry, &w->lowered, NULL, &w->options);
}

void world_play(struct world *w)
{
    world_create(w);
    worker_start(w->worker);
    sim_run(w->sim);
}

double world_step_s(const struct world *w)
{
    double step_s = 0.0;
    for (uint32_t r = 0; r < w->symmetry.rank_class_count; r++)
        step_s = fmax(step_s, worker_finish_s(w->worker, r));
    return step_s;
}

struct op world_compute(struct program_writer *p, double gpu_s, uint32_t wait)
{
    const struct op_cost cost = {.gpu_s = gpu_s};
    return (struct op){.kind = OP_COMPUTE,
                       .stream = STREAM_COMPUTE,
                       .phase = PHASE_FORWARD,
                       .cost = program_cost(p, &cost, NULL, 0),
                       .wait = {wait, OP_NONE},
                       .name = (uint16_t)program_name(p, "op"),
                       .host = program_host(p, 0.0)};
}

struct op world_comm(struct program_writer *p, enum op_kind kind, enum stream stream,
                     uint32_t transfer, uint32_t wait)
{
    return (struct op){.kind = (uint8_t)kind,
                       .stream = (uint8_t)stream,
                       .phase = PHASE_FORWARD,
                       .cost = transfer,
                       .wait = {wait, OP_NONE},
                       .name = (uint16_t)program_name(p, "transfer"),
                       .host = program_host(p, 0.0)};
}

void world_transfers(struct program_writer *p, uint32_t count)
{
    for (uint32_t t = 0; t < count; t++)
        CHECK(program_transfer(p, COMM_ALL_REDUCE, t + 1.0) == t);
}

bool world_aborts(void (*act)(void *), void *context, char *text, size_t size)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        act(context);
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while (used + 1 < size && (got = read(ends[0], text + used, size - 1 - used)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}
