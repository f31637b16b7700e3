#include "analysis/plan/search/search_weeks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/record/numbers/cost.h"
#include "analysis/record/numbers/metric_source.h"
#include "models/job/player/job.h"
#include "scenarios/assemble/scenario.h"
#include "sim/check.h"
#include "sim/pool.h"

enum {
    WEEKS_AT_ONCE = 8,
    SEEDS_LEAST = 2, /* which make an interval */
    FAILURES_ENOUGH = 100000,
    HARDLY = 10 /* times as long as without failures */
};

/* The scenario once more, with this layout said. NULL with a sentence. */
static struct scenario *read_with(struct arena *arena, const struct scenario *s,
                                  const struct plan_layout *layout, struct error *error)
{
    const char *sets[PLAN_KEY_COUNT];
    const unsigned count = plan_layout_sets(arena, &s->configuration, layout, sets);
    struct scenario *out = scenario_read_again(s, sets, count, error);
    if (out == NULL || out->diagnostics.error_count == 0)
        return out;
    for (unsigned i = 0; i < out->diagnostics.problem_count; i++)
        if (!out->diagnostics.problems[i].warning) {
            error_set(error, "%s", out->diagnostics.problems[i].text);
            break;
        }
    scenario_destroy(out);
    return NULL;
}

static void note_policies(const struct job_spec *job, struct search_weeks *out)
{
    const struct checkpoint_spec *save = &job->checkpoint;
    const enum save_rule rule = job_save_rule(save);
    const bool saves = rule != SAVE_nothing;
    out->interval_s = saves && save->interval_steps == 0 ? save->interval_s : NAN;
    out->stall_s = saves ? save->plan.levels[0].stall_s : NAN; /* the others do not block */
    out->interval_why = rule == SAVE_floor     ? "shortest that spares the drives"
                        : rule == SAVE_optimum ? "the optimum"
                        : rule == SAVE_played  ? "the best of those played"
                                               : NULL;
    out->mtbf_s = save->job_mtbf_s;
    out->checkpoint = save->kind->head.name;
    out->recovery = job->recovery.kind->head.name;
    out->spares = job->recovery.kind->has_spares ? job->recovery.spares : 0;
    out->spare_gpus =
        job->recovery.kind->spares_idle ? out->spares * job->cost.rental.spare_gpus : 0;
}

/* Only now is the interval known that reaches back from when a corruption is found. */
static void note_taint(const struct job_spec *job, double step_s, struct search_weeks *out)
{
    const double each_s = job_between_saves_s(&job->checkpoint, step_s);
    struct job_anew anew;
    if (!(each_s > 0.0) || !job_starts_anew(job, each_s, job_work_s(job, step_s), &anew))
        return;
    out->keep_needed = anew.keep;
    snprintf(out->tainted_by, sizeof out->tainted_by, "%s",
             anew.cause != NULL ? anew.cause->name : "checkpoint.corrupt");
}

static bool goes_on(void *context, double done_ratio)
{
    const struct search_weeks_wish *wish = context;
    (void)done_ratio;
    return wish->stop == NULL || !wish->stop(wish->context);
}

/* Of a job that hardly gets on more seeds say the same, and take their time: where two keep
 * nothing, where the player gave up, or where so many failures were met that their number is known
 * to 0.3 % (one over its root). */
static bool settled(const struct search_weeks *weeks, double tokens, double failures)
{
    return weeks->seeds >= SEEDS_LEAST &&
           (tokens == 0.0 || weeks->limited || failures >= FAILURES_ENOUGH);
}

static bool play_seeds(struct arena *arena, const struct search_weeks_wish *wish,
                       const struct job_spec *job, struct condition_table *conditions,
                       struct search_weeks *out)
{
    const struct job_watch watch = {(void *)wish, goes_on};
    const struct job_observer observer = {.watch = &watch};
    const uint64_t seed = wish->scenario->configuration.seed;
    struct arena *scratch = arena_create();
    double *shares = ARENA_ARRAY(arena, double, out->asked);
    double wall_s = 0.0, tokens = 0.0, usd = 0.0;
    bool stopped = false;
    struct summary summary;
    out->rates = ARENA_ARRAY(arena, double, out->asked);
    double failures = 0.0;
    for (uint32_t i = 0; i < out->asked && !stopped && !settled(out, tokens, failures); i++) {
        struct job_result result;
        job_run_in(scratch, job, conditions, seed + i, &observer, &result);
        out->seeds = i + 1;
        stopped = stopped || result.end == JOB_END_stopped;
        out->rates[i] = result.wall_s > 0.0 ? result.tokens_completed / result.wall_s : 0.0;
        shares[i] = result.goodput;
        wall_s += result.wall_s;
        tokens += result.tokens_completed;
        usd += result.cost_usd;
        failures += (double)result.failures;
        out->limited = out->limited || job_end_is_limit(result.end);
    }
    out->failures = failures / (double)out->seeds;
    const struct summary_range range = metric_range(METRIC_goodput);
    statistics_summarise(arena, shares, out->seeds, &range, &summary);
    out->goodput_ratio = summary.mean;
    out->low_ratio = summary.low95;
    out->high_ratio = summary.high95;
    out->tokens_per_s = wall_s > 0.0 ? tokens / wall_s : 0.0;
    out->usd_per_1e9_tokens = tokens > 0.0 ? usd / tokens * GIGA : NAN;
    arena_destroy(scratch);
    return !stopped;
}

/* The time of a training is that of all of it: a shorter window cuts off what is waited for at its
 * end. Of one that hardly gets on a part tells the rest. */
static void train_to_the_end(const struct configuration *c, double step_s, struct job_spec *job)
{
    if (!(c->training.tokens > 0.0))
        return;
    job->steps = configuration_steps(c);
    if (job->duration_s > 0.0)
        job->duration_s = fmax(job->duration_s, HARDLY * (double)job->steps * step_s);
}

bool search_weeks_play(struct arena *arena, const struct search_weeks_wish *wish,
                       const struct plan_layout *layout, struct search_weeks *out,
                       struct error *error)
{
    struct arena *scratch = arena_create();
    struct job_spec job;
    bool played = false;
    CHECK(wish->scenario->has_run && wish->seeds > 0);
    *out = (struct search_weeks){.asked = wish->seeds};
    struct scenario *s = read_with(scratch, wish->scenario, layout, error);
    struct condition_table *conditions = NULL;
    if (s != NULL) {
        s->configuration.perturbation_count = 0; /* as the search has it */
        s->configuration.kernel_jitter_sigma = 0.0;
        conditions = condition_create(&s->configuration, error);
    }
    if (conditions != NULL) {
        scenario_job(s, conditions, NULL, &job);
        note_policies(&job, out);
        const double step_s = condition_step_s(conditions, &condition_ideal);
        train_to_the_end(&s->configuration, step_s, &job);
        note_taint(&job, step_s, out);
        played = play_seeds(arena, wish, &job, conditions, out) ||
                 error_set(error, "stopped before its weeks were simulated");
        condition_destroy(conditions);
    }
    scenario_destroy(s);
    arena_destroy(scratch);
    return played;
}

double search_weeks_tokens_per_s(const struct search_leader *leader)
{
    return leader->weeks != NULL ? leader->weeks->tokens_per_s : leader->tokens_per_s;
}

static const struct search_weeks *copy_weeks(struct arena *arena, const struct search_weeks *of)
{
    struct search_weeks *weeks = ARENA_NEW(arena, struct search_weeks);
    *weeks = *of;
    weeks->rates = ARENA_ARRAY(arena, double, of->seeds);
    memcpy(weeks->rates, of->rates, of->seeds * sizeof *of->rates);
    return weeks;
}

struct search_leader search_weeks_keep(struct arena *arena, const struct search_leader *leader)
{
    struct search_leader out = *leader;
    struct search_row *row = ARENA_NEW(arena, struct search_row);
    *row = *leader->row;
    out.row = row;
    if (leader->weeks != NULL)
        out.weeks = copy_weeks(arena, leader->weeks);
    return out;
}

struct weeks_slot {
    struct arena *arena; /* of the thread that plays it; what it found is copied out */
    struct search_weeks weeks;
    struct error error;
    bool good;
};
struct weeks_playing {
    const struct search_weeks_round *round;
    struct weeks_slot *slots;
};

static void play_slot(void *context, size_t index)
{
    const struct weeks_playing *p = context;
    struct weeks_slot *slot = &p->slots[index];
    slot->arena = arena_create();
    slot->good =
        search_weeks_play(slot->arena, p->round->wish, &p->round->leaders[index]->row->layout,
                          &slot->weeks, &slot->error);
    arena_give(slot->arena);
}

static void keep_slot(struct arena *arena, struct weeks_slot *slot, struct search_leader *leader,
                      struct error *first)
{
    arena_claim(slot->arena);
    if (slot->good)
        leader->weeks = copy_weeks(arena, &slot->weeks);
    else if (first->text[0] == '\0')
        *first = slot->error;
    arena_destroy(slot->arena);
}

static bool stopped(const struct search_weeks_round *round)
{
    return round->stop != NULL && round->stop(round->context);
}

void search_weeks_round(struct arena *arena, const struct search_weeks_round *round,
                        struct error *first)
{
    struct weeks_slot *slots = ARENA_ARRAY(arena, struct weeks_slot, WEEKS_AT_ONCE);
    struct search_leader *chosen[WEEKS_AT_ONCE];
    struct search_weeks_round part = *round;
    first->text[0] = '\0';
    part.leaders = chosen;
    for (uint32_t i = 0; i < round->count && !stopped(round);) {
        part.count = 0;
        for (; i < round->count && part.count < WEEKS_AT_ONCE; i++)
            if (round->leaders[i]->played)
                chosen[part.count++] = round->leaders[i];
        memset(slots, 0, WEEKS_AT_ONCE * sizeof *slots);
        struct weeks_playing playing = {.round = &part, .slots = slots};
        pool_run(round->threads, part.count, play_slot, &playing);
        for (uint32_t k = 0; k < part.count; k++)
            keep_slot(arena, &slots[k], chosen[k], first);
    }
}

double search_weeks_log_ratio(const struct search_weeks *a, const struct search_weeks *b,
                              double *standard_error)
{
    const uint32_t count = a->seeds < b->seeds ? a->seeds : b->seeds;
    double sum = 0.0, squares = 0.0;
    *standard_error = 0.0;
    for (uint32_t i = 0; i < count; i++)
        if (a->rates[i] <= 0.0 || b->rates[i] <= 0.0) /* a run that kept nothing */
            return log(fmax(a->tokens_per_s, 1e-9) / fmax(b->tokens_per_s, 1e-9));
    for (uint32_t i = 0; i < count; i++)
        sum += log(a->rates[i] / b->rates[i]);
    const double mean = sum / (double)count;
    for (uint32_t i = 0; i < count; i++) {
        const double off = log(a->rates[i] / b->rates[i]) - mean;
        squares += off * off;
    }
    *standard_error = count > 1 ? sqrt(squares / ((double)count * ((double)count - 1.0))) : 0.0;
    return mean;
}
