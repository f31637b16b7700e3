/* Plays the points of a study: seeds spread over threads, conditions of the cluster shared by the
 * points that step alike. */
#include <math.h>
#include <string.h>

#include "analysis/record/evidence/late_warnings.h"
#include "analysis/record/numbers/cost.h"
#include "analysis/record/numbers/result.h"
#include "analysis/study/study.h"
#include "analysis/study/study_warnings.h"
#include "models/step/simulate/step.h"
#include "sim/check.h"
#include "sim/pool.h"

enum {
    SEEDS_AT_ONCE = 8 /* of one thread: some hundred microseconds */
};

struct study_player {
    struct study *study;
    struct condition_table *conditions; /* of the point before; NULL: none yet */
    struct scenario *held;              /* whose configuration they borrow */
    size_t conditions_point;
    double of_step[METRIC_COUNT]; /* metrics of one step under them; NAN: others */
    struct study_warnings *late;  /* of points of weeks */
    size_t warned_of;             /* points */
};
/* One point on its way. */
struct playing {
    struct study_player *player;
    struct study_point *point;
    struct scenario *scenario;
    struct job_spec job;
    size_t first; /* replication of this batch */
    size_t count;
    enum job_end *ends; /* of weeks, by replication */
};

struct study_player *study_player_create(struct study *study)
{
    struct study_player *player = ARENA_NEW(study->arena, struct study_player);
    player->study = study;
    player->late = study_warnings_create(study->arena, study->varies, study->vary_count);
    return player;
}

void study_player_tell(const struct study_player *player, FILE *notes, bool colour)
{
    study_warnings_tell(player->late, player->warned_of, notes, colour);
}

void study_player_destroy(struct study_player *player)
{
    if (player->conditions)
        condition_destroy(player->conditions);
    if (player->held)
        scenario_destroy(player->held);
    player->conditions = NULL;
    player->held = NULL;
}

/* Do two points differ in nothing that a step depends on? */
static bool step_alike(const struct study *study, size_t a, size_t b)
{
    for (unsigned k = 0; k < study->vary_count; k++) {
        if (scenario_key_of_weeks(study->varies[k].key))
            continue;
        if (study_vary_index(study->varies, study->vary_count, k, a) !=
            study_vary_index(study->varies, study->vary_count, k, b))
            return false;
    }
    return true;
}

static void forget_values(double *values)
{
    for (unsigned m = 0; m < METRIC_COUNT; m++)
        values[m] = NAN;
}

/* What a step tells for itself. `step_s` NAN: it was not timed. */
static void take_step(const struct configuration *c, const struct step *step, double step_s,
                      double *values)
{
    struct metric_source m = {
        .c = c,
        .step = step,
        .step_s = step_s,
        .peak_reserved_bytes = step->peak.reserved_bytes,
    };
    cost_of_step(c, step_s, &m.cost);
    metric_source_step(&m, values);
}

/* Of weeks, the step is timed already: its ledger is what is missing. */
static bool measure_step(struct study_player *player, const struct configuration *c,
                         struct error *error)
{
    struct step_options how = {.memory_only = true};
    struct step *step = NULL;
    forget_values(player->of_step);
    if (!step_run(c, &how, &step, error))
        return false;
    take_step(c, step, condition_step_s(player->conditions, &condition_ideal), player->of_step);
    step_destroy(step);
    return true;
}

static bool find_conditions(struct study_player *player, struct playing *playing, size_t point,
                            struct error *error)
{
    if (player->conditions && step_alike(player->study, player->conditions_point, point))
        return true;
    study_player_destroy(player);
    player->held = playing->scenario;
    player->conditions = condition_create(&playing->scenario->configuration, error);
    player->conditions_point = point;
    return player->conditions != NULL &&
           measure_step(player, &playing->scenario->configuration, error);
}

static void play_weeks(struct arena *arena, struct playing *playing, size_t replication)
{
    struct study_player *player = playing->player;
    struct job_result result;
    job_run_in(arena, &playing->job, player->conditions,
               player->study->base_seed + playing->point->share.first + replication, NULL, &result);
    double *values = playing->point->values[replication];
    struct metric_source m = {.job = &playing->job, .weeks = &result};
    playing->ends[replication] = result.end;
    cost_of_weeks(m.job, m.weeks, &m.cost);
    memcpy(values, player->of_step, sizeof player->of_step);
    metric_source_weeks(&m, values);
}

static void play_chunk(void *context, size_t index)
{
    struct playing *playing = context;
    size_t from = playing->first + index * SEEDS_AT_ONCE, end = playing->first + playing->count;
    struct arena *arena = arena_create(); /* of the thread that plays this chunk */
    for (size_t r = from; r < from + SEEDS_AT_ONCE && r < end; r++)
        play_weeks(arena, playing, r);
    arena_destroy(arena);
}

static void set_marks(struct playing *playing)
{
    const struct checkpoint_spec *c = &playing->job.checkpoint;
    bool saves = c->plan.level_count > 0;
    double stall = saves ? c->plan.levels[0].stall_s : NAN, mtbf = c->job_mtbf_s;
    bool known = saves && isfinite(mtbf) && stall > 0.0;
    playing->point->marks = (struct study_marks){
        .interval_s = saves ? c->interval_s : NAN,
        .young_s = known ? checkpoint_young_s(stall, mtbf) : NAN,
        .daly_s = known ? checkpoint_daly_s(stall, mtbf) : NAN,
        .exact_s = known ? job_exact_interval_s(&playing->job, stall) : NAN,
        .job_mtbf_s = mtbf,
        .stall_s = stall,
    };
}

static void play_batches(struct playing *playing)
{
    const struct study *study = playing->player->study;
    struct study_point *point = playing->point;
    size_t target;
    while (!study_enough(study, point, &target)) {
        playing->first = point->replications;
        playing->count = target - point->replications;
        pool_run(study->options->threads, (playing->count + SEEDS_AT_ONCE - 1) / SEEDS_AT_ONCE,
                 play_chunk, playing);
        point->replications = target;
    }
}

/* What it would need on a card without end, and what first finds no room on this one. */
static void note_shortage(struct playing *playing, struct step *step)
{
    struct study_point *point = playing->point;
    struct arena *arena = playing->player->study->arena;
    struct result result;
    result_gather(playing->scenario, step, &result);
    double needed = result_peak_bytes(&result, true);
    point->fits = false;
    point->values[0][METRIC_peak_reserved_bytes] = needed;
    point->shortage = (struct study_shortage){
        .tensor = arena_text(arena, result.failure.tensor),
        .tenant = tenant_names[result.failure.tenant],
        .stage = result.failure.stage,
        .short_bytes =
            result.failure.on_host ? result.failure.short_bytes : needed - point->usable_bytes,
    };
}

/* Is memory why its step cannot be played? Then the point has one replication, without values but
 * for what it would need. */
static bool too_large(struct playing *playing)
{
    struct step_options how = {0};
    struct error ignored = {""};
    struct step *step = NULL;
    bool large = step_run(&playing->scenario->configuration, &how, &step, &ignored) && !step->fits;
    bool here = large && playing->point->share.first == 0;
    if (here)
        note_shortage(playing, step);
    playing->point->replications = here ? 1 : 0;
    step_destroy(step);
    return large;
}

/* Replications before `from` were stored: what was to be said of them was said then. */
static void warn_of_limits(struct playing *playing, size_t from)
{
    const size_t played = playing->point->replications - from;
    size_t given_up = 0;
    enum job_end why = JOB_END_COUNT;
    for (size_t r = from; r < playing->point->replications; r++) {
        if (!job_end_is_limit(playing->ends[r]))
            continue;
        given_up++;
        why = playing->ends[r];
    }
    if (given_up > 0)
        scenario_warn(playing->scenario, NULL,
                      arena_format(playing->scenario->arena,
                                   "%zu of %zu replication%s given up: %s; the results are of the "
                                   "time before: look at the units of failures and "
                                   "checkpoint.interval, or give run.duration",
                                   given_up, played, played == 1 ? " was" : "s were",
                                   job_end_docs[why]));
}

static bool play_point_of_weeks(struct playing *playing, size_t number, struct error *error)
{
    struct study_player *player = playing->player;
    if (!find_conditions(player, playing, number, error))
        return too_large(playing);
    scenario_job(playing->scenario, player->conditions, NULL, &playing->job);
    playing->point->fits = true;
    set_marks(playing);
    const unsigned before = playing->scenario->diagnostics.problem_count;
    const size_t from = playing->point->replications;
    late_warnings_of_weeks(playing->scenario, &playing->job,
                           condition_step_s(player->conditions, &condition_ideal));
    playing->ends =
        ARENA_ARRAY(playing->scenario->arena, enum job_end, playing->point->share.count);
    play_batches(playing);
    warn_of_limits(playing, from);
    study_warnings_see(player->late, number, playing->scenario, before);
    player->warned_of++;
    return true;
}

static bool play_step(struct playing *playing, size_t replication, struct error *error)
{
    struct configuration c = playing->scenario->configuration;
    double *values = playing->point->values[replication];
    struct step_options how = {0};
    struct step *step = NULL;
    c.seed += playing->point->share.first + replication;
    bool good = step_run(&c, &how, &step, error);
    if (good && step->fits) {
        playing->point->fits = true;
        take_step(&c, step, step->step_s, values);
    } else if (good) {
        note_shortage(playing, step);
    }
    if (step)
        step_destroy(step);
    return good;
}

/* A step is the same for every seed without jitter and without paths by hash. */
static bool play_steps(struct playing *playing, struct error *error)
{
    struct study_point *point = playing->point;
    const struct configuration *c = &playing->scenario->configuration;
    bool drawn = c->kernel_jitter_sigma > 0.0 || topology_draws_paths(&c->cluster);
    size_t target = 1;
    if (!drawn && point->share.first > 0) /* another shard has the one replication */
        return true;
    while (drawn ? !study_enough(playing->player->study, point, &target)
                 : point->replications < 1) {
        for (size_t r = point->replications; r < target; r++)
            if (!play_step(playing, r, error))
                return false;
        point->replications = target;
    }
    return true;
}

static void make_room(const struct study *study, struct study_point *point)
{
    if (point->values)
        return;
    size_t seeds = point->share.count;
    point->marks = (struct study_marks){NAN, NAN, NAN, NAN, NAN, NAN};
    point->values = arena_array(study->arena, sizeof *point->values, seeds, _Alignof(double));
    for (size_t r = 0; r < seeds; r++)
        forget_values(point->values[r]);
}

/* What could not be simulated is left out like what breaks a rule. */
static void refuse(struct study_point *point, const char *why)
{
    *point = (struct study_point){.refusal = why, .share = point->share};
}

bool study_play(struct study_player *player, size_t point, struct error *error)
{
    struct study *study = player->study;
    struct playing playing = {.player = player, .point = &study->points[point]};
    struct error inner = {""};
    size_t target;
    CHECK(playing.point->refusal == NULL && playing.point->share.count > 0);
    if (playing.point->replications > 0 && study_enough(study, playing.point, &target)) {
        playing.point->done = true;
        return true;
    }
    playing.scenario = study_scenario(study, point, error);
    if (playing.scenario == NULL)
        return false;
    CHECK(playing.scenario->diagnostics.error_count == 0);
    make_room(study, playing.point);
    playing.point->usable_bytes = playing.scenario->configuration.gpu.hbm.usable_bytes;
    bool good =
        study->weeks ? play_point_of_weeks(&playing, point, &inner) : play_steps(&playing, &inner);
    playing.point->done = good;
    if (playing.scenario != player->held)
        scenario_destroy(playing.scenario);
    if (!good)
        refuse(playing.point, arena_text(study->arena, inner.text));
    return true;
}

static void tell_step_of(const struct study *study, size_t point, struct scenario *scenario,
                         FILE *notes, bool colour)
{
    const struct step_options how = {0};
    const unsigned before = scenario->diagnostics.problem_count;
    struct study_warnings *late =
        study_warnings_create(study->arena, study->varies, study->vary_count);
    struct stagger stagger;
    struct step *step = NULL;
    struct error error = {""};
    if (step_run(&scenario->configuration, &how, &step, &error)) {
        late_warnings_of_step(scenario, step, LATE_OF_RUN, &stagger);
        study_warnings_see(late, point, scenario, before);
        study_warnings_tell(late, study->point_count, notes, colour);
    }
    step_destroy(step);
}

void study_tell_step(const struct study *study, FILE *notes, bool colour)
{
    struct study_optimum optimum;
    struct error error = {""};
    study_optimum(study, &optimum);
    const size_t point = optimum.found ? optimum.point : study_nearest(study);
    struct scenario *scenario = point != SIZE_MAX ? study_scenario(study, point, &error) : NULL;
    if (scenario != NULL)
        tell_step_of(study, point, scenario, notes, colour);
    scenario_destroy(scenario);
}
