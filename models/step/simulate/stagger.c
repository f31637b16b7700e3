#include "models/step/simulate/stagger.h"

#include <math.h>

#include "sim/check.h"
#include "sim/random.h"

/* How many times all ranks can be played for STAGGER_OPS_MAX. */
static uint32_t affordable_draws(const struct step *step)
{
    uint64_t ops = 0;
    for (uint32_t p = 0; p < step->memory_count; p++)
        ops += (uint64_t)step->memory[p].rank_count * step->lowered.programs[p]->op_count;
    CHECK(ops > 0);
    const uint64_t draws = STAGGER_OPS_MAX / ops;
    return draws < STAGGER_DRAWS_MAX ? (uint32_t)draws : STAGGER_DRAWS_MAX;
}

/* Every rank by itself, started at a time of its own in [0, apart_s). */
static double staggered_s(const struct configuration *c, const struct step *step, double apart_s,
                          uint64_t key)
{
    struct sim *sim = sim_create(c->seed);
    struct arena *arena = sim_arena(sim);
    struct symmetry symmetry;
    symmetry_build(arena,
                   &(struct symmetry_input){c, &step->topology, &step->layout, &step->lowered},
                   true, &symmetry);
    double *start_s = ARENA_ARRAY(arena, double, symmetry.rank_class_count);
    for (uint32_t i = 0; i < symmetry.rank_class_count; i++)
        start_s[i] = apart_s * random_at(key, i);
    const struct worker_options options = {
        .excess_ratio = gpu_slowest_excess_ratio(&c->gpu, step->layout.rank_count),
        .seed = c->seed,
        .start_s = start_s,
    };
    struct worker *worker = worker_create(sim, &symmetry, &step->lowered, &step->layout, &options);
    worker_start(worker);
    sim_run(sim);
    double longest_s = 0.0;
    for (uint32_t i = 0; i < symmetry.rank_class_count; i++)
        longest_s = fmax(longest_s, worker_finish_s(worker, i));
    sim_destroy(sim);
    return longest_s;
}

/* Draws take turns: up to one transfer apart, and up to a quarter of one, which is enough where
 * rounds are many and costs less. */
void stagger_try(const struct configuration *c, const struct step *step, struct stagger *out)
{
    CHECK(step->network != NULL && step->step_s > 0.0);
    const struct network_contention contention = network_contention(step->network);
    *out = (struct stagger){.lost_s = contention.lost_s, .apart_s = contention.transfer_s};
    if (out->lost_s < STAGGER_WORTH_RATIO * step->step_s || c->kernel_jitter_sigma > 0.0)
        return;
    out->draws = affordable_draws(step);
    out->shortest_s = INFINITY;
    const uint64_t key = random_key(c->seed, "stagger");
    for (uint32_t draw = 0; draw < out->draws; draw++) {
        const double apart_s = draw % 2 == 0 ? out->apart_s : 0.25 * out->apart_s;
        const double draw_s = staggered_s(c, step, apart_s, random_hash(key, draw));
        out->shortest_s = fmin(out->shortest_s, draw_s);
    }
    out->spared_ratio = out->draws > 0 ? 1.0 - out->shortest_s / step->step_s : 0.0;
}

bool stagger_matters(const struct stagger *stagger)
{
    return stagger->draws > 0 && stagger->spared_ratio >= STAGGER_WORTH_RATIO;
}
