#include "job_swarm.h"

#include <math.h>

#include "sim/random.h"
#include "sim/units.h"

struct dice {
    uint64_t key, thrown;
};

static double roll(struct dice *dice, double low, double high)
{
    return low + (high - low) * random_at(dice->key, dice->thrown++);
}

static unsigned pick(struct dice *dice, unsigned count)
{
    return (unsigned)roll(dice, 0.0, count);
}

static bool chance(struct dice *dice, double ratio)
{
    return roll(dice, 0.0, 1.0) < ratio;
}

static struct duration duration_of(struct dice *dice, double mean_s)
{
    static const double shapes[] = {0.5, 1.0, 2.0};
    return (struct duration){(int)pick(dice, 5), chance(dice, 0.2) ? 0.0 : mean_s,
                             shapes[pick(dice, 3)]};
}

static void set_checkpoint(struct dice *dice, struct checkpoint_spec *out, double step_s)
{
    out->keep = 1 + pick(dice, 3);
    out->corrupt_ratio = chance(dice, 0.3) ? 0.2 : 0.0;
    out->final = chance(dice, 0.5);
    out->interval_s = roll(dice, 0.5, 60.0) * step_s;
    out->plan.every_step = chance(dice, 0.1);
    out->plan.level_count = pick(dice, 4);
    uint64_t every = 1;
    double persist_s = 0.0;
    for (unsigned i = 0; i < out->plan.level_count; i++) {
        every *= i > 0 ? 1 + pick(dice, 4) : 1;
        persist_s += chance(dice, 0.3) ? 0.0 : roll(dice, 0.0, chance(dice, 0.2) ? 80 : 8) * step_s;
        out->plan.levels[i] = (struct checkpoint_level){
            .tier = "tier",
            .survival = (int)(i + 3 - out->plan.level_count),
            .every = every,
            .stall_s = chance(dice, 0.3) ? 0.0 : roll(dice, 0.0, 4.0) * step_s,
            .persist_s = persist_s,
            .slowdown_ratio = chance(dice, 0.5) ? 1.0 : roll(dice, 1.0, 3.0),
            .load_s = roll(dice, 0.0, 20.0) * step_s,
        };
    }
}

static void set_cause(struct dice *dice, struct failure_cause *out, const struct job_spec *spec,
                      unsigned index)
{
    static const char *const kinds[] = {"exponential", "weibull", "lognormal",
                                        "gamma",       "lemon",   "shock"};
    static const char *const names[] = {"a", "b", "c", "d"};
    out->name = names[index];
    out->kind = failure_find(kinds[pick(dice, 6)]);
    for (unsigned i = 0; i < out->kind->head.options.count; i++) {
        double low = fmax(out->kind->head.options.rows[i].minimum, 0.3);
        out->options.value[out->kind->head.options.rows[i].offset] =
            fmin(out->kind->head.options.rows[i].maximum, low + roll(dice, 0.0, 1.5));
    }
    out->unit = out->kind == failure_find("shock") ? UNIT_DOMAIN : (int)pick(dice, 5);
    if (out->unit == UNIT_DOMAIN && out->kind->lemons != NULL)
        out->unit = UNIT_NODE;
    out->domain_nodes = 1 + pick(dice, 4);
    out->effect = chance(dice, 0.6)   ? EFFECT_STOP
                  : chance(dice, 0.6) ? EFFECT_SLOW
                                      : EFFECT_CORRUPT;
    double each = out->unit == UNIT_GPU || out->unit == UNIT_NIC ? 8.0 * spec->nodes
                  : out->unit == UNIT_JOB                        ? 1.0
                                                                 : spec->nodes;
    out->mtbf_s = roll(dice, 2.0, 40.0) * HOUR * each;
    out->in_place_ratio = chance(dice, 0.5) ? 0.0 : roll(dice, 0.0, 1.0);
    out->new_units = chance(dice, 0.3);
    out->detect = chance(dice, 0.5) ? (struct duration){.mean_s = -1.0}
                                    : duration_of(dice, roll(dice, 0.0, 1.0) * HOUR);
    out->repair = chance(dice, 0.5) ? (struct duration){.mean_s = -1.0}
                                    : duration_of(dice, roll(dice, 0.0, 9.0) * HOUR);
    out->slow_ratio = roll(dice, 0.2, 0.95);
    out->slow_time = duration_of(dice, roll(dice, 0.0, 3.0) * HOUR);
    out->slow_link = chance(dice, 0.3);
    out->early_factor = chance(dice, 0.2) ? roll(dice, 1.0, 5.0) : 1.0;
    out->early_s = out->early_factor > 1.0 ? 5 * HOUR : 0.0;
    out->cascade_ratio = chance(dice, 0.2) ? 0.3 : 0.0;
}

static void set_recovery(struct dice *dice, struct recovery_spec *out)
{
    out->kind = recovery_kinds[pick(dice, recovery_kind_count)];
    out->spares = pick(dice, 5);
    out->crews = pick(dice, 3);
    out->retire_after = chance(dice, 0.2) ? 4 : 0;
    out->replicas_min = 1 + pick(dice, 2);
    out->repair_fails_ratio = chance(dice, 0.3) ? 0.3 : 0.0;
    out->manual_repair_fails_ratio = out->repair_fails_ratio / 2.0;
    out->wrong_blame_ratio = chance(dice, 0.3) ? 0.3 : 0.0;
    out->escalate_ratio = chance(dice, 0.3) ? 0.5 : 0.0;
    out->repair = duration_of(dice, roll(dice, 0.0, 10.0) * HOUR);
    out->manual_repair = duration_of(dice, roll(dice, 0.0, 30.0) * HOUR);
    for (unsigned i = 0; i < RESTART_LINK_COUNT; i++) {
        out->restart.links[i] = duration_of(dice, chance(dice, 0.5) ? 0.0 : roll(dice, 1, 900));
        out->restart.sheltered[i] = chance(dice, 0.2);
    }
}

void job_swarm_make(struct job_case *job, uint64_t seed)
{
    struct dice dice = {random_key(seed, "job swarm"), 0};
    double step_s = roll(&dice, 1.0, 100.0);
    job_case_make(job, step_s * (10 + pick(&dice, 4000)), step_s);
    unsigned nodes = 1 + pick(&dice, 12);
    static const unsigned parts[] = {1, 2, 3};
    unsigned replicas = chance(&dice, 0.5) ? nodes * parts[pick(&dice, 3)] : 1 + pick(&dice, nodes);
    job_case_nodes(job, nodes, replicas, "restart-in-place");
    set_recovery(&dice, &job->spec.recovery);
    set_checkpoint(&dice, &job->spec.checkpoint, step_s);
    job->spec.cause_count = pick(&dice, JOB_CASE_CAUSES + 1);
    for (unsigned i = 0; i < job->spec.cause_count; i++)
        set_cause(&dice, &job->causes[i], &job->spec, i);
    job->spec.strike = (int)pick(&dice, 3);
    /* Always up at some time: without checkpoints the work may never be done. */
    job->spec.duration_s = roll(&dice, 1.0, 8.0) * DAY;
    job->spec.steps = chance(&dice, 0.5) ? job->spec.steps : 0;
    if (chance(&dice, 0.2)) {
        job->spec.maintenance_every_s = roll(&dice, 10.0, 100.0) * HOUR;
        job->spec.maintenance_s = roll(&dice, 0.0, 3.0) * HOUR;
    }
}
