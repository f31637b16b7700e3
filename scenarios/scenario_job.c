#include <math.h>
#include <string.h>

#include "models/checkpoint/checkpoint_plan.h"
#include "models/job.h"
#include "scenarios/scenario.h"
#include "scenarios/schema.h"

void scenario_job(const struct scenario *scenario, struct condition_table *conditions,
                  struct job_spec *out)
{
    const struct job_storage *storage = &scenario->storage;
    *out = scenario->job;
    if (scenario->work_s > 0.0)
        out->steps =
            (uint64_t)ceil(scenario->work_s / condition_step_s(conditions, &condition_ideal));
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
    if (spec->interval_s == 0.0 && spec->interval_steps == 0)
        job_optimal_interval(out, conditions, scenario->configuration.seed);
}

bool scenario_key_of_weeks(const char *key)
{
    static const enum section without_steps[] = {SECTION_NOTES, SECTION_COST};
    size_t length = strcspn(key, ".[");
    for (enum section i = 0; i < SECTION_COUNT; i++) {
        const char *path = schema_section(i)->path;
        bool named = strlen(path) == length && strncmp(path, key, length) == 0;
        if (named && (i >= SECTION_RUN || i == without_steps[0] || i == without_steps[1]))
            return true;
    }
    return false;
}
