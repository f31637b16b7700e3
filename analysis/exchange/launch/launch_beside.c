#include "analysis/exchange/launch/launch_beside.h"

#include "analysis/exchange/launch/launch_kind.h"
#include "models/job/parts/job_ledger.h"
#include "models/step/simulate/condition.h"
#include "scenarios/assemble/scenario.h"
#include "sim/units.h"

enum {
    MONTHS = 12
};

/* Texts of a profile live in the scenario that it was read from. */
static void keep_texts(struct arena *arena, struct software_profile *software)
{
    software->name = arena_text(arena, software->name);
    for (unsigned i = 0; i < software_param_count; i++) {
        const struct param *p = &software_params[i];
        const char **text = (const char **)(void *)((char *)software + p->offset);
        if (p->type == PARAM_TEXT && *text != NULL)
            *text = arena_text(arena, *text);
    }
}

/* The scenario once more, its section `software` the bare profile, as it was in the same month. */
static void find_plain(const struct scenario *scenario, struct arena *arena,
                       struct launch_plain *out)
{
    const struct software_profile *s = &scenario->configuration.software;
    const unsigned month = s->version.month;
    struct error error = {""};
    const char *when = month == 0 ? ""
                                  : arena_format(arena, ", release: \"%04u-%02u\"", month / MONTHS,
                                                 month % MONTHS + 1);
    const char *set = arena_format(arena, "software={profile: \"%s\"%s}", s->name, when);
    struct scenario *plain = scenario_read_open(scenario, &set, 1, &error);
    out->known = plain != NULL && plain->diagnostics.error_count == 0;
    if (out->known) {
        out->software = plain->configuration.software;
        out->state_formats = plain->configuration.training.state_formats;
        keep_texts(arena, &out->software);
    }
    scenario_destroy(plain);
}

/* With the profile of that name, in the place of its own. */
static bool refuses_profile(const struct scenario *scenario, const struct configuration *c,
                            const struct launch_kind *kind, struct arena *arena)
{
    struct error error = {""};
    const char *set = arena_format(arena, "software=%s", kind->software);
    struct scenario *own = scenario_read_open(scenario, &set, 1, &error);
    struct configuration with = *c;
    bool refused = own == NULL || own->diagnostics.error_count > 0;
    if (!refused) {
        with.software = own->configuration.software;
        refused = !configuration_legal(&with);
    }
    scenario_destroy(own);
    return refused;
}

/* Saves to storage: of several levels, those of the first that outlives a domain. */
static uint64_t storage_every(const struct checkpoint_plan *plan)
{
    for (unsigned i = 0; i < plan->level_count; i++)
        if (plan->levels[i].survival == SURVIVES_DOMAIN)
            return plan->levels[i].every;
    return 1;
}

static void find_interval(const struct scenario *scenario, struct launch_saves *out)
{
    struct error error = {""};
    struct condition_table *conditions = condition_create(&scenario->configuration, &error);
    struct job_spec job;
    if (conditions == NULL)
        return;
    scenario_job(scenario, conditions, NULL, &job);
    out->step_s = condition_step_s(conditions, &condition_ideal);
    const enum save_rule rule = job_save_rule(&job.checkpoint);
    out->optimal = rule == SAVE_floor || rule == SAVE_optimum || rule == SAVE_played;
    const uint64_t between = job_between_saves(&job.checkpoint, out->step_s);
    if (between < STEPS_NEVER)
        out->every_steps = between * storage_every(&job.checkpoint.plan);
    condition_destroy(conditions);
}

static void find_saves(const struct scenario *scenario, struct launch_saves *out)
{
    const struct checkpoint_spec *spec = &scenario->job.checkpoint;
    if (!scenario->has_run)
        return;
    const bool nothing = spec->kind->tiers_max == 0;
    out->policy = spec->kind->head.name;
    out->how = nothing                  ? LAUNCH_SAVES_NOTHING
               : spec->kind->background ? LAUNCH_SAVES_BEHIND
                                        : LAUNCH_SAVES_WAITING;
    out->copies = spec->kind != &checkpoint_none && spec->kind != &checkpoint_sync &&
                  spec->kind != &checkpoint_async;
    if (!nothing)
        find_interval(scenario, out);
}

void launch_beside_step(const struct scenario *scenario, const struct configuration *c,
                        const struct launch_kind *kind, struct arena *arena,
                        struct launch_beside *out)
{
    *out = (struct launch_beside){.profile_refused = refuses_profile(scenario, c, kind, arena)};
    launch_room_find(c, &out->room);
    find_plain(scenario, arena, &out->plain);
}

void launch_beside_find(const struct scenario *scenario, const struct launch_kind *kind,
                        struct arena *arena, struct launch_beside *out)
{
    launch_beside_step(scenario, &scenario->configuration, kind, arena, out);
    find_saves(scenario, &out->saves);
}
