#include "analysis/study/study.h"

#include <math.h>
#include <string.h>

#include "analysis/output/text/version.h"
#include "analysis/study/study_warnings.h"
#include "models/layout/announced.h"
#include "sim/check.h"
#include "sim/random.h"

enum {
    FIRST_BATCH = 32, /* replications before a confidence interval is believed */
    SEEDS_MAX = 1000000,
    VALUES_MAX = 64000000 /* replications of all points: half a GiB of metrics at most */
};

enum study_unit study_unit(enum study_metric metric)
{
    static const char *const units[] = {
        [METRIC_IN_SHARE] = "1",   [METRIC_IN_TIME] = "s",   [METRIC_IN_BYTES] = "B",
        [METRIC_IN_MONEY] = "USD", [METRIC_IN_ENERGY] = "J", [METRIC_IN_POWER] = "W"};
    unsigned unit = METRIC_IN_POWER;
    while (unit > METRIC_IN_PLAIN && strcmp(units[unit], study_metrics[metric].unit) != 0)
        unit--;
    return (enum study_unit)unit;
}

bool study_measures(const struct study *study, unsigned metric)
{
    enum study_scope scope = study_metrics[metric].scope;
    return scope == METRIC_OF_BOTH || scope == (study->weeks ? METRIC_OF_WEEKS : METRIC_OF_STEPS);
}

const char *study_label(struct arena *arena, const struct study *study, size_t point)
{
    return study_vary_label(arena, study->varies, study->vary_count, point);
}

static bool read_varies(struct study *study, struct error *error)
{
    const struct study_options *options = study->options;
    if (options->vary_count > VARY_MAX)
        return error_set(error, "at most %d keys are varied at a time", VARY_MAX);
    for (unsigned k = 0; k < options->vary_count; k++) {
        if (!study_vary_read(study->arena, options->varies[k], &study->varies[k], error))
            return false;
        if (strcmp(study->varies[k].key, "seed") == 0)
            return error_set(error, "--vary: every point meets the same seeds; give the first with "
                                    "--seed and how many with --seeds");
        for (unsigned j = 0; j < k; j++)
            if (strcmp(study->varies[j].key, study->varies[k].key) == 0)
                return error_set(error, "--vary: %s is varied twice", study->varies[k].key);
    }
    study->vary_count = options->vary_count;
    return true;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = random_hash(hash, (unsigned char)*text);
    return random_hash(hash, strlen(text));
}

/* What makes two studies the same: version, file, --set, --vary, seed; and, of all points, what the
 * files that they name hold (keep_inputs). */
static uint64_t fingerprint(const struct study *study, const struct scenario *scenario)
{
    const struct study_options *options = study->options;
    uint64_t hash = mix_text(0, ORRERY_VERSION);
    hash = mix_text(hash, scenario->file.text);
    for (unsigned i = 0; i < options->scenario->set_count; i++)
        hash = mix_text(hash, options->scenario->sets[i]);
    for (unsigned k = 0; k < options->vary_count; k++)
        hash = mix_text(hash, options->varies[k]);
    return random_hash(hash, study->base_seed);
}

struct scenario *study_scenario(const struct study *study, size_t point, struct error *error)
{
    const struct scenario_options *base = study->options->scenario;
    struct arena *scratch = arena_create();
    const char **sets = ARENA_ARRAY(scratch, const char *, base->set_count + VARY_MAX);
    struct scenario_options options = *base;
    options.chosen = study->points[study->one_step ? 0 : point].chosen;
    if (base->set_count > 0)
        memcpy(sets, base->sets, base->set_count * sizeof *sets);
    for (unsigned k = 0; k < study->vary_count; k++) {
        size_t index = study_vary_index(study->varies, study->vary_count, k, point);
        sets[options.set_count++] = arena_format(scratch, "%s=%s", study->varies[k].key,
                                                 study->varies[k].values[index].text);
    }
    options.sets = sets;
    struct scenario *scenario = scenario_read(study->options->path, study->options->text,
                                              study->options->text_bytes, &options, error);
    arena_destroy(scratch);
    return scenario;
}

static void keep_inputs(struct study *study, const struct scenario *scenario)
{
    for (const struct scenario_input *i = scenario->file.inputs; i != NULL; i = i->next) {
        const struct scenario_input *known = study->inputs;
        while (known != NULL && strcmp(known->path, i->path) != 0)
            known = known->next;
        if (known != NULL)
            continue;
        struct scenario_input *input = ARENA_NEW(study->arena, struct scenario_input);
        *input = (struct scenario_input){arena_text(study->arena, i->path), study->inputs,
                                         arena_text(study->arena, i->key), i->contents};
        study->inputs = input;
        study->fingerprint = random_hash(study->fingerprint, i->contents);
    }
}

/* What study_plan works with, beside the study. */
struct planning {
    struct study *study;
    unsigned char *misread; /* by point: bit k where the word of key k is wrong by itself */
    size_t legal;           /* points so far */
};

static const char *refusal_of(const struct study *study, const struct scenario *scenario)
{
    for (unsigned i = 0; i < scenario->diagnostics.problem_count; i++)
        if (!scenario->diagnostics.problems[i].warning)
            return arena_text(study->arena, scenario->diagnostics.problems[i].text);
    return NULL;
}

/* Which values of a point are misread, a bit each: they follow the user's own --set, each on a line
 * of its own. */
static unsigned char misread_of(const struct study *study, const struct scenario *scenario)
{
    unsigned char bits = 0;
    unsigned before = study->options->scenario->set_count;
    for (unsigned i = 0; i < scenario->diagnostics.problem_count; i++) {
        const struct problem *problem = &scenario->diagnostics.problems[i];
        if (problem->misread && strcmp(problem->file, "--set") == 0 && problem->line > before)
            bits |= (unsigned char)(1U << (problem->line - before - 1));
    }
    return bits;
}

/* The first point that can be played tells what kind of study it is. */
static bool take_legal(struct planning *plan, size_t point, const struct scenario *scenario,
                       struct error *error)
{
    struct study *study = plan->study;
    if (plan->legal++ > 0)
        return scenario->has_run == study->weeks ||
               error_set(error, "%s: some points are runs of weeks (run:) and some single steps",
                         study_label(study->arena, study, point));
    study->name = arena_text(study->arena, scenario->name);
    study->base_seed = scenario->configuration.seed;
    study->weeks = scenario->has_run;
    study->fingerprint ^= fingerprint(study, scenario);
    return true;
}

static bool read_point(struct planning *plan, size_t point, struct error *error)
{
    struct study *study = plan->study;
    struct scenario *scenario = study_scenario(study, point, error);
    if (scenario == NULL)
        return false;
    keep_inputs(study, scenario);
    const char *refusal = refusal_of(study, scenario);
    study->points[point].refusal = refusal;
    study->points[point].announced =
        announced_words(&scenario->configuration,
                        ARENA_ARRAY(study->arena, char, ANNOUNCED_WORDS_MAX), ANNOUNCED_WORDS_MAX);
    plan->misread[point] = misread_of(study, scenario);
    if (refusal == NULL && study->points[study->one_step ? 0 : point].chosen == NULL) {
        struct scenario_chosen *chosen = ARENA_NEW(study->arena, struct scenario_chosen);
        scenario_keep_chosen(scenario, study->arena, chosen);
        study->points[study->one_step ? 0 : point].chosen = chosen;
    }
    if (refusal == NULL)
        study_warnings_see(study->warnings, point, scenario, 0);
    bool good = refusal != NULL || take_legal(plan, point, scenario, error);
    scenario_destroy(scenario);
    return good;
}

static bool reject(const struct study *study, size_t point, FILE *notes, bool colour,
                   struct error *error)
{
    struct scenario *scenario = study_scenario(study, point, error);
    if (scenario == NULL)
        return false;
    scenario_print_problems(scenario, notes, colour);
    if (study->vary_count == 0)
        error_set(error, "the scenario is rejected; nothing was run");
    else
        error_set(error, "%s: the scenario is rejected; nothing was run",
                  study_label(study->arena, study, point));
    scenario_destroy(scenario);
    return false;
}

/* A value that is misread at every point which has it is a typing error, not a point to skip. */
static bool find_wrong_value(const struct planning *plan, size_t *point)
{
    const struct study *study = plan->study;
    for (unsigned k = 0; k < study->vary_count; k++) {
        size_t all = study->point_count / study->varies[k].count;
        size_t *wrong = ARENA_ARRAY(study->arena, size_t, study->varies[k].count);
        for (size_t p = 0; p < study->point_count; p++) {
            size_t value = study_vary_index(study->varies, study->vary_count, k, p);
            wrong[value] += (unsigned)(plan->misread[p] >> k) & 1U;
            *point = p;
            if (wrong[value] == all)
                return true;
        }
    }
    *point = 0;
    return false;
}

static bool read_points(struct study *study, FILE *notes, bool colour, struct error *error)
{
    struct planning plan = {
        .study = study, .misread = ARENA_ARRAY(study->arena, unsigned char, study->point_count)};
    study->warnings = study_warnings_create(study->arena, study->varies, study->vary_count);
    size_t wrong = 0;
    for (size_t p = 0; p < study->point_count; p++)
        if (!read_point(&plan, p, error))
            return false;
    if (find_wrong_value(&plan, &wrong) || plan.legal == 0)
        return reject(study, wrong, notes, colour, error);
    study_warnings_tell(study->warnings, plan.legal, notes, colour);
    return true;
}

/* Goodput is a share of what the step itself could do: of points with other steps the slowest may
 * have the most. */
static enum study_metric usual_objective(const struct study *study)
{
    if (!study->weeks)
        return METRIC_tokens_per_s;
    return study->one_step ? METRIC_goodput : METRIC_tokens_per_day;
}

static bool choose_objective(struct study *study, struct error *error)
{
    const char *asked = study->options->objective;
    study->objective = usual_objective(study);
    if (asked == NULL)
        return true;
    int found = metric_find(asked);
    if (found < 0 || !study_measures(study, (unsigned)found)) {
        const char *known = "";
        for (unsigned i = 0; i < METRIC_COUNT; i++)
            if (study_measures(study, i))
                known = arena_format(study->arena, "%s %s", known, study_metrics[i].name);
        return error_set(error, "--objective: this study has no such metric; it has%s", known);
    }
    study->objective = (enum study_metric)found;
    return true;
}

bool study_size(struct study *study, struct error *error)
{
    const struct study_options *options = study->options;
    if (options->seeds > SEEDS_MAX)
        return error_set(error, "--seeds: at most %d", SEEDS_MAX);
    if (!study_vary_points(study->varies, study->vary_count, &study->point_count, error))
        return false;
    if ((double)study->point_count * (double)options->seeds > VALUES_MAX)
        return error_set(error, "%zu points of %llu seeds are too many to keep; at most %d in all",
                         study->point_count, (unsigned long long)options->seeds, VALUES_MAX);
    return true;
}

struct study_share study_share(const struct study *study, struct shard shard, size_t point)
{
    const size_t seeds = study->options->seeds, n = shard.count;
    const struct study_share all = {0, seeds}, nothing = {0, 0};
    if (n == 0)
        return all;
    CHECK(shard.index >= 1 && shard.index <= n);
    const size_t part = (shard.index - 1 + n - point % n) % n; /* 0: with the first replication */
    const bool cut = point >= study->point_count - study->point_count % n;
    if (!cut || study->options->confidence_ratio > 0.0)
        return part == 0 ? all : nothing;
    const size_t first = (seeds * part + n - 1) / n, end = (seeds * (part + 1) + n - 1) / n;
    return (struct study_share){first, end - first};
}

void study_deal(struct study *study)
{
    for (size_t p = 0; p < study->point_count; p++)
        study->points[p].share = study_share(study, study->options->shard, p);
}

bool study_plan(struct arena *arena, const struct study_options *options, struct study *out,
                FILE *notes, bool colour, struct error *error)
{
    *out = (struct study){.arena = arena, .options = options};
    if (!read_varies(out, error) || !study_size(out, error))
        return false;
    out->points = ARENA_ARRAY(arena, struct study_point, out->point_count);
    study_deal(out);
    out->one_step = true;
    for (unsigned k = 0; k < out->vary_count; k++)
        out->one_step = out->one_step && scenario_key_of_weeks(out->varies[k].key);
    return read_points(out, notes, colour, error) && choose_objective(out, error);
}

/* The values of one metric, in the order of seeds. */
static double *column_of(struct arena *arena, const struct study_point *point, enum study_metric m)
{
    double *column = ARENA_ARRAY(arena, double, point->replications + 1);
    for (size_t r = 0; r < point->replications; r++)
        column[r] = point->values[r][m];
    return column;
}

void study_summarise(struct arena *arena, const struct study_point *point, enum study_metric m,
                     struct summary *out)
{
    struct arena_mark mark = arena_mark(arena);
    double *column = column_of(arena, point, m);
    size_t kept = 0;
    for (size_t r = 0; r < point->replications; r++)
        if (isfinite(column[r]))
            column[kept++] = column[r];
    const struct summary_range range = metric_range(m);
    statistics_summarise(arena, column, kept, &range, out);
    arena_rewind(arena, mark);
}

/* Batches double, so that few intervals are looked at. */
bool study_enough(const struct study *study, const struct study_point *point, size_t *target)
{
    size_t most = point->share.count, have = point->replications;
    double wanted = study->options->confidence_ratio;
    struct summary s;
    *target = wanted > 0.0 && most > FIRST_BATCH ? FIRST_BATCH : most;
    if (have < *target)
        return false;
    if (have >= most)
        return true;
    study_summarise(study->arena, point, study->objective, &s);
    *target = 2 * have < most ? 2 * have : most;
    return s.half95 <= wanted * fabs(s.mean);
}
