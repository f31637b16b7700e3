#include "analysis/validate/rows/validate_passes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/lower/stage/lower.h"
#include "models/lower/stage/lower_passes.h"
#include "models/schedule/schedule_kind.h"
#include "models/step/simulate/collective_run.h"
#include "models/step/simulate/worker.h"
#include "sim/sim.h"

enum {
    BISECTIONS = 60,
    STAGES_MAX = 1024
};
#define MESSAGE_MAX 1e13 /* bytes */

/* A node of as many GPUs as stages, and the row's software. */
static struct scenario *one_node(const struct validation *v, const struct validate_run *run,
                                 struct validate_row *row)
{
    char text[512];
    const struct software_profile *software = validate_version(v->versions, run);
    if (run->layout.pp < 2 || run->layout.pp > STAGES_MAX) {
        validate_row_refuse(row, REFUSAL_CELLS, "stages: from 2 to %d", (int)STAGES_MAX);
        return NULL;
    }
    snprintf(text, sizeof text,
             "cluster: {gpu: %s, node: {gpus: %llu, nics: 1}, nodes: 1}\n"
             "model: {layers: %llu, hidden: 64, heads: 1, vocabulary: 64}\n"
             "training: {sequence: 64, global_batch: %llu, attention: math}\n"
             "layout: {pp: %llu, vpp: %llu, microbatch: %llu, schedule: %s, recompute: none}\n"
             "software: %s\n",
             run->gpu, (unsigned long long)run->layout.pp,
             (unsigned long long)(run->layout.pp * run->layout.vpp),
             (unsigned long long)run->global_batch, (unsigned long long)run->layout.pp,
             (unsigned long long)run->layout.vpp, (unsigned long long)run->layout.microbatch,
             run->schedule, software->name);
    return validate_scenario(v, text, row);
}

/* Bytes of a message that takes `transfer_s` alone; the time grows with the bytes. */
static double message_bytes(const struct configuration *c, double transfer_s)
{
    double low = 0.0, high = MESSAGE_MAX;
    for (unsigned i = 0; i < BISECTIONS; i++) {
        double middle = (low + high) / 2.0;
        struct collective_result result;
        struct error error;
        if (!collective_run(c, COMM_SEND, 2, middle, &result, &error))
            return 0.0;
        if (result.time_s < transfer_s)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* When the first compute of a class begins; it has some. */
static double begin_s(const struct worker *worker, const struct program *program,
                      uint32_t class_index)
{
    uint32_t op = 0;
    while (program->ops[op].kind != OP_COMPUTE)
        op++;
    return worker_times(worker, class_index, op).begin_s;
}

double validate_passes_period_s(const struct configuration *c, const struct worker *worker,
                                const struct symmetry *symmetry, const struct lowered *lowered)
{
    double period_s = 0.0;
    for (uint32_t i = 0; i < symmetry->rank_class_count; i++) {
        const struct program *program = lowered->programs[symmetry->ranks[i].program];
        const double from_s =
            c->layout.pipeline.schedule->steps_alone ? begin_s(worker, program, i) : 0.0;
        period_s = fmax(period_s, worker_finish_s(worker, i) - from_s);
    }
    return period_s;
}

static double play_lowered(const struct configuration *c, struct sim *sim, struct lowered *lowered,
                           struct error *error)
{
    struct arena *arena = sim_arena(sim);
    struct topology topology = {0};
    struct layout layout = {0};
    struct symmetry symmetry = {0};
    struct worker_options options = {.seed = c->seed};
    if (!topology_build(arena, &c->cluster, &topology, error))
        return -1.0;
    layout_build(arena, c, lowered->streams, &layout);
    symmetry_build(arena, &(struct symmetry_input){c, &topology, &layout, lowered}, false,
                   &symmetry);
    struct worker *worker = worker_create(sim, &symmetry, lowered, &layout, &options);
    worker_start(worker);
    sim_run(sim);
    return validate_passes_period_s(c, worker, &symmetry, lowered);
}

static double play(const struct configuration *c, const struct validate_passes *passes,
                   struct error *error)
{
    const struct layout_spec *l = &c->layout;
    struct schedule_shape shape = {(uint32_t)l->pp, (uint32_t)l->pipeline.vpp,
                                   (uint32_t)configuration_microbatches(c),
                                   &l->pipeline.schedule_options};
    struct sim *sim = sim_create(c->seed);
    struct arena *arena = sim_arena(sim);
    const struct schedule_kind *kind = l->pipeline.schedule;
    const uint32_t parts = schedule_parts(kind, &shape);
    const double of_stage = kind->placement == PLACED_BOTH_WAYS ? 1.0 : shape.chunks;
    double *forward_s = ARENA_ARRAY(arena, double, parts);
    double *backward_s = ARENA_ARRAY(arena, double, parts);
    double *input_s = ARENA_ARRAY(arena, double, parts);
    double *weights_s = ARENA_ARRAY(arena, double, parts);
    for (uint32_t i = 0; i < parts; i++) {
        forward_s[i] = passes->forward_s / of_stage;
        backward_s[i] = (passes->backward_s + passes->weights_s) / of_stage;
        input_s[i] = passes->backward_s / of_stage;
        weights_s[i] = passes->weights_s / of_stage;
    }
    bool blocking = shape.chunks > 1 ? c->software.pipeline.blocking_interleaved
                                     : c->software.pipeline.blocking;
    struct pass_times times = {forward_s,
                               backward_s,
                               message_bytes(c, passes->transfer_s),
                               blocking,
                               kind->splits ? input_s : NULL,
                               weights_s,
                               passes->kept_bytes,
                               passes->late_bytes,
                               passes->transfer_s};
    struct lowered lowered = {0};
    lower_passes(arena, l->pipeline.schedule, &shape, &times, &lowered);
    double step_s = play_lowered(c, sim, &lowered, error);
    sim_destroy(sim);
    return step_s;
}

bool validate_passes_play(const struct validation *v, const struct validate_run *run,
                          const struct validate_passes *passes, double *step_s,
                          struct validate_row *row)
{
    struct scenario *s = one_node(v, run, row);
    if (s == NULL)
        return false;
    struct error error = {""};
    *step_s = play(&s->configuration, passes, &error);
    if (*step_s < 0.0)
        validate_row_refuse(row, REFUSAL_LAYOUT, "%.200s", error.text);
    scenario_destroy(s);
    return !row->refused;
}
