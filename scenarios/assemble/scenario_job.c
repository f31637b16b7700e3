#include <math.h>
#include <string.h>

#include "models/checkpoint/checkpoint_plan.h"
#include "models/job/player/job.h"
#include "scenarios/assemble/scenario.h"
#include "scenarios/language/quantity.h"
#include "scenarios/schema/schema.h"
#include "sim/units.h"

/* Checkpoints that outlive a domain of nodes lie on storage that is paid by what it holds: with
 * every copy of a tier. */
static void price_copies(const struct scenario *scenario, struct job_spec *inout)
{
    const double usd_per_byte_hour = scenario->storage_tb_month_usd / TERA / (30.0 * DAY) * HOUR;
    const struct checkpoint_spec *spec = &inout->checkpoint;
    struct arena *scratch = arena_create();
    double *bytes_of_rank;
    const double bytes = storage_shards(&scenario->configuration, spec->bytes_per_parameter,
                                        scratch, &bytes_of_rank);
    for (unsigned i = 0; i < spec->plan.level_count; i++) {
        const struct checkpoint_level *level = &spec->plan.levels[i];
        for (unsigned t = 0; t < scenario->storage.tier_count; t++) {
            const struct storage_tier *tier = &scenario->storage.tiers[t];
            if (level->survival == SURVIVES_DOMAIN && strcmp(tier->name, level->tier) == 0)
                inout->cost.copy_hour_usd[i] +=
                    bytes * fmax((double)tier->copies, 1.0) * usd_per_byte_hour;
        }
    }
    arena_destroy(scratch);
}

void scenario_job(const struct scenario *scenario, struct condition_table *conditions,
                  const struct job_watch *watch, struct job_spec *out)
{
    const struct job_storage *storage = &scenario->storage;
    *out = scenario->job;
    if (scenario->work_s > 0.0)
        out->steps =
            (uint64_t)ceil(scenario->work_s / condition_step_s(conditions, &condition_ideal));
    power_job_of(&scenario->configuration, condition_ideal_w(conditions), &out->cost.power);
    struct checkpoint_spec *spec = &out->checkpoint;
    struct checkpoint_request request = {.kind = spec->kind,
                                         .options = &spec->options,
                                         .bytes_per_parameter = spec->bytes_per_parameter,
                                         .tiers = storage->tiers,
                                         .tier_count = storage->tier_count,
                                         .stall_s = storage->stall_s,
                                         .persist_s = storage->persist_s,
                                         .load_s = storage->load_s};
    checkpoint_plan_build(&scenario->configuration, conditions, &request, &spec->plan);
    if (scenario->storage_tb_month_usd > 0.0)
        price_copies(scenario, out);
    job_optimal_interval(out, conditions, scenario->configuration.seed, watch);
}

const char *scenario_anew_sentence(struct arena *arena, const struct job_spec *job,
                                   const struct job_anew *anew)
{
    const unsigned long long kept = job->checkpoint.keep;
    const char *of_kept = kept == 1 ? "the 1 kept checkpoint"
                                    : arena_format(arena, "all %llu kept checkpoints", kept);
    const char *how;
    if (anew->cause != NULL) {
        char found[QUANTITY_TEXT_MAX];
        quantity_write(PARAM_TIME, job_found_after_s(job, anew->cause), found, sizeof found);
        how = arena_format(
            arena,
            "'%s', which is found after %s in the mean, has tainted %s by then%s in "
            "%.3g %% of cases",
            anew->cause->name, found, of_kept,
            job->checkpoint.corrupt_ratio > 0.0 ? ", or left clean only what cannot be read," : "",
            100.0 * anew->ratio);
    } else {
        how = arena_format(
            arena,
            "a copy cannot be read back with probability %g (checkpoint.corrupt), which "
            "leaves no readable copy of %s in %.3g %% of recoveries",
            job->checkpoint.corrupt_ratio, of_kept, 100.0 * anew->ratio);
    }
    return arena_format(arena,
                        "%s: the job starts anew, %.2g times in this run by the rates; keep %.0f "
                        "or more",
                        how, anew->times, anew->keep);
}

bool scenario_key_of_weeks(const char *key)
{
    static const enum section without_steps[] = {SECTION_NOTES, SECTION_LESSON, SECTION_COST};
    size_t length = strcspn(key, ".[");
    for (enum section i = 0; i < SECTION_COUNT; i++) {
        const char *path = schema_section(i)->path;
        bool named = strlen(path) == length && strncmp(path, key, length) == 0;
        for (unsigned k = 0; named && k < sizeof without_steps / sizeof *without_steps; k++)
            if (i >= SECTION_RUN || i == without_steps[k])
                return true;
    }
    return false;
}
