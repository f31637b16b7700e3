/* The player of weeks against a naive one (job_oracle.h): many random small jobs with the
 * same failures, played in closed form, step by step, and naively.
 *
 *     test_job_oracle [jobs [first]]           one job is described
 *
 * Half of the jobs have times that are small multiples of 1/8 s, so that failures hit the ends of
 * steps, saves and links exactly. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_oracle.h"
#include "sim/random.h"
#include "tests/test.h"

enum {
    JOBS = 20000
};
static uint64_t job_count = JOBS, first_job;

struct dice {
    uint64_t key, thrown;
    bool exact; /* times are multiples of 1/8 s */
};
struct small_job {
    struct job_spec spec;
    double step_s;
    struct failure_cause causes[ORACLE_CAUSES];
    struct trace_event events[ORACLE_CAUSES][ORACLE_EVENTS];
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

static double seconds(struct dice *dice, double most_s)
{
    double s = roll(dice, 0.0, most_s);
    return dice->exact ? (chance(dice, 0.5) ? floor(s) : floor(s * 8.0) / 8.0) : s;
}

static double often(struct dice *dice, double ratio, double most_s)
{
    return chance(dice, ratio) ? seconds(dice, most_s) : 0.0;
}

static void set_checkpoint(struct dice *dice, struct checkpoint_spec *out, double step_s)
{
    *out = (struct checkpoint_spec){.kind = checkpoint_find("multi-level"),
                                    .keep = 1 + pick(dice, 3),
                                    .final = chance(dice, 0.5),
                                    .job_mtbf_s = INFINITY};
    struct checkpoint_plan *plan = &out->plan;
    plan->level_count = pick(dice, CHECKPOINT_LEVEL_MAX);
    plan->every_step = chance(dice, 0.15);
    if (chance(dice, 0.5))
        out->interval_steps = 1 + pick(dice, 12);
    else
        out->interval_s = fmax(seconds(dice, 12.0 * step_s), 0.125);
    uint64_t every = 1;
    double persist_s = 0.0;
    bool behind = chance(dice, 0.6);
    for (unsigned i = 0; i < plan->level_count; i++) {
        every *= i > 0 ? 1 + pick(dice, 3) : 1;
        persist_s += behind ? often(dice, 0.8, chance(dice, 0.2) ? 40.0 : 4.0 * step_s) : 0.0;
        plan->levels[i] = (struct checkpoint_level){
            .tier = "tier",
            .survival = chance(dice, 0.8) ? (int)(i + 3 - plan->level_count) : (int)pick(dice, 3),
            .every = every,
            .stall_s = often(dice, 0.7, 3.0),
            .persist_s = persist_s,
            .slowdown_ratio = chance(dice, 0.5) ? 1.0
                              : dice->exact     ? 2.0
                                                : roll(dice, 1.0, 4.0),
            .load_s = often(dice, 0.7, 12.0),
        };
    }
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct trace_event *)a)->at_s, y = ((const struct trace_event *)b)->at_s;
    return (x > y) - (x < y);
}

static void set_cause(struct dice *dice, struct small_job *job, unsigned index, double span_s)
{
    static const char *const names[] = {"a", "b", "c"};
    struct failure_cause *cause = &job->causes[index];
    static const int units[] = {UNIT_JOB, UNIT_NODE, UNIT_NODE, UNIT_GPU, UNIT_NIC, UNIT_DOMAIN};
    *cause = (struct failure_cause){.name = names[index],
                                    .kind = failure_find("trace"),
                                    .unit = units[pick(dice, 6)],
                                    .effect = EFFECT_STOP,
                                    .domain_nodes = 1 + pick(dice, 3),
                                    .in_place_ratio = chance(dice, 0.3) ? 1.0 : 0.0,
                                    .detect.mean_s = chance(dice, 0.7) ? -1.0 : seconds(dice, 9.0),
                                    .repair.mean_s = chance(dice, 0.7) ? -1.0 : seconds(dice, 60),
                                    .early_factor = 1.0,
                                    .trace = job->events[index],
                                    .trace_count = pick(dice, ORACLE_EVENTS + 1)};
    uint32_t nodes = job->spec.nodes + (uint32_t)job->spec.recovery.spares;
    uint32_t units_of[] = {[UNIT_GPU] = nodes * job->spec.gpus_per_node,
                           [UNIT_NIC] = nodes * job->spec.nics_per_node,
                           [UNIT_NODE] = nodes,
                           [UNIT_DOMAIN] = (nodes + (uint32_t)cause->domain_nodes - 1) /
                                           (uint32_t)cause->domain_nodes,
                           [UNIT_JOB] = 1};
    for (uint32_t i = 0; i < cause->trace_count; i++) {
        struct trace_event *event = &job->events[index][i];
        event->at_s =
            i > 0 && chance(dice, 0.2) ? job->events[index][i - 1].at_s : seconds(dice, span_s);
        event->unit = pick(dice, units_of[cause->unit]);
        event->repair_s = chance(dice, 0.3) ? -1.0 : often(dice, 0.8, 100.0);
    }
    qsort(job->events[index], cause->trace_count, sizeof(struct trace_event), by_time);
}

static void set_recovery(struct dice *dice, struct recovery_spec *out)
{
    static const char *const kinds[] = {"restart-in-place", "wait-for-repair", "hot-spare",
                                        "warm-spare", "cold-spare"};
    out->kind = recovery_find(kinds[pick(dice, 5)]);
    out->spares = out->kind->has_spares ? pick(dice, 4) : 0;
    out->crews = pick(dice, 3);
    out->replicas_min = 1;
    out->repair.mean_s = seconds(dice, 100.0);
    for (unsigned i = 0; i < RESTART_LINK_COUNT; i++) {
        out->restart.links[i].mean_s = often(dice, 0.5, 6.0);
        out->restart.sheltered[i] = chance(dice, 0.3);
    }
    out->restart.communicators_per_rank_s = often(dice, 0.2, 2.0);
}

static void make(struct small_job *job, uint64_t seed)
{
    struct dice dice = {random_key(seed, "small job"), 0, false};
    dice.exact = chance(&dice, 0.5);
    *job = (struct small_job){.step_s =
                                  dice.exact ? 1.0 + 0.25 * pick(&dice, 9) : roll(&dice, 0.5, 4.0)};
    struct job_spec *spec = &job->spec;
    spec->steps = chance(&dice, 0.9) ? 1 + pick(&dice, chance(&dice, 0.1) ? 300 : 60) : 0;
    double span_s = job->step_s * (double)(spec->steps > 0 ? spec->steps : 60);
    if (spec->steps == 0 || chance(&dice, 0.4))
        spec->duration_s = fmax(seconds(&dice, 4.0 * span_s), 1.0);
    spec->strike = (int)pick(&dice, 3);
    spec->nodes = 1 + pick(&dice, 6);
    spec->gpus_per_node = 1 + pick(&dice, 3);
    spec->nics_per_node = 1 + pick(&dice, 2);
    spec->replicas = 1;
    spec->ranks = spec->nodes * spec->gpus_per_node;
    spec->tokens_per_step = 3.0;
    spec->cost.rental.job_hour_usd = NAN;
    set_recovery(&dice, &spec->recovery);
    set_checkpoint(&dice, &spec->checkpoint, job->step_s);
    bool saves = spec->checkpoint.plan.level_count > 0;
    if ((saves || spec->duration_s > 0.0) && chance(&dice, 0.2)) {
        spec->maintenance_every_s = fmax(seconds(&dice, span_s), 100.0);
        spec->maintenance_s = 0.125 + seconds(&dice, 10.0);
    }
    spec->causes = job->causes;
    spec->cause_count = pick(&dice, ORACLE_CAUSES + 1);
    for (unsigned i = 0; i < spec->cause_count; i++)
        set_cause(&dice, job, i, 2.0 * span_s);
}

static void tell_failure(void *context, const struct fleet_event *event, double at_s,
                         double repair_s)
{
    struct told *told = context;
    if (job_count == 1)
        print_message("  %g: unit %u of cause %u fails at %g, repair %g\n", at_s, event->unit,
                      event->cause, event->at_s, repair_s);
    assert_true(told->failure_count < ORACLE_FAILURES);
    told->failed_s[told->failure_count++] = at_s;
    told->by_cause[event->cause]++;
}

static void tell_interruption(void *context, const struct interruption *interruption)
{
    struct told *told = context;
    assert_true(told->interruption_count < ORACLE_FAILURES);
    told->interruptions[told->interruption_count++] = *interruption;
}

static void tell_save(void *context, const struct saved *saved)
{
    struct told *told = context;
    assert_true(told->save_count < ORACLE_COPIES);
    told->saves[told->save_count++] = *saved;
}

/* Copies that become durable at one moment are told in any order. */
static int by_moment(const void *a, const void *b)
{
    const struct saved *x = a, *y = b;
    if (x->at_s != y->at_s)
        return (x->at_s > y->at_s) - (x->at_s < y->at_s);
    return x->level != y->level ? (x->level > y->level) - (x->level < y->level)
                                : (x->step > y->step) - (x->step < y->step);
}

static void play(const struct small_job *job, bool step_by_step, bool saves, struct told *out)
{
    *out = (struct told){0};
    struct job_observer observer = {.context = out,
                                    .step_by_step = step_by_step,
                                    .failure = tell_failure,
                                    .interruption = tell_interruption,
                                    .saves = saves ? tell_save : NULL};
    struct condition_table *conditions = condition_fixed(job->step_s);
    job_run(&job->spec, conditions, 1, &observer, &out->result);
    condition_destroy(conditions);
    qsort(out->saves, out->save_count, sizeof *out->saves, by_moment);
}

static void describe_checkpoint(const struct checkpoint_spec *c)
{
    print_message("  saves every %g s or %llu steps%s, keep %llu%s\n", c->interval_s,
                  (unsigned long long)c->interval_steps, c->plan.every_step ? ", every step" : "",
                  (unsigned long long)c->keep, c->final ? ", final" : "");
    for (unsigned i = 0; i < c->plan.level_count; i++) {
        const struct checkpoint_level *l = &c->plan.levels[i];
        print_message("    level %u: survives %s, every %llu, stall %g, persist %g x %g, load %g\n",
                      i, survival_names[l->survival], (unsigned long long)l->every, l->stall_s,
                      l->persist_s, l->slowdown_ratio, l->load_s);
    }
}

static void describe(const struct small_job *job)
{
    const struct job_spec *spec = &job->spec;
    const struct recovery_spec *r = &spec->recovery;
    print_message(
        "  %llu steps of %g s, up to %g s, strike %s, %u nodes, maintenance %g s every %g\n",
        (unsigned long long)spec->steps, job->step_s, spec->duration_s, strike_names[spec->strike],
        spec->nodes, spec->maintenance_s, spec->maintenance_every_s);
    describe_checkpoint(&spec->checkpoint);
    print_message("  %s, %llu spares, %llu crews, repair %g s, per rank %g s; links",
                  r->kind->head.name, (unsigned long long)r->spares, (unsigned long long)r->crews,
                  r->repair.mean_s, r->restart.communicators_per_rank_s);
    for (unsigned i = 0; i < RESTART_LINK_COUNT; i++)
        print_message(" %g%s", r->restart.links[i].mean_s, r->restart.sheltered[i] ? "s" : "");
    for (uint32_t c = 0; c < spec->cause_count; c++) {
        const struct failure_cause *cause = &spec->causes[c];
        print_message("\n  %s x %llu, detect %g, repair %g, in place %g:",
                      failure_unit_names[cause->unit], (unsigned long long)cause->domain_nodes,
                      cause->detect.mean_s, cause->repair.mean_s, cause->in_place_ratio);
        for (uint32_t i = 0; i < cause->trace_count; i++)
            print_message(" %g (%u, %g)", cause->trace[i].at_s, cause->trace[i].unit,
                          cause->trace[i].repair_s);
    }
    print_message("\n");
}

/* What differs, by name; NULL where nothing does. */
struct difference {
    const char *what;
    uint32_t index;
    double expected, found;
};

static bool differ(struct difference *out, const char *what, uint32_t index, double expected,
                   double found, double scale)
{
    if (expected == found || fabs(expected - found) <= 1e-9 * scale)
        return false;
    if (!out->what)
        *out = (struct difference){what, index, expected, found};
    return true;
}

static void compare_interruption(const struct interruption *a, const struct interruption *b,
                                 uint32_t i, double wall_s, struct difference *out)
{
    differ(out, "interruption: at", i, a->at_s, b->at_s, wall_s);
    differ(out, "interruption: cause", i, a->cause, b->cause, 0.0);
    differ(out, "interruption: node", i, a->node, b->node, 0.0);
    differ(out, "interruption: unit", i, a->unit, b->unit, 0.0);
    differ(out, "interruption: step", i, (double)a->step, (double)b->step, 0.0);
    differ(out, "interruption: loaded step", i, (double)a->loaded_step, (double)b->loaded_step,
           0.0);
    differ(out, "interruption: strikes", i, a->strikes, b->strikes, 0.0);
    differ(out, "interruption: wait", i, a->wait_s, b->wait_s, wall_s);
    for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
        differ(out, restart_link_names[link], i, a->links_s[link], b->links_s[link], wall_s);
    differ(out, "interruption: load", i, a->load_s, b->load_s, wall_s);
    differ(out, "interruption: lost time", i, a->lost_s, b->lost_s, wall_s);
    differ(out, "interruption: lost steps", i, a->lost_steps, b->lost_steps, 1e3);
    differ(out, "interruption: resumed", i, a->resumed_at_s, b->resumed_at_s, wall_s);
    differ(out, "interruption: level", i, a->level, b->level, 0.0);
    differ(out, "interruption: spare taken", i, a->spare_taken, b->spare_taken, 0.0);
    differ(out, "interruption: others went on", i, a->others_went_on, b->others_went_on, 0.0);
}

static void compare_result(const struct job_result *a, const struct job_result *b,
                           struct difference *out)
{
    double wall_s = a->wall_s;
    for (unsigned i = 0; i < BADPUT_COUNT; i++)
        differ(out, badput_names[i], i, a->badput_s[i], b->badput_s[i], wall_s);
    for (unsigned i = 0; i < RESTART_LINK_COUNT; i++)
        differ(out, restart_link_names[i], i, a->restart_link_s[i], b->restart_link_s[i], wall_s);
    differ(out, "load", 0, a->part.load_s, b->part.load_s, wall_s);
    differ(out, "wall", 0, wall_s, b->wall_s, wall_s);
    differ(out, "steps", 0, a->steps_completed, b->steps_completed, a->steps_completed);
    differ(out, "tokens", 0, a->tokens_completed, b->tokens_completed, a->tokens_completed);
    differ(out, "failures", 0, (double)a->failures, (double)b->failures, 0.0);
    differ(out, "interruptions", 0, (double)a->interruptions, (double)b->interruptions, 0.0);
    differ(out, "checkpoints", 0, (double)a->checkpoints, (double)b->checkpoints, 0.0);
    differ(out, "spares taken", 0, (double)a->spares_taken, (double)b->spares_taken, 0.0);
    differ(out, "rollbacks", 0, (double)a->rollbacks_past_corrupt,
           (double)b->rollbacks_past_corrupt, 0.0);
    differ(out, "goodput", 0, a->goodput, b->goodput, 1.0);
    differ(out, "ettr", 0, a->ettr, b->ettr, 1.0);
    differ(out, "finished", 0, a->finished, b->finished, 0.0);
}

static struct difference compare(const struct told *a, const struct told *b, bool saves)
{
    struct difference out = {0};
    double wall_s = a->result.wall_s;
    for (uint32_t i = 0; i < a->failure_count && i < b->failure_count; i++)
        differ(&out, "failure: at", i, a->failed_s[i], b->failed_s[i], wall_s);
    for (uint32_t i = 0; i < a->interruption_count && i < b->interruption_count; i++)
        compare_interruption(&a->interruptions[i], &b->interruptions[i], i, wall_s, &out);
    differ(&out, "failures told", 0, a->failure_count, b->failure_count, 0.0);
    differ(&out, "interruptions told", 0, a->interruption_count, b->interruption_count, 0.0);
    for (uint32_t i = 0; saves && i < a->save_count && i < b->save_count; i++) {
        differ(&out, "save: at", i, a->saves[i].at_s, b->saves[i].at_s, wall_s);
        differ(&out, "save: stall", i, a->saves[i].stall_s, b->saves[i].stall_s, wall_s);
        differ(&out, "save: step", i, (double)a->saves[i].step, (double)b->saves[i].step, 0.0);
        differ(&out, "save: level", i, a->saves[i].level, b->saves[i].level, 0.0);
    }
    if (saves)
        differ(&out, "saves told", 0, a->save_count, b->save_count, 0.0);
    for (uint32_t i = 0; i < ORACLE_CAUSES; i++)
        differ(&out, "by cause", i, (double)a->by_cause[i], (double)b->by_cause[i], 0.0);
    compare_result(&a->result, &b->result, &out);
    return out;
}

static bool same(const struct told *expected, const struct told *found, bool saves, uint64_t seed,
                 const char *how)
{
    struct difference difference = compare(expected, found, saves);
    if (difference.what)
        print_message("job %llu, %s: %s [%u]: expected %.12g, found %.12g\n",
                      (unsigned long long)seed, how, difference.what, difference.index,
                      difference.expected, difference.found);
    return difference.what == NULL;
}

static void describe_told(const struct told *told)
{
    for (uint32_t i = 0; i < told->interruption_count; i++) {
        const struct interruption *in = &told->interruptions[i];
        print_message("  %g: cause %u, unit %u, step %llu, lost %g s, %u strikes, wait %g, load %g "
                      "of level %d, on at %g; links",
                      in->at_s, in->cause, in->unit, (unsigned long long)in->step, in->lost_s,
                      in->strikes, in->wait_s, in->load_s, (int)in->level, in->resumed_at_s);
        for (unsigned link = 0; link < RESTART_LINK_COUNT; link++)
            print_message(" %g", in->links_s[link]);
        print_message("\n");
    }
    for (uint32_t i = 0; i < told->save_count; i++)
        print_message("  %g save of %llu on %u\n", told->saves[i].at_s,
                      (unsigned long long)told->saves[i].step, told->saves[i].level);
    for (unsigned i = 0; i < BADPUT_COUNT; i++)
        print_message("  %s %g", badput_names[i], told->result.badput_s[i]);
    print_message("\n\n");
}

static bool agree(uint64_t seed, struct told *expected, struct told *found)
{
    struct small_job job;
    make(&job, seed);
    if (job_count == 1)
        describe(&job);
    job_oracle(&job.spec, job.step_s, expected);
    qsort(expected->saves, expected->save_count, sizeof *expected->saves, by_moment);
    play(&job, true, true, found);
    if (job_count == 1) {
        describe_told(expected);
        describe_told(found);
    }
    bool good = same(expected, found, true, seed, "step by step");
    play(&job, false, true, found);
    good &= same(expected, found, true, seed, "closed form, saves told");
    play(&job, false, false, found);
    return same(expected, found, false, seed, "closed form") && good;
}

static void test_naive_player(void **state)
{
    struct told *told = calloc(2, sizeof *told);
    assert_non_null(told);
    uint64_t wrong = 0;
    for (uint64_t seed = first_job; seed < first_job + job_count; seed++)
        wrong += !agree(seed, &told[0], &told[1]);
    free(told);
    assert_int_equal(wrong, 0);
}

/* 60 steps take 90 s and nothing is saved: a stop every 26 s undoes all of them, for ever. */
static void test_hopeless_job_ends(void **state)
{
    struct small_job job;
    make(&job, 0);
    job.step_s = 1.5;
    job.spec.cause_count = 0;
    job.spec.steps = 60;
    job.spec.duration_s = 0.0;
    job.spec.checkpoint.plan.level_count = 0;
    job.spec.maintenance_every_s = 26.0;
    job.spec.maintenance_s = 1.0;
    struct told *told = calloc(1, sizeof *told);
    assert_non_null(told);
    play(&job, false, false, told);
    assert_false(told->result.finished);
    assert_true(told->result.badput_s[BADPUT_lost_work] > 0.0);
    free(told);
}

int main(int argc, char **argv)
{
    job_count = argc > 1 ? strtoull(argv[1], NULL, 10) : JOBS;
    first_job = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_naive_player),
                                       cmocka_unit_test(test_hopeless_job_ends)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
