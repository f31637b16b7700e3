#include "tests/laws/law_play.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/check.h"
#include "sim/digest.h"

void law_begin(struct law_play *p, const struct configuration *c)
{
    struct error error;
    *p = (struct law_play){.c = c, .sim = sim_create(c->seed)};
    p->arena = sim_arena(p->sim);
    const bool built = topology_build(p->arena, &c->cluster, &p->topology, &error);
    CHECK(built);
    for (uint32_t i = 0; i < c->perturbation_count; i++) {
        const struct perturbation *change = &c->perturbations[i];
        if (change->what == PERTURB_LINK) {
            topology_degrade(&p->topology, (uint32_t)change->gpu, (enum link_kind)change->link,
                             change->ratio);
        }
    }
}

void law_place(struct law_play *p)
{
    layout_build(p->arena, p->c, p->lowered.streams, &p->layout);
}

void law_fold(struct law_play *p, bool unfold)
{
    if (p->layout.rank_count == 0)
        law_place(p);
    symmetry_build(p->arena, &(struct symmetry_input){p->c, &p->topology, &p->layout, &p->lowered},
                   unfold, &p->symmetry);
}

void law_run(struct law_play *p)
{
    const struct worker_options options = {.jitter_sigma = p->c->kernel_jitter_sigma,
                                           .seed = p->c->seed};
    p->worker = worker_create(p->sim, &p->symmetry, &p->lowered, &p->layout, &options);
    p->network = worker_network(p->worker);
    worker_start(p->worker);
    sim_run(p->sim);
    for (uint32_t i = 0; i < p->symmetry.rank_class_count; i++)
        p->step_s = fmax(p->step_s, worker_finish_s(p->worker, i));
}

void law_end(struct law_play *p)
{
    sim_destroy(p->sim);
}

uint32_t law_class(const struct law_play *p, uint32_t rank)
{
    return p->symmetry.class_of_rank[rank];
}

const struct program *law_program(const struct law_play *p, uint32_t rank)
{
    return p->lowered.programs[p->lowered.program_of_rank[rank]];
}

struct op_times law_times(const struct law_play *p, uint32_t rank, uint32_t op)
{
    return worker_times(p->worker, law_class(p, rank), op);
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static const char *rank_difference(const struct law_play *a, const struct law_play *b,
                                   uint32_t rank, char text[200])
{
    const uint32_t count = law_program(a, rank)->op_count;
    if (count != law_program(b, rank)->op_count) {
        snprintf(text, 200, "rank %u has %u ops and %u", rank, count,
                 law_program(b, rank)->op_count);
        return text;
    }
    for (uint32_t op = 0; op < count; op++) {
        const struct op_times x = law_times(a, rank, op), y = law_times(b, rank, op);
        if (!same(x.post_s, y.post_s) || !same(x.begin_s, y.begin_s) ||
            !same(x.finish_s, y.finish_s)) {
            snprintf(text, 200, "rank %u op %u: %.17g %.17g %.17g and %.17g %.17g %.17g", rank, op,
                     x.post_s, x.begin_s, x.finish_s, y.post_s, y.begin_s, y.finish_s);
            return text;
        }
    }
    double parts[2][PART_COUNT];
    worker_breakdown(a->worker, law_class(a, rank), parts[0]);
    worker_breakdown(b->worker, law_class(b, rank), parts[1]);
    for (unsigned part = 0; part < PART_COUNT; part++) {
        if (!same(parts[0][part], parts[1][part])) {
            snprintf(text, 200, "rank %u %s: %.17g and %.17g", rank, breakdown_names[part],
                     parts[0][part], parts[1][part]);
            return text;
        }
    }
    return NULL;
}

const char *law_difference(const struct law_play *a, const struct law_play *b, char text[200])
{
    const char *difference = NULL;
    if (a->lowered.rank_count != b->lowered.rank_count)
        return "the plays have not as many ranks";
    for (uint32_t r = 0; r < a->lowered.rank_count && difference == NULL; r++)
        difference = rank_difference(a, b, r, text);
    if (difference == NULL && !same(a->step_s, b->step_s))
        difference = "the steps are not as long";
    if (difference == NULL && law_digest(a) != law_digest(b))
        difference = "the digests differ";
    return difference;
}

/* What an op that joins pays: a share of the time that the compute before it and the transfers it
 * waits for spent beside each other. */
static double joined_s(const struct law_play *p, uint32_t rank, uint32_t index)
{
    const struct program *program = law_program(p, rank);
    const struct op *op = &program->ops[index];
    uint32_t before = index;
    double cost_s = 0.0;
    if ((op->flags & OP_JOIN) == 0)
        return 0.0;
    do {
        before--;
    } while (program->ops[before].stream != op->stream);
    const struct op_times compute = law_times(p, rank, before);
    for (unsigned w = 0; w < 2; w++) {
        const uint32_t wait = op->wait[w] == OP_NONE ? before : op->wait[w] - 1;
        const struct op_times times = law_times(p, rank, wait);
        if (program->ops[wait].stream == STREAM_TP || program->ops[wait].stream == STREAM_CP) {
            const double from_s = fmax(compute.begin_s, times.begin_s);
            const double ratio =
                program->interference
                    .join_ratio[program->ops[wait].stream == STREAM_CP ? JOIN_CONTEXT
                                                                       : JOIN_TENSOR];
            cost_s += ratio * fmax(0.0, fmin(compute.finish_s, times.finish_s) - from_s);
        }
    }
    return cost_s;
}

/* Compute takes its cost at the rank's speed, unless jitter or interference bends it. */
static bool takes_its_time(const struct law_play *p, uint32_t rank, uint32_t index,
                           struct op_times times)
{
    const struct program *program = law_program(p, rank);
    const struct op *op = &program->ops[index];
    if (op->kind != OP_COMPUTE || p->c->kernel_jitter_sigma > 0.0)
        return true;
    const bool of_host = op->stream == STREAM_TO_HOST || op->stream == STREAM_FROM_HOST;
    const double speed = of_host ? 1.0 : p->symmetry.ranks[law_class(p, rank)].speed_ratio;
    const double alone_s = program->costs[op->cost].gpu_s / speed + joined_s(p, rank, index);
    const bool bent = (op->flags & OP_SENSITIVE) != 0 && program->interference.ratio > 0.0;
    const double longest_s = bent ? alone_s / (1.0 - program->interference.ratio) : alone_s;
    const double took_s = times.finish_s - times.begin_s, hair_s = 1e-12 * times.finish_s;
    return took_s >= alone_s - hair_s && took_s <= longest_s + hair_s;
}

static const char *rank_fault(const struct law_play *p, uint32_t rank, char text[200])
{
    const struct program *program = law_program(p, rank);
    double free_s[STREAM_COUNT] = {0.0};
    const char *fault = NULL;
    for (uint32_t i = 0; i < program->op_count; i++) {
        const struct op *op = &program->ops[i];
        const struct op_times times = law_times(p, rank, i);
        if (!(times.post_s >= free_s[op->stream] && times.begin_s >= times.post_s &&
              times.finish_s >= times.begin_s && times.finish_s <= p->step_s))
            fault = "stands out of order on its stream";
        for (unsigned w = 0; w < 2; w++)
            if (op->wait[w] != OP_NONE &&
                law_times(p, rank, op->wait[w] - 1).finish_s > times.begin_s)
                fault = "begins before what it waits for has finished";
        if (!takes_its_time(p, rank, i, times))
            fault = "does not take the time that it should";
        if (fault != NULL) {
            snprintf(text, 200, "rank %u op %u (%s on %s) %s: %.17g %.17g %.17g", rank, i,
                     program->names[op->name], stream_names[op->stream], fault, times.post_s,
                     times.begin_s, times.finish_s);
            return text;
        }
        free_s[op->stream] = times.finish_s;
    }
    return NULL;
}

const char *law_order_fault(const struct law_play *p, char text[200])
{
    const char *fault = NULL;
    for (uint32_t r = 0; r < p->lowered.rank_count && fault == NULL; r++)
        fault = rank_fault(p, r, text);
    return fault;
}

uint64_t law_digest(const struct law_play *p)
{
    uint64_t run = 0;
    for (uint32_t r = 0; r < p->lowered.rank_count; r++) {
        uint64_t track = digest_begin();
        for (uint32_t op = 0; op < law_program(p, r)->op_count; op++) {
            const struct op_times times = law_times(p, r, op);
            track = digest_add_time(track, times.begin_s);
            track = digest_add_time(track, times.finish_s);
            track = digest_add(track, op);
        }
        run = digest_join(run, r, track);
    }
    return run;
}
